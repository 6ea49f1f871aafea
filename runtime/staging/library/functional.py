"""`functools.reduce`, `itertools` and functions of `operator` in ordinary Python.

Where the number of items is known, `itertools` itself works on a list of them.
Otherwise the graph counts them: most functions give a sequence that computes its items
one by one; those that call a function for each item give a list. The staged builtins
find these functions in `FUNCTIONS`.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.ops.convert import cast
from runtime.ops.elementwise.arithmetic import maximum, minimum
from runtime.staging.library.ordering import listed
from runtime.staging.library.ordinary import Ordinary, with_last
from runtime.staging.lists.sequences import (
    StagedRange,
    StagedSequence,
    as_sequence,
    staged_range,
    weakened,
)
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.state.branches import either, raise_if
from runtime.staging.texts import BUILTINS
from runtime.staging.tracing.subgraph import predicate, state_tensor

#: The items of a sequence without an end.
_ENDLESS = dtypes.int64.limits[1]


class Counted(StagedSequence):
    """Items computed from their index: computing one again costs little."""


def _python_items(items: Any) -> Any:
    """An iterable of Python for `items`; None if only a graph knows their number."""
    if hasattr(items, "sequence") and not isinstance(items, Tensor):
        return None  # a container of the graph
    if isinstance(items, (SymbolicTensor, StagedSequence)):
        sequence = as_sequence(items)
        if not isinstance(sequence.length, int):
            return None
        return [sequence.item(index) for index in range(sequence.length)]
    return items


def _counted(items: Any, function: str) -> StagedSequence:
    """The items as a sequence, of which an item may be computed several times."""
    if isinstance(items, Iterator):
        raise state_error(
            "AG303",
            f"itertools.{function}() was given an iterator beside what a tensor "
            "decides: nobody knows how many items it has",
            "make it a list: `list(iterator)`",
        )
    if isinstance(items, StagedSequence) and not isinstance(
        items, (Counted, StagedRange)
    ):
        items = listed(items)
    return as_sequence(items)


def _length(items: StagedSequence) -> Any:
    length = items.length
    return max(length, 0) if isinstance(length, int) else maximum(length, 0)


def _list(items: Any) -> Any:
    """The items as a list: a Python list where their number is known."""
    countable = _python_items(items)
    if countable is not None:
        return list(countable)
    return items if isinstance(items, StagedList) else listed(as_sequence(items))


# --- functools ------------------------------------------------------------------------

_ABSENT = object()


def _reduce(function: Any, iterable: Any, initial: Any = _ABSENT) -> Any:
    items = _python_items(iterable)
    items = _counted(iterable, "") if items is None else items
    if initial is not _ABSENT:
        return _folded(function, items, initial)
    return _joined(function, _list(items))


@Ordinary
def _folded(function: Any, items: Any, total: Any) -> Any:
    for item in items:
        total = function(total, item)
    return total


@Ordinary
def _joined(function: Any, items: Any) -> Any:
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = items[0]
    for item in items[1:]:
        total = function(total, item)
    return total


# --- itertools: items of known and unknown number -------------------------------------


def _of_items(
    name: str, staged: Callable[..., Any], first: int = 0, last: int | None = None
) -> Callable[..., Any]:
    """A function of `itertools`, of which ``args[first:last]`` are iterated.

    `staged` is called where only the graph knows the number of items of an argument.
    """
    function = getattr(itertools, name)

    def of_items(*args: Any, **options: Any) -> Any:
        end = len(args) if last is None else last
        countable = [
            _python_items(value) if first <= index < end else value
            for index, value in enumerate(args)
        ]
        if any(value is None for value in countable[first:end]):
            return staged(*args, **options)
        return function(*countable, **options)

    return of_items


def _accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    items = _list(iterable)
    totals, rest = (items[:1], items[1:]) if initial is None else ([initial], items)
    return _totals(totals, rest, _added if func is None else func)


def _added(one: Any, other: Any) -> Any:
    return one + other


@Ordinary
def _totals(totals: Any, items: Any, function: Any) -> Any:
    for item in items:
        totals = with_last(totals, function(totals[-1], item))
    return totals


def _chain(*iterables: Any) -> Any:
    return _joined_lists([_counted(items, "chain") for items in iterables])


def _chain_all(iterables: Any) -> Any:
    inner = _python_items(iterables)
    if inner is None:
        return _joined_lists(_counted(iterables, "chain.from_iterable"))
    inner = list(inner)
    countable = list(map(_python_items, inner))
    is_open = any(items is None for items in countable)
    return _chain(*inner) if is_open else itertools.chain(*countable)


@Ordinary
def _joined_lists(sequences: Any) -> Any:
    items: Any = []
    for sequence in sequences:
        for item in sequence:
            items = with_last(items, item)
    return items


def _product(*iterables: Any, repeat: int = 1) -> Counted:
    pools = [_counted(items, "product") for items in iterables] * repeat
    lengths = list(map(_length, pools))

    def item(index: Any) -> tuple[Any, ...]:
        members: list[Any] = []
        for pool, length in zip(reversed(pools), reversed(lengths)):
            members.append(pool.item(index % length))
            index = index // length
        return tuple(reversed(members))

    return Counted(math.prod(lengths), item)


def _chosen(name: str) -> Callable[..., Any]:
    """``combinations`` and its kin: tuples of positions, mapped to items."""

    def chosen(iterable: Any, r: Any = None) -> Any:
        getattr(itertools, name)((), r)  # TypeError and ValueError are Python's
        if r is None:
            raise state_error(
                "AG303",
                "itertools.permutations() of all items, whose number a tensor decides",
                "say how many items each has: permutations(items, r)",
            )
        items = _counted(iterable, name)
        if r == 0:
            return iter([()])
        positions = _single_positions(_length(items))
        for _ in range(r - 1):
            positions = _longer_positions(positions, _length(items), name)
        return Counted(
            as_sequence(positions).length,
            lambda index: tuple(map(items.item, as_sequence(positions).item(index))),
        )

    return chosen


@Ordinary
def _single_positions(length: Any) -> Any:
    return [(index,) for index in range(length)]


@Ordinary
def _longer_positions(positions: Any, length: Any, name: str) -> Any:
    if name == "permutations":
        return [
            (*position, index)
            for position in positions
            for index in range(length)
            if index not in position
        ]
    step = 1 if name == "combinations" else 0
    return [
        (*position, index)
        for position in positions
        for index in range(position[-1] + step, length)
    ]


def _islice(iterable: Any, *ends: Any) -> Any:
    itertools.islice((), *(0 if _is_tensor(end) else end for end in ends))
    if not any(map(_is_tensor, ends)) and _python_items(iterable) is not None:
        return itertools.islice(_python_items(iterable), *ends)
    start, stop, step = {1: (0, *ends, 1), 2: (*ends, 1), 3: ends}[len(ends)]
    items = _counted(iterable, "islice")
    for end in filter(_is_tensor, (start, stop)):
        raise_if(predicate(end < 0), ValueError(_ISLICE))
    if _is_tensor(step):
        raise_if(predicate(step < 1), ValueError(_ISLICE_STEP))
    stop = _length(items) if stop is None else _smaller(stop, _length(items))
    indices = staged_range(start or 0, stop, 1 if step is None else step)
    return Counted(indices.length, lambda i: items.item(indices.item(i)))


_ISLICE = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize."
_ISLICE_STEP = "Step for islice() must be a positive integer or None."


def _is_tensor(value: Any) -> bool:
    return isinstance(value, SymbolicTensor)


def _smaller(one: Any, other: Any) -> Any:
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return -maximum(-one, -other)


def _zip_longest(*iterables: Any, fillvalue: Any = None) -> Counted:
    pools = [_counted(items, "zip_longest") for items in iterables]
    longest: Any = 0
    for pool in pools:
        longest = -_smaller(-longest, -_length(pool))

    def item_of(pool: StagedSequence, index: Any) -> Any:
        return either(index < pool.length, lambda: pool.item(index), lambda: fillvalue)

    return Counted(longest, lambda i: tuple(item_of(p, i) for p in pools))


def _pairwise(iterable: Any) -> Counted:
    items = _counted(iterable, "pairwise")
    pair = (items.item, items.item)
    return Counted(items.length - 1, lambda i: (pair[0](i), pair[1](i + 1)))


def _repeat(value: Any, times: Any = None) -> Any:
    if not _is_tensor(times):
        ends = () if times is None else (times,)
        return itertools.repeat(value, *ends)
    return Counted(staged_range(times).length, lambda index: value)


def _cycle(iterable: Any) -> Counted:
    items = _counted(iterable, "cycle")
    length = _length(items)
    # An empty iterable repeats nothing.
    endless = weakened(minimum(length, 1)) * _ENDLESS
    return Counted(endless, lambda index: items.item(index % length))


def _count(start: Any = 0, step: Any = 1) -> Counted:
    numbers = staged_range(start, start, step)  # AG204 for floats
    return Counted(state_tensor(_ENDLESS), numbers.item)


def _starmap(function: Any, iterable: Any) -> StagedSequence:
    items = _counted(iterable, "starmap")
    return StagedSequence(items.length, lambda index: function(*items.item(index)))


# --- itertools: functions that ask about each item ------------------------------------


def _asking(search: Any) -> Callable[[Any, Any], Any]:
    def asked(function: Any, iterable: Any) -> Any:
        items = _python_items(iterable)
        return search(function, _counted(iterable, "") if items is None else items)

    return asked


@Ordinary
def _takewhile(function: Any, items: Any) -> Any:
    taken: Any = []
    for item in items:
        if not function(item):
            break
        taken = with_last(taken, item)
    return taken


@Ordinary
def _dropwhile(function: Any, items: Any) -> Any:
    dropped = 0
    for item in items:
        if not function(item):
            break
        dropped += 1
    return [item for index, item in enumerate(items) if index >= dropped]


@Ordinary
def _filterfalse(function: Any, items: Any) -> Any:
    return [
        item for item in items if not (item if function is None else function(item))
    ]


def _compress(data: Any, selectors: Any) -> Any:
    return _compressed(_list(data), _list(selectors))


@Ordinary
def _compressed(data: Any, selectors: Any) -> Any:
    return [item for item, selects in zip(data, selectors) if selects]


# --- operator -------------------------------------------------------------------------


@Ordinary
def _count_of(items: Any, value: Any) -> Any:
    count = 0
    for item in items:
        if item == value:
            count += 1
    return count


@Ordinary
def _index_of(items: Any, value: Any) -> Any:
    index = 0
    found = False
    for item in items:
        if item == value:
            found = True
            break
        index += 1
    if not found:
        raise ValueError("sequence.index(x): x not in sequence")
    return index


@Ordinary
def _setitem(items: Any, key: Any, value: Any) -> None:
    items[key] = value


@Ordinary
def _delitem(items: Any, key: Any) -> None:
    del items[key]


@Ordinary
def _is(one: Any, other: Any) -> Any:
    # True and False are the same objects in every variable.
    if other is True:
        return one is True
    if other is False:
        return one is False
    return one is other


@Ordinary
def _is_not(one: Any, other: Any) -> Any:
    return not _is(one, other)


def _index(value: Any) -> Any:
    dtype = getattr(value, "dtype", dtypes.string)
    if not (dtype.is_integer or dtype.is_bool) or value.shape.rank not in (0, None):
        raise TypeError(f"{value!r} cannot be interpreted as an integer")
    return weakened(cast(value, dtypes.int64) if dtype.is_bool else value)


def _mod(one: Any, other: Any) -> Any:
    return BUILTINS["percent"](one, other) if isinstance(one, str) else one % other


def _ordinary(function: Callable[..., Any]) -> Any:
    """An expression whose operators are converted as in the user's code."""
    return functools.wraps(function)(Ordinary(function))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "functools.reduce": _reduce,
    "itertools.accumulate": _of_items("accumulate", _accumulate, 0, 1),
    "itertools.chain": _of_items("chain", _chain),
    "itertools.chain.from_iterable": _chain_all,
    "itertools.combinations": _of_items("combinations", _chosen("combinations"), 0, 1),
    "itertools.combinations_with_replacement": _of_items(
        "combinations_with_replacement",
        _chosen("combinations_with_replacement"),
        0,
        1,
    ),
    "itertools.compress": _compress,
    "itertools.count": _count,
    "itertools.cycle": _of_items("cycle", _cycle),
    "itertools.dropwhile": _asking(_dropwhile),
    "itertools.filterfalse": _asking(_filterfalse),
    "itertools.islice": _islice,
    "itertools.pairwise": _of_items("pairwise", _pairwise),
    "itertools.permutations": _of_items("permutations", _chosen("permutations"), 0, 1),
    "itertools.product": _of_items("product", _product),
    "itertools.repeat": _repeat,
    "itertools.starmap": _of_items("starmap", _starmap, 1),
    "itertools.takewhile": _asking(_takewhile),
    "itertools.zip_longest": _of_items("zip_longest", _zip_longest),
    "operator.concat": _ordinary(lambda a, b: a + b),
    "operator.contains": _ordinary(lambda a, b: b in a),
    "operator.countOf": _count_of,
    "operator.delitem": _delitem,
    "operator.eq": _ordinary(lambda a, b: a == b),
    "operator.ge": _ordinary(lambda a, b: a >= b),
    "operator.getitem": _ordinary(lambda a, b: a[b]),
    "operator.gt": _ordinary(lambda a, b: a > b),
    "operator.indexOf": _index_of,
    "operator.index": _index,
    "operator.is_": _is,
    "operator.is_not": _is_not,
    "operator.le": _ordinary(lambda a, b: a <= b),
    "operator.lt": _ordinary(lambda a, b: a < b),
    "operator.mod": _mod,
    "operator.ne": _ordinary(lambda a, b: a != b),
    "operator.not_": _ordinary(lambda a: not a),
    "operator.setitem": _setitem,
    "operator.truth": _ordinary(lambda a: True if a else False),  # noqa: SIM210
}
