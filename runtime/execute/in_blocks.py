"""Running a function of blocks over whole arrays, on all threads.

Generated source has such functions above the one that it is about::

    @in_blocks("sliced", "scratch float32", "result float32")
    def gelu_blocks(x, t, y):
        np.divide(x, 1.4142135, out=t)
        ...

Each parameter has its kind: the first input that is ``sliced`` has the full shape, and
all that are get a part of their first axis; a ``shared`` one is broadcast as it is.
``scratch`` arrays are for intermediate values, ``result`` ones are given back. Called
with the inputs alone, the function gives the results. It gives None for arrays that are
small or of other shapes than it is made for: the caller then computes them in the
ordinary way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from runtime.ops.kernels.buffers import Unbuffered, borrow, give_back, new_result
from runtime.ops.kernels.threads import allowed_threads, share

__all__ = ["BlockFunction", "in_blocks"]

Array = np.ndarray[Any, Any]

#: Arrays with fewer elements are faster in the ordinary way, since they and their
#: intermediate values stay in the cache.
LARGE = 1 << 17

#: The bytes of one array that a block has. With smaller blocks the calls of NumPy cost
#: more than the cache saves, and threads meet more often at the interpreter's lock.
BLOCK = 1 << 21


def in_blocks(*kinds: str) -> Callable[..., BlockFunction]:
    """The decorator of a function of blocks, whose parameters have these kinds."""
    return partial(BlockFunction, kinds)


class BlockFunction:
    """A function that is run block by block; made by `in_blocks`."""

    def __init__(self, kinds: Sequence[str], function: Callable[..., Any]) -> None:
        self._function = function
        self._sliced = [kind == "sliced" for kind in kinds if " " not in kind]
        self._first = self._sliced.index(True)
        self._scratch = _dtypes(kinds, "scratch")
        self._results = _dtypes(kinds, "result")

    def __call__(self, *inputs: Any) -> Any:
        """The result for these inputs (a tuple of several), or None: see above."""
        shape = inputs[self._first].shape
        size = math.prod(shape)
        if size < LARGE or not self._takes(inputs, shape):
            return None
        results = [new_result(shape, dtype) for dtype in self._results]
        arrays = [*inputs, *results]
        if all(np.shape(value) in (shape, ()) for value in inputs):
            arrays = [
                array.reshape(-1) if np.ndim(array) else array for array in arrays
            ]
        rows = len(arrays[self._first])
        room, threads = BLOCK // inputs[self._first].itemsize, allowed_threads()
        # A multiple of the threads, lest some wait for the last block.
        count = min(rows, -(-size // (room * threads)) * threads)
        share(partial(self._run, arrays, rows, count), count, threads)
        return results[0] if len(results) == 1 else tuple(results)

    def _takes(self, inputs: Sequence[Any], shape: tuple[int, ...]) -> bool:
        """Whether the inputs fit the shape as their kinds say, and lie side by side."""
        for value, sliced in zip(inputs, self._sliced):
            own = np.shape(value)
            if type(value) is np.ndarray and not value.flags.c_contiguous:
                return False
            if sliced and own[:1] != shape[:1]:
                return False
            dims = zip(own[::-1], shape[::-1])
            if len(own) > len(shape) or any(a not in (1, b) for a, b in dims):
                return False
        return True

    def _run(self, arrays: Sequence[Any], rows: int, count: int, number: int) -> None:
        """Run the function on one of `count` blocks."""
        # Even parts: NumPy computes single elements in another way than many.
        part = slice(number * rows // count, (number + 1) * rows // count)
        sliced = [*self._sliced, *(True for _ in self._results)]
        parts = [a[part] if cut else a for a, cut in zip(arrays, sliced)]
        first = parts[self._first]
        scratch = [borrow(first.size, dtype) for dtype in self._scratch]
        shaped = [vector.reshape(first.shape) for vector in scratch]
        inputs = len(self._sliced)
        repeats = any(np.shape(x) not in (first.shape, ()) for x in parts[:inputs])
        try:
            with Unbuffered(first.shape[-1] if repeats else 0):
                self._function(*parts[:inputs], *shaped, *parts[inputs:])
        finally:
            give_back(scratch)


def _dtypes(kinds: Sequence[str], of: str) -> list[np.dtype[Any]]:
    return [np.dtype(kind.split()[1]) for kind in kinds if kind.startswith(of)]
