"""Running a function of blocks over whole arrays, on several threads if they are large.

Generated source has such functions above the one that it is about::

    @in_blocks("array", "scratch float32", "result float32")
    def gelu_blocks(x, t, y):
        np.divide(x, 1.4142135, out=t)
        ...

Each parameter has its kind: an ``array`` of the full shape, a ``row`` or ``column``
beside it, a ``scalar``; ``scratch`` for intermediate values, and the ``result`` arrays,
or ``column result`` for what is reduced. A ``sum``, ``mean``, ``max`` or ``min`` takes
what a block contributes to that of the whole array. Called with the first of these the
function gives the results, or None if the arrays are not of the kind that it is made
for: the caller then computes them in the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from runtime.execute.regions import LARGE
from runtime.execute.totals import combined, halves
from runtime.ops.buffers import borrow, give_back, new_result
from runtime.ops.threads import allowed_threads, share

__all__ = ["BlockFunction", "in_blocks"]

Array = np.ndarray[Any, Any]
Part = tuple[Any, ...]

#: The bytes of one array that a block has: some blocks fit the cache that a processor
#: has for itself or a good part of the shared one. With smaller ones the calls of NumPy
#: cost more than is saved, and threads meet more often at the interpreter's lock.
BLOCK = 1 << 20

#: As many arrays as this are usually in use at a time.
USUAL = 8

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
        self._results = self._kinds[len(self._inputs) :]
        self._totals = [kind.split()[0] for kind in self._results]
        self._has_totals = not _TOTALS.isdisjoint(self._totals)
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
        length = shape[-1] if self._in_rows else 1
        if self._whole_rows and length > LONG_ROW:
            return None
        threads = allowed_threads() if size * self._work >= SHARED else 1
        edges, columns = self._split(inputs, size // length, length, threads)
        results = [_result(kind, shape, len(edges) - 1) for kind in self._results]
        arrays = [
            _flat(array, kind, length if self._in_rows else 0)
            for array, kind in zip((*inputs, *results), self._kinds)
        ]
        run = self._run_rows
        if columns > 1:
            run = partial(self._run_part, length, columns)
        share(partial(run, arrays, edges), (len(edges) - 1) * columns, threads)
        for place, kind in enumerate(self._totals):
            if kind in _TOTALS:
                results[place] = combined(kind, results[place], edges)
        return results[0] if len(results) == 1 else tuple(results)

    def _split(
        self, inputs: Sequence[Any], rows: int, length: int, threads: int
    ) -> tuple[list[int], int]:
        """The edges between blocks of rows, and in how many parts each row is split."""
        item = max(a.itemsize for a, kind in zip(inputs, self._inputs) if kind in _WIDE)
        # Where many arrays are in use, each has less of the cache.
        many = max(1, (len(self._scratch) + len(self._kinds)) // USUAL)
        room = max(1, BLOCK // item // many)
        if self._has_totals:
            return halves(rows, room), 1
        if length > room and not self._whole_rows:
            return list(range(rows + 1)), -(-length // room)
        count = -(-rows * length // room)
        # A multiple of the threads, lest some wait for the last block.
        count = min(rows, -(-count // threads) * threads)
        # Even parts: NumPy computes single elements in another way than many.
        return [number * rows // count for number in range(count + 1)], 1

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

    def _run_rows(
        self, arrays: Sequence[Any], edges: Sequence[int], number: int
    ) -> None:
        """Run the function on the rows between two edges."""
        down, here = slice(*edges[number : number + 2]), slice(number, number + 1)
        parts = [
            array
            if kind in ("scalar", "row")
            else array[here if kind.split()[0] in _TOTALS else down]
            for array, kind in zip(arrays, self._kinds)
        ]
        self._compute(parts)

    def _run_part(
        self,
        length: int,
        columns: int,
        arrays: Sequence[Any],
        edges: Sequence[int],
        number: int,
    ) -> None:
        """Run the function on a part of one row, which has so many `columns`."""
        row, column = divmod(number, columns)
        down = slice(*edges[row : row + 2])
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


def _flat(array: Any, kind: str, length: int) -> Any:
    """An array as rows of this length, or as a vector if that is 0."""
    if kind in ("scalar", "row") or not length:
        return array if kind == "scalar" else array.reshape(-1)
    return array.reshape(-1, 1 if "column" in kind else length)


def _result(kind: str, shape: tuple[int, ...], blocks: int) -> Array:
    """An array for a result; for a total one that takes the part of each block."""
    dtype = kind.split()[-1]
    if kind.split()[0] in _TOTALS:
        return np.empty(blocks, dtype)
    if "column" in kind:
        shape = (*shape[:-1], 1) if "kept" in kind else shape[:-1]
    return new_result(shape, dtype)


_TOTALS = frozenset({"max", "mean", "min", "sum"})
_WIDE = frozenset({"array"})

#: The shape that an input has beside arrays of the full shape.
_PLACES: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "array": lambda shape: shape,
    "row": lambda shape: shape[-1:],
    "column": lambda shape: (*shape[:-1], 1),
    "scalar": lambda shape: (),
}
