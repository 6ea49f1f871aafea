"""`TensorArray`: a list of tensors that loops can fill, in eager code and in graphs."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from runtime.core.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    UnimplementedError,
)
from runtime.core.graph.context import current_graph
from runtime.core.tensor import EagerTensor, Recorded
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.ops.arguments import int_argument, ints_argument
from runtime.ops.arrays.joining import split, stack
from runtime.ops.arrays.shape import reshape
from runtime.ops.containers.array_parts import (
    Kind,
    Mark,
    Rows,
    dense_array,
    element_tensor,
    in_graph,
    joined,
    known_dims,
    or_zeros,
    places_argument,
    stacked,
)
from runtime.ops.convert import convert_to_tensor
from runtime.ops.operands import run


class TensorArray:
    """Elements of one dtype, and of one shape unless `infer_shape` is False.

    Nothing changes in place: `write` gives the array with the element in it, which has
    to be used from then on. Using the array as it was before, although the result of
    `write` was dropped, is an error (FailedPreconditionError), and so is a result that
    nobody has used by the end of a traced function.

    >>> squares = TensorArray("int32", size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, i * i)
    >>> print(squares.stack())
    tf.Tensor([0 1 4], shape=(3,), dtype=int32)

    With `dynamic_size` a write behind the end makes the array longer. Elements that
    were never written are zeros, if their shape is known. An element may be read more
    than once: `clear_after_read` is accepted, without effect, as are
    `tensor_array_name` and `colocate_with_first_write_call`.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None or flow is not None:
            raise UnimplementedError(
                "a TensorArray has no handle and no flow: pass on the array itself"
            )
        found = as_dtype(dtype)
        length = int_argument(0 if size is None else size, "size")
        if isinstance(length, int) and length < 0:
            raise InvalidArgumentError(f"the size must not be negative: {length}")
        shape, dynamic = as_shape(element_shape), bool(dynamic_size)
        size_known = isinstance(length, int) and not dynamic
        kind = Kind(found, dynamic, infer_shape, shape, length if size_known else None)
        if isinstance(length, int) and current_graph() is None:
            self._start(kind, Rows([None] * length))
            return
        self._start(kind)
        kind.shared = True
        element = known_dims(shape)
        self._buffer = run(
            "TensorArrayV3", size=length, dtype=found, element_shape=element, name=name
        )
        if dynamic:
            self._count = convert_to_tensor(length, "int32")

    def _start(
        self,
        kind: Kind,
        rows: Rows | None = None,
        buffer: Any = None,
        count: Any = None,
    ) -> None:
        self._kind = kind
        self._rows = rows
        self._buffer = buffer
        self._count = count
        self._mark = Mark()
        # The last change from here: its result, and what tells if that was used.
        self._change: tuple[weakref.ref[TensorArray], Mark] | None = None

    # --- what it is -------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._kind.dtype

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements as far as it is known."""
        return self._kind.element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether writes can make the array longer."""
        return self._kind.dynamic

    def size(self, name: str | None = None) -> Any:
        """The number of elements, an int32 scalar."""
        rows = self._use()
        if rows is not None:
            return convert_to_tensor(len(rows.get()), "int32")
        if self._kind.size is not None:
            return convert_to_tensor(self._kind.size, "int32")
        buffer = self._dense()
        if self._count is not None:
            return self._count
        return run("TensorArraySizeV3", buffer, name=name)

    # --- writing ----------------------------------------------------------------------

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with `value` at `index`; OutOfRangeError if that is outside."""
        rows, place = self._use(), int_argument(index, "index")
        element = element_tensor(value, self.dtype)
        kind = self._kind.narrowed(element.shape)
        if rows is not None and isinstance(place, int):
            size = len(rows.get())
            if place < 0 or (place >= size and not self.dynamic_size):
                raise OutOfRangeError(
                    f"tried to write to index {place} of a TensorArray of size {size}"
                    + ("" if self.dynamic_size else ", which was not made to grow")
                )
            return self._successor("write", kind, rows=rows.put(place, element))
        buffer = self._dense()
        if self._count is None:
            buffer = run("TensorArrayWriteV3", buffer, element, index=place, name=name)
            return self._successor("write", kind, buffer=buffer)
        buffer, count = run(
            "TensorArrayGrowV3", buffer, self._count, element, index=place, name=name
        )
        return self._successor("write", kind, buffer=buffer, count=count)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array whose elements are the slices of `value` along its first axis."""
        tensor = element_tensor(value, self.dtype)
        if tensor.shape.rank == 0:
            raise ValueError("a scalar cannot be unstacked")
        kind = self._kind.narrowed(tensor.shape[1:])
        rows = self._use()
        if rows is not None and isinstance(tensor, EagerTensor):
            return self._replaced("unstack", kind, list(tensor))
        if self.dynamic_size:
            count = run("TensorArraySizeV3", tensor)
            return self._successor("unstack", kind, buffer=tensor, count=count)
        buffer = run("TensorArrayUnstackV3", self._dense(), tensor, name=name)
        return self._successor("unstack", kind, buffer=buffer)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the slices of `value` at the indices."""
        places = places_argument(indices)
        tensor = element_tensor(value, self.dtype)
        kind = self._kind.narrowed(tensor.shape[1:])
        if self._use() is not None:
            array = self
            if places.shape != tensor.shape[:1]:
                text = f"there are {len(tensor)} elements for indices of shape"
                raise InvalidArgumentError(f"{text} {places.shape}")
            for index, element in zip(places, tensor):
                array = array.write(index, element)
            return array
        dynamic = self.dynamic_size
        buffer = run(
            "TensorArrayScatterV3",
            self._dense(),
            places,
            tensor,
            dynamic=dynamic,
            name=name,
        )
        count = run("TensorArraySizeV3", buffer) if dynamic else None
        return self._successor("scatter", kind, buffer=buffer, count=count)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array of the parts of `value` of the given lengths along its first axis.

        In a traced function the parts must be equally long: UnimplementedError.
        """
        tensor, sizes = (
            element_tensor(value, self.dtype),
            ints_argument(lengths, "lengths"),
        )
        if self._use() is None:
            if not isinstance(sizes, tuple) or len(set(sizes)) != 1:
                raise UnimplementedError(
                    "TensorArray.split in a traced function into parts of different "
                    f"or unknown lengths, {lengths!r}: keep the parts in a list "
                    "(tf.split), or pad them"
                )
            return self.unstack(stack(split(tensor, sizes)), name)
        parts, kind = split(tensor, sizes), self._kind
        for part in parts:
            kind = kind.narrowed(part.shape)
        return self._replaced("split", kind, parts)

    # --- reading ----------------------------------------------------------------------

    def _read(self, op: str, name: str | None, *places: Any, **attrs: Any) -> Any:
        inputs, shape = (self._dense(), *places), known_dims(self.element_shape)
        size = self._known_size()
        return run(op, *inputs, **attrs, size=size, element_shape=shape, name=name)

    def read(self, index: Any, name: str | None = None) -> Any:
        """The element at `index`. Raises OutOfRangeError if there is none."""
        rows, place = self._use(), int_argument(index, "index")
        if rows is not None and isinstance(place, int):
            items = rows.get()
            if not 0 <= place < len(items):
                text = f"tried to read from index {place} of a TensorArray of size"
                raise OutOfRangeError(f"{text} {len(items)}")
            return or_zeros(items[place], self._kind)
        return self._read("TensorArrayReadV3", name, index=place)

    def stack(self, name: str | None = None) -> Any:
        """The elements as one tensor, along a new first axis."""
        rows = self._use()
        if rows is not None:
            return stacked(rows.get(), self._kind)
        return self._read("TensorArrayStackV3", name)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The elements at the indices as one tensor."""
        places = places_argument(indices)
        if self._use() is not None:
            flat: Any = reshape(places, [-1])
            items = stacked([self.read(place) for place in flat], self._kind)
            return reshape(items, [*places.shape, *items.shape[1:]])
        return self._read("TensorArrayGatherV3", name, places)

    def concat(self, name: str | None = None) -> Any:
        """The elements joined along their first axis."""
        rows = self._use()
        if rows is not None:
            return joined(rows.get(), self._kind)
        whole = self.stack()
        if whole.shape.rank is None:
            raise InvalidArgumentError(
                "the rank of the elements is not known: give element_shape="
            )
        if None in whole.shape[2:].as_list():
            raise InvalidArgumentError(
                f"the shape {whole.shape[1:]} of the elements is not known enough to "
                "join them: give element_shape="
            )
        return reshape(whole, [-1, *whole.shape[2:]], name=name)

    def close(self, name: str | None = None) -> None:
        """Nothing: an array is gone once nobody refers to it."""

    def identity(self) -> TensorArray:
        """The same elements."""
        self._use()
        return self._made_of(self._kind, self._rows, self._buffer, self._count)

    # --- as tensors -------------------------------------------------------------------

    def _flatten(self) -> tuple[Any, ...]:
        """What the array is in a graph: the buffer, and the count if it can grow."""
        self._use()
        buffer = self._dense()
        return (buffer,) if self._count is None else (buffer, self._count)

    def _unflatten(self, tensors: Any) -> TensorArray:
        """An array of the kind of this one made of such tensors."""
        return self._made_of(self._kind.of_buffer(tensors[0]), None, *tensors)

    def _same_structure(self, other: TensorArray) -> bool:
        """Whether a graph can choose between the two."""
        ranks = [array._dense().shape.rank for array in (self, other)]
        return self._kind.goes_with(other._kind, exact=None in ranks)

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return self._kind, self._flatten()

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> TensorArray:
        return cls._made_of(metadata.of_buffer(components[0]), None, *components)

    @classmethod
    def _made_of(
        cls, kind: Kind, rows: Rows | None, buffer: Any = None, count: Any = None
    ) -> TensorArray:
        array = cls.__new__(cls)
        array._start(kind, rows, buffer, count)
        return array

    # --- inside -----------------------------------------------------------------------

    def _use(self) -> Rows | None:
        """Note that the array is used. Gives its rows in eager code, None in graphs."""
        self._mark.used = True
        if self._change is not None:
            result, mark = self._change
            if not mark.used and result() is None and mark.is_part_of(current_graph()):
                raise mark.error()
        if current_graph() is not None:
            return None
        if self._rows is None and isinstance(self._buffer, EagerTensor):
            self._rows = Rows(self._from_buffer(self._buffer))
        return self._rows

    def _from_buffer(self, buffer: EagerTensor) -> list[Any]:
        rows: list[Any] = list(buffer)
        if isinstance(self._count, EagerTensor):
            rows = rows[: int(self._count)]
        unset = buffer.shape.rank == 2 and buffer.shape[1] == 0
        return [None] * len(rows) if unset else rows

    def _dense(self) -> Any:
        """The buffer; that of an eager array is made now."""
        if self._buffer is None and self._rows is not None:
            items = self._rows.get()
            if any(type(item) in (Recorded, DeviceTensor) for item in items):
                self._buffer = stacked(items, self._kind)
            else:
                self._buffer = EagerTensor(dense_array(items, self._kind))
            if self.dynamic_size:
                self._count = EagerTensor(np.array(len(items), np.int32))
        return in_graph(self._buffer, self._kind)

    def _successor(
        self,
        method: str,
        kind: Kind,
        rows: Rows | None = None,
        buffer: Any = None,
        count: Any = None,
    ) -> TensorArray:
        """The array after a change: whoever goes on must go on with it."""
        array = self._made_of(kind, rows, buffer, count)
        mark = array._mark = Mark(method, buffer if count is None else count)
        self._change = weakref.ref(array), mark
        return array

    def _replaced(self, method: str, kind: Kind, items: list[Any]) -> TensorArray:
        """The eager array with other elements, as many if it does not grow."""
        if kind.size not in (len(items), None):
            raise ValueError(
                f"{len(items)} elements do not make up a TensorArray of size "
                f"{kind.size}, which was not made to grow"
            )
        return self._successor(method, kind, rows=Rows(items))

    def _known_size(self) -> Any:
        """The size as an attribute: None where it is the length of the buffer."""
        return self._kind.size if self._count is None else self._count

    def __repr__(self) -> str:
        count = self._kind.size if self._rows is None else len(self._rows.get())
        size = "" if count is None else f", size={count}"
        shape = f"element_shape={self.element_shape}"
        return f"<tf.TensorArray dtype={self.dtype.name}, {shape}{size}>"
