"""What eager and symbolic tensors share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from runtime.core.errors import (
    ImmutableTensorError,
    TracedArgumentError,
    UnhashableTensorError,
)
from runtime.core.tensor.attributes import array_attributes, no_attribute
from runtime.core.tensor.operators import OperatorMixin
from runtime.core.types.dtypes import DType, string
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec


def _part_method(name: str, doc: str) -> Any:
    """A method of the part of a variable that an index read: ``v[0].assign(x)``."""

    def method(self: Tensor) -> Any:
        return getattr(self._part, name)

    return property(method, doc=doc)


class Tensor(OperatorMixin):
    """An array of numbers, bools or strings whose operators are tensor operations."""

    __slots__ = ("__weakref__", "_part")

    #: Where in a variable an index found the tensor: unset for all others.
    _part: Any

    #: The staging protocol of the compiler; `staging.compiler.install` fills it in.
    __autograph_backend__: ClassVar[Any]

    if TYPE_CHECKING:
        # Symbolic tensors have no such attribute, so that hasattr() tells them apart.
        def numpy(self) -> Any:
            """The value of an eager tensor."""

        # As eager tensors do; a symbolic one raises in most of these.
        def __float__(self) -> float: ...
        def __int__(self) -> int: ...
        def __index__(self) -> int: ...
        def __bool__(self) -> bool: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Any]: ...

    else:

        def __getattr__(self, name: str) -> Any:
            of_arrays = array_attributes.get(name)
            if of_arrays is None:
                raise no_attribute(self, name)
            return of_arrays(self)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self.spec.shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.spec.dtype

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The name in the graph. Eager tensors have none: AttributeError."""
        raise no_attribute(self, "name")

    @property
    def device(self) -> str:
        """The device that holds the value, by TensorFlow's full name."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def __autograph_value_type__(self) -> type | None:
        """The class of the Python value that a scalar stands for; None for others."""
        if self.shape.rank != 0:
            return None
        dtype = self.dtype
        kinds = {
            bool: dtype.is_bool,
            int: dtype.is_integer,
            float: dtype.is_floating,
            complex: dtype.is_complex,
            str: dtype is string,
        }
        return next((kind for kind, holds in kinds.items() if holds), None)

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

    assign = _part_method("assign", "Of ``v[i]``: replace that part of a variable.")
    assign_add = _part_method("assign_add", "Of ``v[i]``: add to that part.")
    assign_sub = _part_method("assign_sub", "Of ``v[i]``: subtract from that part.")

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        is_matrix = (self.shape.rank or 1) > 1
        as_list = "[list(row) for row in x]" if is_matrix else "list(x)"
        raise ImmutableTensorError(
            "AG314: a tensor does not support item assignment, because it never "
            f"changes; make a list of it first, `x = {as_list}`, a new tensor, `x = "
            "tf.tensor_scatter_nd_update(x, [[i]], [v])`, or use a tf.Variable"
        )

    def __hash__(self) -> int:
        raise UnhashableTensorError(
            "AG313: tensors are not hashable, because == compares their elements; use "
            "tensor.ref() as the key, or where a function is traced, fill the dict or "
            "set in a loop: for x in xs: counts[x] += 1"
        )

    # Nothing changes a tensor, so a copy is the tensor.

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self


TensorSpec.value_type = Tensor


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


# --- truth ----------------------------------------------------------------------------

#: Of a tensor whose truth could be that of a list or that of its element.
ONE_ELEMENT = (
    "the truth value of a tensor of shape {} is ambiguous: a list of one element is "
    "true, that element may not be; use `len(xs) != 0` or tf.reduce_any(xs)"
)


def truth_of_items(tensor: Tensor) -> bool | None:
    """The truth of a tensor of numbers or texts that stands for a list, if known.

    It is false where the first dimension is 0; None for bools, for scalars and where
    the shape is not known. Raises InvalidArgumentError where there is one element
    alone, of which programs ask whether it is 0.
    """
    shape = tensor.shape
    if tensor.dtype.is_bool or not shape.rank:
        return None
    count, length = shape.num_elements(), shape[0]
    if count == 1:
        raise TracedArgumentError(ONE_ELEMENT.format(shape))
    if length is None or (length == 1 and count is None):
        return None
    return bool(length)
