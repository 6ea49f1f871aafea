"""Elements of data sets: structures of tensors, and the tuples of arrays that run.

A pipeline hands on *flat elements*: one array for each leaf of the element's structure,
in the order of `nest`. A data set within an element (a window) and an iterator are
arrays, too: of one object, a `Handle`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from runtime.core.errors import ConversionError
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import convert_to_tensor

Array = np.ndarray[Any, Any]
Element = tuple[Array, ...]


# --- objects in arrays ----------------------------------------------------------------


class Handle:
    """A node of a data set or the state of an iterator, as the item of an array."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"<{self.value!r}>"


def handle_array(value: Any) -> Array:
    """An array of rank 0 that holds an object."""
    array: Array = np.empty((), object)
    array[()] = Handle(value)
    return array


def handle_of(array: Any) -> Any:
    """The object of a `handle_array`, which executors may have taken out of it."""
    item = array.item() if isinstance(array, np.ndarray) else array
    return item.value


class HandleTensor(EagerTensor):
    """The tensor of a handle as an argument of a traced function."""

    __slots__ = ("_dtype",)

    def __init__(self, value: Any, dtype: DType) -> None:
        super().__init__(handle_array(value))
        self._dtype = dtype

    @property
    def dtype(self) -> DType:
        """``tf.variant`` or ``tf.resource``."""
        return self._dtype

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""
        return TensorSpec((), self._dtype)


# --- specs ----------------------------------------------------------------------------


class _ObjectSpec:
    """What specs of data sets and of iterators have in common."""

    dtype: DType
    #: Arguments are called by their parameters.
    name = None

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec
        self._hash: int | None = None

    @property
    def shape(self) -> TensorShape:
        """That of the tensor which stands for the object: a scalar."""
        return as_shape(())

    def fitted(self, value: Any) -> Any:
        """An argument of this type; None for one of another."""
        spec = value if isinstance(value, _ObjectSpec) else _own_spec(value)
        if type(spec) is not type(self):
            return None
        if spec == self:
            return value
        wider = merged_specs(self.element_spec, spec.element_spec)
        same = wider is not None and type(self)(wider) == self
        return _Widened(self, value) if same else None

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return bool(_key(self) == _key(other))

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(_key(self))
        return self._hash

    def _argument_parts(self) -> tuple[Any, tuple[Any, ...]]:
        return self, (TensorSpec((), self.dtype),)


class _Widened:
    """An argument whose elements have a wider type to the function."""

    def __init__(self, spec: _ObjectSpec, value: Any) -> None:
        self._spec = spec
        self._value = value

    def _argument_parts(self) -> tuple[Any, tuple[Any, ...]]:
        return self._spec, self._value._argument_parts()[1]


def _own_spec(value: Any) -> Any:
    return getattr(value, "_type_spec", None)


class DatasetSpec(_ObjectSpec):
    """The type of data sets whose elements have the type `element_spec`.

    >>> DatasetSpec(TensorSpec([], dtypes.int32))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorShape([]))
    """

    #: Makes the data set of a node or of a symbolic tensor; `data.dataset` fills it in.
    wrap: ClassVar[Callable[[Any, Any], Any]]
    dtype = dtypes.variant

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        if as_shape(dataset_shape) != as_shape(()):
            raise ValueError("a tensor of data sets has one: dataset_shape is ()")

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.shape!r})"


class IteratorSpec(_ObjectSpec):
    """The type of iterators whose elements have the type `element_spec`."""

    #: Makes the iterator of a state or a symbolic tensor; `data.iterator` fills it in.
    wrap: ClassVar[Callable[[Any, Any], Any]]
    dtype = dtypes.resource

    def __repr__(self) -> str:
        return f"IteratorSpec({self.element_spec!r})"


@dataclass(frozen=True)
class NoneTensorSpec:
    """The spec of a None within an element: a structure without components.

    It stands for the None in structures of tensors and arrays, too, until the element
    is given to the user by `with_none`.
    """


def with_none(structure: Any) -> Any:
    """The structure with None in the places of its `NoneTensorSpec`."""
    if type(structure) is NoneTensorSpec:
        return None
    return nest.with_parts(structure, with_none)


def _key(spec: _ObjectSpec) -> Any:
    """What makes two specs equal: structures that cannot be hashed are written out."""
    paths = nest.flatten_with_paths(spec.element_spec)
    kinds = nest.map_structure(lambda _: 0, spec.element_spec)
    leaves = [(path, _leaf_key(leaf)) for path, leaf in paths]
    return type(spec), repr(kinds), tuple(leaves)


def _leaf_key(leaf: Any) -> Any:
    if isinstance(leaf, TensorSpec):
        dims = leaf.shape.dims
        return leaf.dtype, None if dims is None else tuple(dims)
    return leaf


