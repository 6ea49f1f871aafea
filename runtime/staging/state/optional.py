"""Values that are None on one path and something else on another.

A tensor that may be None is a tensor made by the op ``RequireSome``: used as a tensor
while it is None, it raises Python's TypeError when the graph runs. Any other value that
may be None is a `StagedOptional` around it. To a graph both are a value and a flag, and
``x is None`` is the flag's negation. `branches` and `loop_state` make them where they
merge variables; the backend asks `is_none`, `is_same` and `matched`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph, enclosing
from runtime.core.hooks import hooks
from runtime.core.location.user_code import state_error
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types import nest
from runtime.core.types.classes import defines
from runtime.ops.elementwise.logical import logical_and, logical_not, logical_or
from runtime.ops.staged.flow import none_test, optional_parts, raise_error, require_some
from runtime.staging.lists.rows import buffer_of, rows_like
from runtime.staging.objects.kinds import identical, set_around
from runtime.staging.state.values import MISSING, Marker, can_be_tensor
from runtime.staging.tracing.form import Composition, Form, flatten_results, nested
from runtime.staging.tracing.subgraph import (
    emit_if,
    set_outputs,
    state_tensor,
    trace_subgraph,
)

#: The value of an optional that has only been None so far.
NOTHING = Marker("NOTHING")
#: Classes with methods that change an object which the other path may share.
_MUTABLE = (list, dict, set, bytearray)
_READING = frozenset(
    {"copy", "count", "get", "index", "items", "keys", "values", "isdisjoint"}
    | {"issubset", "issuperset", "union", "intersection", "difference"}
)


class StagedOptional:
    """A value that is None where the flag ``some`` is off.

    The program sees this object where the value is no tensor. It forwards each use to
    the value; where the value is None, the graph raises Python's error for None when it
    runs. Staging treats it as a structure: the flag and the leaves of the value.
    """

    __slots__ = ("_checked", "_name", "_some", "_value")

    __autograph_backend__: ClassVar[Any]

    def __init__(self, value: Any, flag: Any, name: str) -> None:
        self._value = value
        self._some = flag
        self._name = name
        self._checked: list[Graph] = []

    def __autograph_is__(self, other: Any) -> Any:
        """``self is other``, where either may be None."""
        return is_same(self, other)

    # --- as a structure ---------------------------------------------------------------

    def _flatten(self) -> list[Any]:
        return [self._some] if self._value is NOTHING else [self._some, self._value]

    def _unflatten(self, leaves: list[Any]) -> Any:
        """The value of a flag and a value, in the form that the program sees."""
        flag, value = leaves if len(leaves) == 2 else (*leaves, NOTHING)
        if flag is MISSING:
            return MISSING
        if isinstance(flag, EagerTensor):  # the results of a call
            flag = bool(flag) and value is not NOTHING
        if flag is False:
            return None
        if flag is True:
            return value
        if value is not NOTHING and can_be_tensor(value):
            tensor = require_some(state_tensor(value), flag, self._name)
            assert isinstance(tensor, SymbolicTensor)
            tensor.graph.left_over.add(tensor.node)
            return tensor
        return StagedOptional(value, flag, self._name)

    def __autograph_within__(self) -> list[Any]:
        """The objects in which the compiler looks for changes."""
        return [self._value]

    def _part_names(self, name: str) -> list[str]:
        """The names of the leaves in messages and in generated source."""
        flag = f"has_{name}" if name.isidentifier() else f"whether {name} is None"
        return [flag] if self._value is NOTHING else [flag, name]

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        value = None if self._value is NOTHING else self._value
        tensors, results = flatten_results(value, self._name, state_tensor)
        return (self, results), (state_tensor(self._some), *tensors)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: tuple[Any, ...]) -> Any:
        (like, results), (flag, *tensors) = metadata, components
        value = NOTHING if like._value is NOTHING else results.pack(tensors)
        optional = StagedOptional(value, flag, like._name)
        return optional._unflatten(optional._flatten())

    # --- as its value -----------------------------------------------------------------

    def _get(self, error: Exception) -> Any:
        """The value; the graph raises ``error`` here if it is None."""
        graph = current_graph()
        if graph is None or hooks.fact(self._some) is True:
            return self._value
        if not any(checked in self._checked for checked in enclosing(graph)):
            self._checked.append(graph)
            some_graph, _ = trace_subgraph(lambda: None, (), "some")
            none_graph, _ = trace_subgraph(lambda: raise_error(error), (), "none")
            set_outputs(some_graph, [])
            set_outputs(none_graph, [])
            emit_if(self._some, some_graph, none_graph)
        if self._value is NOTHING:
            raise error
        return self._value

    def __staged_truth__(self) -> Any:
        """``bool(x)``: None is false, and so is an empty value."""
        return self._some if self._value is not NOTHING and self._value else False

    def __autograph_type__(self) -> type:
        answer = hooks.fact(self._some)
        if answer is None or (answer and self._value is NOTHING):
            raise self._misuse("asked for its type")
        return _type_of(self._value if answer else None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if _is_container(self._value) and name not in _READING:
            raise self._misuse("changed")
        text = f"'NoneType' object has no attribute {name!r}"
        return getattr(self._get(AttributeError(text)), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in StagedOptional.__slots__:
            raise self._misuse("changed")
        object.__setattr__(self, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._get(TypeError("'NoneType' object is not subscriptable"))[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self._misuse("changed")

    def _change_in_place(self, other: Any) -> Any:
        raise self._misuse("changed")

    __iadd__ = __isub__ = __imul__ = _change_in_place
    __ior__ = __iand__ = __ixor__ = _change_in_place

    def __iter__(self) -> Iterator[Any]:
        return iter(self._get(TypeError("'NoneType' object is not iterable")))

    def __len__(self) -> int:
        return len(self._get(TypeError("object of type 'NoneType' has no len()")))

    def __contains__(self, item: Any) -> Any:
        text = "argument of type 'NoneType' is not iterable"
        return item in self._get(TypeError(text))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the value."""
        function = self._get(TypeError("'NoneType' object is not callable"))
        return function(*args, **kwargs)

    def __bool__(self) -> bool:
        raise self._misuse("used as a Python bool")

    def __eq__(self, other: object) -> bool:
        raise self._misuse("compared")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<None or {self._value!r}>"

    def _misuse(self, use: str) -> Exception:
        label = repr(self._name) if self._name.isidentifier() else "a value"
        kind = "something"
        if self._value is not NOTHING:
            kind = f"a {_type_of(self._value).__name__}"
        return state_error(
            "AG209",
            f"{label}, which is None or {kind} as a tensor decides, was {use}",
            "test it with `is None` or `is not None` first, and assign it anew "
            "instead of changing it",
        )


