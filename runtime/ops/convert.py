"""Python values and NumPy arrays as tensors, and which dtype two operands meet in.

A Python number has no dtype of its own: beside a tensor it takes the tensor's. A tensor
or array has one and keeps it. In a graph a number may be a tensor, too, which is weak:
it is int64, float64 or complex128 as long as it meets numbers, takes the dtype of the
tensor that it meets (`promote`), and is converted as a number is where an op takes it
alone (`as_tensor`).

>>> convert_to_tensor([1, 2]), convert_to_tensor([1.5, 2])
(<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>,
 <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2. ], dtype=float32)>)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError, DTypeMismatchError, UnimplementedError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import RESULT, Export, Fails, Op, register
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor, WeakTensor
from runtime.core.types import dtypes
from runtime.core.types.classes import defines
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply_one
from runtime.ops.derivatives import Applied, linear, without_gradient
from runtime.ops.eager import attempt
from runtime.ops.values import compatible, fit_array, meet, meet_as_numpy, to_array

# --- Values of other types that stand for tensors: variables, and types of programs

# Such a type has the method ``__tf_tensor__(self, dtype)``, or a function is registered
# for it.


def foreign(value: Any, dtype: DType | None) -> Tensor | None:
    """A tensor, or what stands for one (variables), as a tensor; None for values."""
    if isinstance(value, Tensor):
        return value
    convert: Any
    if defines(type(value), "__tf_tensor__"):
        convert = getattr(type(value), "__tf_tensor__")  # noqa: B009  (of any class)
    else:
        convert = _registered(value)
    if convert is None:
        return None
    tensor: Tensor = convert(value, dtype)
    return tensor


#: (priority, type, function) for types that cannot have ``__tf_tensor__``.
_conversions: list[tuple[int, type | tuple[type, ...], Callable[..., Any]]] = []


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...],
    conversion_func: Callable[..., Any],
    priority: int = 100,
) -> None:
    """Let values of a type stand for tensors, which ``conversion_func(value, dtype)``
    makes of them.

    Types of your own can have the method ``__tf_tensor__(self, dtype)`` instead. Of
    several functions for a value that with the smallest priority is used.
    """
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda entry: entry[0])


def _registered(value: Any) -> Callable[..., Any] | None:
    for _, kinds, convert in _conversions:
        if isinstance(value, kinds):
            return convert
    return None


Array = np.ndarray[Any, Any]


# --- ops ------------------------------------------------------------------------------

register(
    Op(
        "Const",
        kernel=lambda value: value,
        infer=lambda value: TensorSpec(value.shape, of_array(value)),
        strong=True,
        family="creation",
        fails=Fails.NEVER,
        picks=True,
    )
)
without_gradient("Const")


def _cast_kernel(array: Array, dtype: DType) -> Array:
    if dtype.kind == "O" or array.dtype.kind == "O":
        source = of_array(array).name
        raise UnimplementedError(f"casting {source} to {dtype.name} is not supported")
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    return array.astype(dtype.np_dtype)


def _cast_infer(spec: TensorSpec, dtype: DType) -> TensorSpec:
    if spec.dtype is not dtype and dtypes.string in (dtype, spec.dtype):
        raise UnimplementedError(
            f"casting {spec.dtype.name} to {dtype.name} is not supported"
        )
    return TensorSpec(spec.shape, dtype)


register(
    Op(
        "Cast",
        kernel=_cast_kernel,
        infer=_cast_infer,
        strong=True,
        family="elementwise",
        fails=Fails.NEVER,
        export=Export(
            output="y", types=(("DstT", RESULT), ("SrcT", 0)), unwritten=("dtype",)
        ),
    )
)


@linear("Cast")
def _cast_gradient(node: Applied, g: Any) -> Any:
    return [cast(g, node.inputs[0].dtype)]


# --- making tensors -------------------------------------------------------------------


def make_constant(array: Array, name: str | None = None, weak: bool = False) -> Tensor:
    """A tensor of an array that nobody changes: eager, or a ``Const`` of the graph."""
    graph = current_graph()
    if graph is None:
        return WeakTensor(array) if weak else EagerTensor(array)
    spec = TensorSpec(array.shape, of_array(array), weak=weak)
    return graph.add("Const", (), {"value": array}, (spec,), name)[0]


def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const"
) -> Tensor:
    """A tensor of a Python value or NumPy array.

    Python ints become int32 (int64 where they do not fit), floats float32, complex
    numbers complex128, text UTF-8 strings; arrays keep their dtype. `shape` repeats one
    value, or reshapes as many as it needs. Raises ConversionError.

    >>> constant(3, shape=[2, 2])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[3, 3],
           [3, 3]], dtype=int32)>
    """
    wanted = None if dtype is None else as_dtype(dtype)
    tensor = _from_value(value, wanted, name)
    if shape is None:
        return tensor
    array = get_static_value(tensor)
    if array is None:
        raise ConversionError("a symbolic tensor cannot be given a shape; reshape it")
    dims = as_shape(shape)
    if array.size != 1 and array.size != dims.num_elements():
        raise ConversionError(
            f"{array.size} values do not fill the shape {dims} of "
            f"{dims.num_elements()} elements"
        )
    if array.size == 1:
        lengths: list[Any] = dims.as_list()
        repeated = np.zeros(lengths, array.dtype)
        repeated.fill(array.item())  # `np.full` drops the NULs at the end of a text
        return make_constant(repeated, name)
    return make_constant(array.reshape(dims.as_list()), name)


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """`value` as a tensor; a tensor is given back as it is, unless it stands for a
    Python number.

    `dtype` must be the dtype of a tensor and fit a Python value; `dtype_hint` is taken
    where it fits and passed over elsewhere. Raises ConversionError.
    """
    if dtype is not None:
        return _from_value(value, as_dtype(dtype), name)
    if isinstance(value, Tensor):
        if dtype_hint is not None and value.spec.weak:
            hint = as_dtype(dtype_hint)
            if compatible(hint, value.dtype.kind):
                return cast_number(value, hint)
        return narrowed(value)
    if dtype_hint is not None:
        hint = as_dtype(dtype_hint)
        found = foreign(value, None)
        if found is None:
            found = _packed(value, None)
        if found is not None:
            return found
        array, _ = to_array(value)
        if compatible(hint, array.dtype.kind):
            return _from_value(value, hint, name)
    return _from_value(value, None, name)


def as_tensor(value: Any, name: str | None = None) -> Tensor:
    """`value` as a tensor, for the one operand of an op."""
    if isinstance(value, Tensor):
        return narrowed(value)
    return _from_value(value, None, name)


def narrowed(tensor: Tensor) -> Tensor:
    """The tensor that TensorFlow would make of the Python number, if it stands for one.

    That is int32 or float32. IntegerRangeError, when the graph runs, for an int that
    int32 cannot hold; a constant is of int64 then.
    """
    if type(tensor) is WeakTensor:
        return tensor.narrowed()
    if type(tensor) is EagerTensor or not tensor.spec.weak:
        return tensor
    if not tensor.dtype.is_numeric:
        return tensor
    number = get_static_value(tensor)
    if number is not None:
        _leave(tensor)
        return make_constant(to_array(number.tolist())[0])
    return cast_number(tensor, dtypes.narrow(tensor.dtype))


def _from_value(value: Any, dtype: DType | None, name: str | None) -> Tensor:
    kind = type(value)
    if kind in _VALUES or (kind is list and _is_plain(value)):
        return make_constant(to_array(value, dtype)[0], name)
    found = foreign(value, dtype)
    if found is None:
        found = _packed(value, dtype)
    if found is None:
        return make_constant(to_array(value, dtype)[0], name)
    if dtype is None:
        return narrowed(found)
    if found.dtype is not dtype or found.spec.weak:
        if found.spec.weak and compatible(dtype, found.dtype.kind):
            return cast_number(found, dtype)
        raise ConversionError(
            f"the tensor {found!r} has the dtype {found.dtype.name}, not "
            f"{dtype.name}; use tf.cast"
        )
    return found


def _is_plain(items: list[Any]) -> bool:
    """Whether a list holds nothing that may be a tensor, or lists of such things."""
    if _VALUES.issuperset(map(type, items)):
        return True
    for row in items:
        if type(row) is not list or not _VALUES.issuperset(map(type, row)):
            return False
    return True


def _packed(value: Any, dtype: DType | None) -> Tensor | None:
    """A list or tuple with tensors in it, stacked; None if there are none."""
    if not isinstance(value, (list, tuple)) or not _holds_tensor(value):
        return None
    items = [
        item if (found := foreign(item, None)) is None else found for item in value
    ]
    items = [
        item if (packed := _packed(item, dtype)) is None else packed for item in items
    ]
    tensors = promote_all(items, "Pack", dtype)
    return apply_one("Pack", *tensors, axis=0)


#: What lists mostly hold, and what is no tensor.
_VALUES = frozenset({bool, int, float, complex, str, bytes, np.ndarray})


def _holds_tensor(value: Any) -> bool:
    kinds = set(map(type, value))
    if kinds <= _VALUES:
        return False
    if any(issubclass(k, Tensor) or defines(k, "__tf_tensor__") for k in kinds):
        return True
    return any(issubclass(k, (list, tuple)) for k in kinds) and any(
        _holds_tensor(item) for item in value if isinstance(item, (list, tuple))
    )


#: The kinds of dtypes (letters of NumPy) that are cast to each other by one call.
_REAL = frozenset("biuf")


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`x` with another dtype. Floats are cut towards zero, complex numbers lose their
    imaginary part; strings cannot be cast.

    >>> cast([1.9, -1.9], "int32")
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>
    """
    wanted = as_dtype(dtype)
    if type(x) is EagerTensor and current_graph() is None:
        array = x._array
        if array.dtype is wanted.np_dtype:
            return x
        if array.dtype.kind in _REAL and wanted.kind in _REAL:
            found: Tensor | None = attempt(array.astype, wanted.np_dtype)
            if found is not None:
                return found
    tensor = x if isinstance(x, Tensor) else as_tensor(x)
    if tensor.spec.weak and not tensor.dtype.is_integer:
        tensor = narrowed(tensor)
    if tensor.dtype is wanted and not tensor.spec.weak:
        return tensor
    return apply_one("Cast", tensor, dtype=wanted, name=name)


