"""Structures of Python values taken apart: the arguments and results of graph calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from runtime.ops.convert import cast_alike, convert_to_tensor
from runtime.ops.staged.flow import optional_parts, require_some
from runtime.staging.state.values import (
    can_be_tensor,
    children,
    same_object,
    same_structure,
)
from runtime.tensor import SymbolicTensor, Tensor
from runtime.tracing.signature import Signature
from runtime.tracing.subgraph import join_specs, state_tensor
from runtime.types import dtypes, nest
from runtime.types.specs import TensorSpec

__all__ = ["Arguments", "Parts", "Results", "joined", "takes", "with_dtype"]

_Pack = Callable[[list[Any]], Any]


class Parts(NamedTuple):
    """The leaves of a structure, objects that are made of tensors taken apart too."""

    structure: Any
    leaves: list[Any]
    #: For each leaf of the structure: how many leaves it is made of, and by what.
    objects: list[tuple[int, _Pack] | None]

    @classmethod
    def of(cls, structure: Any) -> Parts:
        """Take a structure apart.

        >>> Parts.of((1, {"a": None})).leaves
        [1, None]
        """
        leaves: list[Any] = []
        objects: list[tuple[int, _Pack] | None] = []
        for leaf in nest.flatten(structure):
            inside = _inside(leaf)
            if inside is None:
                leaves.append(leaf)
                objects.append(None)
            else:
                leaves += inside[0]
                objects.append((len(inside[0]), inside[1]))
        return cls(structure, leaves, objects)

    def pack(self, leaves: Sequence[Any]) -> Any:
        """The structure around other leaves."""
        values = iter(leaves)
        parts = []
        for made in self.objects:
            if made is None:
                parts.append(next(values))
            else:
                count, pack = made
                parts.append(pack([next(values) for _ in range(count)]))
        return nest.pack_sequence_as(self.structure, parts)

    def are_like(self, other: Parts) -> bool:
        """Whether the other structure has its leaves in the same places."""
        return (
            len(self.leaves) == len(other.leaves)
            and same_structure(self.structure, other.structure)
            and [made and made[0] for made in self.objects]
            == [made and made[0] for made in other.objects]
        )


def _inside(leaf: Any) -> tuple[list[Any], _Pack] | None:
    """The leaves of an object made of tensors, or of a tensor that may be None."""
    maybe = optional_parts(leaf)
    if maybe is not None:
        variable = leaf.node.attrs["variable"]
        return list(maybe), lambda parts: _optional(parts[0], parts[1], variable)
    return None if can_be_tensor(leaf) else children(leaf)


def _optional(value: Any, some: Any, variable: str) -> Any:
    if some is True or some is False:
        return value if some else None
    return require_some(value, some, variable)


def takes(form: Any, value: Any) -> bool:
    """Whether what was traced for `form` can be used for `value`.

    A form is the TensorSpec of a tensor, or a Python value, which only takes itself.
    """
    if not isinstance(form, TensorSpec):
        return same_object(form, value)
    spec = spec_of(value)
    if spec is None:
        return False
    if spec.weak and form.weak and (spec.dtype.kind, form.dtype.kind) == ("i", "f"):
        spec = TensorSpec(spec.shape, form.dtype, weak=True)
    return spec.is_subtype_of(form)


def joined(one: Any, other: Any) -> Any:
    """The form that takes what either of two takes; None if there is none.

    Raises:
        StagedStateError: tensors of different dtypes.
    """
    if same_object(one, other):
        return one
    specs = spec_of(one), spec_of(other)
    if specs[0] is None or specs[1] is None:
        return None
    wide = join_specs(specs[0], specs[1], "the value")
    return TensorSpec(wide.shape, wide.dtype, weak=wide.weak)


def spec_of(value: Any) -> TensorSpec | None:
    """The spec of a form, or of a value as a tensor; None for any other object."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, SymbolicTensor):
        return value.spec
    if type(value) is int:
        return TensorSpec((), dtypes.int32, weak=True)
    if type(value) is float:
        return TensorSpec((), dtypes.float32, weak=True)
    if not can_be_tensor(value):
        return None
    found: TensorSpec = convert_to_tensor(value).spec
    return found


# --- of calls -------------------------------------------------------------------------


class Arguments(NamedTuple):
    """The arguments of a call: ``forms`` has a TensorSpec for each tensor."""

    signature: Signature
    parts: Parts
    forms: list[Any]
    labels: list[str]

    @classmethod
    def of(cls, signature: Signature, args: Any, kwargs: Any) -> Arguments:
        """The arguments of a call, in canonical form."""
        bound = signature.bind(args, kwargs)
        parts = Parts.of(bound)
        labels = [
            name
            for name, value in signature.named(*bound)
            for _ in Parts.of(value).leaves
        ]
        forms = [
            leaf.spec if isinstance(leaf, SymbolicTensor) else leaf
            for leaf in parts.leaves
        ]
        return cls(signature, parts, forms, labels)

    def take(self, other: Arguments) -> bool:
        """Whether a graph for these arguments can be called with the others."""
        return self.parts.are_like(other.parts) and all(
            map(takes, self.forms, other.parts.leaves)
        )

    def widened(self, other: Arguments) -> Arguments | None:
        """Arguments that take both; None if there are none."""
        if not self.parts.are_like(other.parts):
            return None
        forms = _joined_forms(self.forms, other.forms)
        return None if forms is None else self._replace(forms=forms)

    def tensors(self, leaves: Sequence[Any]) -> list[Tensor]:
        """What is passed to the graph."""
        return [
            with_dtype(state_tensor(leaf), form)
            for form, leaf in zip(self.forms, leaves)
            if isinstance(form, TensorSpec)
        ]


class Results(NamedTuple):
    """What a function gives: ``forms`` has a TensorSpec for each tensor."""

    parts: Parts
    forms: list[Any]

    @classmethod
    def of(cls, value: Any) -> Results:
        """What a function gave."""
        parts = Parts.of(value)
        forms = [
            leaf.spec if isinstance(leaf, Tensor) else leaf for leaf in parts.leaves
        ]
        return cls(parts, forms)

    def specs(self) -> list[TensorSpec]:
        """The specs of the tensors."""
        return [form for form in self.forms if isinstance(form, TensorSpec)]

    def pack(self, tensors: Sequence[Any]) -> Any:
        """The result around other tensors."""
        values = iter(tensors)
        return self.parts.pack(
            [next(values) if isinstance(f, TensorSpec) else f for f in self.forms]
        )

    def joined(self, other: Results) -> Results | None:
        """Results that take both; None if there are none."""
        if not self.parts.are_like(other.parts):
            return None
        forms = _joined_forms(self.forms, other.forms)
        return None if forms is None else self._replace(forms=forms)


def _joined_forms(one: list[Any], other: list[Any]) -> list[Any] | None:
    """The forms that take what either takes; None if there are none."""
    forms = list(map(joined, one, other))
    if any(form is None and old is not None for form, old in zip(forms, one)):
        return None
    return forms


def with_dtype(tensor: Tensor, spec: TensorSpec) -> Tensor:
    """A weak tensor in the dtype in which it was found to be used."""
    return tensor if tensor.dtype is spec.dtype else cast_alike(tensor, spec.dtype)
