"""Tensors with a value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.core.tensor.base import Tensor, truth_of_items
from runtime.core.tensor.operators import operators
from runtime.core.types import nest
from runtime.core.types.dtypes import DType, narrow, of_array
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.core.types.specs import TensorSpec

Array = np.ndarray[Any, Any]


class EagerTensor(Tensor):
    """A tensor with a value: one NumPy array that nobody changes."""

    __slots__ = ("_array",)

    _array: Array

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape.of_dims(self._array.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return of_array(self._array)

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""
        array = self._array
        return TensorSpec(TensorShape.of_dims(array.shape), of_array(array))

    def __hash__(self) -> int:
        """Scalars equal their value and have its hash; other tensors have none."""
        return super().__hash__() if self._array.ndim else hash(self._array.item())

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def numpy(self) -> Any:
        """A copy of the value: an array, or a NumPy scalar (``bytes`` for a string)."""
        array = self._array
        return array.copy() if array.ndim else array[()]

    def cpu(self) -> EagerTensor:
        """The tensor in the memory of the CPU: itself."""
        return self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """A copy on a GPU. Raises RuntimeError where there is none of that number."""
        from runtime.core.tensor.device import on_gpu

        return on_gpu(self._array, gpu_index)

    def set_shape(self, shape: Any) -> None:
        """Check that the tensor has the shape. Raises ValueError."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"the tensor has the shape {self.shape}, not {as_shape(shape)}"
            )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self._array
        if copy or (dtype is not None and array.dtype != dtype):
            if copy is False:
                raise ValueError(f"{array.dtype.name} becomes {dtype} only by a copy")
            return array.astype(dtype or array.dtype)
        # Sharing memory is safe as long as nobody writes to it.
        view = array.view()
        view.flags.writeable = False
        return view

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The memory, read-only, by the array protocol of NumPy."""
        return self._shared().__array_interface__

    @property
    def __array_struct__(self) -> Any:
        """The same for C code; NumPy itself is quicker with it."""
        return self._shared().__array_struct__

    def _shared(self) -> Array:
        if self._array.dtype.kind == "O":
            raise AttributeError("strings have no memory to share")
        view = self._array.view()
        view.flags.writeable = False
        return view

    def __dlpack__(self, **options: Any) -> Any:
        """The memory for another library, which must not write to it: see DLPack."""
        # JAX would copy an array that is marked as read-only; others refuse it.
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __bool__(self) -> bool:
        array = self._array
        if not array.ndim:
            return bool(array.item())
        known = truth_of_items(self)
        if known is not None:
            return known
        if array.size > 1:
            raise ValueError(
                f"the truth value of a tensor with {array.size} elements (shape "
                f"{array.shape}) is ambiguous; use tf.reduce_any or tf.reduce_all"
            )
        return bool(array.size and array.item())

    def __int__(self) -> int:
        return int(self._number("int"))

    def __float__(self) -> float:
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    # By `__float__`, integers of 64 bits would be rounded.

    def __floor__(self) -> int:
        number: int = math.floor(self._number("int"))
        return number

    def __ceil__(self) -> int:
        number: int = math.ceil(self._number("int"))
        return number

    def __trunc__(self) -> int:
        number: int = math.trunc(self._number("int"))
        return number

    def __index__(self) -> int:
        array = self._array
        if array.ndim or array.dtype.kind not in "iu":
            raise TypeError(
                f"only a scalar integer tensor can be an index, not "
                f"{self.spec.describe()}"
            )
        return int(array)

    def __len__(self) -> int:
        if not self._array.ndim:
            if self._is_text():
                return len(self._text())
            raise TypeError("a scalar tensor has no len()")
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        array = self._array
        if not array.ndim:
            if self._is_text():
                return iter(self._text())
            raise TypeError("a scalar tensor cannot be iterated")
        # The Ellipsis gives a 0-d array where an index alone gives a scalar.
        return (EagerTensor(array[index, ...]) for index in range(len(array)))

    def __contains__(self, item: Any) -> bool:
        if self._is_text():
            is_text = isinstance(item, EagerTensor) and item._is_text()
            part: Any = item._text() if is_text else item
            return part in self._text()
        return bool(np.any(np.asarray(operators.equal(self, item))))

    # A scalar string stands for a text of Python's.

    def _is_text(self) -> bool:
        return self._array.dtype.kind == "O" and not self._array.ndim

    def _text(self) -> str:
        text: str = self._array.item().decode("utf-8", "surrogateescape")
        return text

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name[0] != "_" and self._is_text() and hasattr(str, name):
                return getattr(self._text(), name)
            return super().__getattr__(name)

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

    def __reduce__(self) -> tuple[Any, ...]:
        return EagerTensor, (self._array,)

    def _number(self, purpose: str) -> Any:
        if self._array.ndim:
            raise TypeError(
                f"only a scalar tensor can become a Python {purpose}; this one has the "
                f"shape {self._array.shape}"
            )
        return self._array.item()


nest.leaf_types.add(EagerTensor)


class Recorded(EagerTensor):
    """An eager tensor that a gradient tape knows.

    A tensor becomes one, and an `EagerTensor` again, by assignment to its
    ``__class__``. The quick ways of operations take the class `EagerTensor` alone, so
    what runs on this one goes the general way, where it is recorded.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        if not self._array.ndim:
            raise TypeError("a scalar tensor cannot be iterated")
        return (self[index] for index in range(len(self._array)))


class WeakTensor(EagerTensor):
    """The result of an operator on integers and a Python float.

    Like a Python float, it takes the dtype of the floats that it meets, and is float64
    until then. The program sees a float32, as TensorFlow would give.

    >>> half = WeakTensor(np.array([0.1, 2.0]))
    >>> half
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.1, 2. ], dtype=float32)>
    """

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """The type of the elements for all but operators."""
        return narrow(of_array(self._array))

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype for operators, as one record."""
        return super().spec.with_weak(True)

    def _shared(self) -> Array:
        # The float32 values are in no memory.
        raise AttributeError("the floats of Python have no memory to share")

    def __dlpack__(self, **options: Any) -> Any:
        return self.narrowed().__dlpack__(**options)

    def narrowed(self) -> EagerTensor:
        """The tensor of the dtype that it shows."""
        with np.errstate(all="ignore"):
            return EagerTensor(self._array.astype(self.dtype.np_dtype))

    def numpy(self) -> Any:
        """The value as an array or a NumPy scalar."""
        return self.narrowed().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.narrowed().__array__(dtype, copy)

    def __iter__(self) -> Iterator[EagerTensor]:
        return iter(self.narrowed())

    def __repr__(self) -> str:
        return repr(self.narrowed())

    def __str__(self) -> str:
        return str(self.narrowed())

    def __reduce__(self) -> tuple[Any, ...]:
        return WeakTensor, (self._array,)


def value_text(array: Array, represent: bool = False) -> str:
    """The value as TensorFlow prints it, for ``repr`` or for ``str``."""
    if array.ndim == 0:
        # The repr of a NumPy scalar names its type; ours stands beside it.
        value = array[()]
        text = repr(value) if array.dtype.kind == "O" else str(value)
    else:
        text = repr(array) if represent else str(array)
    return "\n" + text if "\n" in text else text