def _type_of(value: Any) -> type:
    """The class that a value has for the program."""
    own: type = type(value)
    if defines(own, "__autograph_type__"):
        own = value.__autograph_type__()
    return own


def _is_container(value: Any) -> bool:
    """Whether it is a container of Python, or one of a graph that stands for it.

    A frozen one refuses changes itself.
    """
    cls = type(value)
    if defines(cls, "__autograph_parts__"):
        return not defines(cls, "__autograph_check__")
    return isinstance(value, _MUTABLE)


def _around(optional: StagedOptional, copy: Callable[[Any], Any]) -> StagedOptional:
    return StagedOptional(copy(optional._value), optional._some, optional._name)


set_around(StagedOptional, _around)

# --- asking ---------------------------------------------------------------------------


def as_optional(value: Any) -> Any:
    """A tensor that may be None as a `StagedOptional`; any other value itself."""
    optional = optional_parts(value)
    if optional is None:
        return value
    return StagedOptional(*optional, value.node.attrs["variable"])


def narrowed(value: Any) -> Any:
    """The value of an optional, or None, where `hooks.fact` tells; else the value."""
    optional = as_optional(value)
    if not isinstance(optional, StagedOptional):
        return value
    answer = hooks.fact(optional._some)
    if answer is None:
        return value
    return optional._value if answer else None


def is_none(value: Any, negated: bool = False) -> Any:
    """``value is None``, or its opposite: a tensor where the value may be None."""
    value = as_optional(narrowed(value))
    if isinstance(value, StagedOptional):
        return none_test(value._some, negated)
    return (value is None) is not negated


