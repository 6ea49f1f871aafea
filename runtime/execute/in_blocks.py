"""Running a function of blocks over whole arrays, on several threads if they are large.

Generated source has such functions above the one that it is about::

    @in_blocks("array", "scratch float32", "result float32")
    def gelu_blocks(x, t, y):
        np.divide(x, 1.4142135, out=t)
        ...

Each parameter has its kind: an ``array`` of the full shape, a ``row`` or ``column``
beside it, a ``scalar``; ``scratch`` for intermediate values, and the ``result`` arrays,
or ``column result`` for what is reduced. Called with the first of these the function
gives the results, or None if the arrays are not of the kind that it is made for: the
caller then computes them in the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from runtime.execute.regions import LARGE
from runtime.ops.buffers import borrow, give_back, new_result
from runtime.ops.threads import allowed_threads, share

__all__ = ["BlockFunction", "in_blocks"]

Array = np.ndarray[Any, Any]
Part = tuple[Any, ...]

#: The bytes of one array that a block has: some blocks fit the cache that a processor
#: has for itself or a good part of the shared one. With smaller ones the calls of NumPy
#: cost more than is saved, and threads meet more often at the interpreter's lock.
BLOCK = 1 << 19

#: With fewer elements times operations other threads would come too late.
SHARED = 1 << 20

#: The longest rows that are looked at as a whole.
LONG_ROW = 1 << 18


def in_blocks(*kinds: str, whole_rows: bool = False) -> Callable[..., BlockFunction]:
    """The decorator of a function of blocks, whose parameters have these kinds."""
    return partial(BlockFunction, kinds, whole_rows)


class BlockFunction:
    """A function that is run block by block; made by `in_blocks`."""

    def __init__(
        self, kinds: Sequence[str], whole_rows: bool, function: Callable[..., Any]
    ) -> None:
        self._function = function
        self._kinds = [kind for kind in kinds if not kind.startswith("scratch")]
        self._inputs = [kind for kind in kinds if kind in _PLACES]
        self._results = [
            (kind.startswith("column"), np.dtype(kind.split()[-1]), "kept" in kind)
            for kind in kinds
            if "result" in kind
        ]
        self._first = self._inputs.index("array")
        self._scratch = [
            np.dtype(kind.split()[1]) for kind in kinds if kind.startswith("scratch")
        ]
        self._in_rows = whole_rows or bool({"row", "column"} & set(kinds))
        self._whole_rows = whole_rows
        #: How many operations each element takes, roughly: there is one on each line.
        self._work = len({line for _, _, line in function.__code__.co_lines()}) - 1

    def __call__(self, *inputs: Any) -> Any:
        """The result for these inputs (a tuple of several), or None: see above."""
        shape = inputs[self._first].shape
        size = inputs[self._first].size
        if size < LARGE or not self._are_fit(inputs, shape):
            return None
        results = [
            new_result(_reduced(shape, kept) if column else shape, dtype)
            for column, dtype, kept in self._results
        ]
        arrays = [*inputs, *results]
        if self._in_rows:
            length = shape[-1]
            if self._whole_rows and length > LONG_ROW:
                return None
            flat = [
                _as_rows(array, kind, length)
                for array, kind in zip(arrays, self._kinds)
            ]
        else:
            length = 1
            flat = [
                array if kind == "scalar" else array.reshape(-1)
                for array, kind in zip(arrays, self._kinds)
            ]
        self._run(flat, size // length, length)
        return results[0] if len(results) == 1 else tuple(results)

    def _are_fit(self, inputs: Sequence[Any], shape: tuple[int, ...]) -> bool:
        """Whether the arrays have the shapes that they were written for."""
        for value, kind in zip(inputs, self._inputs):
            if kind == "scalar":
                if type(value) is np.ndarray and value.ndim:
                    return False
            elif (
                type(value) is not np.ndarray
                or not value.flags.c_contiguous
                or value.shape != _PLACES[kind](shape)
            ):
                return False
        return True

    def _run(self, arrays: Sequence[Any], rows: int, length: int) -> None:
        """Run the function on all blocks of so many rows, of `length` elements each."""
        threads = allowed_threads() if rows * length * self._work >= SHARED else 1
        item = max((a.itemsize for a in arrays if a.ndim), default=1)
        room = BLOCK // item
        columns = 1
        if length > room and not self._whole_rows:
            columns = -(-length // room)
        count = rows if columns > 1 else min(rows, -(-rows * length // room))
        # A multiple of the threads, lest some wait for the last block.
        if threads > 1 and columns == 1:
            count = min(rows, -(-count // threads) * threads)
        if columns > 1:
            split = partial(self._run_part, arrays, rows, count, length, columns)
        else:
            split = partial(self._run_rows, arrays, rows, count)
        share(split, count * columns, threads)

    # Even parts: NumPy computes single elements in another way than many.

    def _run_rows(
        self, arrays: Sequence[Any], rows: int, count: int, number: int
    ) -> None:
        """Run the function on one of `count` parts of so many rows."""
        down = slice(number * rows // count, (number + 1) * rows // count)
        parts = [
            array if kind in ("scalar", "row") else array[down]
            for array, kind in zip(arrays, self._kinds)
        ]
        self._compute(parts)

    def _run_part(
        self,
        arrays: Sequence[Any],
        rows: int,
        count: int,
        length: int,
        columns: int,
        number: int,
    ) -> None:
        """Run the function on a part of one row, which has so many `columns`."""
        row, column = divmod(number, columns)
        down = slice(row * rows // count, (row + 1) * rows // count)
        across = slice(column * length // columns, (column + 1) * length // columns)
        parts = [
            _part(array, kind, down, across) for array, kind in zip(arrays, self._kinds)
        ]
        self._compute(parts)

    def _compute(self, parts: Sequence[Any]) -> None:
        shape = parts[self._first].shape
        size = parts[self._first].size
        vectors = [borrow(size, dtype) for dtype in self._scratch]
        temporary = vectors
        if len(shape) > 1:
            temporary = [vector.reshape(shape) for vector in vectors]
        inputs = len(self._inputs)
        try:
            self._function(*parts[:inputs], *temporary, *parts[inputs:])
        finally:
            give_back(vectors)


def _part(array: Any, kind: str, down: slice, across: slice) -> Any:
    if kind == "scalar":
        return array
    if kind == "row":
        return array[across]
    return array[down] if "column" in kind else array[down, across]


def _as_rows(array: Any, kind: str, length: int) -> Any:
    if kind in ("scalar", "row"):
        return array
    return array.reshape(-1, 1 if "column" in kind else length)


def _reduced(shape: tuple[int, ...], kept: bool) -> tuple[int, ...]:
    return (*shape[:-1], 1) if kept else shape[:-1]


#: The shape that an input has beside arrays of the full shape.
_PLACES: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "array": lambda shape: shape,
    "row": lambda shape: shape[-1:],
    "column": lambda shape: (*shape[:-1], 1),
    "scalar": lambda shape: (),
}
