"""Functions of NumPy that have an operation of the same meaning, on tensors in a graph.

Results have NumPy's dtypes: NumPy itself computes the function of small arrays of the
operands' dtypes, and the operands are cast to the dtype of its result. Python numbers,
and tensors that stand for them, promote as in NumPy. Arguments that an operation lacks
are refused. `library_functions` includes these functions in its own table.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.ops.arrays import creation, joining, shape, sorting
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.sequences import linspace
from runtime.ops.arrays.sequences import range as tensor_range
from runtime.ops.convert import cast, cast_number, constant, is_tensor
from runtime.ops.elementwise import arithmetic, functions, logical
from runtime.ops.linalg import einsum, factorizations, matrices, products
from runtime.ops.reduce import places, reductions, scans
from runtime.staging.builtins.refused_functions import refusal
from runtime.staging.library.ordering import listed
from runtime.staging.lists.sequences import StagedSequence
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.state.branches import raise_if
from runtime.staging.tracing.subgraph import state_tensor

Function = Callable[..., Any]


# --- operands -------------------------------------------------------------------------


def as_array(value: Any) -> Tensor:
    """``np.asarray(value)`` as a tensor: numbers of Python have 64 bits."""
    if isinstance(value, StagedSequence):
        value = listed(value)
    if isinstance(value, StagedList):
        value = value.tensor()
    if is_tensor(value):
        tensor: Tensor = state_tensor(value)
        if tensor.dtype is dtypes.string:
            raise refusal("numpy.asarray", [tensor], "NumPy pads texts; use tf.strings")
        is_weak = tensor.spec.weak
        wide = dtypes.wide(tensor.dtype)
        return cast_number(tensor, wide) if is_weak else tensor
    if isinstance(value, (list, tuple)) and any(map(_has_tensor, value)):
        arrays = list(map(as_array, value))
        dtype = as_dtype(np.result_type(*(array.dtype.np_dtype for array in arrays)))
        if len({array.shape.rank for array in arrays}) > 1:
            raise ValueError("the parts of the array have different shapes")
        stacked: Tensor = joining.stack([cast(array, dtype) for array in arrays])
        return stacked
    return constant(np.asarray(value))


def _has_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_tensor, value))
    return is_tensor(value) or isinstance(value, (StagedList, StagedSequence))


def example(value: Any) -> Any:
    """A small value of the operand's dtype, to ask NumPy for the dtype of a result."""
    if is_tensor(value) and value.spec.weak:
        kind = value.dtype
        return 1 if kind.is_integer else 1.0 if kind.is_floating else 1j
    if not _has_tensor(value):
        return value
    tensor = as_array(value)
    return np.ones((1,) * (tensor.shape.rank or 0), tensor.dtype.np_dtype)