def is_same(one: Any, other: Any) -> Any:
    """``one is other``, where either value may be an optional."""
    one, other = as_optional(narrowed(one)), as_optional(narrowed(other))
    if not isinstance(one, StagedOptional):
        one, other = other, one
    if not isinstance(one, StagedOptional):
        return one is other
    if other is None:
        return is_none(one)
    if not isinstance(other, StagedOptional):
        same = identical(one._value, other)
        return same is not False and logical_and(one._some, same)
    both = logical_and(one._some, other._some)
    same = logical_and(both, identical(one._value, other._value))
    return logical_or(logical_not(logical_or(one._some, other._some)), same)


def matched(value: Any) -> Any:
    """The subject of a pattern. Refuses a value that may be None."""
    optional = as_optional(narrowed(value))
    if isinstance(optional, StagedOptional):
        raise optional._misuse("matched by a pattern")
    return optional


def unwrapped(value: Any) -> Any:
    """The value within a `StagedOptional`, which must not be None from here on."""
    if not isinstance(value, StagedOptional):
        return value
    return value._get(TypeError("unsupported operand: the value is None"))


def settled(value: Any) -> Any:
    """The value with every part of its lists, tuples and dicts `narrowed`."""
    return nest.with_parts(narrowed(value), settled)


def consequences(test: Any, holds: bool) -> Iterator[tuple[Any, bool]]:
    """The tests that follow directly from a test that holds, or does not."""
    test = as_optional(test)
    if isinstance(test, StagedOptional):
        if holds:
            yield test._some, True
            yield test._value, True
        return
    if not isinstance(test, SymbolicTensor):
        return
    node = test.node
    if node.op in ("IsNone", "LogicalNot"):
        yield node.inputs[0], not holds
    elif node.op == "IsNotNone":
        yield node.inputs[0], holds
    elif node.op == ("LogicalAnd" if holds else "LogicalOr"):
        for tensor in node.inputs:
            yield tensor, holds
    elif node.op == "If" and test.dtype.is_bool:
        # `a and b` is false at once, `a or b` true, where `a` decides.
        for graph, taken in (
            (node.attrs["else_graph"], True),
            (node.attrs["then_graph"], False),
        ):
            other = graph.outputs[test.value_index].node
            if other.op == "Const" and bool(other.attrs["value"].all()) is not holds:
                yield node.inputs[0], taken


# --- the composition of values in a graph ---------------------------------------------


def composed(value: Any) -> Composition | None:
    """The composition of a value that a graph carries; None for a leaf.

    A tensor that may be None is a flag and a value. A list whose items are the rows of
    a tensor is that tensor. An object that stands for tensors gives them by
    ``_flatten``. Any other value has the parts that `types.nest` lists, unless it has
    further attributes.
    """
    value = as_optional(value)
    kind = type(value)
    if defines(kind, "_flatten") and defines(kind, "_unflatten"):
        leaves = value._flatten()
        steps = [f"[{index}]" for index in range(len(leaves))]
        names = value._part_names if defines(kind, "_part_names") else None
        return Composition(value, steps, leaves, value._unflatten, names)
    if can_be_tensor(value):
        return None
    if _has_attributes(value):
        return None
    rows = buffer_of(value)
    if rows is None:
        return nested(value)
    steps = [_outline(value)]
    return Composition(value, steps, [rows], lambda leaves: rows_like(value, leaves[0]))


def _has_attributes(value: Any) -> bool:
    """Whether a list, tuple or dict has attributes, which a rebuilt one would lack."""
    kind = type(value)
    if not issubclass(kind, (list, tuple, dict)) or defines(kind, "__plain__"):
        return False
    return bool(getattr(value, "__dict__", None))


def _outline(items: list[Any]) -> Any:
    """The nesting of a list: None for each item that is no list."""
    return [_outline(item) if isinstance(item, list) else None for item in items]


def alike(one: Any, other: Any) -> bool:
    """Whether two values are made of leaves in the same way."""
    return Form.of(one, composed)[0].is_like(Form.of(other, composed)[0])
