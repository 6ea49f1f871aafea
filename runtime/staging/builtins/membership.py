"""``x in xs`` where a tensor decides: the staged builtin ``in``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from runtime.core.graph.record import Op, register
from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from runtime.ops.convert import as_tensor, cast, is_tensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_and, logical_or
from runtime.ops.reduce.reductions import reduce_any
from runtime.staging.library.dict_conversion import contains_key
from runtime.staging.lists.sequences import (
    StagedRange,
    StagedSequence,
    calls_functions,
    first_index,
    weakened,
)
from runtime.staging.state.loop_state import stage_loop
from runtime.staging.texts import is_text
from runtime.staging.tracing.subgraph import predicate

#: With this many Python ints or more, a tensor is compared with all of them at once.
_MANY = 4


def contains(item: Any, items: Any) -> Any:
    """``item in items``: a bool tensor, or a bool where no tensor decides."""
    if isinstance(items, (StagedRange, range)) and is_tensor(item):
        return _in_range(as_tensor(item), items)
    if isinstance(items, StagedSequence):
        return _in_sequence(item, items)
    if is_text(items):
        return apply("TextContains", items, as_tensor(item))
    if is_tensor(items):
        return reduce_any(equal(items, item))
    if isinstance(items, (str, bytes)):
        return apply("TextContains", as_tensor(items), as_tensor(item))
    if isinstance(item, tuple) and isinstance(items, (dict, set, frozenset)):
        return contains_key(item, items)
    return _in_items(item, items)


def _in_items(item: Any, items: Iterable[Any]) -> Any:
    """Compare with each item in turn; an equal Python object ends the search."""
    items = list(items)
    if len(items) >= _MANY and {type(other) for other in items} == {int}:
        if is_tensor(item) and item.dtype.is_integer and item.shape.rank == 0:
            low, high = item.dtype.limits
            fitting = [other for other in items if low <= other <= high]
            return reduce_any(equal(item, fitting)) if fitting else False
    found: Any = False
    for other in items:
        same = _same(item, other)
        if same is True:
            # The comparisons before this one no longer matter.
            return True
        if same is not False:
            found = same if found is False else logical_or(found, same)
    return found


def _same(one: Any, other: Any) -> Any:
    """``one is other or one == other``: a bool, or a scalar bool tensor."""
    if one is other:
        return True
    answer = one == other
    return predicate(answer) if isinstance(answer, SymbolicTensor) else bool(answer)


def _in_sequence(item: Any, items: StagedSequence) -> Any:
    if calls_functions(items):
        raise state_error(
            "AG303",
            "`in` of a map over tensors calls a function until an item is found, and "
            "what the function changes would be lost",
            "write any(item == x for item in …)",
        )

    def step(state: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        index, _ = state
        found = predicate(_same(items.item(index), item))
        following = index + 1
        go_on = logical_and(following < items.length, ~found)
        return go_on, (following, found)

    start = first_index(items.length)
    state = (start, as_tensor(False))
    _, found = stage_loop(start < items.length, step, state, ("index", "found"))
    return found


def _in_range(item: Tensor, items: StagedRange | range) -> Any:
    if item.dtype is dtypes.string:
        return False
    if item.dtype.is_bool:
        item = cast(item, dtypes.int32)
    if item.dtype.is_integer:
        item = weakened(item)
    if isinstance(items, range):
        if not items:
            return False
        start, step = items.start, abs(items.step)
        low, high = sorted((items[0], items[-1]))
        if item.dtype.is_integer:
            least, most = item.dtype.limits
            low, high = max(low, least), min(high, most)
            # Count from the least number of the range that the dtype can hold.
            start = low + (start - low) % step
            if start > high:
                return False
        inside = logical_and(item >= low, item <= high)
    else:
        start, step = items.start, items.step
        index = (item - start) // step
        inside = logical_and(index >= 0, index < items.length)
    if type(step) is not int or abs(step) != 1 or not item.dtype.is_integer:
        inside = logical_and(inside, equal((item - start) % step, 0))
    return predicate(inside)


# --- text in text ---------------------------------------------------------------------


def _text_contains(text: Any, part: Any) -> Any:
    wanted = np.asarray(part).item()
    if type(wanted) is not bytes:
        raise _no_text(of_array(np.asarray(part)))
    return np.array(wanted in np.asarray(text).item())


def _infer_text(text: TensorSpec, part: TensorSpec) -> TensorSpec:
    if part.dtype is not dtypes.string:
        raise _no_text(part.dtype)
    return TensorSpec((), dtypes.bool)


def _no_text(dtype: Any) -> TypeError:
    return TypeError(
        f"'in <string>' requires string as left operand, not a {dtype.name} tensor"
    )


register(Op("TextContains", _text_contains, _infer_text, strong=True, family="text"))
