"""Dicts and sets with keys that only the graph knows: lists of keys and of values.

A key is found by comparing it with all keys, in the order in which they were added.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from enum import Enum
from types import FunctionType
from typing import Any, ClassVar, TypeVar

from runtime.errors import StagedStateError, UnhashableTensorError
from runtime.location.user_code import of_user, state_error
from runtime.ops import convert
from runtime.ops.containers.list_tables import PLACE_OR_END, PUT
from runtime.ops.elementwise.arithmetic import equal, maximum
from runtime.ops.elementwise.logical import logical_and, logical_not
from runtime.staging.library.ordinary import Ordinary, with_item
from runtime.staging.library.views import TableView
from runtime.staging.lists.elements import Element, Ragged, holds_none, taken_apart
from runtime.staging.lists.parts import emit
from runtime.staging.lists.sequences import StagedSequence, weakened
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import plain_class
from runtime.staging.objects.kinds import Kind, is_in_place, register
from runtime.staging.objects.refusals import Untold
from runtime.staging.state.branches import either, raise_if
from runtime.tensor import EagerTensor, SymbolicTensor
from runtime.types import dtypes

__all__ = [
    "StagedDict",
    "StagedTable",
    "default_of",
    "missing",
    "python_key",
    "python_value",
    "same_default",
    "set_pairs",
    "zero",
]

# --- What dicts and sets in graphs are made of: lists of keys and values, and defaults


def missing(key: Any) -> KeyError:
    """The KeyError of a key, which is shown as a Python value."""
    if isinstance(key, tuple):
        return KeyError(tuple(map(weakened, key)))
    return KeyError(weakened(key))


def python_key(element: Element, buffers: Sequence[Any], place: int) -> Any:
    """A key outside of graphs: numbers and texts have a hash, tensors have none."""
    values = []
    for spec, buffer in zip(element.specs, buffers):
        value = buffer._array[place]
        value = value.item() if hasattr(value, "item") else value
        is_text = isinstance(value, bytes) and spec.weak
        values.append(value.decode() if is_text else value)
    return element.pack(values)


def python_value(element: Element, buffers: Sequence[Any], place: int) -> Any:
    """A value outside of graphs."""
    return element.pack([EagerTensor(b._array[place, ...]) for b in buffers])


def zero() -> int:
    """What a Counter gives for what it has not counted."""
    return 0


def default_of(items: Any) -> Callable[[], Any] | None:
    """What makes the value of a key that a dict of Python does not have."""
    if isinstance(items, Counter):
        return zero
    return items.default_factory if isinstance(items, defaultdict) else None


def same_default(one: Any, other: Any) -> bool:
    """Whether two defaults make the same values: ``lambda: 0`` twice does."""
    texts = _text(one), _text(other)
    return one is other or (texts[0] is not None and texts[0] == texts[1])


def _text(default: Any) -> tuple[Any, ...] | None:
    """What a function of no arguments is: code and variables. None for others."""
    if not isinstance(default, FunctionType):
        return None
    if default.__defaults__ or default.__kwdefaults__:
        return None
    code = default.__code__
    # The texts of constants: 0, 0.0 and False are equal.
    constants = repr(code.co_consts)
    variables = id(default.__globals__), *map(id, default.__closure__ or ())
    return code.co_code, constants, code.co_names, code.co_freevars, variables


_Self = TypeVar("_Self", bound="StagedTable")
_ABSENT: Any = object()


class StagedTable(Untold):
    """Keys in a graph, and what else is kept for each in ``_columns``.

    It is changed in place, as a dict or set is. Staging gives each branch and iteration
    a copy. KeyError is raised when the graph runs; AG210 says what cannot be done.
    """

    #: The staging protocol of the compiler; `runtime.compiler.install` fills it in.
    __autograph_backend__: ClassVar[Any]
    __slots__ = ("__weakref__", "_lists", "name")

    untold = "its keys are"

    #: Makes a table of a dict or set of Python, and of what else is put into it.
    made_of: ClassVar[Callable[..., Any]]
    #: What Python says where a loop adds or removes keys while it goes over them.
    changed: ClassVar[str]

    def __init__(self, lists: Sequence[StagedList], name: str) -> None:
        #: The list of the keys, and those of what belongs to each.
        self._lists = list(lists)
        #: The variable that holds it, for messages.
        self.name = name

    def _cannot(self, what: str, why: str) -> StagedStateError:
        return state_error(
            "AG210",
            f"{of_user(self.kind.__name__, self.name, 'whose keys a tensor decides')} "
            f"cannot {what}: {why}",
            "docs/limitations.md says what such dicts and sets can do",
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.kind.__name__} {self.name!r} with keys of the graph>"

    def __autograph_type__(self) -> type:
        return type(self.shown(*([] for _ in self.lists_shown())))

    @property
    def all_elements(self) -> tuple[Element, ...]:
        """What the keys are, and what belongs to each, as far as it is known."""
        return tuple(part.element for part in self._lists)

    def beside(self: _Self, elements: Sequence[Element]) -> _Self:
        """It, with room for such keys and values: see `BufferedList.beside`."""
        return self._of([p.beside([e]) for p, e in zip(self._lists, elements)])

    @property
    def _keys(self) -> StagedList:
        return self._lists[0]

    @property
    def _count(self) -> Any:
        return self._lists[0]._count

    # --- as parts ---------------------------------------------------------------------

    def _flatten(self) -> tuple[Any, ...]:
        """The tensors that it is in the graph: the buffers, and the count."""
        for part in self._lists:
            part._check_given()
        buffers = [buffer for part in self._lists for buffer in part._buffers]
        return (*buffers, self._count)

    def _unflatten(self: _Self, parts: Sequence[Any]) -> _Self:
        """One of such keys made of such tensors."""
        *buffers, count = parts
        rest = iter(buffers)
        lists = [
            part._unflatten([*(next(rest) for _ in part._buffers), count])
            for part in self._lists
        ]
        return self._of(lists)

    def _of(self: _Self, lists: Sequence[StagedList]) -> _Self:
        return type(self)(lists, self.name)

    def _same_structure(self, other: StagedTable) -> bool:
        pairs = zip(self._lists, other._lists)
        return all(one._same_structure(two) for one, two in pairs)

    def _part_names(self, name: str) -> list[str]:
        """What the parts are called in messages and in generated source."""
        kinds = [f"{name}_keys", name]
        names = [kind for kind, part in zip(kinds, self._lists) for _ in part._buffers]
        return [*names, f"len_{name}"]

    def like(self, value: Any) -> Any:
        """A dict or set of Python as one such as this one; other values as they are."""
        if isinstance(value, StagedTable) or not isinstance(value, self.kind):
            return value
        return type(self).made_of(value, *self.all_elements)

    def again(self: _Self) -> _Self:
        """It as it is now, which changes of this object leave alone."""
        return self._of([part.again() for part in self._lists])

    __copy__ = again

    def __autograph_parts__(self) -> list[Any]:
        """What the compiler compares to see whether it was changed."""
        return [p for part in self._lists for p in part.__autograph_parts__()]

    def __autograph_become__(self, parts: Sequence[Any]) -> None:
        """Become what another one was when these were its parts."""
        rest = iter(parts)
        for part in self._lists:
            # It may have other buffers now: what held None alone has got values.
            element, graph, count = next(rest), next(rest), next(rest)
            buffers = [next(rest) for _ in element.specs]
            part.__autograph_become__([element, graph, count, *buffers])

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        for part in self._lists:
            part._check()
        elements = tuple(part.element for part in self._lists)
        return (elements, self.name), self._flatten()

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Sequence[Any]) -> Any:
        """Outside of graphs: a dict or set of Python."""
        (elements, name), (*buffers, count) = metadata, components
        rest = iter(buffers)
        columns = [(e, [next(rest) for _ in e.specs]) for e in elements]
        if not isinstance(count, EagerTensor):
            names = ("keys", "values")
            lists = [StagedList(*c, count, n) for c, n in zip(columns, names)]
            return cls(lists, name)
        places = range(int(count._array))
        keys, *others = columns
        return cls._python(
            [python_key(*keys, place) for place in places],
            *([python_value(*column, place) for place in places] for column in others),
        )

    @classmethod
    def _python(cls, keys: list[Any], *columns: list[Any]) -> Any:
        raise NotImplementedError

    def lists_shown(self) -> list[StagedList]:
        """The lists of what the text of it shows."""
        return self._lists

    def shown(self, *columns: list[Any]) -> Any:
        """What Python shows for such lists, when they are known."""
        return self._python(*columns)

    # --- keys -------------------------------------------------------------------------

    def _place(self, key: Any) -> Any:
        """Where a key is, or the number of the keys if it is not there."""
        keys = self._keys
        if isinstance(key, Enum) and isinstance(key, (int, float, str)):
            key = key.value  # they are equal
        element, tensors = taken_apart(key, self.name)
        if any(tensor.shape.rank for tensor in tensors) or isinstance(key, list):
            raise UnhashableTensorError(
                "AG313: a tensor with axes, or a list, is no key: == compares its "
                "elements; use a tuple of scalars"
            )
        if not keys._element.is_like(element):
            return self._count
        if holds_none(element.structure):
            raise self._cannot("have keys that may be None", "None is no number")
        found: Any = None
        for column, tensor in zip(keys._columns(), tensors):
            if (column.dtype is dtypes.string) != (tensor.dtype is dtypes.string):
                return self._count
            same = equal(column, tensor)
            found = same if found is None else logical_and(found, same)
        return self._count if found is None else emit(PLACE_OR_END, found, weak=False)

    def _put_key(self, key: Any, place: Any) -> Any:
        """Note a key at a place; gives the new number of keys."""
        self._keys._write(PUT, key, place, keep=True)
        return maximum(self._count, place + 1)

    def _take_out(self, place: Any, count: Any) -> None:
        """Remove what is at a place, so that so many keys are left."""
        for part in self._lists:
            columns = [emit("ListDelete", b, part._count, place) for b in part._buffers]
            part._become(columns, count)

    def _popped(self, last: bool, message: str) -> list[Any]:
        """Take the newest key out, or the oldest, with what belongs to it."""
        raise_if(convert.as_tensor(equal(self._count, 0)), KeyError(message))
        place = self._count - 1 if last else convert.constant(0, dtypes.int32)
        rows = [part._row(place, shared=False) for part in self._lists]
        self._take_out(place, self._count - 1)
        return rows

    def _check_there(self, place: Any, key: Any) -> None:
        raise_if(convert.as_tensor(place >= self._count), missing(key))

    def contains(self, key: Any) -> Any:
        """``key in items``."""
        return self._place(key) < self._count

    def keys(self) -> StagedList:
        """The keys, in the order in which they were added."""
        return TableView.of_table(self, lambda: self._keys)

    def sequence(self) -> StagedSequence:
        """What a loop over the keys, as they are now, iterates over."""
        return self._keys.sequence()

    def length(self) -> Any:
        """``len(items)``, a tensor that stands for a Python int."""
        return self._keys.length()

    def __staged_truth__(self) -> Any:
        """``bool(items)``."""
        return self._keys.__staged_truth__()

    def clear(self) -> None:
        """Take all keys out."""
        for part in self._lists:
            part.clear()

    def copy(self: _Self) -> _Self:
        """The same keys in another dict or set."""
        return self.again()

    def __ne__(self, other: object) -> Any:
        same = self == other
        return logical_not(same) if isinstance(same, SymbolicTensor) else not same


@Ordinary
def set_pairs(table: Any, pairs: Any) -> None:
    """Give keys of a dict their values."""
    for key, value in pairs:
        table = with_item(table, key, value)


@Ordinary
def has_pairs(pairs: Any, table: Any) -> Any:
    """Whether a dict gives for all keys of another one what that gives."""
    same = True
    for key, value in pairs:
        if same:
            same = key in table and table[key] == value
    return same


class StagedDict(StagedTable):
    """A dict in a graph. ``default`` makes the value of a key that is not there."""

    __slots__ = ("default",)

    kind = dict
    changed = "dictionary changed size during iteration"

    def __init__(
        self,
        lists: Sequence[StagedList],
        name: str,
        default: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(lists, name)
        self.default = default

    def _of(self, lists: Sequence[StagedList]) -> StagedDict:
        return type(self)(lists, self.name, self.default)

    def _same_structure(self, other: Any) -> bool:
        same = same_default(self.default, other.default)
        return same and super()._same_structure(other)

    @classmethod
    def _python(cls, keys: list[Any], *columns: list[Any]) -> Any:
        return dict(zip(keys, *columns))

    def shown(self, *columns: list[Any]) -> Any:
        """What Python shows for such lists, when they are known."""
        items = self._python(*columns)
        return items if self.default is None else defaultdict(self.default, items)

    @property
    def _values(self) -> StagedList:
        return self._lists[1]

    def __getitem__(self, key: Any) -> Any:
        place = self._place(key)
        if self.default is not None:
            value = self._at(place, self.default)
            if self.default is not zero:
                self._set(place, key, value)
            return value
        self._check_there(place, key)
        return self._values._row(place, shared=True)

    def _at(self, place: Any, otherwise: Callable[[], Any]) -> Any:
        """The value at a place, or what else there is if no key is."""
        row = lambda: self._values._row(place, shared=True)  # noqa: E731
        return either(place < self._count, row, otherwise)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._set(self._place(key), key, value)

    def _set(self, place: Any, key: Any, value: Any) -> None:
        count = self._put_key(key, place)
        self._values._write(PUT, value, place, keep=False)
        for part in self._lists:
            part._count = count

    def __delitem__(self, key: Any) -> None:
        place = self._place(key)
        self._check_there(place, key)
        self._take_out(place, self._count - 1)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        if plain_class(default) is not list:
            return self._at(self._place(key), lambda: default)
        # Lists of several lengths: both as copies that cannot be changed.
        values = self._values.beside([taken_apart(default, self.name)[0]])
        structure, specs = values._element.structure, values._element.specs
        if type(structure) is not Ragged:
            return self._at(self._place(key), lambda: default)
        place, shared = self._place(key), values._shared
        return either(
            place < self._count,
            lambda: values._row(place, shared=True),
            lambda: values._element.pack(Element.ragged_of(default, specs[0]), shared),
        )

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which gets the default if it has none."""
        place = self._place(key)
        value = self._at(place, lambda: default)
        self._set(place, key, value)
        return value

    def pop(self, key: Any, default: Any = _ABSENT) -> Any:
        """Take a key out, and give its value."""
        place = self._place(key)
        if default is _ABSENT:
            self._check_there(place, key)
            value = self._values._row(place, shared=False)
        else:
            value = self._at(place, lambda: default)
        there = convert.cast(convert.as_tensor(place < self._count), dtypes.int32)
        self._take_out(place, self._count - there)
        return value

    def popitem(self) -> tuple[Any, Any]:
        """Take the newest key out, and give it with its value."""
        key, value = self._popped(True, "popitem(): dictionary is empty")
        return key, value

    def keys(self) -> StagedList:
        """The keys, in the order in which they were added.

        Python itself asks for them in ``d |= items`` of a dict of its own, which does
        not become one of the graph so.
        """
        if is_in_place(sys._getframe(1)):
            raise state_error(
                "AG210",
                f"a dict is joined in place with the {self.kind.__name__} "
                f"{self.name!r}, whose keys a tensor decides",
                "write `d.update(items)`, or `d = d | items`",
            )
        return super().keys()

    def values(self) -> StagedList:
        """The values, in the order of their keys."""
        return TableView.of_table(self, lambda: self._values)

    def items(self) -> StagedList:
        """The keys and values, as tuples."""
        return TableView.of_table(self, self._pairs)

    def _pairs(self) -> StagedList:
        keys, values = self._lists
        elements = keys._element, values._element
        structure = tuple(element.structure for element in elements)
        leaves = (*elements[0].leaves, *elements[1].leaves)
        buffers = [*keys._buffers, *values._buffers]
        pairs = StagedList(Element(structure, leaves), buffers, self._count, self.name)
        for part in self._lists:
            part._check()
            part._shared.pass_on(pairs._shared)
        return pairs

    def update(self, *others: Any, **named: Any) -> None:
        """Set the keys of other dicts, or of pairs."""
        for other in (*others, named):
            pairs = other.items() if isinstance(other, (dict, StagedDict)) else other
            set_pairs(self, pairs)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (dict, StagedDict)):
            return False
        beside: Any = self.like(other)
        if not self._same_elements(beside):
            raise self._cannot("be compared with ==", "the other one is of other kinds")
        same_count = equal(self._count, beside._count)
        return logical_and(same_count, has_pairs(self.items(), beside))

    def _same_elements(self, other: StagedDict) -> bool:
        """Whether the keys and values of both can be compared."""
        pairs = zip(self._lists, other._lists)
        return all(one._element.is_like(two._element) for one, two in pairs)

    def __or__(self, other: Any) -> StagedDict:
        if not isinstance(other, (dict, StagedDict)):
            return NotImplemented
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> StagedDict:
        if not isinstance(other, dict):
            return NotImplemented
        result: StagedDict = self.like(other)
        result.update(self)
        return result

    def __ior__(self, other: Any) -> StagedDict:
        self.update(other)
        return self


def _table_like(cls: Any, table: Any, copy: Callable[[Any], Any]) -> Any:
    made = cls.__new__(cls)
    made.name = table.name
    if isinstance(table, StagedDict):
        made.default = table.default
    made._lists = [copy(part.again()) for part in table._lists]
    return made


register(
    StagedTable,
    Kind(
        lambda table: [part._shared.version for part in table._lists],
        _table_like,
        reads=frozenset(),
        changes=frozenset({"_for_staged"}),
        copies=frozenset({"again", "copy", "__copy__"}),
        again=lambda table: table.again(),
    ),
)
