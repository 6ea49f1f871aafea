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

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from runtime.execute.regions import LARGE, LONG_ROW
from runtime.execute.totals import combined, halves
from runtime.ops.kernels.buffers import Unbuffered, borrow, give_back, new_result
from runtime.ops.kernels.threads import allowed_threads, share

__all__ = ["BlockFunction", "in_blocks"]

Array = np.ndarray[Any, Any]
Part = tuple[Any, ...]

#: The bytes of one array that a block has: some blocks fit the cache that a processor
#: has for itself or a good part of the shared one. With smaller ones the calls of NumPy
#: cost more than is saved, and threads meet more often at the interpreter's lock.
BLOCK = 1 << 21

#: As many arrays as this are usually in use at a time.
USUAL = 8

#: With fewer elements times operations other threads would come too late.
SHARED = 1 << 20

#: The shapes that a function remembers how to split.
PLANS = 16


def in_blocks(
    *kinds: str, whole_rows: bool = False, casts: bool = False
) -> Callable[..., BlockFunction]:
    """The decorator of a function of blocks, whose parameters have these kinds.

    `whole_rows`: it looks at whole rows; `casts`: it adds numbers in another dtype, in
    parts that are as long as NumPy's buffer.
    """
    return partial(BlockFunction, kinds, whole_rows, casts)


class _Plan(NamedTuple):
    """How arrays of one shape are computed."""

    #: The shapes of the inputs; None for scalars.
    shapes: tuple[tuple[int, ...] | None, ...]
    #: The edges between blocks of rows, and in how many parts each row is split.
    edges: list[int]
    columns: int
    #: How long rows are; 0 where none are looked at.
    length: int
    threads: int
    #: How long rows are that others are joined to, or 0: see `Unbuffered`.
    joined: int


