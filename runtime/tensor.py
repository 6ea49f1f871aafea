"""Tensors: `EagerTensor` holds a NumPy array, `SymbolicTensor` is a value of a graph.

Both have the same operators. These delegate to the op functions by name, through the
table `operators` that `runtime.ops` fills: tensors lie below the ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NoReturn

import numpy as np

from runtime import dtypes
from runtime.dtypes import DType, of_array
from runtime.errors import (
    InvalidArgumentError,
    SymbolicTensorError,
    UnhashableTensorError,
)
from runtime.graph import Graph, Node, user_location
from runtime.shapes import TensorShape, as_shape
from runtime.specs import TensorSpec

__all__ = ["EagerTensor", "Reference", "SymbolicTensor", "Tensor", "operators"]

Array = np.ndarray[Any, Any]


class Operators:
    """The functions behind the operators of tensors, bound by the op modules."""

    add: Callable[[Any, Any], Any]
    subtract: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any]
    truediv: Callable[[Any, Any], Any]
    floordiv: Callable[[Any, Any], Any]
    mod: Callable[[Any, Any], Any]
    pow: Callable[[Any, Any], Any]
    matmul: Callable[[Any, Any], Any]
    less: Callable[[Any, Any], Any]
    less_equal: Callable[[Any, Any], Any]
    greater: Callable[[Any, Any], Any]
    greater_equal: Callable[[Any, Any], Any]
    equal: Callable[[Any, Any], Any]
    not_equal: Callable[[Any, Any], Any]
    and_: Callable[[Any, Any], Any]
    or_: Callable[[Any, Any], Any]
    xor: Callable[[Any, Any], Any]
    invert: Callable[[Any], Any]
    negative: Callable[[Any], Any]
    abs: Callable[[Any], Any]
    round: Callable[[Any], Any]
    getitem: Callable[[Any, Any], Any]

    def bind(self, **functions: Callable[..., Any]) -> None:
        """Set functions by name: ``operators.bind(matmul=matmul)``."""
        for name, function in functions.items():
            if name not in Operators.__annotations__:
                raise ValueError(f"tensors have no operator {name!r}")
            setattr(self, name, function)


operators = Operators()


class Tensor:
    """An array of numbers, bools or strings whose operators are tensor operations."""

    __slots__ = ("__weakref__",)

    #: The staging protocol of the compiler; `runtime.bridge` fills it in.
    __autograph_backend__: ClassVar[Any]

    # NumPy arrays on the left leave the operator to the tensor.
    __array_priority__ = 100

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        raise NotImplementedError

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        raise NotImplementedError

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The name in the graph. Eager tensors have none: AttributeError."""
        raise AttributeError("an eager tensor has no name")

    @property
    def device(self) -> str:
        """The device that holds the value, by TensorFlow's full name."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    @property
    def ndim(self) -> int:
        """The number of dimensions. Raises ValueError if it is unknown."""
        return len(self.shape)

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    def ref(self) -> Reference:
        """A hashable reference to this tensor, for dicts and sets."""
        return Reference(self)

    # --- operators --------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return operators.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return operators.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return operators.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return operators.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return operators.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return operators.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return operators.truediv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operators.truediv(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return operators.floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return operators.floordiv(other, self)

    def __mod__(self, other: Any) -> Any:
        return operators.mod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return operators.mod(other, self)

    def __divmod__(self, other: Any) -> Any:
        return operators.floordiv(self, other), operators.mod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return operators.floordiv(other, self), operators.mod(other, self)

    def __pow__(self, other: Any) -> Any:
        return operators.pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return operators.pow(other, self)

    def __matmul__(self, other: Any) -> Any:
        return operators.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return operators.matmul(other, self)

    def __lt__(self, other: Any) -> Any:
        return operators.less(self, other)

    def __le__(self, other: Any) -> Any:
        return operators.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return operators.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return operators.greater_equal(self, other)

    def __eq__(self, other: Any) -> Any:
        return operators.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return operators.not_equal(self, other)

    def __and__(self, other: Any) -> Any:
        return operators.and_(self, other)

    def __rand__(self, other: Any) -> Any:
        return operators.and_(other, self)

    def __or__(self, other: Any) -> Any:
        return operators.or_(self, other)

    def __ror__(self, other: Any) -> Any:
        return operators.or_(other, self)

    def __xor__(self, other: Any) -> Any:
        return operators.xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return operators.xor(other, self)

    def __invert__(self) -> Any:
        return operators.invert(self)

    def __neg__(self) -> Any:
        return operators.negative(self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return operators.abs(self)

    def __round__(self) -> Any:
        return operators.round(self)

    def __getitem__(self, key: Any) -> Any:
        return operators.getitem(self, key)

    def __hash__(self) -> int:
        raise UnhashableTensorError(
            "AG313: tensors are not hashable, because == compares their elements; use "
            "tensor.ref() as the key"
        )


class EagerTensor(Tensor):
    """A tensor with a value: one NumPy array that nobody changes."""

    __slots__ = ("_array",)

    _array: Array

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(self._array.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return of_array(self._array)

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""
        return TensorSpec(self._array.shape, of_array(self._array))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def numpy(self) -> Any:
        """A copy of the value: an array, or a NumPy scalar (``bytes`` for a string)."""
        array = self._array
        return array.copy() if array.ndim else array[()]

    def set_shape(self, shape: Any) -> None:
        """Check that the tensor has the shape. Raises ValueError."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"the tensor has the shape {self.shape}, not {as_shape(shape)}"
            )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy or (dtype is not None and self._array.dtype != dtype):
            return self._array.astype(dtype or self._array.dtype)
        view = self._array.view()
        # Sharing memory is safe as long as nobody writes to it.
        view.flags.writeable = False
        return view

    def __bool__(self) -> bool:
        array = self._array
        if array.size != 1:
            raise ValueError(
                f"the truth value of a tensor with {array.size} elements (shape "
                f"{array.shape}) is ambiguous; use tf.reduce_any or tf.reduce_all"
            )
        return bool(array.item())

    def __int__(self) -> int:
        return int(self._one_element("int"))

    def __float__(self) -> float:
        return float(self._one_element("float"))

    def __complex__(self) -> complex:
        return complex(self._one_element("complex"))

    def __index__(self) -> int:
        array = self._array
        if array.ndim or array.dtype.kind not in "iu":
            raise TypeError(
                f"only a scalar integer tensor can be an index, not {self.spec.describe()}"
            )
        return int(array)

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("a scalar tensor has no len()")
        return len(self._array)

    def __iter__(self) -> Iterator[EagerTensor]:
        array = self._array
        if not array.ndim:
            raise TypeError("a scalar tensor cannot be iterated")
        for index in range(len(array)):
            # The Ellipsis gives a 0-d array where an index alone gives a scalar.
            yield EagerTensor(array[index, ...])

    def __contains__(self, item: Any) -> bool:
        return bool(np.any(np.asarray(operators.equal(self, item))))

    def __format__(self, format_spec: str) -> str:
        return format(self.numpy(), format_spec)

    def __repr__(self) -> str:
        array = self._array
        return (
            f"<tf.Tensor: shape={array.shape}, dtype={self.dtype.name}, "
            f"numpy={value_text(array, represent=True)}>"
        )

    def __str__(self) -> str:
        array = self._array
        return (
            f"tf.Tensor({value_text(array)}, shape={array.shape}, "
            f"dtype={self.dtype.name})"
        )

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return EagerTensor, (self._array,)

    def _one_element(self, purpose: str) -> Any:
        if self._array.size != 1:
            raise TypeError(
                f"only a tensor of one element can become a Python {purpose}; this one "
                f"has the shape {self._array.shape}"
            )
        return self._array.item()


