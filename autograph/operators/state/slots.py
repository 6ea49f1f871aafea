"""Places where Python keeps a value: what a graph can be told to carry.

The variables, attributes and items that a statement assigns itself are named by its
``state=`` (`StateVariable`). What a called helper or method assigns is found while the
statement is tried: a `PartSlot` of some object, or all that is in one (`ContentsSlot`).
Each slot can be read, written, and unbound with `UNBOUND`.
"""

from __future__ import annotations

import contextlib
import functools
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from ..classes import attributes_of, defines, remembered
from ..dispatch import UNBOUND, backend_of

Identity = tuple[Hashable, int, Hashable]


class Slot:
    """A place that holds a value.

    ``owner`` is the object that it is a part of, ``key`` says which part, and ``name``
    is how the place is written in messages.
    """

    __slots__ = ("key", "name", "owner")

    def __init__(self, name: str, owner: Any, key: Hashable = None) -> None:
        self.name = name
        self.owner = owner
        self.key = key

    @property
    def sort(self) -> Any:
        """How the place is read and written: its owner may have two under one key."""
        return type(self)

    @property
    def identity(self) -> Identity:
        """What two slots have in common that are the same place."""
        return self.sort, id(self.owner), self.key

    @property
    def matters(self) -> bool:
        """Whether the value counts as state: that of a cache does not."""
        return True

    def now(self, outer: Slot) -> Slot:
        """The same place, seen from a statement inside of the one with ``outer``."""
        return self

    def read(self) -> Any:
        """The value; `UNBOUND` if there is none."""
        raise NotImplementedError

    def write(self, value: Any) -> None:
        """Put a value there, or none: `UNBOUND`."""
        raise NotImplementedError


# --- parts of objects -----------------------------------------------------------------


class Access(NamedTuple):
    """How parts of one sort are read, assigned and deleted, by owner and key.

    ``get`` gives `UNBOUND` for a part that is not there. ``default`` gives what the
    owner then has in its place; to assign that is to delete the part.
    """

    get: Callable[[Any, Any], Any]
    put: Callable[[Any, Any, Any], Any]
    delete: Callable[[Any, Any], Any]
    default: Callable[[Any, Any], Any] = lambda owner, key: UNBOUND
    matters: bool = True


class PartSlot(Slot):
    """A part of an object."""

    __slots__ = ("_access",)

    def __init__(
        self, access: Access, name: str, owner: Any, key: Hashable = None
    ) -> None:
        super().__init__(name, owner, key)
        self._access = access

    @property
    def sort(self) -> Access:
        """How the part is read and written."""
        return self._access

    @property
    def matters(self) -> bool:
        """Whether the value counts as state: that of a cache does not."""
        return self._access.matters

    def are_alike(self, old: Any, new: Any) -> bool:
        """Whether two different values mean the same there: none, and the default."""
        default = self._access.default(self.owner, self.key)
        return all(value is UNBOUND or value is default for value in (old, new))

    def read(self) -> Any:
        """The part, or the default."""
        value = self._access.get(self.owner, self.key)
        return self._access.default(self.owner, self.key) if value is UNBOUND else value

    def write(self, value: Any) -> None:
        """Assign the part, or delete it."""
        get, put, delete, default, _ = self._access
        if value is not UNBOUND and value is not default(self.owner, self.key):
            put(self.owner, self.key, value)
        elif get(self.owner, self.key) is not UNBOUND:
            delete(self.owner, self.key)


def cell_value(cell: CellType, _: Any = None) -> Any:
    """The variable in a cell; `UNBOUND` if it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def dict_class(value: dict[Any, Any]) -> Any:
    """The class whose methods change a dict, whatever a class of the user's has."""
    return OrderedDict if isinstance(value, OrderedDict) else dict


def put_in_order(value: dict[Any, Any], keys: list[Any]) -> None:
    """Put the keys of a dict into an order, if these are its keys."""
    if list(value) == keys or len(value) != len(keys) or not value.keys() >= {*keys}:
        return
    base = dict_class(value)
    for key in keys:
        part = dict.__getitem__(value, key)
        base.__delitem__(value, key)
        base.__setitem__(value, key, part)


def _key(owner: dict[Any, Any], key: Any) -> Any:
    return dict.get(owner, key, UNBOUND)  # a class of the user's may have another get()


def _put_key(owner: dict[Any, Any], key: Any, value: Any) -> None:
    dict_class(owner).__setitem__(owner, key, value)


def _delete_key(owner: dict[Any, Any], key: Any) -> None:
    dict_class(owner).__delitem__(owner, key)


def class_value(cls: type, name: str) -> Any:
    """What objects of a class have as an attribute that they do not have themselves.

    It is `UNBOUND` if there is nothing, or if the class computes it.
    """
    value = getattr(cls, name) if defines(cls, name) else UNBOUND
    return UNBOUND if hasattr(type(value), "__get__") else value


def _attributes(value: Any) -> dict[str, Any]:
    found = attributes_of(value)
    return {} if found is None else found  # an empty dict is the object's own


