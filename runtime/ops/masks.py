"""Masks from lengths."""

from __future__ import annotations

from typing import Any

from runtime import dtypes
from runtime.dtypes import as_dtype
from runtime.ops.arguments import int_argument
from runtime.ops.array import expand_dims
from runtime.ops.convert import as_tensor, cast
from runtime.ops.elementwise import less, maximum
from runtime.ops.reductions import reduce_max
from runtime.ops.sequences import range as tensor_range

__all__ = ["sequence_mask"]


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Any:
    """For each length a row of `maxlen` that holds True that many times, then False.

    Without `maxlen` the rows are as long as the largest length.

    >>> sequence_mask([1, 3]).numpy().astype(int).tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    counts = as_tensor(lengths)
    if maxlen is None:
        # The largest of no lengths is no length.
        end: Any = maximum(reduce_max(counts), 0)
    else:
        end = int_argument(maxlen, "maxlen")
    places = cast(tensor_range(0, end), counts.dtype)
    mask = less(places, expand_dims(counts, -1), name=name)
    wanted = as_dtype(dtype)
    return mask if wanted is dtypes.bool else cast(mask, wanted)
