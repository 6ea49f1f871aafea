"""`Call`: what is to be known of one call of a traced function, found out once.

Its `key` says which calls may share a trace:

* tensors (and NumPy arrays): dtype and shape,
* Python numbers, strings, bytes, bools, None: type and value,
* lists, tuples, dicts, dataclasses, ...: their types and the keys of what is in them,
  for dicts in any order,
* anything else, variables among it: which object it is.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from runtime.function.fast_key import ARRAYS, FastKey, fast_key
from runtime.function.input_signature import InputSignature
from runtime.ops.containers.array_parts import Kind
from runtime.ops.containers.tensor_array import TensorArray
from runtime.ops.convert import convert_to_tensor, narrowed
from runtime.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.tensor.device import DeviceTensor
from runtime.tracing.arguments import Again, restored, taken_apart
from runtime.types import nest
from runtime.types.classes import defines
from runtime.types.specs import TensorSpec

__all__ = ["Call", "ObjectRef", "Specs", "with_array_parts"]

#: The arguments ``(args, kwargs)`` of a canonical call, with specs for tensors and
#: `ObjectRef` for objects that are known by their identity.
Specs = tuple[tuple[Any, ...], dict[str, Any]]

Array = np.ndarray[Any, Any]

#: Python values that are told apart by type and value.
PRIMITIVES = (bool, int, float, complex, str, bytes, type(None))


class ObjectRef:
    """An argument that is known by its identity; it is not kept alive if possible."""

    __slots__ = ("_object", "type_name")

    def __init__(self, value: Any) -> None:
        self.type_name = type(value).__name__
        self._object: Callable[[], Any]
        try:
            self._object = weakref.ref(value)
        except TypeError:
            self._object = lambda: value

    def get(self) -> Any:
        """The object, or None once it is gone."""
        return self._object()

    def copied(self, memo: dict[int, Any]) -> ObjectRef:
        """The reference to a deep copy of the object."""
        return ObjectRef(copy.deepcopy(self.get(), memo))

    def __repr__(self) -> str:
        value = self.get()
        return f"<dead {self.type_name}>" if value is None else repr(value)


class Call(NamedTuple):
    """A call, bound and taken apart."""

    #: Equal for calls that may share a trace.
    key: Hashable
    #: As `key`, but for the shapes of tensors.
    shapeless: Hashable
    #: The arguments that the call is to be traced for.
    specs: Specs
    #: The tensors' arrays, in the order of `nest.flatten`; None where there is
    #: no value: for specs and symbolic tensors.
    arrays: list[Array | None]
    #: The objects that are known by identity.
    objects: list[Any]
    #: The results of `fast_key` for the call as it is written and in canonical form,
    #: each with the places of the graph's inputs among its arrays. A form is left out
    #: if it lacks an input, which is a default or was converted.
    forms: dict[FastKey, tuple[int, ...]]

    @classmethod
    def of(
        cls, inputs: InputSignature, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Call:
        """Bind the arguments of a call, and take them apart.

        Raises TypeError for arguments that do not fit the parameters, and ValueError
        for those that do not fit the specs of the function.
        """
        written = _with_own_arrays(args, kwargs, takes_numpy=not inputs.has_specs)
        bound = inputs.bind(*written)
        structure = with_array_parts(taken_apart(bound))
        keys: list[Hashable] = []
        shapeless: list[Hashable] = []
        leaves: list[Any] = []
        arrays: list[Array | None] = []
        objects: list[Any] = []
        for name, argument in inputs.signature.named(*structure):
            parts = nest.flatten(argument)
            # Where specs are given they take the place of the tensors that fit them.
            for leaf, given in zip(parts, inputs.specs_of(name) or parts):
                spec = _tensor_spec(leaf, name, arrays)
                if spec is None:
                    key, kept = _leaf_key(leaf, objects)
                    keys.append(key)
                    shapeless.append(key)
                    leaves.append(kept)
                    continue
                if given is not leaf:
                    spec = TensorSpec(given.shape, given.dtype, given.name or name)
                dims = spec.shape.dims
                keys.append((spec.dtype, None if dims is None else tuple(dims)))
                shapeless.append(spec.dtype)
                leaves.append(spec)
        outline = _structure_key(structure)
        return cls(
            (outline, tuple(keys)),
            (outline, tuple(shapeless)),
            nest.pack_sequence_as(structure, leaves),
            [array.held if isinstance(array, Place) else array for array in arrays],
            objects,
            {**_form(*written, arrays), **_form(*bound, arrays)},
        )

    def without_values(self) -> Call:
        """What is to be kept with a trace."""
        return self._replace(arrays=[], objects=[], forms={})


class Place:
    """Stands for an array on a device, for one argument alone."""

    __slots__ = ("aval", "dtype", "held", "shape")

    def __init__(self, held: Any) -> None:
        self.held = held
        self.aval = held.aval
        self.dtype = held.dtype
        self.shape = held.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.held, dtype)


def _with_own_arrays(
    args: tuple[Any, ...], kwargs: dict[str, Any], takes_numpy: bool
) -> Specs:
    """The arguments with an array object of its own for each tensor.

    So the place of each is known, also of one that is passed twice. `takes_numpy` says
    whether NumPy's arrays become inputs as they are.
    """

    def own(leaf: Any) -> Any:
        if type(leaf) is EagerTensor:
            return EagerTensor(leaf._array.view())
        if type(leaf) is DeviceTensor:
            return DeviceTensor(Place(leaf.held))
        if takes_numpy and type(leaf) in ARRAYS:
            return convert_to_tensor(leaf)
        return leaf

    found: Specs = restored(nest.map_structure(own, taken_apart((args, kwargs))))
    return found


def _form(
    args: tuple[Any, ...], kwargs: dict[str, Any], inputs: Sequence[Array | None]
) -> dict[FastKey, tuple[int, ...]]:
    """The key of a call with the places of the inputs, if it has them all."""
    found = fast_key(args, kwargs)
    if found is None:
        return {}
    places = {id(array): place for place, array in enumerate(found[1])}
    if not all(id(array) in places for array in inputs):
        return {}
    return {found[0]: tuple([places[id(array)] for array in inputs])}


def _tensor_spec(leaf: Any, name: str, arrays: list[Array | None]) -> TensorSpec | None:
    """The spec if the leaf is a tensor (or stands for one); its array is appended."""
    if isinstance(leaf, TensorSpec):
        arrays.append(None)
        return TensorSpec(leaf.shape, leaf.dtype, leaf.name or name)
    if isinstance(leaf, (np.ndarray, np.generic)):
        leaf = convert_to_tensor(leaf)
    if isinstance(leaf, Tensor):
        leaf = narrowed(leaf)
    if isinstance(leaf, EagerTensor):
        arrays.append(leaf.held if type(leaf) is DeviceTensor else leaf._array)
        return TensorSpec(leaf.shape, leaf.dtype, name)
    if isinstance(leaf, SymbolicTensor):
        arrays.append(None)
        return TensorSpec(leaf.shape, leaf.dtype, name)
    return None


def _leaf_key(leaf: Any, objects: list[Any]) -> tuple[Hashable, Any]:
    """The key of a Python value, and what a trace keeps of it."""
    if isinstance(leaf, PRIMITIVES) and not _has_attributes(leaf):
        if isinstance(leaf, (float, complex)):
            # 0.0 equals -0.0 and NaN nothing at all, but their texts tell them apart.
            return (type(leaf), repr(leaf)), leaf
        return (type(leaf), leaf), leaf
    if isinstance(leaf, (range, slice)):
        # Ranges with the same numbers are equal whatever their ends, as 1 and True are.
        parts = leaf.start, leaf.stop, leaf.step
        return (type(leaf), *map(type, parts), *parts), leaf
    if isinstance(leaf, (np.dtype, Again)):
        return (type(leaf), leaf), leaf
    objects.append(leaf)
    return ("object", id(leaf)), ObjectRef(leaf)


def _has_attributes(value: Any) -> bool:
    """Whether it is more than its value: one of a class of the user's."""
    return type(value) not in PRIMITIVES and bool(getattr(value, "__dict__", None))