def _member(owner: Any, descriptor: Any) -> Any:
    try:
        return descriptor.__get__(owner, type(owner))
    except AttributeError:
        return UNBOUND


def _sequence(owner: Any) -> Any:
    """The class whose methods change a list or deque."""
    return deque if isinstance(owner, deque) else list


def _item(owner: Any, index: int) -> Any:
    try:
        return _sequence(owner).__getitem__(owner, index)
    except IndexError:
        return UNBOUND


def _put_part(owner: Any, index: int, value: Any) -> None:
    parts = list(owner.__autograph_parts__())
    parts[index] = value
    owner.__autograph_become__(parts)


#: A variable of a function that others inside it use.
CELL = Access(
    cell_value,
    lambda cell, _, value: setattr(cell, "cell_contents", value),
    lambda cell, _: delattr(cell, "cell_contents"),
)
#: The value of a key: of a dict of the user's, or of a module's variables.
KEY = Access(_key, _put_key, _delete_key)
#: An attribute in the dict of an object; its class may have a value for it.
ATTRIBUTE = Access(
    lambda owner, key: _attributes(owner).get(key, UNBOUND),
    lambda owner, key, value: _attributes(owner).__setitem__(key, value),
    lambda owner, key: _attributes(owner).__delitem__(key),
    lambda owner, key: class_value(type(owner), key),
)
#: An attribute that is computed again where it is not there.
CACHE = ATTRIBUTE._replace(matters=False)
#: An attribute that a class names in ``__slots__``; the key is its descriptor.
MEMBER = Access(
    _member,
    lambda owner, key, value: key.__set__(owner, value),
    lambda owner, key: key.__delete__(owner),
)
#: An attribute of a class, not bound to anything.
CLASS_ATTRIBUTE = Access(
    lambda cls, key: vars(cls).get(key, UNBOUND), type.__setattr__, type.__delattr__
)
#: An item of a list or deque.
ITEM = Access(
    _item,
    lambda owner, index, value: _sequence(owner).__setitem__(owner, index, value),
    lambda owner, index: _sequence(owner).__delitem__(owner, index),
)
#: A part of a value that stands for a list or dict in a library's graph.
STAGED_PART = Access(
    lambda owner, key: owner.__autograph_parts__()[key],
    _put_part,
    lambda owner, key: None,
)


class ContentsSlot(Slot):
    """What a list contains: the value is the list, or what a library puts for it."""

    __slots__ = ("_value",)

    def __init__(self, name: str, owner: Any, key: Hashable = None) -> None:
        super().__init__(name, owner, key)
        self._value = owner

    def read(self) -> Any:
        """The list."""
        return self._value

    def write(self, value: Any) -> None:
        """Note what stands for the list: it is put into the places of the list."""
        self._value = value

    def now(self, outer: Slot) -> Slot:
        """The contents of what stands for the list."""
        return ContentsSlot(self.name, outer.read())


# --- what `state=` names --------------------------------------------------------------


class Scope:
    """The variables that some functions share with the function around them."""

    def __init__(self, functions: Iterable[FunctionType]) -> None:
        self.cells: dict[str, CellType] = {}
        self._globals: dict[str, Any] = {}
        for function in functions:
            names = function.__code__.co_freevars
            self.cells.update(zip(names, function.__closure__ or (), strict=True))
            self._globals = function.__globals__

    def slot(self, name: str) -> Slot:
        """The place of a variable."""
        if name in self.cells:
            return PartSlot(CELL, name, self.cells[name])
        return PartSlot(KEY, name, self._globals, name)


@remembered
def stored_names(code: CodeType) -> dict[str, set[int]]:
    """The variables of other functions and of the module, and the attributes (``.x``),
    that a function, or one inside it, assigns or deletes, and the lines that do so.
    """
    import dis  # not at once: a program's first call would wait for it

    names: dict[str, set[int]] = {}
    starts, line = dict(dis.findlinestarts(code)), code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset) or line
        action, _, sort = instruction.opname.partition("_")
        if action in ("STORE", "DELETE") and sort in ("DEREF", "GLOBAL", "ATTR"):
            name = instruction.argval if sort != "ATTR" else f".{instruction.argval}"
            names.setdefault(name, set()).add(line)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for name, lines in stored_names(constant).items():
                names.setdefault(name, set()).update(lines)
    return names


def is_whole(value: Any) -> bool:
    """Whether it is a library's own list, which is state as a whole: it knows what its
    items are.
    """
    return defines(type(value), "__autograph_parts__")


def _has_no_places(owner: Any) -> bool:
    """Whether no attribute or item of a value is state of its own.

    Reading a part of a value that may be None would raise, so its parts are none.
    """
    is_around = defines(type(owner), "__autograph_within__")
    return owner is UNBOUND or is_around or is_whole(owner)


def _keeps_items(owner: Any) -> bool:
    """Whether items of it are state: not those of a value of a library, which is state
    itself, nor those of what never changes. An assignment to these raises at its line.
    """
    cls = type(owner)
    return not defines(cls, "__autograph_backend__") and defines(cls, "__setitem__")


