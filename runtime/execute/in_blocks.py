"""Running a function of blocks over whole arrays, on all threads.

Generated source has such functions above the one that it is about::

    @in_blocks("array", "scratch float32", "result float32")
    def gelu_blocks(x, t, y):
        np.divide(x, 1.4142135, out=t)
        ...

Each parameter has its kind: an ``array`` of the full shape, a ``row`` or ``column``
beside it, a ``scalar``; ``scratch`` for intermediate values, and the ``result`` arrays.
Called with the inputs alone, the function gives the results. It gives None for arrays
that are small or of other shapes than it is made for: the caller then computes them in
the ordinary way.
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

#: The shape that an input has beside arrays of the full shape.
_SHAPES: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "array": lambda shape: shape,
    "row": lambda shape: shape[-1:],
    "column": lambda shape: (*shape[:-1], 1),
    "scalar": lambda shape: (),
}


def in_blocks(*kinds: str) -> Callable[..., BlockFunction]:
    """The decorator of a function of blocks, whose parameters have these kinds."""
    return partial(BlockFunction, kinds)


class BlockFunction:
    """A function that is run block by block; made by `in_blocks`."""

    def __init__(self, kinds: Sequence[str], function: Callable[..., Any]) -> None:
        self._function = function
        self._inputs = [kind for kind in kinds if kind in _SHAPES]
        self._scratch = _dtypes(kinds, "scratch")
        self._results = _dtypes(kinds, "result")
        self._first = self._inputs.index("array")
        self._in_rows = bool({"row", "column"} & set(kinds))

    def __call__(self, *inputs: Any) -> Any:
        """The result for these inputs (a tuple of several), or None: see above."""
        shape = inputs[self._first].shape
        size = math.prod(shape)
        length = shape[-1] if self._in_rows else 1
        room = BLOCK // inputs[self._first].itemsize
        if size < LARGE or length > room or not self._takes(inputs, shape):
            return None
        threads = allowed_threads()
        # A multiple of the threads, lest some wait for the last block.
        count = min(size // length, -(-size // (room * threads)) * threads)
        results = [new_result(shape, dtype) for dtype in self._results]
        kinds = [*self._inputs, *("array" for _ in results)]
        flat = [
            _rows(array, kind, length)
            for array, kind in zip((*inputs, *results), kinds)
        ]
        share(partial(self._run, flat, kinds, count), count, threads)
        return results[0] if len(results) == 1 else tuple(results)

    def _takes(self, inputs: Sequence[Any], shape: tuple[int, ...]) -> bool:
        """Whether the inputs have their shapes, and their elements lie side by side."""
        return all(
            np.shape(value) == _SHAPES[kind](shape)
            and (type(value) is not np.ndarray or value.flags.c_contiguous)
            for value, kind in zip(inputs, self._inputs)
        )

    def _run(
        self, flat: Sequence[Any], kinds: Sequence[str], count: int, number: int
    ) -> None:
        """Run the function on one of `count` blocks."""
        rows = len(flat[self._first])
        # Even parts: NumPy computes single elements in another way than many.
        part = slice(number * rows // count, (number + 1) * rows // count)
        parts = [
            array[part] if kind in ("array", "column") else array
            for array, kind in zip(flat, kinds)
        ]
        first = parts[self._first]
        scratch = [borrow(first.size, dtype) for dtype in self._scratch]
        shaped = [vector.reshape(first.shape) for vector in scratch]
        inputs = len(self._inputs)
        try:
            with Unbuffered(first.shape[-1] if self._in_rows else 0):
                self._function(*parts[:inputs], *shaped, *parts[inputs:])
        finally:
            give_back(scratch)


def _dtypes(kinds: Sequence[str], of: str) -> list[np.dtype[Any]]:
    return [np.dtype(kind.split()[1]) for kind in kinds if kind.startswith(of)]


def _rows(array: Any, kind: str, length: int) -> Any:
    """An array of the full shape, or a column, as a matrix of rows of this length.

    As a vector if the length is 1.
    """
    if kind not in ("array", "column"):
        return array
    if length == 1:
        return array.reshape(-1)
    return array.reshape(-1, length if kind == "array" else 1)
