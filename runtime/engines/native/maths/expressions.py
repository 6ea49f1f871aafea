"""Numbers in the making, written with the operators of Python.

The functions of this package are formulas. `Number` lets them look like it: ``x * y``
writes the instruction, and is the number that it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir
import numpy as np

from runtime.engines.native.types import F32, F64, I32, I64


@dataclass(frozen=True)
class Format:
    """A floating type, and where its bits are."""

    typ: Any
    integer: Any
    numpy: Any
    #: The bits of the fraction, and what is added to an exponent.
    digits: int
    bias: int

    @property
    def width(self) -> int:
        """The bits of a number."""
        return int(self.integer.width)

    @property
    def is_single(self) -> bool:
        """Whether these are the floats of 32 bits."""
        return self.digits == 23

    @property
    def shifter(self) -> float:
        """What leaves no place for fractions when it is added."""
        return 1.5 * 2.0**self.digits

    def rounded(self, value: float) -> float:
        """The nearest number of the format."""
        return float(self.numpy(value))

    def bits(self, value: float) -> int:
        """The bits of a number, as an integer."""
        width = np.int32 if self.is_single else np.int64
        return int(self.numpy(value).view(width))


SINGLE = Format(F32, I32, np.float32, 23, 127)
DOUBLE = Format(F64, I64, np.float64, 52, 1023)


class Number:
    """A float, an integer, or a bit in a register."""

    __slots__ = ("ir", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.ir = builder
        self.value = value

    @property
    def format(self) -> Format:
        """The format of floats, or that of the floats of as many bits."""
        return SINGLE if self.value.type in (F32, I32) else DOUBLE

    @property
    def is_float(self) -> bool:
        """Whether it is no integer, or a bit."""
        return self.value.type in (F32, F64)

    def like(self, value: Any) -> Any:
        """The register of a number, or of a constant of this one's type."""
        if isinstance(value, Number):
            return value.value
        if self.is_float:
            value = self.format.rounded(value)
        return ir.Constant(self.value.type, value)

    def number(self, value: float) -> Number:
        """A constant of this one's type."""
        return Number(self.ir, self.like(value))

    def _written(self, floats: str, integers: str, other: Any, swap: bool) -> Number:
        pair = [self.value, self.like(other)]
        name = floats if self.is_float else integers
        return Number(self.ir, getattr(self.ir, name)(*pair[:: -1 if swap else 1]))

    def __add__(self, other: Any) -> Number:
        return self._written("fadd", "add", other, False)

    def __radd__(self, other: Any) -> Number:
        return self._written("fadd", "add", other, True)

    def __sub__(self, other: Any) -> Number:
        return self._written("fsub", "sub", other, False)

    def __rsub__(self, other: Any) -> Number:
        return self._written("fsub", "sub", other, True)

    def __mul__(self, other: Any) -> Number:
        return self._written("fmul", "mul", other, False)

    def __rmul__(self, other: Any) -> Number:
        return self._written("fmul", "mul", other, True)

    def __truediv__(self, other: Any) -> Number:
        return self._written("fdiv", "", other, False)

    def __rtruediv__(self, other: Any) -> Number:
        return self._written("fdiv", "", other, True)

    def __lshift__(self, other: Any) -> Number:
        return self._written("", "shl", other, False)

    def __rshift__(self, other: Any) -> Number:
        return self._written("", "ashr", other, False)

    def __and__(self, other: Any) -> Number:
        return self._written("", "and_", other, False)

    def __or__(self, other: Any) -> Number:
        return self._written("", "or_", other, False)

    def __xor__(self, other: Any) -> Number:
        return self._written("", "xor", other, False)

    def __neg__(self) -> Number:
        return Number(self.ir, self.ir.fneg(self.value))

    def __abs__(self) -> Number:
        return self.intrinsic("fabs")

    def _compared(self, sign: str, other: Any) -> Number:
        compare = self.ir.fcmp_ordered if self.is_float else self.ir.icmp_signed
        return Number(self.ir, compare(sign, self.value, self.like(other)))

    def __lt__(self, other: Any) -> Number:
        return self._compared("<", other)

    def __gt__(self, other: Any) -> Number:
        return self._compared(">", other)

    def __le__(self, other: Any) -> Number:
        return self._compared("<=", other)

    def __ge__(self, other: Any) -> Number:
        return self._compared(">=", other)

    def equals(self, other: Any) -> Number:
        """Whether it is the same number. (``==`` is left to Python.)"""
        return self._compared("==", other)

    def intrinsic(self, name: str, *others: Any) -> Number:
        """A function of LLVM, as ``llvm.fma``."""
        values = [self.value, *map(self.like, others)]
        typ = ir.FunctionType(self.value.type, [each.type for each in values])
        function = self.ir.module.declare_intrinsic(
            f"llvm.{name}", [self.value.type], typ
        )
        return Number(self.ir, self.ir.call(function, values))

    def fma(self, times: Any, plus: Any) -> Number:
        """``self * times + plus``, rounded once."""
        return self.intrinsic("fma", times, plus)

    def with_sign(self, sign: Number) -> Number:
        """The number of this size that has the sign of another."""
        return self.intrinsic("copysign", sign)

    def within(self, low: float, high: float) -> Number:
        """The nearest number between the limits; NaN stays NaN."""
        below = select(self < low, low, self)
        return select(below > high, high, below)

    @property
    def bits(self) -> Number:
        """A float as the integer that has its bits."""
        return Number(self.ir, self.ir.bitcast(self.value, self.format.integer))

    @property
    def as_float(self) -> Number:
        """The float that has the bits of an integer."""
        return Number(self.ir, self.ir.bitcast(self.value, self.format.typ))

    @property
    def converted(self) -> Number:
        """The float that is equal to an integer."""
        return Number(self.ir, self.ir.sitofp(self.value, self.format.typ))

    @property
    def power_of_two(self) -> Number:
        """2 to the power of an integer; 0 and infinity are just beside the normal."""
        return ((self + self.format.bias) << self.format.digits).as_float

    def nearest(self, factor: float) -> tuple[Number, Number]:
        """The whole number nearest to a product, as a float and as an integer.

        Added to a large number, the product loses its fraction, and stands in the last
        bits. It has to be below ``2 ** (digits - 1)``.
        """
        shifter = self.format.shifter
        shifted = self.fma(factor, shifter)
        return shifted - shifter, shifted.bits - self.format.bits(shifter)