class StateVariable(Slot):
    """A variable, attribute or item, read as the user's code would read it.

    It is written as ``root`` and the ``steps`` from there: the name of an attribute, or
    the `ast.Subscript` of an item.
    """

    __slots__ = ("_root", "_steps")
    owner: Scope

    def __init__(
        self, name: str, scope: Scope, root: str, steps: tuple[Any, ...]
    ) -> None:
        super().__init__(name, scope)
        self._root = root
        self._steps = steps

    @property
    def identity(self) -> Identity:
        """There is one place of a name."""
        return StateVariable, 0, self.name

    @property
    def stored_name(self) -> str | None:
        """What the code of a function that assigns it has; None for an item."""
        if not self._steps:
            return self._root
        return f".{self._steps[-1]}" if isinstance(self._steps[-1], str) else None

    @property
    def depth(self) -> int:
        """How many steps there are."""
        return len(self._steps)

    def container(self) -> Any:
        """The object of whose attributes or items it is one; None for a variable."""
        if not self._steps:
            return None
        owner = self.owner.slot(self._root).read()
        for step in self._steps[:-1]:
            if _has_no_places(owner):
                return UNBOUND
            owner = self._part(owner, step)
        return owner

    def depends_on_tensor(self) -> bool:
        """Whether a tensor says which item it is."""
        import ast

        items = (step for step in self._steps if not isinstance(step, str))
        nodes = (node for item in items for node in ast.walk(item.slice))
        names = (node.id for node in nodes if isinstance(node, ast.Name))
        return any(backend_of(self.owner.slot(name).read()) for name in names)

    def read(self) -> Any:
        """The value of the variable, the attribute or the item."""
        if not self._steps:
            return self.owner.slot(self._root).read()
        owner = self.container()
        if _has_no_places(owner):
            return UNBOUND
        return self._part(owner, self._steps[-1])

    def write(self, value: Any) -> None:
        """Assign it, or delete it."""
        if not self._steps:
            self.owner.slot(self._root).write(value)
            return
        owner, step = self.container(), self._steps[-1]
        if _has_no_places(owner):
            return
        if isinstance(step, str):
            self._write_attribute(owner, step, value)
        elif not isinstance(owner, list):
            if _keeps_items(owner):
                self._write_item(owner, step, value)
        elif value is not UNBOUND:
            # Of a list that becomes shorter, all of it becomes state.
            with contextlib.suppress(IndexError):
                owner[self._key(step)] = value

    def _part(self, owner: Any, step: Any) -> Any:
        if isinstance(step, str):
            return getattr(owner, step, UNBOUND)
        key = self._key(step)
        if owner is None or (isinstance(owner, dict) and key not in owner):
            return UNBOUND  # to ask for the item would raise, or add it
        try:
            return owner[key]
        except (KeyError, IndexError):
            return UNBOUND

    def _key(self, item: Any) -> Any:
        """The key of an item."""
        import ast

        def value(node: Any) -> Any:
            if isinstance(node, ast.Name):
                return self.owner.slot(node.id).read()
            if isinstance(node, ast.Tuple):
                return tuple(map(value, node.elts))
            return ast.literal_eval(node)

        return value(item.slice)

    @staticmethod
    def _write_attribute(owner: Any, name: str, value: Any) -> None:
        if value is not UNBOUND and value is class_value(type(owner), name):
            vars(owner).pop(name, None)
        elif value is not UNBOUND:
            setattr(owner, name, value)
        elif getattr(owner, name, UNBOUND) is not UNBOUND:
            delattr(owner, name)

    def _write_item(self, owner: Any, step: Any, value: Any) -> None:
        if value is not UNBOUND:
            owner[self._key(step)] = value
        elif self._part(owner, step) is not UNBOUND:
            del owner[self._key(step)]


def parse_state(state: str) -> tuple[str, ...]:
    """The places that a ``state=`` argument names.

    >>> parse_state("n, self.count, a[i, j], d['a[0], b']")
    ('n', 'self.count', 'a[i, j]', "d['a[0], b']")
    """
    return tuple(_parse(state))


def state_variables(state: str, scope: Scope) -> list[StateVariable]:
    """The places that a ``state=`` argument names, in the variables of functions."""
    return [StateVariable(name, scope, *place) for name, place in _parse(state).items()]


@functools.cache
def _parse(state: str) -> dict[str, tuple[str, tuple[Any, ...]]]:
    """The root and the steps of the places that ``state=`` names, as written."""
    import ast  # only staging needs it: converted modules import without

    text = f"({state},)" if state else "()"
    try:
        places: Any = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"state={state!r} is no list of places") from error
    found = {}
    for place in places.elts:
        node, steps = place, []
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            steps.append(node.attr if isinstance(node, ast.Attribute) else node)
            node = node.value
        name = ast.get_source_segment(text, place) or ""
        if not isinstance(node, ast.Name):
            raise ValueError(f"state={name!r} names no variable, attribute or item")
        found[name] = node.id, tuple(reversed(steps))
    return found
