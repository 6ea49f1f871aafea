"""Products of matrices: small ones in tiles, large ones by BLAS."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from runtime.core.types.dtypes import DType
from runtime.engines.native.blas import call_product, has_product
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.lengths import check_known
from runtime.engines.native.nests import fill_with, force
from runtime.engines.native.tiles import Level, Sums, add_dots, add_products
from runtime.engines.native.types import constant, number
from runtime.engines.native.values import (
    Buffer,
    Dim,
    Register,
    Shape,
    Value,
    length_of,
)
from runtime.engines.native.vectors import lanes_of, shifted, transpose

#: From so many products of numbers on BLAS is faster than tiles.
_LARGE = 160**3
#: Up to so many rows it does not pay to transpose the right operand first.
_FEW_ROWS = 4
#: So many rows are written at once where their number is a register.
_BLOCK = 12


class _Product(NamedTuple):
    """A product of two matrices, each of which may have to be transposed."""

    dtype: DType
    rows: int
    columns: int
    depth: int
    flips: tuple[bool, bool]

    @property
    def is_large(self) -> bool:
        """Whether it is left to BLAS."""
        work = self.rows * self.columns * self.depth
        return work >= _LARGE and has_product(self.dtype)

    @property
    def is_of_rows(self) -> bool:
        """Whether numbers that are multiplied are neighbours in both operands."""
        is_deep = self.depth >= lanes_of(self.dtype) or self.columns == 1
        return self.flips == (False, True) and self.rows <= _FEW_ROWS and is_deep

    def write(
        self, builder: Builder, left: Register, right: Register, into: Register
    ) -> None:
        """Multiply, from the pointers to the matrices."""
        rows, columns, depth = self.rows, self.columns, self.depth
        if self.is_large:
            sizes, flips = (rows, columns, depth), self.flips
            operands = (left, flips[0]), (right, flips[1])
            call_product(builder, self.dtype, sizes, *operands, into)
            return
        steps = (1, rows) if self.flips[0] else (depth, 1)
        right_step = depth if self.is_of_rows else columns
        levels = [Level(depth, steps[1], right_step)]
        sums = Sums(self.dtype, rows, columns, steps[0], columns, levels)
        multiply = add_dots if self.is_of_rows else add_products
        multiply(builder, sums, left, right, into)


@rule("MatMul", "BatchMatMulV2")
def _matmul(
    step: Step,
    x: Value,
    y: Value,
    transpose_a: bool = False,
    transpose_b: bool = False,
    **_: Any,
) -> Value:
    if min(len(x.shape), len(y.shape)) < 2:
        raise step.refused("a product of vectors")
    batches = x.shape[:-2], y.shape[:-2]
    if not all(isinstance(dim, int) for dim in (*x.shape[-2:], *y.shape[-2:])):
        return _open_product(step, x, y, transpose_a, transpose_b)
    depth = x.shape[-2 if transpose_a else -1]
    if depth != y.shape[-1 if transpose_b else -2]:
        raise step.refused("matrices that do not fit")
    flips = (transpose_a, transpose_b)
    ends = (x.shape[-1 if transpose_a else -2], y.shape[-2 if transpose_b else -1])
    builder = step.builder
    if all(isinstance(dim, int) for dim in (*batches[0], *batches[1])):
        left, right = force(builder, x), force(builder, y)
        return _products(step, left, right, step.known_shape, depth, flips)
    if any(_is_one(dim) for dim in (*batches[0], *batches[1])) or not all(batches):
        return _open_product(step, x, y, transpose_a, transpose_b)
    # Where a length turns out to be 1 the interpreter runs the graph.
    batch = check_known(builder, *batches)
    if batch is None:
        raise step.refused("batches of several ranks of unknown lengths")
    # One axis stands for all those of the batch.
    count = builder.product(batch)
    left, right = (
        Buffer((count, *value.shape[-2:]), x.dtype, force(builder, value).pointer)
        for value in (x, y)
    )
    return _products(step, left, right, (*batch, *ends), depth, flips)


def _products(
    step: Step,
    left: Buffer,
    right: Buffer,
    shape: Shape,
    depth: int,
    flips: tuple[bool, bool],
) -> Value:
    """The products of two batches of matrices whose lengths are known."""
    builder, found = step.builder, step.new_buffer(shape)
    rows, columns = shape[-2:]
    if 0 in shape:
        return found
    if depth == 0:
        fill_with(builder, found, constant(0, step.dtype))
        return found
    into, batch = found, list(shape[:-2])
    if not all(isinstance(dim, int) for dim in batch):
        batch = [left.shape[0]]
        into = Buffer((*batch, rows, columns), step.dtype, found.pointer)
    if not flips[0] and batch and all(_is_one(dim) for dim in right.shape[:-2]):
        # One large product rather than one for each matrix of the batch.
        rows, batch = rows * prod(batch), []
    if columns == 1:
        # The transposed product, whose rows are those of the matrix as it is.
        left, right, rows, columns = right, left, columns, rows
        flips = (not flips[1], not flips[0])
    # A matrix of one row or one column is the same either way.
    flips = (flips[0] and rows > 1, flips[1] or columns == 1)
    product = _Product(step.dtype, rows, columns, depth, flips)
    if flips[1] and not product.is_large and not product.is_of_rows:
        right = transpose(builder, right)
        product = product._replace(flips=(flips[0], False))
    sizes = (rows * depth, depth * columns, rows * columns)

    def matrix(places: Sequence[Register]) -> None:
        pointers = [
            shifted(
                builder, buffer.pointer, step.dtype, *_offsets(buffer, places, size)
            )
            for buffer, size in zip((left, right, into), sizes)
        ]
        product.write(builder, *pointers)

    with builder.sharing.of([found]):
        _each(builder, batch, matrix)
    return found


def _is_one(dim: Dim) -> bool:
    return isinstance(dim, int) and dim == 1


def _open_product(
    step: Step, x: Value, y: Value, transpose_a: bool, transpose_b: bool
) -> Value:
    """The product of matrices one of whose lengths is a register.

    That may be the rows of the left one, which are those of all its matrices if the
    right one is no batch; or what is summed over, where both have rows that are known.
    """
    if len(y.shape) != 2 or (transpose_a and len(x.shape) != 2):
        raise step.refused("batches of matrices of unknown lengths")
    builder, dtype = step.builder, step.dtype
    rows, depth = x.shape[-2:][::-1] if transpose_a else x.shape[-2:]
    other, columns = y.shape[::-1] if transpose_b else y.shape
    if not isinstance(columns, int) or transpose_a is isinstance(depth, int):
        raise step.refused("products of matrices of unknown lengths")
    left, right = force(builder, x), force(builder, y)
    if transpose_a and not transpose_b and isinstance(rows, int):
        same = builder.ir.icmp_signed("==", builder.dim(depth), builder.dim(other))
        builder.check(same)
        found = step.new_buffer((rows, columns))
        levels = [Level(depth, rows, columns)]
        sums = Sums(dtype, rows, columns, 1, columns, levels)
        add_products(builder, sums, left.pointer, right.pointer, found.pointer)
        return found
    if transpose_a or depth != other:
        raise step.refused("products of matrices of unknown lengths")
    found = step.new_buffer((*x.shape[:-1], columns))
    if transpose_b:
        right = transpose(builder, right)
    levels = [Level(depth, 1, columns)]
    sums = Sums(dtype, _BLOCK, columns, depth, columns, levels)
    _in_blocks(builder, sums, builder.count(x.shape[:-1]), left, right, found)
    return found


def _in_blocks(
    builder: Builder,
    sums: Sums,
    count: Register,
    left: Buffer,
    right: Buffer,
    found: Buffer,
) -> None:
    """Write so many rows of a product."""
    depth, columns = sums.left_step, sums.columns

    def block(begin: Any, sums: Sums) -> None:
        here = shifted(builder, left.pointer, sums.dtype, (begin, depth))
        there = shifted(builder, found.pointer, sums.dtype, (begin, columns))
        add_products(builder, sums, here, right.pointer, there)

    def whole(i: Register, _: Any) -> Sequence[Register]:
        block(builder.ir.mul(i, number(_BLOCK)), sums)
        return ()

    def single(i: Register, _: Any) -> Sequence[Register]:
        block(builder.ir.add(i, first), sums._replace(rows=1))
        return ()

    blocks = builder.ir.sdiv(count, number(_BLOCK))
    first = builder.ir.mul(blocks, number(_BLOCK))
    builder.loop(blocks, whole, is_final=True)
    builder.loop(builder.ir.sub(count, first), single, is_final=True)


def _offsets(
    x: Buffer, places: Sequence[Register], size: int
) -> list[tuple[Register, int]]:
    """Which matrix of a batch is meant, as places along axes and distances."""
    found = []
    dims = x.shape[:-2]
    for axis, place in enumerate(places[::-1]):
        if axis < len(dims) and dims[-1 - axis] != 1:
            found.append((place, size))
            size *= length_of(dims[-1 - axis])
    return found


def _each(builder: Builder, shape: Sequence[Dim], body: Any) -> None:
    """Run ``body(places)`` for all places in a shape."""

    def level(places: tuple[Register, ...]) -> None:
        if len(places) == len(shape):
            body(places)
            return

        def step(i: Register, _: Any) -> Sequence[Register]:
            level((*places, i))
            return ()

        builder.loop(shape[len(places)], step, is_parallel=True)

    level(())
