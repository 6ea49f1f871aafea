"""Objects that find the variables in their attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar

from runtime.core.graph import context
from runtime.core.types import nest
from runtime.ops.variables.base import Variable

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
#: Where a word begins within a name such as MyMLPLayer.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])")
#: Values that hold nothing.
_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})


class Module:
    """An object that finds the variables and modules in its attributes.

    >>> class Linear(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         with self.name_scope:
    ...             self.weight = Variable(2.0, name="w")
    ...         self.layers = [Variable(1.0, name="bias")]
    >>> [v.name for v in Linear().trainable_variables]
    ['bias:0', 'linear/w:0']

    They are looked for in lists, tuples, dicts and the other structures of `tf.nest`,
    in the order of the names of the attributes: first what the module has itself, then
    what each of its modules has. Properties are not asked. Attributes named in the set
    ``_TF_MODULE_IGNORED_PROPERTIES`` of the class are passed over.

    Raises ValueError for a name that is no identifier.
    """

    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        name = _snake_case(type(self).__name__) if name is None else name
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is not the name of a module, which is one of Python's "
                "identifiers"
            )
        self._name = name
        with context.name_scope(name) as scope:
            self._name_scope_name = scope

    @property
    def name(self) -> str:
        """The name given, or that of the class in snake case."""
        own: str | None = vars(self).get("_name")
        return _snake_case(type(self).__name__) if own is None else own

    @property
    def name_scope(self) -> Any:
        """A context manager: names in its block begin with that of the module.

        The scope is the one in which the module was made, whenever it is entered.
        """
        scope = vars(self).get("_name_scope_name")
        return context.name_scope(f"{self.name}/" if scope is None else scope)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables in the attributes, by attribute name, then in submodules."""
        return tuple([item for item in _held(self) if isinstance(item, Variable)])

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training may change."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training leaves alone."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in the attributes, and in those."""
        return tuple([item for item in _held(self) if isinstance(item, Module)])

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator: the method runs in the name scope of the module.

        >>> class Layer(Module):
        ...     @Module.with_name_scope
        ...     def build(self):
        ...         self.w = Variable(1.0, name="w")
        >>> layer = Layer()
        >>> layer.build()
        >>> layer.w.name
        'layer/w:0'
        """

        def in_scope(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        # A function of the module that defines the method: where that is converted,
        # what it calls has to be, too.
        own = FunctionType(
            in_scope.__code__,
            {**globals(), "__name__": method.__module__},
            in_scope.__name__,
            None,
            in_scope.__closure__,
        )
        return functools.wraps(method)(own)


def _snake_case(name: str) -> str:
    """The name of a class as that of an object.

    >>> _snake_case("MyMLPLayer"), _snake_case("Conv2D"), _snake_case("MLP")
    ('my_mlp_layer', 'conv2_d', 'mlp')
    """
    return _WORD.sub("_", name).lower()


def _held(module: Module) -> list[Any]:
    """The variables and modules that a module holds, each once.

    First what it has itself, by the names of its attributes, then what each of its
    modules has.
    """
    found: list[Any] = []
    _add_held(module, found, {id(module)})
    return found


def _add_held(module: Module, found: list[Any], seen: set[int]) -> None:
    own: list[Any] = []
    held = attributes(module)
    for name in sorted(held):
        _collect(held[name], own, ())
    new = []
    for item in own:
        if id(item) not in seen:
            seen.add(id(item))
            new.append(item)
    found += new
    for item in new:
        if isinstance(item, Module):
            _add_held(item, found, seen)


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object, in slots, too, but for those that are ignored."""
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in [slots] if isinstance(slots, str) else slots:
            member = cls.__dict__.get(slot)
            if hasattr(member, "__set__") and hasattr(value, slot):
                found[slot] = getattr(value, slot)
    for name in getattr(type(value), "_TF_MODULE_IGNORED_PROPERTIES", ()):
        found.pop(name, None)
    return found


def _collect(value: Any, found: list[Any], around: tuple[int, ...]) -> None:
    """Append the variables and modules in a structure, which may hold itself."""
    kind = type(value)
    if kind in _ATOMS:
        return
    if isinstance(value, (Variable, Module)):
        found.append(value)
        return
    if kind is list or kind is tuple:
        items = value
    else:
        inside = nest.children(value)
        if inside is None:
            return
        items = [item for _, item in inside]
    if id(value) not in around:
        for item in items:
            _collect(item, found, (*around, id(value)))