# --- promotion ------------------------------------------------------------------------


#: Whether two operands of different dtypes are promoted, as in NumPy, and its switch.
_promotes = False
_SWITCH = "; tf.experimental.numpy.experimental_enable_numpy_behavior() promotes them"


def promote_as_numpy() -> None:
    """From now on, promote the two operands of an op: see `tf.experimental.numpy`."""
    global _promotes
    _promotes = True


#: Ops that compare Python's numbers as exactly as Python does.
_EXACT = frozenset(
    {"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "RealDiv"}
)


def promote(x: Any, y: Any, op: str, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Both operands as tensors of one dtype.

    A weak operand (a Python number, or a tensor that stands for one) takes the dtype of
    the other; beside integers a weak float makes weak floats of both. Raises
    DTypeMismatchError for two tensors of different dtypes. `name` is the name of the
    node to come, unique and with a slash, for the names of its constants.
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype is y.dtype:
        if x.spec.weak is y.spec.weak:
            return x, y
    left, right = promote_all((x, y), op, None, name, keep_weak=True)
    return left, right


def promote_all(
    values: Any,
    op: str,
    dtype: DType | None = None,
    name: str | None = None,
    keep_weak: bool = False,
) -> list[Tensor]:
    """All operands as tensors of one dtype, which `dtype` can fix: see `promote`.

    What stands for Python numbers alone does so still with `keep_weak`.
    """
    operands = [_Operand(value) for value in values]
    target, weak = (dtype, False) if dtype else _target(operands, op, keep_weak)
    labels = "xy" if len(operands) == 2 else range(len(operands))
    exactly = op in _EXACT and (weak or not _promotes)
    return [
        operand.convert(
            target, weak, f"{name}{label}/" if name else f"{op}/{label}", exactly
        )
        for operand, label in zip(operands, labels)
    ]


class _Operand:
    """One operand: a tensor, or an array made from a value; weak or not."""

    __slots__ = ("array", "dtype", "tensor", "value", "weak")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.array: Array | None = None
        self.tensor = foreign(value, None)
        if self.tensor is None:
            self.tensor = _packed(value, None)
        if self.tensor is not None:
            spec = self.tensor.spec
            self.dtype, self.weak = spec.dtype, spec.weak
        else:
            self.array, self.weak = to_array(value)
            self.dtype = of_array(self.array)

    def lies_beyond(self, dtype: DType) -> bool:
        """Whether this is an int of Python that an integer dtype cannot hold."""
        if self.array is None or not self.weak or not self.dtype.is_integer:
            return False
        lowest, highest = dtype.limits
        values = (
            (int(self.array.min()), int(self.array.max())) if self.array.size else ()
        )
        return not all(lowest <= value <= highest for value in values)

    def convert(self, target: DType, weak: bool, name: str, exactly: bool) -> Tensor:
        if self.tensor is None:
            assert self.array is not None
            array = self.array
            if self.dtype is not target:
                # Python floats again from the start: float32 has rounded them.
                array = (
                    to_array(self.value, target)[0]
                    if self.weak
                    else fit_array(array, target)
                )
            number = make_constant(array, name, weak=weak)
            if weak and exactly and _is_rounded(self.value, target):
                # It is an error when the graph runs, if it comes to the operation.
                number = make_constant(to_array(self.value, dtypes.int64)[0], weak=True)
                return cast_number(number, target, weak, name, exactly)
            return number
        return cast_number(self.tensor, target, weak, name, exactly)


def _target(operands: list[_Operand], op: str, keep_weak: bool) -> tuple[DType, bool]:
    """The dtype in which the operands meet, and whether they are weak there."""
    strong = [operand for operand in operands if not operand.weak]
    # The behavior of NumPy promotes the two operands of an operation, not lists.
    are_two = len(operands) == 2 and op not in ("AddN", "ConcatV2", "Pack")
    if _promotes and strong and are_two:
        found = meet_as_numpy((o.dtype, o.weak) for o in operands)
        if found and any(operand.dtype is not found for operand in strong):
            return found, False
    weak = [operand.dtype for operand in operands if operand.weak]
    # Arrays give way to tensors: their dtypes are NumPy's defaults, float64 and int64.
    first = [o for o in strong if o.tensor is not None] or strong
    target = first[0].dtype if first else max(weak, key=_width)
    for operand in strong:
        if operand.dtype is target:
            continue
        if operand.tensor is not None or not compatible(target, operand.dtype.kind):
            pair = target, operand.dtype
            numbers = all(dtype.is_integer or dtype.is_floating for dtype in pair)
            wider = f", as by tf.cast(x, tf.{max(pair, key=_width).name})"
            if are_two and not _promotes:
                wider += _SWITCH
            raise DTypeMismatchError(
                f"the operands have different dtypes, {target.name} and "
                f"{operand.dtype.name}; cast one of them{wider if numbers else ''}"
            ).for_op(op)
    is_weak = not strong
    for dtype in weak:
        met = meet(target, dtype)
        if met is None:
            raise DTypeMismatchError(
                f"the operands have the dtypes {target.name} and, of a Python value, "
                f"{dtype.name}; they do not go together"
            ).for_op(op)
        target, becomes_weak = met
        is_weak |= becomes_weak
    return _settled(operands, target, is_weak, op, keep_weak)


def _settled(
    operands: list[_Operand], target: DType, weak: bool, op: str, keep_weak: bool
) -> tuple[DType, bool]:
    """The dtype in which numbers meet, if tensors stand for them."""
    numbers = [o for o in operands if o.tensor is not None and o.weak]
    if target.is_integer and target is not dtypes.uint64 and op in _EXACT:
        if numbers or (
            op != "RealDiv" and any(o.lies_beyond(target) for o in operands)
        ):
            return dtypes.int64, True  # what is compared need not fit
    if not weak or not target.is_numeric:
        return target, weak and bool(numbers)
    all_values = all(operand.tensor is None for operand in operands)
    if all_values:
        return target, False
    return (dtypes.wide(target), True) if keep_weak else (dtypes.narrow(target), False)


def _width(dtype: DType) -> tuple[int, int]:
    """Of two Python numbers the wider type is the one of both."""
    return "Obiufc".index(dtype.kind), dtype.size


def cast_number(
    tensor: Tensor,
    dtype: DType,
    weak: bool = False,
    name: str | None = None,
    exactly: bool = False,
) -> Tensor:
    """A number in the dtype in which it meets others, where it may be weak still.

    A constant of Python is made again, exact. An integer that `dtype` does not hold is
    an IntegerRangeError when the graph runs; one that a float would round is an error
    with `exactly`.
    """
    spec = tensor.spec
    graph = current_graph()
    if (spec.dtype is dtype and spec.weak is weak) or not dtype.is_numeric:
        return tensor
    if graph is None:
        if not isinstance(tensor, EagerTensor) or not (weak or spec.weak):
            return cast(tensor, dtype, name)
        with np.errstate(all="ignore"):
            array = tensor._array.astype(dtype.np_dtype)
        return WeakTensor(array) if weak else EagerTensor(array)
    number = get_static_value(tensor) if spec.weak else None
    if number is not None and not (exactly and _is_rounded(number, dtype)):
        _leave(tensor)
        return make_constant(to_array(number.tolist(), dtype)[0], name, weak=weak)
    if dtype.is_integer:
        checked = spec.weak or not np.can_cast(spec.dtype.np_dtype, dtype.np_dtype)
    else:
        checked = exactly and spec.dtype.is_integer and dtype.is_floating
    op = "CastExactly" if checked else "Cast"
    result = TensorSpec(tensor.shape, dtype, weak=weak)
    return graph.add(op, (tensor,), {"dtype": dtype}, (result,), name)[0]


def _is_rounded(number: Any, dtype: DType) -> bool:
    """Whether an int of Python is not exactly a float of this dtype."""
    array = np.asarray(number)
    if array.ndim or array.dtype.kind != "i" or not dtype.is_floating:
        return False
    return bool(int(dtype.as_numpy_dtype(array.item())) != array.item())


def _leave(constant: Tensor) -> None:
    """Note that a constant of Python was made again, and may be of no use now."""
    if isinstance(constant, SymbolicTensor):
        constant.graph.left_over.add(constant.node)


# --- asking ---------------------------------------------------------------------------


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor or a variable."""
    return isinstance(x, Tensor) or defines(type(x), "__tf_tensor__")


is_tensor.__autograph_tells_tensors__ = True  # type: ignore[attr-defined]


def is_symbolic_tensor(x: Any) -> bool:
    """Whether `x` is a tensor of a graph."""
    return isinstance(x, SymbolicTensor)


def get_static_value(tensor: Any) -> Any:
    """The value of a tensor if it is known now, as an array, else None."""
    if isinstance(tensor, EagerTensor):
        return tensor._array
    if isinstance(tensor, SymbolicTensor) and tensor.node.op == "Const":
        return tensor.node.attrs["value"]
    return None


def static_shape(value: Any) -> TensorShape | None:
    """A shape given as a TensorShape, a list or a tensor, as far as it is known now."""
    if isinstance(value, TensorShape):
        return value
    if isinstance(value, Tensor):
        known = get_static_value(value)
        return None if known is None else TensorShape(known.tolist())
    return TensorShape(value)


# --- `type_spec_from_value`: what a value looks like as a tensor


def type_spec_from_value(value: Any) -> TensorSpec:
    """The spec of a tensor, or of what can become one. Raises TypeError.

    >>> type_spec_from_value([1.5, 2.5])
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    if isinstance(value, TensorSpec):
        return value
    try:
        tensor = convert_to_tensor(value)
    except ConversionError:
        raise TypeError(
            f"{value!r} of type {type(value).__name__} has no spec: it cannot become a "
            "tensor; tf.nest.map_structure takes structures apart"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)