def result_dtype(function: Function, *operands: Any, **options: Any) -> DType:
    """The dtype of ``function(*operands)`` in NumPy."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*map(example, operands), **options)
    return as_dtype(np.asarray(result).dtype)


def _without(name: str, given: Any, options: dict[str, Any]) -> None:
    """Refuse keyword arguments that the operation lacks."""
    if options:
        names = ", ".join(f"{option}=" for option in options)
        raise refusal(f"numpy.{name}", given, f"leave out {names}")


def _ranked(name: str, value: Any) -> Tensor:
    tensor = as_array(value)
    if tensor.shape.rank is None:
        raise refusal(f"numpy.{name}", [tensor], "its rank is unknown: tf.ensure_shape")
    return tensor


# --- element by element ---------------------------------------------------------------


def _elementwise(name: str, op: Function, only: str = "biufc") -> Function:
    """A ufunc, whose operands are cast to the dtype of the result.

    The operands of a comparison are cast to their common dtype. ``only`` lists the
    kinds of dtypes, by NumPy's letters, for which the operation agrees with NumPy.
    """
    function = getattr(np, name)

    def of_arrays(*operands: Any, **options: Any) -> Any:
        _without(name, operands, options)
        if len(operands) != function.nin:
            raise refusal(f"numpy.{name}", operands, "assign what it gives")
        dtype = result_dtype(function, *operands)
        if name in _ANSWERS:
            dtype = as_dtype(np.result_type(*map(example, operands)))
            if function.nin == 1 and dtype.kind in "biu":  # of which none is NaN
                dtype = dtypes.float64
        if dtype.kind not in only:
            raise refusal(f"numpy.{name}", operands, "use an operator, or tf.math")
        arrays = map(as_array, operands)
        return op(*(x if name == "absolute" else cast(x, dtype) for x in arrays))

    return of_arrays


def _of_truth(name: str, op: Function) -> Function:
    def of_truth(*operands: Any, **options: Any) -> Any:
        _without(name, operands, options)
        return op(*(cast(as_array(x), dtypes.bool) for x in operands))

    return of_truth


_ANSWERS = frozenset(
    [
        "equal",
        "greater",
        "greater_equal",
        "isfinite",
        "isinf",
        "isnan",
        "less",
        "less_equal",
        "not_equal",
    ]
)
_UNARY: dict[str, Function] = {
    "absolute": functions.abs,
    "arccos": functions.acos,
    "arccosh": functions.acosh,
    "arcsin": functions.asin,
    "arcsinh": functions.asinh,
    "arctan": functions.atan,
    "arctanh": functions.atanh,
    "ceil": functions.ceil,
    "cos": functions.cos,
    "cosh": functions.cosh,
    "exp": functions.exp,
    "expm1": functions.expm1,
    "floor": functions.floor,
    "isfinite": functions.is_finite,
    "isinf": functions.is_inf,
    "isnan": functions.is_nan,
    "log": functions.log,
    "log1p": functions.log1p,
    "negative": functions.negative,
    "rint": functions.rint,
    "sign": functions.sign,
    "sin": functions.sin,
    "sinh": functions.sinh,
    "sqrt": functions.sqrt,
    "square": functions.square,
    "tan": functions.tan,
    "tanh": functions.tanh,
}
_BINARY: dict[str, Function] = {
    "add": arithmetic.add,
    "arctan2": functions.atan2,
    "divide": arithmetic.divide,
    "equal": arithmetic.equal,
    "greater": arithmetic.greater,
    "greater_equal": arithmetic.greater_equal,
    "less": arithmetic.less,
    "less_equal": arithmetic.less_equal,
    "maximum": arithmetic.maximum,
    "minimum": arithmetic.minimum,
    "multiply": arithmetic.multiply,
    "not_equal": arithmetic.not_equal,
    "power": arithmetic.pow,
    "subtract": arithmetic.subtract,
}
#: Of integers an operation raises where NumPy gives 0, or of bools where it does not.
_OF_FLOATS: dict[str, Function] = {
    "floor_divide": arithmetic.floordiv,
    "reciprocal": functions.reciprocal,
    "remainder": arithmetic.floormod,
}
_OF_TRUTH: dict[str, Function] = {
    "logical_and": logical.logical_and,
    "logical_not": logical.logical_not,
    "logical_or": logical.logical_or,
    "logical_xor": logical.logical_xor,
}


# --- along axes -----------------------------------------------------------------------


def _reduction(name: str, op: Function) -> Function:
    """``np.sum`` and the like, computed in the dtype of the result."""
    function = getattr(np, name)

    def reduced(
        a: Any, axis: Any = None, *, keepdims: bool = False, **options: Any
    ) -> Any:
        _without(name, [a], options)
        array = as_array(a)
        dtype = result_dtype(function, array)
        axes = {} if axis is None else {"axis": axis}
        result = op(cast(array, dtype), keepdims=keepdims, **axes)
        if name in _OF_SOME:
            _check_some(name, array, result)
        return result

    return reduced


#: Reductions that are undefined for no elements.
_OF_SOME = {"max": "maximum", "min": "minimum"}


def _check_some(name: str, array: Tensor, result: Tensor) -> None:
    """Raise NumPy's ValueError for a reduction of no elements, when the graph runs."""
    count = array.shape.num_elements()
    if count == 0 or count is None:
        text = f"reduction operation {_OF_SOME[name]} which has no identity"
        is_empty = arithmetic.equal(shape.size(array), 0)
        has_results = arithmetic.not_equal(shape.size(result), 0)
        test = logical.logical_and(is_empty, has_results)
        raise_if(test, ValueError(f"zero-size array to {text}"))


