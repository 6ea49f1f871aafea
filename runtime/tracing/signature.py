"""The arguments of traced functions: how they are bound, compared, and printed.

`Signature` brings a call into one form, whatever mix of positional and keyword
arguments and defaults it was written with. `flatten_call` takes that form apart: into
the arrays that a graph is run with, the specs for which it is traced, and a key that
says which calls may share a trace:

* tensors (and NumPy arrays): dtype and shape,
* Python numbers, strings, bytes, bools, None: type and value,
* lists, tuples, dicts, dataclasses, ...: their types and the keys of what is in them,
  for dicts in any order,
* anything else, variables among it: which object it is.
"""

from __future__ import annotations

import functools
import inspect
import pprint
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from runtime.ops.containers.array_parts import Kind
from runtime.ops.containers.tensor_array import TensorArray
from runtime.ops.convert import convert_to_tensor
from runtime.ops.staged.flow import optional_parts
from runtime.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.types import nest
from runtime.types.specs import TensorSpec

__all__ = [
    "ArrayParts",
    "FlatCall",
    "ObjectRef",
    "Signature",
    "callable_name",
    "flatten_call",
    "method_of",
    "with_array_parts",
]

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


def with_array_parts(structure: Any) -> Any:
    """The structure with each array in it taken apart.

    An array that has no elements whose shape is known stays what it is.
    """
    leaves = nest.flatten(structure)
    if not any(isinstance(leaf, TensorArray) for leaf in leaves):
        return structure
    return nest.pack_sequence_as(structure, map(_taken_apart, leaves))


def _taken_apart(leaf: Any) -> Any:
    if not isinstance(leaf, TensorArray):
        return leaf
    kind, tensors = leaf.__tf_flatten__()
    unset = tensors[0].shape.rank is None or tensors[0].shape[1:] == [0]
    return leaf if unset else ArrayParts(kind.key(), tensors)


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

    def __repr__(self) -> str:
        value = self.get()
        return f"<dead {self.type_name}>" if value is None else repr(value)


class FlatCall(NamedTuple):
    """A call taken apart by `flatten_call`."""

    #: Equal for calls that may share a trace.
    key: Hashable
    #: As `key`, but for the shapes of tensors.
    shapeless: Hashable
    #: ``(args, kwargs)`` with specs for tensors and `ObjectRef` for other objects.
    specs: tuple[tuple[Any, ...], dict[str, Any]]
    #: The tensors' arrays, in the order of `nest.flatten`; None where there is
    #: no value: for specs and symbolic tensors.
    arrays: list[Array | None]
    #: The objects that are known by identity.
    objects: list[Any]


def callable_name(python_function: Callable[..., Any]) -> str:
    """The name of a function; that of the class for other callables."""
    if isinstance(python_function, functools.partial):
        return callable_name(python_function.func)
    return str(getattr(python_function, "__name__", type(python_function).__name__))


