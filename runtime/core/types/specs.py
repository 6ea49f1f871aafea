"""What is known about a tensor before it has a value: shape and dtype."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.shapes import TensorShape, as_shape


class TensorSpec:
    """The shape and dtype of tensors, with an optional name.

    >>> TensorSpec([None, 3], dtypes.int32, name="x")
    TensorSpec(shape=(None, 3), dtype=tf.int32, name='x')

    ``weak`` marks a tensor that stands for a Python number: it takes the dtype of the
    tensor that it meets, as the number would. Until then it is as wide as Python's own
    numbers are: int64, whose operations are checked, float64, or complex128.
    """

    __slots__ = ("dtype", "name", "shape", "weak")

    #: What it is the spec of: `tf.Tensor`, which stands above and sets it.
    value_type: ClassVar[type]

    shape: TensorShape
    dtype: DType
    name: str | None
    weak: bool

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
        *,
        weak: bool = False,
    ) -> None:
        self.shape = shape if type(shape) is TensorShape else as_shape(shape)
        self.dtype = dtype if type(dtype) is DType else as_dtype(dtype)
        self.name = name
        self.weak = weak

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """A copy of the spec, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name, weak=spec.weak)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name, weak=tensor.spec.weak)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return self.shape.rank

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a tensor, a tensor of a spec, or a value could have this spec.

        >>> TensorSpec([None, 2]).is_compatible_with(TensorSpec([3, None]))
        True
        """
        dtype = getattr(spec_or_value, "dtype", None)
        if dtype is None:
            return False
        return self.dtype is as_dtype(dtype) and self.shape.is_compatible_with(
            spec_or_value.shape
        )

    def most_specific_common_supertype(
        self, others: Iterable[TensorSpec]
    ) -> TensorSpec | None:
        """The narrowest spec that all of these are subtypes of; None if there is none.

        >>> TensorSpec([2, 3]).most_specific_common_supertype([TensorSpec([4, 3])])
        TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)
        """
        found = self
        for other in others:
            if not isinstance(other, TensorSpec) or other.dtype is not self.dtype:
                return None
            shape = found.shape.most_specific_common_shape(other.shape)
            name = found.name if found.name == other.name else None
            weak = found.weak and other.weak
            found = TensorSpec(shape, found.dtype, name, weak=weak)
        return found

    def most_specific_compatible_type(self, other: TensorSpec) -> TensorSpec:
        """As `most_specific_common_supertype`, of two; ValueError if there is none."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(
                f"no spec takes the tensors of both {self!r} and {other!r}"
            )
        return found

    def is_subtype_of(self, other: TensorSpec) -> bool:
        """Whether every tensor of this spec is also one of `other`."""
        return (
            self.dtype is other.dtype
            and self.weak == other.weak
            and self.shape.is_subtype_of(other.shape)
        )

    def with_weak(self, weak: bool) -> TensorSpec:
        """The same spec, weak or not."""
        if self.weak == weak:
            return self
        return TensorSpec(self.shape, self.dtype, self.name, weak=weak)

    def describe(self) -> str:
        """A short text for graphs and messages, as ``int32[2,?]``; weak ones end in *.

        >>> TensorSpec([2, None], "int32").describe(), TensorSpec(None).describe()
        ('int32[2,?]', 'float32[...]')
        """
        dims = self.shape.dims
        text = (
            "..."
            if dims is None
            else ",".join("?" if dim is None else str(dim) for dim in dims)
        )
        return f"{self.dtype.name}[{text}]{'*' if self.weak else ''}"

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name, self.weak

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        weak = ", weak=True" if self.weak else ""
        return (
            f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, "
            f"name={self.name!r}{weak})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, self._key()


def _rebuild(
    shape: TensorShape, dtype: DType, name: str | None, weak: bool
) -> TensorSpec:
    return TensorSpec(shape, dtype, name, weak=weak)