class SymbolicTensor(Tensor):
    """A value that a graph will compute: output `index` of `node`.

    It has a static shape and dtype but no value, so Python cannot branch on it, count
    with it or iterate over it; each try is a `SymbolicTensorError`.
    """

    __slots__ = ("graph", "index", "node", "_spec")

    graph: Graph
    node: Node
    index: int

    def __init__(self, graph: Graph, node: Node, index: int, spec: TensorSpec) -> None:
        self.graph = graph
        self.node = node
        self.index = index
        self._spec = spec

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._spec.shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._spec.dtype

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype (and whether it is weak) as one record."""
        return self._spec

    @property
    def op(self) -> Node:
        """The node that computes this tensor."""
        return self.node

    @property
    def name(self) -> str:
        """The name of the node and the number of the output, as ``add:0``."""
        return f"{self.node.name}:{self.index}"

    @property
    def device(self) -> str:
        """No device is fixed before the graph runs."""
        return ""

    def set_shape(self, shape: Any) -> None:
        """Refine the static shape. Raises ValueError where it contradicts."""
        spec = self._spec
        self._spec = TensorSpec(
            spec.shape.merge_with(shape), spec.dtype, spec.name, weak=spec.weak
        )

    # Identity is what graphs need: they keep tensors in dicts. A dict looks at identity
    # before ==, and objects alive at the same time do not share this hash.
    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise self._no_value(
            "AG301",
            "used as a Python bool (by `if`, `while`, `and`, `or`, `not`, `assert`, "
            "`in` or a comparison chain)",
            "let the code be converted (tf.function does it for the functions that it "
            "calls), or write tf.cond, tf.where, tf.logical_and, ...",
        )

    def __int__(self) -> NoReturn:
        raise self._no_number("int")

    def __float__(self) -> NoReturn:
        raise self._no_number("float")

    def __complex__(self) -> NoReturn:
        raise self._no_number("complex")

    def __index__(self) -> NoReturn:
        raise self._no_number("index")

    def __iter__(self) -> Iterator[Any]:
        raise self._no_value(
            "AG303",
            "iterated",
            "let the code be converted, or use tf.while_loop, tf.map_fn, or tf.unstack",
        )

    def __len__(self) -> int:
        if self.shape.rank == 0:
            raise TypeError(f"the scalar tensor {self.name!r} has no len()")
        length = self.shape[0]
        if length is None:
            raise self._no_value(
                "AG304",
                "given to len(), but its first dimension is not known",
                "use tf.shape(x)[0]",
            )
        return length

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise self._no_value(
            "AG305",
            "given to NumPy",
            "use the operation of the same name from this package",
        )

    def __contains__(self, item: Any) -> NoReturn:
        raise self._no_value(
            "AG301",
            "searched by `in`",
            "use tf.reduce_any(x == item)",
        )

    def __getattr__(self, name: str) -> NoReturn:
        # The text is TensorFlow's; the class is not told apart from eager tensors.
        error = AttributeError(f"'Tensor' object has no attribute {name!r}")
        if name == "numpy" and hasattr(error, "add_note"):
            error.add_note(
                f"{self} was made while tracing {self.graph.name!r} and has no value; "
                "return it from the function to get one"
            )
        raise error

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"
        )

    def __str__(self) -> str:
        shape = "" if self.shape.rank is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'

    def __copy__(self) -> SymbolicTensor:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicTensor:
        return self

    def _no_number(self, purpose: str) -> SymbolicTensorError:
        return self._no_value(
            "AG302",
            f"used as a Python {purpose}",
            "keep it a tensor (tf.cast changes the dtype, tf.gather indexes), or compute "
            "it from Python numbers",
        )

    def _no_value(self, code: str, use: str, fix: str) -> SymbolicTensorError:
        location = user_location()
        where = f"{location[0]}:{location[1]}: " if location else ""
        origin = ""
        if self.node.location is not None and self.node.location != location:
            origin = f", made at {self.node.location[0]}:{self.node.location[1]},"
        return SymbolicTensorError(
            f"{where}{code}: the symbolic tensor {self.name!r} "
            f"({self.spec.describe()}){origin} was {use}. It has no value while "
            f"{self.graph.name!r} is being traced: {fix}.",
            code,
            location,
        )


Graph.tensor_type = SymbolicTensor


class Reference:
    """A hashable stand-in for a tensor or variable; equal if it is the same object."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def deref(self) -> Any:
        """The object itself."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._value!r}>"


def value_text(array: Array, represent: bool = False) -> str:
    """The value as TensorFlow prints it, for ``repr`` or for ``str``."""
    if array.ndim == 0:
        # Since NumPy 2 the repr of a scalar names its type; ours stands beside it.
        value = array[()]
        text = repr(value) if array.dtype == dtypes.string.np_dtype else str(value)
    else:
        text = repr(array) if represent else str(array)
    return "\n" + text if "\n" in text else text


def require_scalar(tensor: Tensor, purpose: str) -> None:
    """Raise InvalidArgumentError unless the tensor is (or may be) a scalar."""
    if tensor.shape.rank not in (0, None):
        raise InvalidArgumentError(
            f"{purpose} must be a scalar, not of shape {tensor.shape}"
        )
