"""`collections.Counter` and `OrderedDict` with keys that only the graph knows.

`dict_conversion.table_of` makes them; their methods change the lists of the table.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NoReturn

from runtime.core.tensor import Tensor
from runtime.ops.elementwise.arithmetic import maximum
from runtime.ops.elementwise.logical import logical_and
from runtime.staging.library.ordinary import Ordinary, with_item
from runtime.staging.library.tables import StagedDict, zero
from runtime.staging.lists.parts import index_tensor
from runtime.staging.lists.staged_list import StagedList


def class_of(items: Any) -> type[StagedDict]:
    """The class that a dict of Python becomes in a graph."""
    if isinstance(items, Counter):
        return StagedCounter
    return StagedOrderedDict if isinstance(items, OrderedDict) else StagedDict


@Ordinary
def count_pairs(counts: Any, pairs: Any, sign: int) -> None:
    """Add counts to a Counter, or subtract them (``sign`` -1)."""
    for key, times in pairs:
        counts = with_item(counts, key, counts[key] + sign * times)


@Ordinary
def count_each(counts: Any, items: Any, sign: int) -> None:
    """Add 1 to the count of each item in a Counter, or -1."""
    for item in items:
        counts = with_item(counts, item, counts[item] + sign)


@Ordinary
def has_counts(pairs: Any, counts: Any) -> Any:
    """Whether a Counter has these counts; it has 0 of a missing key."""
    same = True
    for key, times in pairs:
        if same:
            same = counts[key] == times
    return same


class StagedCounter(StagedDict):
    """A Counter in a graph."""

    __slots__ = ()

    def __init__(
        self,
        lists: Sequence[StagedList],
        name: str,
        default: Callable[[], Any] | None = zero,
    ) -> None:
        super().__init__(lists, name, default)

    def shown(self, *columns: list[Any]) -> Any:
        """What Python shows for such lists, when they are known."""
        return Counter(self._python(*columns))

    def __delitem__(self, key: Any) -> None:
        self.pop(key, 0)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (Counter, StagedCounter)):
            return super().__eq__(other)
        counter: Any = self.like(other)
        if not self._same_elements(counter):
            raise self._cannot("be compared with ==", "the other one is of other kinds")
        return logical_and(
            has_counts(self.items(), counter), has_counts(counter.items(), self)
        )

    def update(self, *others: Any, **named: Any) -> None:
        """Add the counts of other dicts, or count the items of iterables."""
        for other in (*others, named):
            self._add(other, 1)

    def subtract(self, *others: Any, **named: Any) -> None:
        """Subtract the counts of other dicts, or count items of iterables down."""
        for other in (*others, named):
            self._add(other, -1)

    def _add(self, other: Any, sign: int) -> None:
        """Count a dict of counts, or single items."""
        if isinstance(other, (dict, StagedDict)):
            count_pairs(self, other.items(), sign)
        else:
            count_each(self, other, sign)

    def total(self) -> Any:
        """The sum of the counts."""
        return self._values.sum()

    def most_common(self, n: Any = None) -> Any:
        """Keys and counts, the largest count first; equal ones in their order."""
        pairs = self.items()
        ordered = StagedList(pairs._element, pairs._buffers, pairs._count, self.name)
        ordered.sort(key=itemgetter(1), reverse=True)
        if n is None:
            return ordered
        return ordered[
            : maximum(index_tensor(n), 0) if isinstance(n, Tensor) else max(n, 0)
        ]

    def elements(self) -> NoReturn:
        """Refused with AG210: only the graph knows how often a key occurs."""
        raise self._cannot("give its elements", "their number is no Python number")

    def __or__(self, other: Any) -> NoReturn:
        raise self._cannot(
            "be joined by an operator",
            "that leaves keys out; `update` and `subtract` count into one of them",
        )

    __ror__ = __ior__ = __and__ = __rand__ = __iand__ = __or__
    __add__ = __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = __or__


class StagedOrderedDict(StagedDict):
    """An OrderedDict in a graph."""

    __slots__ = ()

    def shown(self, *columns: list[Any]) -> Any:
        """What Python shows for such lists, when they are known."""
        return OrderedDict(self._python(*columns))

    def move_to_end(self, key: Any, last: bool = True) -> None:
        """Make a key the newest one, or the oldest; KeyError if it is not there."""
        position = self._position(key)
        self._check_present(position, key)
        rows = [column._row(position, shared=False) for column in self._lists]
        self._remove_at(position, self._count - 1)
        for column, row in zip(self._lists, rows):
            if last:
                column.append(row)
            else:
                column.insert(0, row)

    def popitem(self, last: bool = True) -> tuple[Any, Any]:
        """Take the newest key out, or the oldest, and give it with its value."""
        key, value = self._popped(last, "dictionary is empty")
        return key, value
