"""What generated source writes for each op, beside a call of its kernel.

>>> RULES["AddV2"].source, RULES["AddV2"].steps
('{0} + {1}', ('np.add({0}, {1}, out={out})',))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.ops.arguments import INTS
from runtime.ops.arrays.sequences import is_narrow
from runtime.ops.operands import Operand, Slice, slice_text

Source = str | Callable[[list[str], dict[str, Any]], "str | None"]

#: The least and the greatest value of an integer.
Bounds = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    """How the source of an op reads; ``{0}`` is an operand, ``{axis}`` an attribute."""

    #: An expression; "" and None call the kernel.
    source: Source = ""
    #: What it says where the result may be large, a call that is faster than `source`
    #: and takes ``out=``. For two operands, it is about an array and a number.
    large: str = ""
    #: What it says where it is known that the op does not raise; there is no `source`.
    unchecked: str = ""
    #: Statements that compute the result in ``{out}``, which may lie where an operand
    #: lies, for an elementwise op of real numbers or bools; to the last bit what the
    #: kernel computes. What has a `large` needs none.
    steps: tuple[str, ...] = ()
    #: What Python writes for the op on its own ints, or its own bools.
    python: str = ""
    #: The bounds of an integer result that is not wrapped around, by those of inputs.
    bounds: Callable[..., Bounds | None] | None = None
    #: Inputs that the kernel takes as Python ints.
    takes_ints: tuple[int, ...] = ()


# --- attributes -----------------------------------------------------------------------


def code(value: Any, args: Sequence[str]) -> str:
    """An attribute as Python source; `args` are the texts of the node's inputs."""
    if isinstance(value, Operand):
        return args[value.index]
    if isinstance(value, Slice):
        return slice_text(*(None if v is None else code(v, args) for v in value))
    if isinstance(value, tuple):
        items = [code(item, args) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, DType):
        return f"np.{value.np_dtype.name}"
    if isinstance(value, float) and not np.isfinite(value):
        return f"-np.{-value}" if value < 0 else f"np.{value}"
    return repr(value)


def bare(value: Any, args: Sequence[str]) -> str:
    """As `code`, but one axis or length without the parentheses of a tuple."""
    if type(value) is tuple and len(value) == 1 and not isinstance(value[0], tuple):
        return code(value[0], args)
    return code(value, args)


def _listed(args: Sequence[str]) -> str:
    return f"[{', '.join(args)}]"


# --- expressions of attributes --------------------------------------------------------


def _eye(args: list[str], attrs: dict[str, Any]) -> str:
    rows, columns = code(attrs["rows"], args), code(attrs["columns"], args)
    size = rows if rows == columns else f"{rows}, {columns}"
    matrix = f"np.eye({size}, dtype={code(attrs['dtype'], args)})"
    if attrs["batch"] == ():
        return matrix
    return f"np.tile({matrix}, (*{code(attrs['batch'], args)}, 1, 1))"


def _range(args: list[str], attrs: dict[str, Any]) -> str | None:
    if attrs.get("operands") or not is_narrow(attrs["start"], attrs["limit"]):
        # NumPy would not mind bounds that are the wrong way round.
        return None
    start, limit, delta = (
        code(attrs[key], args) for key in ("start", "limit", "delta")
    )
    bounds = limit if (start, delta) == ("0", "1") else f"{start}, {limit}"
    step = "" if delta == "1" else f", {delta}"
    return f"np.arange({bounds}{step}, dtype={code(attrs['dtype'], args)})"


def _strided_slice(args: list[str], attrs: dict[str, Any]) -> str:
    items = ["..." if item is Ellipsis else code(item, args) for item in attrs["key"]]
    return f"{args[0]}[{', '.join(items) or '()'}]"


def _concat(args: list[str], attrs: dict[str, Any]) -> str:
    values = args[: len(args) - attrs.get("operands", 0)]
    return f"np.concatenate({_listed(values)}, axis={code(attrs['axis'], args)})"


