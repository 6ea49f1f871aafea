"""Arithmetic, comparison, logical and bitwise operations, and the operators."""

from __future__ import annotations

import numpy as np

from runtime.ops.pointwise import (
    NUMBERS,
    REAL,
    STRINGS,
    SIGNED,
    INEXACT,
    BinaryFunction,
    binary_function,
    binary_op,
    unary_function,
    unary_op,
)
from runtime import dtypes
from runtime.tensor import operators

__all__ = ["add", "less", "multiply", "negative", "subtract"]

binary_op("AddV2", np.add, NUMBERS + STRINGS, source="{0} + {1}")
binary_op("Sub", np.subtract, NUMBERS, source="{0} - {1}")
binary_op("Mul", np.multiply, NUMBERS, source="{0} * {1}")
binary_op("Less", np.less, REAL, dtypes.bool, source="{0} < {1}")
unary_op("Neg", np.negative, SIGNED + INEXACT, source="-{0}")

add = binary_function("add", "AddV2", "``x + y``; strings are joined.", "Add")
subtract = binary_function("subtract", "Sub", "``x - y``.")
multiply = binary_function("multiply", "Mul", "``x * y``.")
less = binary_function("less", "Less", "``x < y``.")
negative = unary_function("negative", "Neg", "``-x``.")

operators.bind(
    add=binary_function("add", "AddV2", "``x + y``", "add"),
    subtract=binary_function("subtract", "Sub", "``x - y``", "sub"),
    multiply=binary_function("multiply", "Mul", "``x * y``", "mul"),
    less=less,
    negative=negative,
)
