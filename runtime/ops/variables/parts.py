"""Parts of variables: ``v[1:3].assign(x)``, and the slices that indices name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.core.errors import ConversionError
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops.arrays.gather import gather, gather_nd
from runtime.ops.arrays.indexing import index_key
from runtime.ops.convert import convert_to_tensor, is_tensor
from runtime.ops.operands import run
from runtime.ops.variables.indexed_slices import IndexedSlices
from runtime.ops.variables.updates import SCATTER_ND, check_arithmetic


class VariablePart:
    """Where in a variable an index leads: what is read there can be assigned."""

    __slots__ = ("_key", "_variable")

    def __init__(self, variable: PartialUpdates, key: Any) -> None:
        self._variable = variable
        self._key = key

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Replace the part. Gives the variable."""
        return self._change("ResourceStridedSliceAssign", value, name)

    def assign_add(self, delta: Any, name: str | None = None) -> Any:
        """Add to the part. Gives the variable."""
        check_arithmetic(self._variable.dtype, "+", self._variable.name)
        return self._change("ResourceStridedSliceAdd", delta, name)

    def assign_sub(self, delta: Any, name: str | None = None) -> Any:
        """Subtract from the part. Gives the variable."""
        check_arithmetic(self._variable.dtype, "-", self._variable.name)
        return self._change("ResourceStridedSliceSub", delta, name)

    def _change(self, op: str, value: Any, name: str | None) -> Any:
        variable, key = self._variable, self._key
        items = key if isinstance(key, tuple) else (key,)
        for item in items:
            if (is_tensor(item) or isinstance(item, np.ndarray)) and item.dtype == bool:
                raise ConversionError(
                    "the part of a variable that a mask picks cannot be assigned: use "
                    "v.assign(tf.where(mask, value, v))"
                )
        # Written into source, an Ellipsis would hide the tensors beside it.
        found = tuple("..." if i is Ellipsis else i for i in index_key(items))
        tensor = variable.convert(value)
        run(op, tensor, key=found, variable=variable, name=name)
        return variable


class PartialUpdates:
    """The methods of variables that read or change slices which indices name."""

    if TYPE_CHECKING:
        # What a variable has.
        name: Any
        dtype: Any
        read_value: Any
        convert: Any

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The slices at `indices` of the first axis, as ``tf.gather``."""
        found: Tensor = gather(self.read_value(), indices, name=name)
        return found

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements or slices where the rows of `indices` point."""
        found: Tensor = gather_nd(self.read_value(), indices, name=name)
        return found

    # --- slices of the first axis -----------------------------------------------------

    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Add `tf.IndexedSlices` to the variable, which it gives.

        Slices of the same place are all added.

        >>> import runtime as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.scatter_add(tf.IndexedSlices([1.0, 5.0], [0, 0])).numpy().tolist()
        [7.0, 2.0]
        """
        return self._scatter("ResourceScatterAdd", "+", sparse_delta, name)

    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtract `tf.IndexedSlices`: see `scatter_add`."""
        return self._scatter("ResourceScatterSub", "-", sparse_delta, name)

    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiply by `tf.IndexedSlices`: see `scatter_add`."""
        return self._scatter("ResourceScatterMul", "*", sparse_delta, name)

    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divide by `tf.IndexedSlices`; integers are rounded towards zero."""
        return self._scatter("ResourceScatterDiv", "/", sparse_delta, name)

    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Keep the larger of each element and that of `tf.IndexedSlices`."""
        return self._scatter("ResourceScatterMax", "max", sparse_delta, name)

    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Keep the smaller of each element and that of `tf.IndexedSlices`."""
        return self._scatter("ResourceScatterMin", "min", sparse_delta, name)

    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace by `tf.IndexedSlices`; of two for one place the later one stays."""
        return self._scatter("ResourceScatterUpdate", None, sparse_delta, name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """`scatter_update` of each member of a batch: the last axis of the indices
        names slices, the axes before it are the first ones of the variable.
        """
        return self._scatter("ResourceBatchScatterUpdate", None, sparse_delta, name)

    def _scatter(self, op: str, symbol: str | None, delta: Any, name: Any) -> Any:
        if not isinstance(delta, IndexedSlices):
            raise TypeError(
                f"a sparse update takes tf.IndexedSlices(values, indices), not "
                f"{delta!r}"
            )
        if symbol is not None:
            check_arithmetic(self.dtype, symbol, self.name)
        indices = convert_to_tensor(delta.indices, dtype_hint=dtypes.int32)
        run(op, indices, self.convert(delta.values), variable=self, name=name)
        return self

    # --- elements and slices ----------------------------------------------------------

    def scatter_nd_add(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Add `updates` where the rows of `indices` point. Gives the variable.

        >>> import runtime as tf
        >>> v = tf.Variable([1, 2, 3])
        >>> v.scatter_nd_add([[0], [2]], [10, 20]).numpy().tolist()
        [11, 2, 23]
        """
        return self._scatter_nd("TensorScatterAdd", "+", indices, updates, name)

    def scatter_nd_sub(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Subtract `updates` where the rows of `indices` point: `scatter_nd_add`."""
        return self._scatter_nd("TensorScatterSub", "-", indices, updates, name)

    def scatter_nd_update(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Put `updates` where the rows of `indices` point: see `scatter_nd_add`."""
        return self._scatter_nd("TensorScatterUpdate", None, indices, updates, name)

    def scatter_nd_max(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Keep the larger where the rows of `indices` point: see `scatter_nd_add`."""
        return self._scatter_nd("TensorScatterMax", "max", indices, updates, name)

    def scatter_nd_min(
        self, indices: Any, updates: Any, name: str | None = None
    ) -> Any:
        """Keep the smaller where the rows of `indices` point: see `scatter_nd_add`."""
        return self._scatter_nd("TensorScatterMin", "min", indices, updates, name)

    def _scatter_nd(
        self, pure: str, symbol: str | None, indices: Any, updates: Any, name: Any
    ) -> Any:
        if symbol is not None:
            check_arithmetic(self.dtype, symbol, self.name)
        places = convert_to_tensor(indices, dtype_hint=dtypes.int32)
        run(SCATTER_ND[pure], places, self.convert(updates), variable=self, name=name)
        return self