def _pack(args: list[str], attrs: dict[str, Any]) -> str:
    if attrs["axis"] == 0:
        return f"np.array({_listed(args)})"  # a fifth of the time of np.stack
    return f"np.stack({_listed(args)}, axis={attrs['axis']})"


def _unpack(args: list[str], attrs: dict[str, Any]) -> str:
    axis, count = attrs["axis"], attrs["num"]
    parts = args[0] if axis == 0 else f"np.moveaxis({args[0]}, {axis}, 0)"
    return f"{parts}[0]" if count == 1 else f"tuple({parts})"


def _reverse(args: list[str], attrs: dict[str, Any]) -> str:
    axes = bare(attrs["axis"], args)
    if isinstance(attrs["axis"], Operand):
        axes = f"tuple({axes})"  # a whole vector of them
    return f"np.flip({args[0]}, {axes})"


def _reshape(args: list[str], attrs: dict[str, Any]) -> str | None:
    shape = attrs["shape"]
    if type(shape) is not tuple or not INTS.issuperset(map(type, shape)):
        return None  # the kernel looks for negative lengths
    return f"{args[0]}.reshape({bare(shape, args)})"


def _transpose(args: list[str], attrs: dict[str, Any]) -> str:
    perm = "" if attrs["perm"] is None else bare(attrs["perm"], args)
    conj = ".conj()" if attrs["conjugate"] else ""
    return f"{args[0]}.transpose({perm}){conj}"


_NEW_AXIS = {0: "None", 1: ":, None", 2: ":, :, None", -1: "..., None"}


def _expand_dims(args: list[str], attrs: dict[str, Any]) -> str:
    """An index, which takes a tenth of the time."""
    axis = attrs["axis"]
    if type(axis) is int and axis in _NEW_AXIS:
        return f"{args[0]}[{_NEW_AXIS[axis]}]"
    return f"np.expand_dims({args[0]}, {code(axis, args)})"


def _squeeze(args: list[str], attrs: dict[str, Any]) -> str:
    axis = "" if attrs["axis"] is None else bare(attrs["axis"], args)
    return f"{args[0]}.squeeze({axis})"


def _sort(args: list[str], attrs: dict[str, Any]) -> str:
    ordered = f"np.sort({args[0]}, axis={attrs['axis']})"
    return f"np.flip({ordered}, {attrs['axis']})" if attrs["descending"] else ordered


def _einsum(args: list[str], attrs: dict[str, Any]) -> str | None:
    if len(args) == 2:
        return None
    best = ", optimize=True" if len(args) > 2 else ""
    return f"np.einsum({attrs['equation']!r}, {', '.join(args)}{best})"


def _matmul(args: list[str], attrs: dict[str, Any]) -> str | None:
    if "is_large" in attrs:
        return None
    left, right = (
        f"{arg}.T" if flip else arg
        for arg, flip in zip(args, (attrs["transpose_a"], attrs["transpose_b"]))
    )
    return f"{left}.dot({right})"


def _reduction(name: str, args: list[str], attrs: dict[str, Any]) -> str | None:
    """The reduction along one axis, or all; None along what may be several."""
    axis = attrs["axis"]
    if isinstance(axis, Operand) or (type(axis) is tuple and len(axis) != 1):
        return None
    if attrs.get("has_short_rows"):
        return None
    texts = [args[0], f"axis={bare(axis, args)}"]
    if attrs.get("dtype") is not None:
        texts.append(f"dtype={code(attrs['dtype'], args)}")
    if attrs["keepdims"]:
        texts.append("keepdims=True")
    if attrs.get("initial") is not None:
        texts.append(f"initial={code(attrs['initial'], args)}")
    return f"np.{name}.reduce({', '.join(texts)})"


def _mean(args: list[str], attrs: dict[str, Any]) -> str | None:
    """The mean along one axis, or all, of what is not empty."""
    axis, dtype = attrs["axis"], attrs.get("dtype")
    if attrs.get("maybe_empty") or (dtype is not None and dtype.is_integer):
        return None
    wide = dtypes.float32
    total = _reduction("add", args, {**attrs, "dtype": dtype and wide})
    if total is None:
        return None
    count = "size" if axis is None else f"shape[{bare(axis, args)}]"
    mean = f"{total} / {args[0]}.{count}"
    return mean if dtype is None else f"({mean}).astype({code(dtype, args)})"


