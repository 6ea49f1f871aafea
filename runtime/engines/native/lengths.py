"""Checks of lengths that only the program decides: once each, where it is decided.

A length that a value decides may be negative, or so large that the number of elements
wraps around; and what a graph says of a shape (`set_shape`) may be wrong. Addresses are
computed of lengths without further checks. So who takes a length from a value, adds
lengths, or relies on what the graph says, has it checked here. Where a check does not
hold the program ends with `FAILED`, and the interpreter says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.types import BIT, number, size_of
from runtime.engines.native.values import Dim, Shape

#: The most bytes that an array may have: places of elements are numbers with a sign.
LARGEST = 2**63 - 1


def bytes_of_known(dims: Sequence[Dim | None], dtype: DType) -> int:
    """The bytes of an array as far as lengths are known; empty axes count as one.

    NumPy refuses arrays without elements whose other axes are too long, too.
    """
    size = size_of(dtype)
    for dim in dims:
        size *= max(dim, 1) if isinstance(dim, int) else 1
    return size


def check_size(builder: Builder, shape: Shape, dtype: DType) -> None:
    """Check that no length is negative, and that the bytes can be counted."""
    lengths = [dim for dim in shape if not isinstance(dim, int)]
    known = bytes_of_known(shape, dtype)
    if any(isinstance(dim, int) and dim < 0 for dim in shape) or known > LARGEST:
        builder.check(BIT(0))
        return
    b, size, wrong = builder.ir, number(known), list[Any]()
    for length in lengths:
        wrong.append(b.icmp_signed("<", length, number(0)))
        counted = builder.intrinsic("smax", length, number(1))
        both = b.smul_with_overflow(size, counted)
        size = b.extract_value(both, 0)
        wrong.append(b.extract_value(both, 1))
    if wrong:
        builder.check(b.not_(reduce(b.or_, wrong)))


def added(builder: Builder, dims: Sequence[Dim]) -> Dim:
    """The sum of lengths, after a check that it is one."""
    total = sum(dim for dim in dims if isinstance(dim, int))
    found: Dim = total
    for dim in dims:
        if isinstance(dim, int):
            continue
        if isinstance(found, int) and found == 0:
            found = dim
            continue
        both = builder.ir.sadd_with_overflow(builder.dim(found), dim)
        builder.check(builder.ir.not_(builder.ir.extract_value(both, 1)))
        found = builder.ir.extract_value(both, 0)
    return found


def check_known(
    builder: Builder, shape: Shape, known: Sequence[Dim | None] | None
) -> Shape | None:
    """The shape with the lengths that are `known`, after a check that these are right.

    None where it is of another rank.
    """
    if known is None:
        return shape
    if len(known) != len(shape):
        return None
    found: list[Dim] = []
    for dim, other in zip(shape, known):
        if other is None or other is dim:
            found.append(dim)
            continue
        if isinstance(dim, int) and dim == other:
            found.append(dim)
            continue
        one, two = builder.dim(dim), builder.dim(other)
        builder.check(builder.ir.icmp_signed("==", one, two))
        found.append(other if isinstance(other, int) else dim)
    return tuple(found)
