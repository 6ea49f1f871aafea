"""Dicts and sets with keys that only the graph knows: lists of keys and of values.

A key is found by comparing it with all keys, in the order in which they were added.
`dict_conversion` makes these tables of Python's dicts and sets; the user's program
calls the methods, which change the lists of the table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from enum import Enum
from types import FunctionType
from typing import Any, ClassVar, TypeVar

from runtime.core.errors import StagedStateError, UnhashableTensorError
from runtime.core.location.frames import frame_at
from runtime.core.location.user_code import of_user, state_error
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types import dtypes
from runtime.ops import convert
from runtime.ops.containers.list_tables import PLACE_OR_END, PUT
from runtime.ops.elementwise.arithmetic import equal, maximum
from runtime.ops.elementwise.logical import logical_and, logical_not
from runtime.staging.hooks import hooks
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

# --- What dicts and sets in graphs are made of: lists of keys and values, and defaults


def missing(key: Any) -> KeyError:
    """The KeyError that shows the key as a Python value."""
    if isinstance(key, tuple):
        return KeyError(tuple(map(weakened, key)))
    return KeyError(weakened(key))


def python_key(element: Element, buffers: Sequence[Any], index: int) -> Any:
    """The key at an index, outside of graphs: numbers and texts, which have a hash."""
    values = []
    for spec, buffer in zip(element.specs, buffers):
        value = buffer._array[index]
        value = value.item() if hasattr(value, "item") else value
        is_text = isinstance(value, bytes) and spec.weak
        values.append(value.decode() if is_text else value)
    return element.pack(values)


def python_value(element: Element, buffers: Sequence[Any], index: int) -> Any:
    """The value at an index, outside of graphs: of eager tensors."""
    return element.pack([EagerTensor(b._array[index, ...]) for b in buffers])


def zero() -> int:
    """The count that a Counter gives for a missing key."""
    return 0


def default_of(items: Any) -> Callable[[], Any] | None:
    """The function that makes the value of a missing key of a Python dict, if any."""
    if isinstance(items, Counter):
        return zero
    return items.default_factory if isinstance(items, defaultdict) else None


def same_default(one: Any, other: Any) -> bool:
    """Whether two defaults make the same values: ``lambda: 0`` twice does."""
    texts = _text(one), _text(other)
    return one is other or (texts[0] is not None and texts[0] == texts[1])


def _text(default: Any) -> tuple[Any, ...] | None:
    """Code and variables of a function without parameters; None for other objects."""
    if not isinstance(default, FunctionType):
        return None
    if default.__defaults__ or default.__kwdefaults__:
        return None
    code = default.__code__
    # Compare constants as text: 0, 0.0 and False are equal.
    constants = repr(code.co_consts)
    variables = id(default.__globals__), *map(id, default.__closure__ or ())
    return code.co_code, constants, code.co_names, code.co_freevars, variables


_Self = TypeVar("_Self", bound="StagedTable")
_ABSENT: Any = object()


class StagedTable(Untold):
    """A dict or set in a graph: a list of the keys, and one of their values.

    It is changed in place, as a dict or set is. Staging gives each branch and iteration
    a copy. KeyError is raised when the graph runs; AG210 says what cannot be done.
    """

    #: The staging protocol of the compiler; `staging.compiler.install` fills it in.
    __autograph_backend__: ClassVar[Any]
    __slots__ = ("__weakref__", "_lists", "name")

    untold = "its keys are"

    #: Makes a table of a dict or set of Python; see `dict_conversion.table_of`.
    #: Python's message for a loop that adds or removes keys of its own table.
    changed: ClassVar[str]

    def __init__(self, lists: Sequence[StagedList], name: str) -> None:
        #: The list of the keys; for a dict, the list of the values as well.
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
        """The forms of the keys and of the values."""
        return tuple(part.element for part in self._lists)

    def beside(self: _Self, elements: Sequence[Element]) -> _Self:
        """The table with room for such keys and values: see `BufferedList.beside`."""
        return self._of([p.beside([e]) for p, e in zip(self._lists, elements)])

    @property
    def _keys(self) -> StagedList:
        return self._lists[0]

    @property
    def _count(self) -> Any:
        return self._lists[0]._count

    # --- as parts ---------------------------------------------------------------------

    def _flatten(self) -> tuple[Any, ...]:
        """The tensors of the table: the buffers, and the count."""
        for column in self._lists:
            column._check_given()
        buffers = [buffer for column in self._lists for buffer in column._buffers]
        return (*buffers, self._count)

    def _unflatten(self: _Self, tensors: Sequence[Any]) -> _Self:
        """The table with other buffers and another count; the inverse of `_flatten`."""
        *buffers, count = tensors
        remaining = iter(buffers)
        lists = [
            column._unflatten([*(next(remaining) for _ in column._buffers), count])
            for column in self._lists
        ]
        return self._of(lists)

    def _of(self: _Self, lists: Sequence[StagedList]) -> _Self:
        return type(self)(lists, self.name)

    def _same_structure(self, other: StagedTable) -> bool:
        pairs = zip(self._lists, other._lists)
        return all(ours._same_structure(theirs) for ours, theirs in pairs)

    def _part_names(self, name: str) -> list[str]:
        """The names of the tensors in messages and in generated source."""
        labels = [f"{name}_keys", name]
        names = [
            label for label, rows in zip(labels, self._lists) for _ in rows._buffers
        ]
        return [*names, f"len_{name}"]

    def like(self, value: Any) -> Any:
        """A Python dict or set as a table like this one; other values as they are."""
        if isinstance(value, StagedTable) or not isinstance(value, self.kind):
            return value
        return hooks.table_of(value, *self.all_elements)

    def again(self: _Self) -> _Self:
        """A table with the present keys; later changes of this object spare it."""
        return self._of([column.again() for column in self._lists])

    __copy__ = again

    def __autograph_parts__(self) -> list[Any]:
        """The objects that the compiler compares to see whether the table changed."""
        return [part for column in self._lists for part in column.__autograph_parts__()]

    def __autograph_become__(self, state: Sequence[Any]) -> None:
        """Take the state that `__autograph_parts__` gave of a table."""
        remaining = iter(state)
        for column in self._lists:
            # A column that held only None may have got buffers for values.
            element, graph, count = next(remaining), next(remaining), next(remaining)
            buffers = [next(remaining) for _ in element.specs]
            column.__autograph_become__([element, graph, count, *buffers])

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        for column in self._lists:
            column._check()
        elements = tuple(column.element for column in self._lists)
        return (elements, self.name), self._flatten()

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Sequence[Any]) -> Any:
        """Outside of graphs the components become a dict or set of Python."""
        (elements, name), (*buffers, count) = metadata, components
        remaining = iter(buffers)
        columns = [(e, [next(remaining) for _ in e.specs]) for e in elements]
        if not isinstance(count, EagerTensor):
            names = ("keys", "values")
            lists = [StagedList(*c, count, n) for c, n in zip(columns, names)]
            return cls(lists, name)
        indices = range(int(count._array))
        keys, *others = columns
        return cls._python(
            [python_key(*keys, index) for index in indices],
            *([python_value(*column, index) for index in indices] for column in others),
        )

    @classmethod
    def _python(cls, keys: list[Any], *columns: list[Any]) -> Any:
        raise NotImplementedError

    def lists_shown(self) -> list[StagedList]:
        """The lists whose items the text of this container shows."""
        return self._lists

    def shown(self, *columns: list[Any]) -> Any:
        """The container of Python that these columns stand for when the graph runs."""
        return self._python(*columns)

    # --- keys -------------------------------------------------------------------------

    def _position(self, key: Any) -> Any:
        """The position of a key; the number of keys if the key is missing."""
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
        equal_keys: Any = None
        for column, tensor in zip(keys._columns(), tensors):
            if (column.dtype is dtypes.string) != (tensor.dtype is dtypes.string):
                return self._count
            same = equal(column, tensor)
            equal_keys = same if equal_keys is None else logical_and(equal_keys, same)
        if equal_keys is None:
            return self._count
        return emit(PLACE_OR_END, equal_keys, weak=False)

    def _put_key(self, key: Any, position: Any) -> Any:
        """Write a key at a position; returns the new number of keys."""
        self._keys._write(PUT, key, position, keep=True)
        return maximum(self._count, position + 1)

    def _remove_at(self, position: Any, count: Any) -> None:
        """Remove the key and value at a position; ``count`` keys remain."""
        for rows in self._lists:
            columns = [
                emit("ListDelete", b, rows._count, position) for b in rows._buffers
            ]
            rows._become(columns, count)

    def _popped(self, last: bool, message: str) -> list[Any]:
        """Take out the newest key, or the oldest, with its value."""
        raise_if(convert.as_tensor(equal(self._count, 0)), KeyError(message))
        position = self._count - 1 if last else convert.constant(0, dtypes.int32)
        rows = [column._row(position, shared=False) for column in self._lists]
        self._remove_at(position, self._count - 1)
        return rows

    def _check_present(self, position: Any, key: Any) -> None:
        raise_if(convert.as_tensor(position >= self._count), missing(key))

    def contains(self, key: Any) -> Any:
        """``key in items``."""
        return self._position(key) < self._count

    def keys(self) -> StagedList:
        """The keys, in the order in which they were added."""
        return TableView.of_table(self, lambda: self._keys)

    def sequence(self) -> StagedSequence:
        """The sequence that a loop iterates over: the present keys."""
        return self._keys.sequence()

    def length(self) -> Any:
        """``len(items)``, a tensor that stands for a Python int."""
        return self._keys.length()

    def __staged_truth__(self) -> Any:
        """``bool(items)``."""
        return self._keys.__staged_truth__()

    def clear(self) -> None:
        """Take all keys out."""
        for column in self._lists:
            column.clear()

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
    """Whether a table has all these keys, with equal values."""
    same = True
    for key, value in pairs:
        if same:
            same = key in table and table[key] == value
    return same


class StagedDict(StagedTable):
    """A dict in a graph. ``default`` makes the value of a missing key."""

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
        """The container of Python that these columns stand for when the graph runs."""
        items = self._python(*columns)
        return items if self.default is None else defaultdict(self.default, items)

    @property
    def _values(self) -> StagedList:
        return self._lists[1]

    def __getitem__(self, key: Any) -> Any:
        position = self._position(key)
        if self.default is not None:
            value = self._at(position, self.default)
            if self.default is not zero:
                self._set(position, key, value)
            return value
        self._check_present(position, key)
        return self._values._row(position, shared=True)

    def _at(self, position: Any, otherwise: Callable[[], Any]) -> Any:
        """The value at a position, or ``otherwise()`` for a missing key."""
        row = lambda: self._values._row(position, shared=True)  # noqa: E731
        return either(position < self._count, row, otherwise)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._set(self._position(key), key, value)

    def _set(self, position: Any, key: Any, value: Any) -> None:
        count = self._put_key(key, position)
        self._values._write(PUT, value, position, keep=False)
        for column in self._lists:
            column._count = count

    def __delitem__(self, key: Any) -> None:
        position = self._position(key)
        self._check_present(position, key)
        self._remove_at(position, self._count - 1)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        if plain_class(default) is not list:
            return self._at(self._position(key), lambda: default)
        # Lists of several lengths: either is a copy that refuses changes.
        values = self._values.beside([taken_apart(default, self.name)[0]])
        structure, specs = values._element.structure, values._element.specs
        if type(structure) is not Ragged:
            return self._at(self._position(key), lambda: default)
        position, shared = self._position(key), values._shared
        return either(
            position < self._count,
            lambda: values._row(position, shared=True),
            lambda: values._element.pack(hooks.ragged_of(default, specs[0]), shared),
        )

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which gets the default if it has none."""
        position = self._position(key)
        value = self._at(position, lambda: default)
        self._set(position, key, value)
        return value

    def pop(self, key: Any, default: Any = _ABSENT) -> Any:
        """Take a key out, and give its value."""
        position = self._position(key)
        if default is _ABSENT:
            self._check_present(position, key)
            value = self._values._row(position, shared=False)
        else:
            value = self._at(position, lambda: default)
        removed = convert.cast(convert.as_tensor(position < self._count), dtypes.int32)
        self._remove_at(position, self._count - removed)
        return value

    def popitem(self) -> tuple[Any, Any]:
        """Take the newest key out, and give it with its value."""
        key, value = self._popped(True, "popitem(): dictionary is empty")
        return key, value

    def keys(self) -> StagedList:
        """The keys, in the order in which they were added.

        Python itself calls this in ``d |= items`` of a Python dict, which cannot become
        a dict of the graph there.
        """
        if is_in_place(frame_at(1)):
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
        for column in self._lists:
            column._check()
            column._shared.pass_on(pairs._shared)
        return pairs

    def update(self, *others: Any, **named: Any) -> None:
        """Set the keys of other dicts, or of pairs."""
        for other in (*others, named):
            pairs = other.items() if isinstance(other, (dict, StagedDict)) else other
            set_pairs(self, pairs)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (dict, StagedDict)):
            return False
        table: Any = self.like(other)
        if not self._same_elements(table):
            raise self._cannot("be compared with ==", "the other one is of other kinds")
        same_count = equal(self._count, table._count)
        return logical_and(same_count, has_pairs(self.items(), table))

    def _same_elements(self, other: StagedDict) -> bool:
        """Whether the keys and values of both can be compared."""
        pairs = zip(self._lists, other._lists)
        return all(ours._element.is_like(theirs._element) for ours, theirs in pairs)

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
    result = cls.__new__(cls)
    result.name = table.name
    if isinstance(table, StagedDict):
        result.default = table.default
    result._lists = [copy(column.again()) for column in table._lists]
    return result


register(
    StagedTable,
    Kind(
        lambda table: [part._shared.version for part in table._lists],
        _table_like,
        reads=frozenset(),
        changes=frozenset({"_for_staged"}),
        copies=frozenset({"again", "copy", "__copy__"}),
    ),
)
