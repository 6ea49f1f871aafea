"""`Call`: the arguments of one call of a traced function, analysed once.

`Function` makes one for each call that `fast_key` cannot look up. Calls with equal keys
may share a trace. The key of an argument consists of

* dtype and shape for a tensor or a NumPy array,
* type and value for a Python number, string, bytes, bool or None,
* the type and the keys of the items for a list, tuple, dict, dataclass, ..., for dicts
  in any order,
* the identity of any other object, a variable for example.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types import nest
from runtime.core.types.classes import defines
from runtime.core.types.specs import TensorSpec
from runtime.function.fast_key import ARRAYS, FastKey, fast_key
from runtime.function.input_signature import InputSignature
from runtime.ops.containers.array_parts import Kind
from runtime.ops.containers.tensor_array import TensorArray
from runtime.ops.convert import convert_to_tensor, narrowed
from runtime.staging.tracing.arguments import BackReference, restored, taken_apart

#: The arguments ``(args, kwargs)`` of a canonical call, with specs for tensors and
#: `ObjectRef` for objects that are known by their identity.
Specs = tuple[tuple[Any, ...], dict[str, Any]]

Array = np.ndarray[Any, Any]

#: Python values that are told apart by type and value.
PRIMITIVES = (bool, int, float, complex, str, bytes, type(None))


class ObjectRef:
    """An argument identified by its `id`, referred to weakly where possible."""

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
    """A call with its arguments bound and flattened."""

    #: Equal for calls that may share a trace.
    key: Hashable
    #: The `key` without the shapes of tensors.
    shapeless: Hashable
    #: The arguments for which to trace the call.
    specs: Specs
    #: The tensors' arrays, in the order of `nest.flatten`; None for specs and symbolic
    #: tensors, which have no value.
    arrays: list[Array | None]
    #: The objects that are known by identity.
    objects: list[Any]
    #: The results of `fast_key` for the call as written and in canonical form, each
    #: with the indices of the graph's inputs among its arrays. A form that lacks an
    #: input (a default, or a converted value) is left out.
    forms: dict[FastKey, tuple[int, ...]]

    @classmethod
    def of(
        cls, inputs: InputSignature, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Call:
        """Bind and flatten the arguments of a call.

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
            argument_leaves = nest.flatten(argument)
            # Specs of an `input_signature` replace the tensors that fit them.
            expected = inputs.specs_of(name) or argument_leaves
            for leaf, given in zip(argument_leaves, expected):
                spec = _tensor_spec(leaf, name, arrays)
                if spec is None:
                    key, traced_leaf = _leaf_key(leaf, objects)
                    keys.append(key)
                    shapeless.append(key)
                    leaves.append(traced_leaf)
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
            [
                array.held if isinstance(array, DeviceSlot) else array
                for array in arrays
            ],
            objects,
            {**_form(*written, arrays), **_form(*bound, arrays)},
        )

    def without_values(self) -> Call:
        """The call without its values, to be stored with a trace."""
        return self._replace(arrays=[], objects=[], forms={})


class DeviceSlot:
    """Stands for an array on a device, as a distinct object for each argument."""

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
    """The arguments with a distinct array object for each tensor.

    So each array has one index, even if a tensor is passed twice. `takes_numpy`:
    whether NumPy's arrays become inputs as they are.
    """

    def own(leaf: Any) -> Any:
        if type(leaf) is EagerTensor:
            return EagerTensor(leaf._array.view())
        if type(leaf) is DeviceTensor:
            return DeviceTensor(DeviceSlot(leaf.held))
        if takes_numpy and type(leaf) in ARRAYS:
            return convert_to_tensor(leaf)
        return leaf

    arguments: Specs = restored(nest.map_structure(own, taken_apart((args, kwargs))))
    return arguments


def _form(
    args: tuple[Any, ...], kwargs: dict[str, Any], inputs: Sequence[Array | None]
) -> dict[FastKey, tuple[int, ...]]:
    """The fast key of a call with the indices of the inputs, if it has them all."""
    fast = fast_key(args, kwargs)
    if fast is None:
        return {}
    indices = {id(array): index for index, array in enumerate(fast[1])}
    if not all(id(array) in indices for array in inputs):
        return {}
    return {fast[0]: tuple([indices[id(array)] for array in inputs])}


def _tensor_spec(leaf: Any, name: str, arrays: list[Array | None]) -> TensorSpec | None:
    """The spec of a tensor, whose array is appended; None for any other leaf."""
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
    """The key of a Python value, and the leaf that a trace keeps for it."""
    if isinstance(leaf, PRIMITIVES) and not _has_attributes(leaf):
        if isinstance(leaf, (float, complex)):
            # 0.0 equals -0.0 and NaN nothing at all, but their texts tell them apart.
            return (type(leaf), repr(leaf)), leaf
        return (type(leaf), leaf), leaf
    if isinstance(leaf, (range, slice)):
        # Ranges of the same numbers are equal, and so are 1 and True: compare the ends.
        ends = leaf.start, leaf.stop, leaf.step
        return (type(leaf), *map(type, ends), *ends), leaf
    if isinstance(leaf, (np.dtype, BackReference)):
        return (type(leaf), leaf), leaf
    objects.append(leaf)
    return ("object", id(leaf)), ObjectRef(leaf)


def _has_attributes(value: Any) -> bool:
    """Whether a primitive is of a class of the user's and has attributes."""
    return type(value) not in PRIMITIVES and bool(getattr(value, "__dict__", None))


def _structure_key(structure: Any) -> Hashable:
    """The types of the containers in a structure, and the paths of its leaves."""
    children = nest.children(structure)
    if children is None:
        return None
    return type(structure), tuple(
        [(path, _structure_key(value)) for path, value in children]
    )


# --- a `TensorArray` as an argument of a traced function: its tensors


@dataclass(frozen=True, eq=False, repr=False)
class ArrayParts:
    """The kind of a `TensorArray`, equal for calls that share a trace; its tensors.

    In structures it holds specs; unflattened around tensors it becomes the array.
    """

    kind: tuple[Any, ...]
    parts: tuple[Any, ...]

    def __tf_flatten__(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return self.kind, self.parts

    @classmethod
    def __tf_unflatten__(cls, kind: Any, parts: Any) -> Any:
        if all(isinstance(part, Tensor) for part in parts):
            array_kind = Kind(*kind)
            array_kind.shared = True
            return TensorArray.__tf_unflatten__(array_kind, parts)
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
    """The structure with `ArrayParts` and `HandleParts` for arrays and data sets.

    An array without elements of a known shape stays as it is. Data sets and iterators
    give their spec and the tensor of their handle by ``_argument_parts``.
    """
    leaves = nest.flatten(structure)
    if not any(
        isinstance(leaf, TensorArray) or defines(type(leaf), "_argument_parts")
        for leaf in leaves
    ):
        return structure
    return nest.pack_sequence_as(structure, map(_with_parts, leaves))


def _with_parts(leaf: Any) -> Any:
    if defines(type(leaf), "_argument_parts"):
        return HandleParts(*leaf._argument_parts())
    if not isinstance(leaf, TensorArray):
        return leaf
    kind, tensors = leaf.__tf_flatten__()
    is_unset = tensors[0].shape.rank is None or tensors[0].shape[1:] == [0]
    return leaf if is_unset else ArrayParts(kind.key(), tensors)