def _variance(name: str) -> Function:
    def spread(a: Any, axis: Any = None, *, ddof: Any = 0, **options: Any) -> Any:
        keepdims = options.pop("keepdims", False)
        _without(name, [a], options)
        array = as_array(a)
        dtype = result_dtype(np.var, array)
        if array.dtype.is_complex or dtype.np_dtype == np.float16:
            raise refusal(f"numpy.{name}", [array], "use tf.math.reduce_variance")
        x = cast(array, dtype)
        deviation = x - reductions.reduce_mean(x, axis=axis, keepdims=True)
        squares = deviation * deviation
        total = reductions.reduce_sum(squares, axis=axis, keepdims=keepdims)
        ones = creation.ones_like(x)
        count = reductions.reduce_sum(ones, axis=axis, keepdims=keepdims) - ddof
        variance = total / arithmetic.maximum(count, constant(0, dtype))
        return functions.sqrt(variance) if name == "std" else variance

    return spread


def _arg_extreme(name: str, op: Function) -> Function:
    def arg_extreme(a: Any, axis: Any = None, **options: Any) -> Any:
        _without(name, [a], options)
        array = as_array(a)
        if array.dtype.is_bool:
            array = cast(array, dtypes.int32)
        flat = shape.reshape(array, [-1]) if axis is None else array
        return op(flat, axis=0 if axis is None else axis, output_type=dtypes.int64)

    return arg_extreme


def _cumulative(name: str, op: Function) -> Function:
    def cumulative(a: Any, axis: Any = None, **options: Any) -> Any:
        _without(name, [a], options)
        array = cast(as_array(a), result_dtype(getattr(np, name), a))
        flat = shape.reshape(array, [-1]) if axis is None else array
        return op(flat, axis=0 if axis is None else axis)

    return cumulative