class BlockFunction:
    """A function that is run block by block; made by `in_blocks`."""

    def __init__(
        self,
        kinds: Sequence[str],
        whole_rows: bool,
        casts: bool,
        function: Callable[..., Any],
    ) -> None:
        self._function = function
        kept = [kind for kind in kinds if not kind.startswith("scratch")]
        self._inputs = [kind for kind in kinds if kind in _PLACES]
        self._makers = [_Result.of(kind) for kind in kept[len(self._inputs) :]]
        self._totals = [maker.total for maker in self._makers]
        #: How each parameter but scratch is split: down the rows, across, by blocks.
        self._ways = [_way(kind) for kind in kept]
        self._has_totals = any(self._totals)
        self._first = self._inputs.index("array")
        self._scratch = [
            np.dtype(kind.split()[1]) for kind in kinds if kind.startswith("scratch")
        ]
        self._in_rows = whole_rows or bool({"row", "column"} & set(kinds))
        self._whole_rows = whole_rows
        self._casts = casts
        #: How many operations each element takes, roughly: there is one on each line.
        self._work = len({line for _, _, line in function.__code__.co_lines()}) - 1
        self._plans: dict[tuple[tuple[int, ...], int], _Plan | None] = {}

    def __call__(self, *inputs: Any) -> Any:
        """The result for these inputs (a tuple of several), or None: see above."""
        key = inputs[self._first].shape, allowed_threads()
        try:
            plan = self._plans[key]
        except KeyError:
            plan = self._remember(key, inputs)
        if plan is None:
            return None
        if not _are_fit(inputs, plan.shapes):
            return None
        blocks = len(plan.edges) - 1
        results = [maker.make(key[0], blocks) for maker in self._makers]
        arrays = (*inputs, *results)
        if blocks == plan.columns == 1 and not (plan.length or self._has_totals):
            self._compute(plan, arrays)
        else:
            flat = [
                _flat(array, way, plan.length)
                for array, way in zip(arrays, self._ways, strict=True)
            ]
            run = self._run_rows if plan.columns == 1 else self._run_part
            share(partial(run, plan, flat), blocks * plan.columns, plan.threads)
            for place, total in enumerate(self._totals):
                if total:
                    results[place] = combined(total, results[place], plan.edges)
        return results[0] if len(results) == 1 else tuple(results)

    def _remember(
        self, key: tuple[tuple[int, ...], int], inputs: Sequence[Any]
    ) -> _Plan | None:
        """The plan for a shape and number of threads, which is used again."""
        if len(self._plans) >= PLANS:
            self._plans.clear()
        plan = self._plans[key] = self._plan(*key, inputs)
        return plan

    def _plan(
        self, shape: tuple[int, ...], allowed: int, inputs: Sequence[Any]
    ) -> _Plan | None:
        size = math.prod(shape)
        length = shape[-1] if self._in_rows and shape else 1
        too_long = self._whole_rows and length > LONG_ROW
        if size < LARGE or not shape or too_long:
            return None
        threads = allowed if size * self._work >= SHARED else 1
        edges, columns = self._split(inputs, size // length, length, threads)
        return _Plan(
            tuple(_PLACES[kind](shape) for kind in self._inputs),
            edges,
            columns,
            length if self._in_rows else 0,
            threads,
            length if self._in_rows and not self._casts else 0,
        )

    def _split(
        self, inputs: Sequence[Any], rows: int, length: int, threads: int
    ) -> tuple[list[int], int]:
        """The edges between blocks of rows, and in how many parts each row is split."""
        item = max(a.itemsize for a, kind in zip(inputs, self._inputs) if kind in _WIDE)
        # Where many arrays are in use, each has less of the cache.
        many = max(1, (len(self._scratch) + len(self._ways)) // USUAL)
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

    def _run_rows(self, plan: _Plan, arrays: Sequence[Any], number: int) -> None:
        """Run the function on the rows between two edges."""
        down = slice(*plan.edges[number : number + 2])
        here = slice(number, number + 1)
        self._compute(
            plan,
            [
                array
                if way in (_WHOLE, _ACROSS)
                else array[here if way == _BLOCK else down]
                for array, way in zip(arrays, self._ways)
            ],
        )

    def _run_part(self, plan: _Plan, arrays: Sequence[Any], number: int) -> None:
        """Run the function on a part of one row, which has so many `columns`."""
        length, columns = plan.length, plan.columns
        row, column = divmod(number, columns)
        down = slice(*plan.edges[row : row + 2])
        across = slice(column * length // columns, (column + 1) * length // columns)
        places: dict[str, Any] = {_ACROSS: across, _DOWN: down, _BOTH: (down, across)}
        parts = zip(arrays, self._ways)
        self._compute(plan, [a[places[w]] if w in places else a for a, w in parts])

    def _compute(self, plan: _Plan, parts: Sequence[Any]) -> None:
        first = parts[self._first]
        shape = first.shape
        vectors = [borrow(first.size, dtype) for dtype in self._scratch]
        temporary = vectors
        if len(shape) > 1:
            temporary = [vector.reshape(shape) for vector in vectors]
        inputs = len(self._inputs)
        try:
            with Unbuffered(plan.joined):
                self._function(*parts[:inputs], *temporary, *parts[inputs:])
        finally:
            give_back(vectors)


def _are_fit(inputs: Sequence[Any], shapes: Sequence[tuple[int, ...] | None]) -> bool:
    """Whether the arrays have the shapes that they were written for."""
    for value, shape in zip(inputs, shapes, strict=True):
        if type(value) is not np.ndarray:
            if shape is not None:
                return False
        elif value.shape != (shape or ()) or not value.flags.c_contiguous:
            return False
    return True


#: How an array is split between blocks: not at all, in parts of rows, by rows, in both
#: ways, and with one number for each block.
_WHOLE, _ACROSS, _DOWN, _BOTH, _BLOCK = "whole", "across", "down", "both", "block"


def _way(kind: str) -> str:
    if kind in ("row", "scalar"):
        return _ACROSS if kind == "row" else _WHOLE
    if kind.split()[0] in _TOTALS:
        return _BLOCK
    return _DOWN if "column" in kind else _BOTH


def _flat(array: Any, way: str, length: int) -> Any:
    """An array as rows of this length, or as a vector if that is 0."""
    if way == _WHOLE:
        return array
    if way == _ACROSS or not length:
        return array.reshape(-1)
    return array.reshape(-1, 1 if way == _DOWN else length)


class _Result(NamedTuple):
    """A kind of result."""

    dtype: Any
    #: What it is of the whole array: a ``sum``, ``mean``, ``max``, ``min``, or nothing.
    total: str
    is_column: bool
    keeps_axis: bool

    @classmethod
    def of(cls, kind: str) -> _Result:
        """The result of this kind."""
        first, *_, dtype = kind.split()
        total = first if first in _TOTALS else ""
        return cls(np.dtype(dtype), total, "column" in kind, "kept" in kind)

    def make(self, shape: tuple[int, ...], blocks: int) -> Array:
        """An array for it; for a total one that takes the part of each block."""
        if self.total:
            return np.empty(blocks, self.dtype)
        if self.is_column:
            shape = (*shape[:-1], 1) if self.keeps_axis else shape[:-1]
        return new_result(shape, self.dtype)


_TOTALS = frozenset({"max", "mean", "min", "sum"})
_WIDE = frozenset({"array"})

#: The shape that an input has beside arrays of the full shape.
_PLACES: dict[str, Callable[[tuple[int, ...]], tuple[int, ...] | None]] = {
    "array": lambda shape: shape,
    "row": lambda shape: shape[-1:],
    "column": lambda shape: (*shape[:-1], 1),
    "scalar": lambda shape: None,
}
