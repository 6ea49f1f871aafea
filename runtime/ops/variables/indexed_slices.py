"""Some slices of a tensor: what sparse updates of variables are given as."""

from __future__ import annotations

from typing import Any, NamedTuple

from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.ops.arrays.scatter import scatter_nd
from runtime.ops.convert import (
    as_tensor,
    convert_to_tensor,
    register_tensor_conversion_function,
)


class IndexedSlices(NamedTuple):
    """The slices `values` of a tensor, at the places `indices` of its first axis.

    ``tf.convert_to_tensor`` makes the tensor of it, zero elsewhere, if `dense_shape` is
    given; slices of the same place are added.

    >>> slices = IndexedSlices([[1.0], [2.0]], [2, 0], [3, 1])
    >>> convert_to_tensor(slices).numpy().tolist()
    [[2.0], [0.0], [1.0]]
    """

    values: Any
    indices: Any
    dense_shape: Any = None

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return as_tensor(self.values).dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole tensor, as far as it is known."""
        return as_shape(self.dense_shape)


def _dense(slices: IndexedSlices, dtype: DType | None) -> Tensor:
    if slices.dense_shape is None:
        raise ValueError(
            "an IndexedSlices becomes a tensor only where its dense_shape is given"
        )
    indices = convert_to_tensor(slices.indices, dtype_hint=dtypes.int32)
    values = convert_to_tensor(slices.values, dtype)
    dense: Tensor = scatter_nd(indices[..., None], values, slices.dense_shape)
    return dense


register_tensor_conversion_function(IndexedSlices, _dense)