def select(condition: Number, first: Any, second: Any) -> Number:
    """One of two numbers; either may be a constant."""
    number = first if isinstance(first, Number) else second
    found = condition.ir.select(
        condition.value, number.like(first), number.like(second)
    )
    return Number(condition.ir, found)


def library_function(module: Any, name: str, *types: Any) -> Any:
    """A function of the C library that depends on its arguments alone."""
    name = f"{name}f" if types[0] == F32 else name
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(types[0], types), name)
        found.attributes.update(("nounwind", "readnone"))
    return found


def below(limit: float, x: Number, found: Number, name: str) -> Number:
    """What was found where ``abs(x)`` is below a limit, else the C library's function.

    The library computes one at a time. In a loop over vectors, LLVM's vectoriser calls
    a function of vectors instead of that of numbers, which asks whether there is any to
    be computed at all. It has them by their names in an attribute.
    """
    module, form = found.ir.module, found.format
    library = library_function(module, name, form.typ)
    one = module.globals.get(f"below.{library.name}")
    if one is None:
        one = _below(module, limit, library, form, 1)
        widest = 512 // form.width
        variants = []
        for count in (widest, widest // 2, widest // 4):
            many = _below(module, limit, library, form, count)
            variants.append(f"_ZGV_LLVM_N{count}vv_{one.name}({many.name})")
        listed = f'"vector-function-abi-variant"="{",".join(variants)}"'
        set.add(one.attributes, listed)  # An attribute that llvmlite does not know.
    return Number(found.ir, found.ir.call(one, [x.value, found.value]))


def _below(module: Any, limit: float, library: Any, form: Format, count: int) -> Any:
    """The function of `below`, of one number or of a vector of them."""
    typ = form.typ if count == 1 else ir.VectorType(form.typ, count)
    name = f"below.{library.name}{f'.{count}' if count > 1 else ''}"
    function = ir.Function(module, ir.FunctionType(typ, [typ, typ]), name)
    function.attributes.update(("noinline", "readnone", "nounwind"))
    b = ir.IRBuilder(function.append_basic_block("entry"))
    x, found = function.args
    least, most = (
        ir.Constant(typ, [form.typ(end)] * count if count > 1 else end)
        for end in (-limit, limit)
    )
    is_far = b.or_(b.fcmp_ordered("<=", x, least), b.fcmp_ordered(">=", x, most))
    bits = ir.IntType(count)
    some = b.icmp_unsigned("!=", b.bitcast(is_far, bits), bits(0))
    with b.if_then(some, likely=False):
        if count == 1:
            b.ret(b.call(library, [x]))
        else:
            computed: Any = ir.Constant(typ, ir.Undefined)
            for place in map(I32, range(count)):
                element = b.call(library, [b.extract_element(x, place)])
                computed = b.insert_element(computed, element, place)
            b.ret(b.select(is_far, computed, found))
    b.ret(found)
    return function


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """The sum of ``coefficients[k] * x**k``.

    Long ones are two in ``x * x``, which the processor computes at the same time.
    """
    if len(coefficients) > 6:
        square = x * x
        even = polynomial(square, coefficients[::2])
        return polynomial(square, coefficients[1::2]).fma(x, even)
    found: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        if isinstance(found, Number):
            found = found.fma(x, coefficient)
        else:
            found = x.fma(found, coefficient)
    assert isinstance(found, Number)
    return found