def _structure_key(structure: Any) -> Hashable:
    """The types of the containers in a structure, and where its leaves are."""
    children = nest.children(structure)
    if children is None:
        return None
    return type(structure), tuple(
        [(path, _structure_key(value)) for path, value in children]
    )


# --- A `TensorArray` as an argument of a traced function: its tensors


@dataclass(frozen=True, eq=False, repr=False)
class ArrayParts:
    """What calls that may share a trace have in common of an array, and its tensors.

    Structures with specs in place of the tensors have this; around tensors it is the
    array.
    """

    kind: tuple[Any, ...]
    parts: tuple[Any, ...]

    def __tf_flatten__(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return self.kind, self.parts

    @classmethod
    def __tf_unflatten__(cls, kind: Any, parts: Any) -> Any:
        if all(isinstance(part, Tensor) for part in parts):
            made = Kind(*kind)
            made.shared = True
            return TensorArray.__tf_unflatten__(made, parts)
        return cls(kind, parts)

    def __repr__(self) -> str:
        parts = ", ".join(map(repr, self.parts))
        return f"TensorArray(dtype={self.kind[0].name}, parts={parts})"


@dataclass(frozen=True, eq=False, repr=False)
class HandleParts:
    """The spec of a data set or an iterator, and the tensor of its handle."""

    spec: Any
    parts: tuple[Any, ...]

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.spec, self.parts

    @classmethod
    def __tf_unflatten__(cls, spec: Any, parts: Any) -> Any:
        (part,) = parts
        if isinstance(part, SymbolicTensor):
            return type(spec).wrap(part, spec.element_spec)
        return cls(spec, parts)

    def __repr__(self) -> str:
        return repr(self.spec)


def with_array_parts(structure: Any) -> Any:
    """The structure with each array in it taken apart, and each data set or iterator.

    An array that has no elements whose shape is known stays what it is. What else is
    made of a handle says by ``_argument_parts`` what its spec and its tensor are.
    """
    leaves = nest.flatten(structure)
    if not any(
        isinstance(leaf, TensorArray) or defines(type(leaf), "_argument_parts")
        for leaf in leaves
    ):
        return structure
    return nest.pack_sequence_as(structure, map(_taken_apart, leaves))


def _taken_apart(leaf: Any) -> Any:
    if defines(type(leaf), "_argument_parts"):
        return HandleParts(*leaf._argument_parts())
    if not isinstance(leaf, TensorArray):
        return leaf
    kind, tensors = leaf.__tf_flatten__()
    unset = tensors[0].shape.rank is None or tensors[0].shape[1:] == [0]
    return leaf if unset else ArrayParts(kind.key(), tensors)