def _median(a: Any, axis: Any = None, **options: Any) -> Any:
    _without("median", [a], {**options, **({} if axis is None else {"axis": axis})})
    array = cast(as_array(a), result_dtype(np.median, a))
    flat = shape.reshape(array, [-1])
    count = flat.shape[0]
    if not count:
        raise refusal("numpy.median", [flat], "use statistics.median")
    ordered = sorting.sort(flat)
    middle = ordered[count // 2]
    if count % 2 == 0:
        middle = (ordered[count // 2 - 1] + middle) / 2
    # What is no number comes last.
    return where(functions.is_nan(ordered[-1]), ordered[-1], middle)


# --- products -------------------------------------------------------------------------


def _common(name: str, *operands: Any) -> list[Tensor]:
    arrays = [_ranked(name, value) for value in operands]
    dtype = as_dtype(np.result_type(*map(example, arrays)))
    if dtype.is_bool:
        raise refusal(f"numpy.{name}", arrays, "cast the bools to integers")
    return [cast(array, dtype) for array in arrays]


def _dot(a: Any, b: Any, **options: Any) -> Any:
    _without("dot", [a, b], options)
    left, right = _common("dot", a, b)
    if not (left.shape.rank and right.shape.rank):
        return left * right
    axis = max(len(right.shape) - 2, 0)
    return einsum.tensordot(left, right, [[len(left.shape) - 1], [axis]])


def _matmul(a: Any, b: Any, **options: Any) -> Any:
    _without("matmul", [a, b], options)
    left, right = _common("matmul", a, b)
    if not (left.shape.rank and right.shape.rank):
        raise ValueError("matmul: an input operand does not have enough dimensions")
    if 1 in (left.shape.rank, right.shape.rank):
        if max(len(left.shape), len(right.shape)) > 2:
            raise refusal("numpy.matmul", [left, right], "use tf.linalg.matvec")
        return _dot(left, right)
    return products.matmul(left, right)


def _outer(a: Any, b: Any, **options: Any) -> Any:
    _without("outer", [a, b], options)
    left, right = _common("outer", a, b)
    return shape.reshape(left, [-1, 1]) * shape.reshape(right, [1, -1])


def _norm(x: Any, ord: Any = None, axis: Any = None, **options: Any) -> Any:
    others = {"ord": ord} if ord is not None else {}
    _without("linalg.norm", [x], {**options, **others})
    array = as_array(x)
    if array.dtype.is_complex:
        raise refusal("numpy.linalg.norm", [array], "use tf.norm")
    array = cast(array, result_dtype(np.linalg.norm, array))
    total = reductions.reduce_sum(array * array, axis=axis)
    return functions.sqrt(total)


def _of_matrix(name: str, op: Function) -> Function:
    def of_matrix(*operands: Any, **options: Any) -> Any:
        _without(f"linalg.{name}", operands, options)
        arrays = _common(f"linalg.{name}", *operands)
        exact = arrays[0].dtype.is_integer
        return op(*(cast(x, dtypes.float64) if exact else x for x in arrays))

    return of_matrix


# --- arrays and their shapes ----------------------------------------------------------


def _asarray(value: Any, dtype: Any = None, **options: Any) -> Any:
    options.pop("copy", None)
    _without("array", [value], options)
    array = as_array(value)
    return array if dtype is None else cast(array, as_dtype(np.dtype(dtype)))


def _number(name: str) -> Function:
    kind = np.dtype(getattr(np, name))

    def number(value: Any = 0) -> Any:
        array = as_array(value)
        if kind.kind in "iu" and not (array.dtype.is_integer or array.dtype.is_bool):
            raise refusal(f"numpy.{name}", [array], f"use int(x), or tf.cast to {name}")
        if array.dtype.is_complex:
            raise refusal(f"numpy.{name}", [array], "use tf.math.real(x)")
        return cast(array, as_dtype(kind))

    return number


def _filled(name: str, value: Any) -> Function:
    def filled(shape: Any, dtype: Any = float, **options: Any) -> Any:
        _without(name, [shape], options)
        dims: Any = shape
        if isinstance(shape, int) or (is_tensor(shape) and not shape.shape.rank):
            dims = [shape]
        return creation.fill(dims, constant(value, as_dtype(np.dtype(dtype))))

    return filled


def _alike(name: str, op: Function) -> Function:
    def alike(a: Any, dtype: Any = None, **options: Any) -> Any:
        _without(name, [a], options)
        array = _asarray(a, dtype)
        return op(array)

    return alike


def _arange(*ends: Any, dtype: Any = None) -> Any:
    if not 1 <= len(ends) <= 3:
        raise TypeError("arange() takes one to three numbers")
    start, stop, step = {1: (0, *ends, 1), 2: (*ends, 1), 3: ends}[len(ends)]
    arrays = list(map(as_array, (start, stop, step)))
    common = np.result_type(*map(example, arrays)) if dtype is None else dtype
    kind = as_dtype(np.dtype(common))
    first, last, each = (cast(x, kind) for x in arrays)
    return tensor_range(first, last, each)


def _linspace(start: Any, stop: Any, num: Any = 50, **options: Any) -> Any:
    _without("linspace", [start, stop, num], options)
    dtype = result_dtype(np.linspace, start, stop)
    if dtype is not dtypes.float64:  # NumPy's steps are rounded otherwise
        raise refusal("numpy.linspace", [start, stop], "cast the ends to float64")
    first, last = (cast(as_array(x), dtype) for x in (start, stop))
    return linspace(first, last, num)


def _eye(N: Any, M: Any = None, *, dtype: Any = float) -> Any:  # noqa: N803
    return creation.eye(N, M, dtype=as_dtype(np.dtype(dtype)))


def _joined(name: str, op: Function) -> Function:
    def joined(arrays: Any, axis: Any = 0, **options: Any) -> Any:
        _without(name, arrays, options)
        if is_tensor(arrays) or isinstance(arrays, (StagedList, StagedSequence)):
            raise refusal(f"numpy.{name}", [arrays], f"give tf.{op.__name__} a list")
        return op(_common(name, *arrays), axis=axis)

    return joined


def _where(condition: Any, *choice: Any) -> Any:
    if len(choice) != 2:
        raise refusal("numpy.where", [condition], "use tf.where(condition)")
    dtype = as_dtype(np.result_type(*map(example, choice)))
    if_true, if_false = (cast(as_array(x), dtype) for x in choice)
    return where(cast(as_array(condition), dtypes.bool), if_true, if_false)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, **options: Any) -> Any:
    _without("clip", [a], options)
    clipped = a
    if a_min is not None:
        clipped = FUNCTIONS["numpy.maximum"](clipped, a_min)
    return clipped if a_max is None else FUNCTIONS["numpy.minimum"](clipped, a_max)


def _sort(a: Any, axis: Any = -1, **options: Any) -> Any:
    _without("sort", [a], options)
    array = as_array(a)
    flat = shape.reshape(array, [-1]) if axis is None else array
    return sorting.sort(flat, axis=-1 if axis is None else axis)


def _reshape(a: Any, shape_: Any, **options: Any) -> Any:
    _without("reshape", [a], options)
    dims = shape_ if isinstance(shape_, (list, tuple)) else [shape_]
    return shape.reshape(as_array(a), dims)


def _diff(a: Any, n: int = 1, axis: int = -1, **options: Any) -> Any:
    others = {} if axis == -1 else {"axis": axis}
    _without("diff", [a], {**options, **others})
    array = as_array(a)
    if array.dtype.is_bool:
        raise refusal("numpy.diff", [array], "cast the bools to integers")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    for _ in range(n):
        array = array[..., 1:] - array[..., :-1]
    return array


def _transpose(a: Any, axes: Any = None) -> Any:
    return shape.transpose(as_array(a), perm=axes)


def _trace(a: Any, **options: Any) -> Any:
    _without("trace", [a], options)
    array = _ranked("trace", a)
    if array.shape.rank != 2:
        raise refusal("numpy.trace", [array], "use tf.linalg.trace")
    return matrices.trace(cast(array, result_dtype(np.trace, array)))


_REDUCTIONS: dict[str, Function] = {
    "all": lambda x, **axes: reductions.reduce_all(cast(x, dtypes.bool), **axes),
    "any": lambda x, **axes: reductions.reduce_any(cast(x, dtypes.bool), **axes),
    "max": reductions.reduce_max,
    "mean": reductions.reduce_mean,
    "min": reductions.reduce_min,
    "prod": reductions.reduce_prod,
    "sum": reductions.reduce_sum,
}
_CUMULATIVE: dict[str, Function] = {"cumprod": scans.cumprod, "cumsum": scans.cumsum}
_NUMBER_TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8")

_FUNCTIONS: dict[str, Function] = {
    **{name: _elementwise(name, op) for name, op in _UNARY.items()},
    **{name: _elementwise(name, op) for name, op in _BINARY.items()},
    **{name: _elementwise(name, op, "f") for name, op in _OF_FLOATS.items()},
    **{name: _of_truth(name, op) for name, op in _OF_TRUTH.items()},
    **{name: _cumulative(name, op) for name, op in _CUMULATIVE.items()},
    **{name: _reduction(name, op) for name, op in _REDUCTIONS.items()},
    **{name: _number(name) for name in _NUMBER_TYPES},
    "arange": _arange,
    "argmax": _arg_extreme("argmax", places.argmax),
    "argmin": _arg_extreme("argmin", places.argmin),
    "array": _asarray,
    "asarray": _asarray,
    "clip": _clip,
    "concatenate": _joined("concatenate", joining.concat),
    "diff": _diff,
    "dot": _dot,
    "eye": _eye,
    "linalg.det": _of_matrix("det", factorizations.det),
    "linalg.inv": _of_matrix("inv", factorizations.inv),
    "linalg.norm": _norm,
    "linspace": _linspace,
    "matmul": _matmul,
    "median": _median,
    "ones": _filled("ones", 1),
    "ones_like": _alike("ones_like", creation.ones_like),
    "outer": _outer,
    "reshape": _reshape,
    "sort": _sort,
    "stack": _joined("stack", joining.stack),
    "std": _variance("std"),
    "trace": _trace,
    "transpose": _transpose,
    "var": _variance("var"),
    "where": _where,
    "zeros": _filled("zeros", 0),
    "zeros_like": _alike("zeros_like", creation.zeros_like),
}

FUNCTIONS: dict[str, Function] = {
    f"numpy.{name}": function for name, function in _FUNCTIONS.items()
}
