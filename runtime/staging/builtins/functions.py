"""Python's builtins of tensors, of ranges of tensors and of lists that hold tensors.

`staging.compiler.backend` finds them in `BUILTINS` when converted code calls a builtin
with a tensor in an argument. They add nodes to the graph being built.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.ops import convert
from runtime.ops.arrays.gather import gather, where
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.sorting import argsort, sort
from runtime.ops.convert import as_tensor, cast, constant, is_tensor
from runtime.ops.elementwise.arithmetic import equal, maximum, minimum
from runtime.ops.elementwise.functions import round as round_half_even
from runtime.ops.elementwise.logical import logical_and, logical_not, logical_or
from runtime.ops.reduce.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_sum,
)
from runtime.ops.staged import python_numbers as numbers
from runtime.ops.staged.flow import raise_error
from runtime.ops.text import strings
from runtime.staging import texts
from runtime.staging.builtins.membership import contains
from runtime.staging.library.dict_conversion import dict_from, keyed, opening, set_from
from runtime.staging.library.ordering import compared, listed, sorted_items
from runtime.staging.library.tables import StagedTable
from runtime.staging.lists import sequences
from runtime.staging.lists.assignments import delitem, setitem
from runtime.staging.lists.gathering import items_of
from runtime.staging.lists.items import array_item, getitem
from runtime.staging.lists.sequences import (
    StagedSequence,
    as_sequence,
    calls_functions,
    weakened,
)
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.choice import is_open
from runtime.staging.objects.copy import chosen, frozen
from runtime.staging.state.branches import either, raise_if
from runtime.staging.state.loop_state import stage_loop
from runtime.staging.tracing.subgraph import predicate, state_tensor

_ABSENT = object()
is_text = texts.is_text


def _error_of(call: Callable[..., Any], *args: Any) -> Exception:
    """The exception that Python raises for a call."""
    try:
        call(*args)
    except Exception as error:
        return error.with_traceback(None)
    raise AssertionError(f"{call} was to fail")


def _vector(values: Any, name: str) -> Tensor:
    """The tensor, whose elements can be compared; a matrix has rows."""
    tensor = state_tensor(values)
    if tensor.shape.rank not in (1, None):
        raise TypeError(
            f"{name}() takes a tensor of rank 1 or several scalars, not a tensor of "
            f"shape {tensor.shape}; use tf.reduce_{name}"
        )
    return tensor


def _is_sequence(values: Any) -> bool:
    return is_tensor(values) or isinstance(values, StagedSequence)


def folded(
    items: StagedSequence, first: int, start: tuple[Any, ...], step: Callable[..., Any]
) -> tuple[Any, ...]:
    """``state = step(item, *state)`` for each item from number `first` on."""

    def body(state: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        index, *values = state
        go_on, *after = step(items.item(index), *values)
        following = index + 1
        return logical_and(go_on, following < items.length), (following, *after)

    index = sequences.first_index(items.length, first)
    names = ("index", *(f"value {number}" for number in range(len(start))))
    _, *after = stage_loop(index < items.length, body, (index, *start), names)
    return tuple(after)


# --- numbers --------------------------------------------------------------------------


def _scalar(value: Any, purpose: str) -> Tensor:
    tensor = state_tensor(value)
    if tensor.shape.rank not in (0, None):
        raise TypeError(
            f"only a scalar tensor can become a Python {purpose}; this one has the "
            f"shape {tensor.shape}"
        )
    return tensor


def _int(value: Any, base: Any = None) -> Any:
    tensor = _scalar(value, "int")
    if tensor.dtype.is_floating or tensor.dtype is dtypes.string:
        return weakened(numbers.to_int(tensor, base))
    if tensor.dtype.is_complex:
        raise _error_of(int, 1j)
    if tensor.dtype.is_bool:
        return weakened(cast(tensor, dtypes.int64))
    return weakened(tensor)


def _float(value: Any) -> Any:
    tensor = _scalar(value, "float")
    if tensor.dtype is dtypes.string:
        return weakened(numbers.to_float(tensor))
    if tensor.dtype.is_complex:
        raise _error_of(float, 1j)
    if tensor.dtype.is_bool:
        return weakened(cast(tensor, dtypes.float64))
    return _as_float(tensor)


def _as_float(tensor: Tensor) -> Any:
    """A number as a Python float; a float32 is exactly the same number there."""
    return convert.cast_number(tensor, dtypes.float64, weak=True)


def _complex(real: Any = 0, imag: Any = 0) -> Any:
    """``complex(real, imag)``: a part that is complex itself adds to the other."""
    scalars = [_scalar(scalar, "complex") for scalar in (real, imag)]
    if any(scalar.dtype is dtypes.string for scalar in scalars):
        raise TypeError("complex() of a text is not there; use float() of its parts")
    real_part, imag_part = (
        cast(scalar if scalar.dtype.is_complex else _float(scalar), dtypes.complex128)
        for scalar in scalars
    )
    return weakened(real_part + imag_part * constant(1j))


def _round(value: Any, ndigits: Any = None) -> Any:
    tensor = state_tensor(value)
    if ndigits is not None:
        rounded = numbers.round_digits(tensor, ndigits)
    else:
        rounded = round_half_even(tensor)
        if tensor.spec.weak:
            return _int(rounded)
    return weakened(rounded) if tensor.spec.weak else rounded


def _pow(base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return base**exp
    return numbers.power_modulo(base, exp, mod)


def _len(value: Any) -> Any:
    if isinstance(value, StagedSequence):
        return weakened(maximum(value.length, 0))
    if texts.is_text(value):
        return weakened(strings.length(value, unit="UTF8_CHAR"))
    return weakened(sequences.length_of(state_tensor(value)))


# --- all items ------------------------------------------------------------------------


class _Extreme:
    """``max`` and ``min``: the first item that no other item is better than."""

    def __init__(
        self,
        name: str,
        better: Callable[[Any, Any], Any],
        two: Callable[[Any, Any], Any],
        many: Callable[..., Any],
    ) -> None:
        self._name = name
        self._better = better
        self._two = two
        self._many = many
        self._empty = _error_of(getattr(builtins, name), ())

    def __call__(self, *args: Any, key: Any = None, default: Any = _ABSENT) -> Any:
        if len(args) > 1:
            if default is not _ABSENT:
                raise TypeError(
                    f"Cannot specify a default for {self._name}() with multiple "
                    "positional arguments"
                )
            return self._of_list(list(args), key)
        (values,) = args
        if is_tensor(values) and key is None:
            vector = _vector(values, self._name)
            length = sequences.length_of(vector)
            return self._unless_empty(length, lambda: self._of_vector(vector), default)
        if _is_sequence(values):
            items = as_sequence(values)
            is_pythons = getattr(key, "__module__", None) == "builtins"
            if calls_functions(items) or not (key is None or is_pythons):
                return NotImplemented
            return self._unless_empty(
                items.length, lambda: self._of_sequence(items, key), default
            )
        listed = list(values)
        return self._unless_empty(
            len(listed), lambda: self._of_list(listed, key), default
        )

    def _unless_empty(self, length: Any, find: Callable[[], Any], default: Any) -> Any:
        if isinstance(length, int):
            if length > 0:
                return find()
            if default is not _ABSENT:
                return default
            # Raised when the graph runs, as the errors of all calls are.
            raise_error(self._empty)
            return None
        if default is not _ABSENT:
            return either(length > 0, find, lambda: default)
        # Reductions of no elements give the limit of the dtype; Python raises.
        raise_if(length <= 0, self._empty)
        return find()

    def _of_vector(self, vector: Tensor) -> Any:
        if vector.dtype.is_floating:
            return numbers.first_extreme(vector, self._better)
        return self._many(vector, axis=0)

    def _of_list(self, items: list[Any], key: Any) -> Any:
        best, *rest = items
        best_key = best if key is None else key(best)
        for item in rest:
            item_key = item if key is None else key(item)
            best, best_key = self._of_two(item, item_key, best, best_key, key)
        if any(best is item for item in items):
            return best
        return frozen(best, [item for item in items if is_open(item)])

    def _of_sequence(self, items: StagedSequence, key: Any) -> Any:
        def step(item: Any, best: Any, best_key: Any) -> Any:
            item_key = item if key is None else key(item)
            return True, *self._of_two(item, item_key, best, best_key, key)

        first = items.item(0)
        start = (first, first if key is None else key(first))
        return folded(items, 1, start, step)[0]

    def _of_two(
        self, item: Any, item_key: Any, best: Any, best_key: Any, key: Any
    ) -> tuple[Any, Any]:
        takes = compared(self._better, item_key, best_key)
        if not isinstance(takes, SymbolicTensor):
            return (item, item_key) if takes else (best, best_key)
        takes = predicate(takes)
        if key is not None or isinstance(item, (tuple, list, str)) or is_text(item):
            new, old = (item, item_key), (best, best_key)
            pair: tuple[Any, Any] = either(takes, lambda: new, lambda: old)
            return pair
        joined = self._two(best, item)
        if joined.dtype.is_floating:
            # Unlike Python's comparison, the operation prefers nan.
            joined = where(takes, item, best)
        return joined, joined


def _sum(values: Any, /, start: Any = 0) -> Any:
    if isinstance(values, StagedSequence):
        if calls_functions(values):
            return NotImplemented
        (total,) = folded(values, 0, (start,), lambda x, total: (True, total + x))
        return total
    if not is_tensor(values):
        return builtins.sum(values, start)
    if values.dtype.is_bool:
        values = weakened(cast(values, dtypes.int64))
    return reduce_sum(values, axis=0) + start


def _quantifier(name: str, over: Callable[..., Any], wanted: bool) -> Any:
    """``any`` (`wanted` ends the search) or ``all``."""
    join = logical_or if wanted else logical_and

    def quantifier(values: Any) -> Any:
        if isinstance(values, StagedSequence):
            if calls_functions(values):
                return NotImplemented

            def step(item: Any, _: Any) -> Any:
                truth = predicate(item)
                return logical_not(truth) if wanted else truth, truth

            return folded(values, 0, (as_tensor(not wanted),), step)[0]
        if is_tensor(values):
            return over(cast(_vector(values, name), dtypes.bool))
        result: Any = not wanted
        for item in values:
            if not isinstance(item, SymbolicTensor):
                if bool(item) is wanted:
                    return wanted
                continue
            truth = predicate(item)
            result = truth if isinstance(result, bool) else join(result, truth)
        return result

    return quantifier


def _sorted(values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    direction = "DESCENDING" if reverse else "ASCENDING"
    if texts.is_text(values):
        values = as_sequence(values)
    if is_tensor(values):
        tensor = state_tensor(values)
        if tensor.shape.rank not in (0, 1, None):
            return _sorted_rows(tensor, key or tuple, reverse)
        tensor = _vector(values, "sort")
        if key is None:
            return sort(tensor, direction=direction)
        if tensor.shape.rank is None or tensor.shape[0] is None:
            raise TypeError(
                "sorted() with a key takes a tensor of a known length: use tf.argsort"
            )
        items = [tensor[index] for index in builtins.range(tensor.shape[0])]
    else:
        tensor = None
        if isinstance(values, StagedSequence):
            values = listed(values)
        if isinstance(values, StagedList):
            ordered = values.copy()
            ordered.sort(key=key, reverse=reverse)
            return ordered
        items = list(values)
    if not items:
        return items if tensor is None else tensor
    if tensor is None:
        return items_of(sorted_items(items, key, reverse), len(items))
    keys = stack([key(item) for item in items])
    return gather(tensor, argsort(_vector(keys, "sort"), direction=direction))


def _sorted_rows(tensor: Tensor, key: Any, reverse: Any) -> Any:
    """The rows of a tensor as a list in order; without a key by their elements."""
    rows = listed(tensor)
    if isinstance(rows, StagedList):
        return _sorted_list(rows, key=key, reverse=reverse)
    return items_of(sorted_items(rows, key, reverse), len(rows)) if rows else rows


# --- sequences ------------------------------------------------------------------------


def _range(*args: Any) -> Any:
    if len(args) > 3:
        raise _error_of(range, *(1,) * len(args))
    if len(args) == 3:
        zero = _error_of(range, 1, 1, 0)
        if isinstance(args[2], SymbolicTensor):
            raise_if(equal(args[2], 0), zero)
        elif args[2] == 0:
            raise zero
    return sequences.staged_range(*args)


def _zip(*items: Any, strict: bool = False) -> Any:
    if strict:
        first, *others = (as_sequence(item).length for item in items)
        for number, length in enumerate(others, 2):
            whole = "argument 1" if number == 2 else f"arguments 1-{number - 1}"
            for differs, how in (length < first, "shorter"), (length > first, "longer"):
                error = ValueError(f"zip() argument {number} is {how} than {whole}")
                if isinstance(differs, SymbolicTensor):
                    raise_if(differs, error)
                elif differs:
                    raise error
    return sequences.staged_zip(*items)


def _items(values: Any, limit: int | None = None) -> list[Any] | None:
    """The items; None if their number is unknown, or over the limit."""
    items = as_sequence(values)
    if not isinstance(items.length, int):
        return None
    length = max(items.length, 0)
    if limit is not None and length > limit:
        return None
    return [items.item(index) for index in builtins.range(length)]


# --- containers -----------------------------------------------------------------------


def _join(separator: str, items: Any) -> Any:
    items = listed(items) if isinstance(items, StagedSequence) else items
    return texts.BUILTINS["join"](separator, items)


def _set(values: Any) -> Any:
    return set_from(listed(values) if isinstance(values, StagedSequence) else values)


BUILTINS: dict[str, Callable[..., Any]] = {
    **texts.BUILTINS,
    "all": _quantifier("all", reduce_all, False),
    "any": _quantifier("any", reduce_any, True),
    "array item": array_item,
    "bool": predicate,
    "complex": _complex,
    "chosen": chosen,
    "dict": dict_from,
    "enumerate": sequences.staged_enumerate,
    "float": _float,
    "frozenset": _set,
    "delitem": delitem,
    "getitem": getitem,
    "in": contains,
    "int": _int,
    "join": _join,
    "items": _items,
    "keyed": keyed,
    "len": _len,
    "map": sequences.staged_map,
    "opening": opening,
    "max": _Extreme("max", operator.gt, maximum, reduce_max),
    "min": _Extreme("min", operator.lt, minimum, reduce_min),
    "pow": _pow,
    "range": _range,
    "reversed": sequences.staged_reversed,
    "round": _round,
    "set": _set,
    "setitem": setitem,
    "sorted": _sorted,
    "sum": _sum,
    "zip": _zip,
}


# --- Python's builtins of lists whose length a tensor decides

Builtin = Callable[..., Any]
_OF_THEIR_OWN = frozenset({"chosen", "keyed", "opening", "setitem"})
#: Modules whose functions know lists themselves.
_MODULES = (
    *("bisect.", "collections.", "functools.", "heapq.", "itertools.", "operator."),
    "numpy.",
)


def for_lists(name: str, staged: Builtin | None) -> Builtin | None:
    """The staged builtin ``name``, such that it can be given lists, too."""
    own = OF_LISTS.get(name)
    if staged is None or name in _OF_THEIR_OWN or name.startswith(_MODULES):
        return staged

    def builtin(*args: Any, **options: Any) -> Any:
        if any(isinstance(arg, StagedTable) for arg in args):
            result = OF_TABLES.get(name, _of_keys)(*args, **options)
            if result is not NotImplemented:
                return result
            args = tuple(a.keys() if isinstance(a, StagedTable) else a for a in args)
        if any(isinstance(arg, StagedList) for arg in args):
            result = NotImplemented if own is None else own(*args, **options)
            if result is not NotImplemented:
                return result
            args = tuple(map(_items_of_list, args))
        return staged(*args, **options)

    return builtin


def watched(
    iterated: Any, state: Sequence[Any], inside: Sequence[Any]
) -> Callable[[Sequence[Any], Any], None]:
    """The check to call after an iteration of a loop over ``iterated``.

    The check takes the state after the iteration, and whether the loop is left (None if
    it has no exit). It raises AG210 if the iteration changed the list that the loop
    runs over, since Python would go on with the new items; for a dict or set the graph
    raises RuntimeError when it runs. ``state`` is the state before the loop, ``inside``
    the state at the start of the iteration.
    """
    table = getattr(iterated, "view_of", iterated)
    tables = [
        (slot, value, value._count)
        for slot, (old, value) in enumerate(zip(state, inside))
        if old is table and isinstance(value, StagedTable)
    ]
    over = (iterated, *getattr(iterated, "over", ()))
    lists = [
        (slot, value._flatten())
        for slot, (old, value) in enumerate(zip(state, inside))
        if any(old is one for one in over) and isinstance(value, StagedList)
    ]

    def check(after: Sequence[Any], stop: Any) -> None:
        for slot, old, count in tables:
            if isinstance(after[slot], StagedTable):
                grown = convert.as_tensor(after[slot]._count != count)
                if stop is not None:
                    grown = logical_and(grown, logical_not(stop))
                raise_if(grown, RuntimeError(old.changed))
        for slot, tensors in lists:
            value = after[slot]
            same = isinstance(value, StagedList) and all(
                one is other for one, other in zip(tensors, value._flatten())
            )
            if not same:
                raise state_error(
                    "AG210",
                    f"a loop over the list {state[slot].name!r}, whose length a tensor "
                    "decides, changes the list",
                    "loop over a copy, or with `while` and an index",
                )

    return check


def _of_keys(*args: Any, **options: Any) -> Any:
    return NotImplemented


def _items_of_list(value: Any) -> Any:
    return value.sequence() if isinstance(value, StagedList) else value


def _sum_of_list(items: StagedList, /, start: Any = 0) -> Any:
    return items.sum(start)


def _sorted_list(
    items: StagedList, /, *, key: Any = None, reverse: bool = False
) -> Any:
    result = _list(items)
    result.sort(key=key, reverse=reverse)
    return result


def _list(items: Any) -> StagedList:
    source = items if isinstance(items, StagedList) else items.keys()
    source._check()
    copy = StagedList(source._element, source._buffers, source._count, source.name)
    source._shared.pass_on(copy._shared)
    return copy


def _in_table(item: Any, items: Any) -> Any:
    return items.contains(item) if isinstance(items, StagedTable) else NotImplemented


def _in(item: Any, items: Any) -> Any:
    return items.contains(item) if isinstance(items, StagedList) else NotImplemented


#: The builtins that take a list itself; all others take the sequence of its items.
OF_LISTS: dict[str, Builtin] = {
    **texts.BUILTINS,
    "bool": predicate,
    "in": _in,
    "len": StagedList.length,
    "list": _list,
    "sorted": _sorted_list,
    "sum": _sum_of_list,
}

#: The builtins that take a dict or set itself; all others take the list of its keys.
OF_TABLES: dict[str, Builtin] = {
    **{name: texts.BUILTINS[name] for name in texts.BUILTINS.keys() - {"join"}},
    "bool": predicate,
    "dict": dict_from,
    "in": _in_table,
    "len": StagedTable.length,
    "list": _list,
}