def flat_specs(spec: Any) -> tuple[TensorSpec, ...]:
    """The specs of the arrays of an element."""
    return tuple(
        leaf if isinstance(leaf, TensorSpec) else TensorSpec((), leaf.dtype)
        for leaf in nest.flatten(spec)
    )


def component_names(spec: Any) -> list[str]:
    """What messages call the components of an element."""
    return [
        f"component {path}" if path else "the element"
        for path, _ in nest.flatten_with_paths(spec)
    ]


def merged_specs(one: Any, other: Any) -> Any | None:
    """The narrowest spec that takes the elements of both; None if there is none."""
    try:
        nest.assert_same_structure(one, other)
    except (ValueError, TypeError):
        return None
    found = []
    for left, right in zip(nest.flatten(one), nest.flatten(other)):
        if isinstance(left, TensorSpec) and isinstance(right, TensorSpec):
            merged = left.most_specific_common_supertype([right])
        else:
            merged = left if left == right else None
        if merged is None:
            return None
        found.append(merged)
    return nest.pack_sequence_as(one, found)


def legacy(spec: Any) -> tuple[str, str]:
    """The shapes and the types of elements, as the repr of a data set has them."""
    shapes = nest.map_structure(_shape_text, spec)
    types = nest.map_structure(lambda leaf: _Text(repr(leaf.dtype)), spec)
    return repr(shapes), repr(types)


class _Text(str):
    def __repr__(self) -> str:
        return str(self)


def _shape_text(leaf: Any) -> _Text:
    dims = leaf.shape.dims
    return _Text("<unknown>" if dims is None else str(leaf.shape))


# --- values ---------------------------------------------------------------------------


def normalized(value: Any, top: bool = True, path: str = "") -> Any:
    """The structure of tensors that `value` is as an element.

    Tuples, dicts and objects are structures; lists are tensors. Data sets and None are
    parts of elements.

    Raises TypeError, with the path, for what cannot become a tensor.
    """
    if isinstance(value, (Tensor, np.ndarray)):
        return convert_to_tensor(value)
    if hasattr(type(value), "_argument_parts"):
        return value
    if type(value) is not list and nest.is_nested(value):
        inside = nest.children(value)
        assert inside is not None
        parts = [normalized(part, False, path + step) for step, part in inside]
        return nest.rebuild(value, parts)
    where = f" at {path}" if path else ""
    if value is None and not top:
        return NoneTensorSpec()
    if value is None:
        raise TypeError(
            "None is no element of a data set, only a part of one: (x, None)"
        )
    try:
        return convert_to_tensor(value)
    except (ConversionError, ValueError, TypeError) as error:
        raise TypeError(
            f"a value of type {type(value).__name__}{where} cannot be a part of an "
            f"element of a data set: {error}"
        ) from None


def spec_of(structure: Any) -> Any:
    """The element spec of a normalized structure."""

    def spec(leaf: Any) -> Any:
        own = _own_spec(leaf)
        if own is not None:
            return own
        return leaf if isinstance(leaf, _ObjectSpec) else _tensor_spec(leaf)

    return nest.map_structure(spec, structure)


def _tensor_spec(tensor: Any) -> TensorSpec:
    return TensorSpec(tensor.shape, tensor.dtype)


def element_packer(spec: Any) -> Callable[[Sequence[Array]], Any]:
    """What makes the user's element of a flat one."""
    if type(spec) is TensorSpec:
        return lambda arrays: EagerTensor(arrays[0])
    if type(spec) is tuple and all(type(leaf) is TensorSpec for leaf in spec):
        return lambda arrays: tuple(map(EagerTensor, arrays))
    if type(spec) is dict and all(type(leaf) is TensorSpec for leaf in spec.values()):
        names = sorted(spec)
        order = list(spec)

        def pack(arrays: Sequence[Array]) -> Any:
            found = dict(zip(names, map(EagerTensor, arrays)))
            return {name: found[name] for name in order}

        return pack
    leaves = nest.flatten(spec)

    def general(arrays: Sequence[Array]) -> Any:
        return with_none(nest.pack_sequence_as(spec, map(_wrapped, leaves, arrays)))

    return general


def packed(spec: Any, results: Any) -> Any:
    """The user's element of the tensors that a node gives: one, or a tuple."""
    parts = results if type(results) is tuple else (results,)
    leaves = [
        part
        if isinstance(leaf, TensorSpec)
        else type(leaf).wrap(part, leaf.element_spec)
        for leaf, part in zip(nest.flatten(spec), parts)
    ]
    return with_none(nest.pack_sequence_as(spec, leaves))


def _wrapped(leaf: Any, array: Array) -> Any:
    if isinstance(leaf, TensorSpec):
        return EagerTensor(array)
    return type(leaf).wrap(handle_of(array), leaf.element_spec)
