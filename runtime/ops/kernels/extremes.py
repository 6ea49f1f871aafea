"""The larger or smaller of the elements of an array and a number.

NumPy takes the maximum of two arrays three times as fast as that of an array and a
number: so large arrays are compared with an array that is full of that number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.ops.kernels.buffers import filled, new_result
from runtime.ops.kernels.threads import is_plain

Array = np.ndarray[Any, Any]

#: With fewer elements it is not worth the trouble.
FEW = 1 << 13

#: As many elements at a time as stay in the cache, with the number so many times.
BLOCK = 1 << 17


def extreme(ufunc: Any, x: Any, y: Any, out: Array | None = None) -> Any:
    """`np.maximum` or `np.minimum` of an array and a number, in any order.

    >>> extreme(np.maximum, np.array([-1.5, 2.5]), 0)
    array([0. , 2.5])
    """
    first = isinstance(x, np.ndarray) and x.ndim > 0
    array, number = (x, y) if first else (y, x)
    if np.size(array) < FEW or not array.flags.c_contiguous or is_plain():
        return ufunc(x, y, out=out)
    result = new_result(array.shape, array.dtype) if out is None else out
    source, found = array.reshape(-1), result.reshape(-1)
    for start in range(0, source.size, BLOCK):
        part = source[start : start + BLOCK]
        full = filled(number, part)
        pair = (part, full) if first else (full, part)
        ufunc(*pair, out=found[start : start + BLOCK])
    return result