def _place(name: str, args: list[str], attrs: dict[str, Any]) -> str:
    place = f"{args[0]}.{name}(axis={code(attrs['axis'], args)})"
    if attrs["output_type"] is dtypes.int64:
        return place
    return f"{place}.astype({code(attrs['output_type'], args)})"


def _scan(name: str, args: list[str], attrs: dict[str, Any]) -> str | None:
    if attrs["exclusive"] or attrs["reverse"]:
        return None
    axis = code(attrs["axis"], args)
    return f"np.{name}.accumulate({args[0]}, axis={axis}, dtype={args[0]}.dtype)"


# --- bounds of integers ---------------------------------------------------------------


def _product_bounds(x: Bounds, y: Bounds) -> Bounds:
    products = [a * b for a in x for b in y]
    return min(products), max(products)


def _floor_div_bounds(x: Bounds, y: Bounds) -> Bounds:
    if y[0] > 0:
        quotients = [a // b for a in x for b in y]
        return min(quotients), max(quotients)
    largest = max(map(abs, x))
    if y[0] <= -1 <= y[1]:
        # Only the least number divided by -1 is larger than the largest one.
        return -largest, largest
    return -largest, max(x[1], -x[0] - 1)


def _bit_bounds(x: Bounds, y: Bounds) -> Bounds:
    bits = max(abs(bound).bit_length() for bound in (*x, *y))
    least = 0 if x[0] >= 0 and y[0] >= 0 else -(1 << bits)
    return least, (1 << bits) - 1


# --- the table ------------------------------------------------------------------------


class _Rules(dict[str, Rule]):
    """Rules by the names of ops, of which others have an empty one."""

    def __missing__(self, op: str) -> Rule:
        return _EMPTY


_EMPTY = Rule()


def _ufunc(name: str, operands: int = 2, **rest: Any) -> Rule:
    """The rule of an op that is a function of NumPy for all dtypes but strings."""
    call = f"np.{name}({', '.join(f'{{{place}}}' for place in range(operands))}"
    return Rule(**{"source": f"{call})", "steps": (f"{call}, out={{out}})",), **rest})


def _infix(sign: str, name: str, **rest: Any) -> Rule:
    """As `_ufunc`, of one that has a sign in Python."""
    text = f"{{0}} {sign} {{1}}"
    return _ufunc(name, **{"source": text, "python": text, **rest})


def _unchecked(sign: str, name: str, **rest: Any) -> Rule:
    step = f"np.{name}({{0}}, {{1}}, out={{out}})"
    return Rule(unchecked=f"{{0}} {sign} {{1}}", steps=(step,), **rest)


def _end(end: Any) -> Rule:
    name = f"{end.__name__}imum"
    return _ufunc(
        name,
        large=f"extreme(np.{name}, {{0}}, {{1}})",
        python=f"{end.__name__}({{0}}, {{1}})",
        bounds=lambda x, y: (end(x[0], y[0]), end(x[1], y[1])),
    )


#: Ops that are functions of NumPy of one operand, by the names in TensorFlow.
_FUNCTIONS = [
    "Sqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh",
    "Floor", "Ceil", "Rint", "IsNan", "IsInf", "IsFinite", "Sign",
]  # fmt: skip
_INVERSES = ["Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh"]

RULES = _Rules(
    {
        # elementwise
        **{name: _ufunc(name.lower(), 1) for name in _FUNCTIONS},
        **{name: _ufunc(f"arc{name[1:].lower()}", 1) for name in _INVERSES},
        "Neg": _ufunc(
            "negative", 1, source="-{0}", python="-{0}", bounds=lambda x: (-x[1], -x[0])
        ),
        "Square": _ufunc(
            "square",
            1,
            python="{0} ** 2",
            bounds=lambda x: (0, max(x[0] ** 2, x[1] ** 2)),
        ),
        "Abs": _ufunc(
            "abs", 1, python="abs({0})", bounds=lambda x: (0, max(-x[0], x[1]))
        ),
        "AddV2": _infix("+", "add", bounds=lambda x, y: (x[0] + y[0], x[1] + y[1])),
        "Sub": _infix("-", "subtract", bounds=lambda x, y: (x[0] - y[1], x[1] - y[0])),
        "Mul": _infix("*", "multiply", bounds=_product_bounds),
        "RealDiv": _infix("/", "divide", python=""),
        "FloorDiv": _unchecked(
            "//", "floor_divide", python="{0} // {1}", bounds=_floor_div_bounds
        ),
        "FloorMod": _unchecked(
            "%",
            "remainder",
            python="{0} % {1}",
            bounds=lambda x, y: (min(0, y[0] + 1), max(0, y[1] - 1)),
        ),
        "Pow": _unchecked("**", "power"),
        "Maximum": _end(max),
        "Minimum": _end(min),
        "Less": _infix("<", "less"),
        "LessEqual": _infix("<=", "less_equal"),
        "Greater": _infix(">", "greater"),
        "GreaterEqual": _infix(">=", "greater_equal"),
        "Equal": _infix("==", "equal"),
        "NotEqual": _infix("!=", "not_equal"),
        "BitwiseAnd": _infix("&", "bitwise_and", bounds=_bit_bounds),
        "BitwiseOr": _infix("|", "bitwise_or", bounds=_bit_bounds),
        "BitwiseXor": _infix("^", "bitwise_xor", bounds=_bit_bounds),
        "LogicalAnd": _infix("&", "bitwise_and"),
        "LogicalOr": _infix("|", "bitwise_or"),
        "LogicalNot": _ufunc("invert", 1, source="~{0}", python="not {0}"),
        "Invert": _ufunc("invert", 1, source="~{0}"),
        "Conj": Rule("np.conj({0})"),
        "Atan2": _ufunc("arctan2"),
        "NextAfter": Rule("np.nextafter({0}, {1})"),
        "Cast": Rule(
            bounds=lambda x: x, steps=("np.copyto({out}, {0}, casting='unsafe')",)
        ),
        "CastExactly": Rule(bounds=lambda x: x),
        "SelectV2": Rule("np.where({0}, {1}, {2})", "select({0}, {1}, {2})"),
        "IsNone": Rule("~{0}"),
        # elementwise, in several steps
        "DivNoNan": Rule(
            steps=(
                "np.divide({0}, {1}, out={out})",
                "np.copyto({out}, 0, where={1} == 0)",
            )
        ),
        "MulNoNan": Rule(
            steps=(
                "np.multiply({0}, {1}, out={out})",
                "np.copyto({out}, 0, where={1} == 0)",
            )
        ),
        "SquaredDifference": Rule(
            steps=(
                "np.subtract({0}, {1}, out={out})",
                "np.multiply({out}, {out}, out={out})",
            )
        ),
        "Rsqrt": Rule(
            steps=("np.sqrt({0}, out={out})", "np.divide(1, {out}, out={out})")
        ),
        "Reciprocal": Rule(steps=("np.divide(1, {0}, out={out})",)),
        "Round": Rule(steps=("np.rint({0}, out={out})",)),
        "Erf": Rule(steps=("erf({0}, out={out})",)),
        "Sigmoid": Rule(
            steps=(
                "np.negative({0}, out={out})",
                "np.exp({out}, out={out})",
                "np.add({out}, 1, out={out})",
                "np.divide(1, {out}, out={out})",
            )
        ),
        "Softplus": Rule(
            steps=(
                "np.abs({0}, out={out})",
                "np.negative({out}, out={out})",
                "np.exp({out}, out={out})",
                "np.log1p({out}, out={out})",
                "np.add(np.maximum({0}, 0), {out}, out={out})",
            )
        ),
        "Softsign": Rule(
            steps=(
                "np.abs({0}, out={out})",
                "np.add({out}, 1, out={out})",
                "np.divide({0}, {out}, out={out})",
            )
        ),
        "Relu": Rule("np.maximum({0}, 0)", "extreme(np.maximum, {0}, 0)"),
        "Relu6": Rule("np.clip({0}, 0, 6)", steps=("np.clip({0}, 0, 6, out={out})",)),
        "Elu": Rule(
            steps=(
                "extreme(np.minimum, {0}, 0, out={out})",
                "np.expm1({out}, out={out})",
                "select({0} > 0, {0}, {out}, out={out})",
            )
        ),
        "LeakyRelu": Rule(
            steps=(
                "np.multiply({0}, {alpha}, out={out})",
                "select({0} > 0, {0}, {out}, out={out})",
            )
        ),
        # elements made and moved
        "Fill": Rule("np.full({dims}, {0}, {0}.dtype)"),
        "Zeros": Rule("np.zeros({shape}, {dtype})"),
        "Ones": Rule("np.ones({shape}, {dtype})"),
        "ZerosLike": Rule("np.zeros({0}.shape, {dtype})"),
        "OnesLike": Rule("np.ones({0}.shape, {dtype})"),
        "Eye": Rule(_eye),
        "Range": Rule(_range),
        "Shape": Rule("np.array({0}.shape, {out_type})"),
        "Size": Rule("np.array({0}.size, {out_type})"),
        "Rank": Rule("np.array({0}.ndim, {out_type})"),
        "Identity": Rule("{0}", bounds=lambda x: x),
        "StopGradient": Rule("{0}"),
        "IsNotNone": Rule("{0}"),
        "StridedSlice": Rule(_strided_slice),
        "ConcatV2": Rule(_concat),
        "Pack": Rule(_pack),
        "Unpack": Rule(_unpack),
        "BroadcastTo": Rule("np.broadcast_to({0}, {shape})"),
        "ReverseV2": Rule(_reverse),
        "Roll": Rule("np.roll({0}, {shift}, {axis})"),
        "Reshape": Rule(_reshape),
        "Transpose": Rule(_transpose),
        "ExpandDims": Rule(_expand_dims),
        "Squeeze": Rule(_squeeze),
        "Sort": Rule(_sort),
        "Where": Rule("np.argwhere({0})"),
        # products, reductions
        "Einsum": Rule(_einsum),
        "Tensordot": Rule("np.tensordot({0}, {1}, axes={axes})"),
        "MatrixDeterminant": Rule("np.linalg.det({0})"),
        "MatMul": Rule(_matmul),
        "Sum": Rule(partial(_reduction, "add")),
        "Prod": Rule(partial(_reduction, "multiply")),
        "All": Rule(partial(_reduction, "logical_and")),
        "Any": Rule(partial(_reduction, "logical_or")),
        "Max": Rule(partial(_reduction, "maximum")),
        "Min": Rule(partial(_reduction, "minimum")),
        "Mean": Rule(_mean),
        "ArgMax": Rule(partial(_place, "argmax")),
        "ArgMin": Rule(partial(_place, "argmin")),
        "Cumsum": Rule(partial(_scan, "add")),
        "Cumprod": Rule(partial(_scan, "multiply")),
        # lists and arrays
        "ListTake": Rule("{0}[{1}]"),
        "ListItem": Rule("{0}[{index}]"),
        "ListRows": Rule("{0}[:{1}]", takes_ints=(1,)),
        "ListGet": Rule(takes_ints=(1, 2)),
        "ListAppend": Rule(takes_ints=(1, 2)),
        "ListExtend": Rule(takes_ints=(1,)),
        "ListSet": Rule(takes_ints=(1, 2, 3)),
        "ListInsert": Rule(takes_ints=(1, 2, 3)),
        "ListDelete": Rule(takes_ints=(1, 2)),
        "StackPush": Rule(takes_ints=(2,)),
        "TensorArraySizeV3": Rule("np.int32(len({0}))"),
    }
)