def method_of(
    python_function: Callable[..., Any], reference: Callable[[], Any]
) -> Callable[..., Any]:
    """The method of an instance that is only referred to."""

    @functools.wraps(python_function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return python_function(reference(), *args, **kwargs)

    parameters = inspect.signature(python_function)
    _, *others = parameters.parameters.values()
    method.instance = reference  # type: ignore[attr-defined]
    method.__signature__ = parameters.replace(parameters=others)  # type: ignore[attr-defined]
    return method


class Signature:
    """The parameters of a Python function."""

    def __init__(self, fn: Callable[..., Any], name: str) -> None:
        self.name = name
        try:
            self.parameters = inspect.signature(fn)
        except (TypeError, ValueError):
            # Some builtins do not tell: anything goes.
            self.parameters = inspect.signature(lambda *args, **kwargs: None)
        kinds = inspect.Parameter
        self.positional = [
            name
            for name, parameter in self.parameters.parameters.items()
            if parameter.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        ]
        self.variadic = next(
            (
                name
                for name, parameter in self.parameters.parameters.items()
                if parameter.kind is kinds.VAR_POSITIONAL
            ),
            "args",
        )
        self._defaults: list[tuple[str, Any]] | None = None
        if all(
            parameter.kind is kinds.POSITIONAL_OR_KEYWORD
            for parameter in self.parameters.parameters.values()
        ):
            self._defaults = [
                (name, parameter.default)
                for name, parameter in self.parameters.parameters.items()
            ]

    def bind(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call in canonical form: all it can be is positional, defaults filled in.

        Raises TypeError as Python does for arguments that do not fit.
        """
        if self._defaults is not None and len(args) <= len(self._defaults):
            # As Python's own does below, but ten times faster.
            values = [
                kwargs.get(name, default)
                for name, default in self._defaults[len(args) :]
            ]
            names = [name for name, _ in self._defaults[len(args) :]]
            missing = inspect.Parameter.empty
            if kwargs.keys() <= set(names) and not any(v is missing for v in values):
                return (*args, *values), {}
        try:
            bound = self.parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}() {error}") from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def name_of(self, index: int) -> str:
        """The name of a positional argument."""
        if index < len(self.positional):
            return self.positional[index]
        return f"{self.variadic}_{index - len(self.positional)}"

    def named(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        """The arguments of a canonical call by name, in the order of `nest`."""
        for index, value in enumerate(args):
            yield self.name_of(index), value
        for key in sorted(kwargs):
            yield key, kwargs[key]


def flatten_call(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> FlatCall:
    """Take a canonical call apart."""
    args, kwargs = with_array_parts((args, kwargs))
    keys: list[Hashable] = []
    shapeless: list[Hashable] = []
    leaves: list[Any] = []
    arrays: list[Array | None] = []
    objects: list[Any] = []
    for name, argument in signature.named(args, kwargs):
        for leaf in nest.flatten(argument):
            found = _tensor_spec(leaf, name, arrays)
            if found is not None:
                leaves.append(found)
                shape = found.shape.dims
                keys.append((found.dtype, None if shape is None else tuple(shape)))
                shapeless.append(found.dtype)
                continue
            key, kept = _leaf_key(leaf, objects)
            keys.append(key)
            shapeless.append(key)
            leaves.append(kept)
    structure = _structure_key((args, kwargs))
    return FlatCall(
        (structure, tuple(keys)),
        (structure, tuple(shapeless)),
        nest.pack_sequence_as((args, kwargs), leaves),
        arrays,
        objects,
    )


def _tensor_spec(leaf: Any, name: str, arrays: list[Array | None]) -> TensorSpec | None:
    """The spec if the leaf is a tensor (or stands for one); its array is appended."""
    if isinstance(leaf, TensorSpec):
        arrays.append(None)
        return TensorSpec(leaf.shape, leaf.dtype, leaf.name or name)
    if isinstance(leaf, (np.ndarray, np.generic)):
        leaf = convert_to_tensor(leaf)
    if isinstance(leaf, EagerTensor):
        arrays.append(leaf._array)
        return TensorSpec(leaf.shape, leaf.dtype, name)
    if isinstance(leaf, SymbolicTensor):
        arrays.append(None)
        return TensorSpec(leaf.shape, leaf.dtype, name)
    return None


def _leaf_key(leaf: Any, objects: list[Any]) -> tuple[Hashable, Any]:
    """The key of a Python value, and what a trace keeps of it."""
    if isinstance(leaf, PRIMITIVES):
        if isinstance(leaf, (float, complex)):
            # 0.0 equals -0.0 and NaN nothing at all, but their texts tell them apart.
            return (type(leaf), repr(leaf)), leaf
        return (type(leaf), leaf), leaf
    if isinstance(leaf, slice):
        return (slice, leaf.start, leaf.stop, leaf.step), leaf
    if isinstance(leaf, (range, np.dtype)):
        return (type(leaf), leaf), leaf
    objects.append(leaf)
    return ("object", id(leaf)), ObjectRef(leaf)


def _structure_key(structure: Any) -> Hashable:
    """The types of the containers in a structure, and where its leaves are."""
    children = nest.children(structure)
    if children is None:
        return None
    return type(structure), tuple(
        [(path, _structure_key(value)) for path, value in children]
    )


# --- printing -------------------------------------------------------------------------


class _Marker:
    def __init__(self, number: int) -> None:
        self.text = f"<{number}>"

    def __repr__(self) -> str:
        return self.text


def pretty_signature(
    signature: Signature,
    specs: tuple[tuple[Any, ...], dict[str, Any]],
    outputs: Any,
) -> str:
    """The call and the types of its tensors, as TensorFlow prints them."""
    args, kwargs = specs
    lines = [header(signature, specs), "  Args:"]
    for name, value in signature.named(args, kwargs):
        if _has_tensor(value):
            lines.append(f"    {name}: {_described(value)}")
    if len(lines) == 2:
        lines.pop()
    lines += ["  Returns:", f"    {_described(outputs)}"]
    return "\n".join(lines)


def header(signature: Signature, specs: tuple[tuple[Any, ...], dict[str, Any]]) -> str:
    """``name(a, b=2)``: tensors by name, Python values as they are."""
    args, kwargs = specs
    parts = [_part(signature.name_of(i), value) for i, value in enumerate(args)]
    if kwargs:
        parts += ["*", *(_part(name, kwargs[name]) for name in sorted(kwargs))]
    return f"{signature.name}({', '.join(parts)})"


def _part(name: str, value: Any) -> str:
    return name if _has_tensor(value) else f"{name}={value!r}"


def _has_tensor(value: Any) -> bool:
    return any(isinstance(leaf, TensorSpec) for leaf in nest.flatten(value))


def _described(value: Any) -> str:
    """A spec or tensor in words; a structure with a line for each leaf."""
    if isinstance(value, (TensorSpec, SymbolicTensor)):
        maybe = "" if optional_parts(value) is None else ", or None"
        return f"{value.dtype.name} Tensor, shape={value.shape}{maybe}"
    if not nest.is_nested(value):
        return repr(value)
    leaves = nest.flatten(value)
    markers = [_Marker(number) for number in range(1, len(leaves) + 1)]
    # pprint sorts the keys of dicts, as the numbers of the markers are.
    lines = [pprint.pformat(nest.pack_sequence_as(value, markers), width=10_000)]
    for marker, leaf in zip(markers, leaves):
        lines.append(f"      {marker}: {_described(leaf)}")
    return "\n".join(lines)
