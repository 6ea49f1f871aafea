"""Random tensors made of plainer ones: see `runtime.passes.lowering`.

From the same generator the kernels draw the same numbers.
"""

from __future__ import annotations

from typing import Any

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.ops.arrays.dimensions import at, length, number
from runtime.ops.arrays.sorting import searchsorted
from runtime.ops.convert import cast
from runtime.ops.define import Slice, run
from runtime.ops.elementwise.arithmetic import minimum
from runtime.ops.elementwise.functions import exp
from runtime.ops.reduce.reductions import reduce_max
from runtime.ops.reduce.scans import cumsum


@decomposes("Multinomial")
def _categorical(logits: Any, *, num_samples: Any, dtype: Any, state: Any) -> Any:
    return _classes("RandomUniform", logits, num_samples, dtype, state=state)


@decomposes("StatelessMultinomial")
def _stateless(logits: Any, *, num_samples: Any, dtype: Any, seed: Any) -> Any:
    return _classes("StatelessRandomUniformV2", logits, num_samples, dtype, seed=seed)


def _classes(op: str, logits: Any, num_samples: Any, dtype: Any, **attrs: Any) -> Any:
    """The classes in whose parts of the sum of all weights points at random lie."""
    wide = cast(logits, dtypes.float64)
    largest = cast(reduce_max(logits, 1, keepdims=True), dtypes.float64)
    sums = cumsum(exp(wide - largest), 1)
    shape = [length(logits, 0), number(num_samples)]
    drawn = run(op, shape=shape, dtype=dtypes.float64, name=None, **attrs)
    points = drawn * at(sums, 1, Slice(-1, None, None))
    found = searchsorted(sums, points, "right", dtypes.int64)
    return cast(minimum(found, length(logits, 1) - 1), dtype)
