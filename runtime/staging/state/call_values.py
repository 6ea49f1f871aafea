"""What a call of a graph takes and gives: values taken apart, and what they may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from runtime.ops.convert import cast_number, convert_to_tensor
from runtime.staging.state.optional import composed
from runtime.staging.state.values import can_be_tensor, same_object
from runtime.tensor import SymbolicTensor, Tensor
from runtime.tracing.form import Composition, Form
from runtime.tracing.signature import Signature
from runtime.tracing.subgraph import join_specs, state_tensor
from runtime.types import dtypes
from runtime.types.specs import TensorSpec

__all__ = ["Arguments", "Leaves", "spec_of", "takes", "with_dtype"]

#: Whether an object is not taken apart, since each call is given that very object.
Whole = Callable[[Any], bool]


def _nothing(value: Any) -> bool:
    return False


class Leaves(NamedTuple):
    """The leaves of a value, with a pattern for each.

    A pattern is the spec of a tensor of the graph, or a Python value that stays itself.
    """

    form: Form
    leaves: list[Any]
    patterns: list[Any]

    @classmethod
    def of(
        cls, value: Any, tensors: type[Tensor] = Tensor, whole: Whole = _nothing
    ) -> Leaves:
        """Take a value apart; ``tensors`` are those that may be others each time."""
        form, leaves = Form.of(value, _unless(whole))
        patterns = [leaf.spec if isinstance(leaf, tensors) else leaf for leaf in leaves]
        return cls(form, leaves, patterns)

    @classmethod
    def of_state(cls, values: Sequence[Any]) -> Leaves:
        """Take apart what calls change: all that can be a tensor may be another."""
        form, leaves = Form.of(tuple(values), composed)
        patterns = [leaf if (s := spec_of(leaf)) is None else s for leaf in leaves]
        return cls(form, leaves, patterns)

    @property
    def specs(self) -> list[TensorSpec]:
        """The specs of the tensors."""
        return [spec for spec in self.patterns if isinstance(spec, TensorSpec)]

    def pack(
        self,
        tensors: Sequence[Any],
        present: Callable[[Any], Any] = lambda value: value,
    ) -> Any:
        """The value around other tensors; what stays itself is ``present(value)``."""
        values = iter(tensors)
        return self.form.pack(
            [
                next(values) if isinstance(p, TensorSpec) else present(p)
                for p in self.patterns
            ]
        )

    def tensors(self, leaves: Sequence[Any]) -> list[Tensor]:
        """Those of other leaves that are tensors here, in the dtypes that they have."""
        return [
            with_dtype(state_tensor(leaf), pattern)
            for pattern, leaf in zip(self.patterns, leaves)
            if isinstance(pattern, TensorSpec)
        ]

    def with_originals(self, original: Callable[[Any], Any]) -> Leaves:
        """The leaves, with the objects that were there for what stands for them."""
        leaves = [
            leaf if isinstance(pattern, TensorSpec) else original(leaf)
            for leaf, pattern in zip(self.leaves, self.patterns)
        ]
        patterns = [
            pattern if isinstance(pattern, TensorSpec) else leaf
            for leaf, pattern in zip(leaves, self.patterns)
        ]
        return self._replace(leaves=leaves, patterns=patterns)

    def is_settled(self, before: Leaves) -> bool:
        """Whether these are the patterns that were there before."""
        return self.form is before.form and self.patterns == before.patterns

    def take(self, other: Leaves) -> bool:
        """Whether a graph made for these can be used for the others."""
        same = self.form.is_like(other.form)
        return same and all(map(takes, self.patterns, other.leaves))

    def joined(self, other: Leaves, whole: Whole = _nothing) -> Leaves | None:
        """Leaves of patterns that take both; None if there are none.

        Of two objects that are not taken apart, the first one is the pattern.
        """
        if not self.form.is_like(other.form):
            return None
        patterns = [
            one if whole(one) and whole(another) else joined(one, another)
            for one, another in zip(self.patterns, other.patterns)
        ]
        pairs = zip(patterns, self.patterns)
        if any(new is None and old is not None for new, old in pairs):
            return None
        return self._replace(patterns=patterns)


class Arguments(NamedTuple):
    """The arguments of a call taken apart, and what the leaves are called."""

    signature: Signature
    #: ``(args, kwargs)`` in canonical form, and taken apart.
    bound: tuple[tuple[Any, ...], dict[str, Any]]
    values: Leaves
    labels: list[str]

    @classmethod
    def of(cls, signature: Signature, args: Any, kwargs: Any) -> Arguments:
        """The arguments of a call."""
        return cls._of_bound(signature, signature.bind(args, kwargs), _nothing)

    @classmethod
    def _of_bound(cls, signature: Signature, bound: Any, whole: Whole) -> Arguments:
        labels = [
            name
            for name, value in signature.named(*bound)
            for _ in range(Form.of(value, _unless(whole))[0].size)
        ]
        values = Leaves.of(bound, SymbolicTensor, whole)
        return cls(signature, bound, values, labels)

    def at(self, bound: Any) -> Arguments:
        """The arguments, given as others."""
        return self._replace(bound=bound)

    def sharing(self, whole: Whole, bound: Any = None) -> Arguments:
        """The arguments, where some objects are those of the caller themselves."""
        bound = self.bound if bound is None else bound
        return self._of_bound(
            self.signature, bound, lambda value: value is not bound[1] and whole(value)
        )


def _unless(whole: Whole) -> Callable[[Any], Composition | None]:
    if whole is _nothing:
        return composed
    return lambda value: None if whole(value) else composed(value)


def takes(pattern: Any, value: Any) -> bool:
    """Whether what was traced for a pattern can be used for a value."""
    if not isinstance(pattern, TensorSpec):
        return same_object(pattern, value)
    spec = spec_of(value)
    if spec is None:
        return False
    if spec.weak and pattern.weak:
        if (spec.dtype.kind, pattern.dtype.kind) == ("i", "f"):
            spec = TensorSpec(spec.shape, pattern.dtype, weak=True)
    return spec.is_subtype_of(pattern)


def joined(one: Any, other: Any) -> Any:
    """The pattern that takes what either of two takes; None if there is none.

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
    """The spec of a pattern, or of a value as a tensor; None for any other object."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, SymbolicTensor):
        return value.spec
    if type(value) is int:
        return TensorSpec((), dtypes.int64, weak=True)
    if type(value) is float:
        return TensorSpec((), dtypes.float64, weak=True)
    if type(value) is str:
        return TensorSpec((), dtypes.string, weak=True)
    if not can_be_tensor(value):
        return None
    found: TensorSpec = convert_to_tensor(value).spec
    return found


def with_dtype(tensor: Tensor, spec: TensorSpec) -> Tensor:
    """A weak tensor in the dtype in which it was found to be used."""
    return cast_number(tensor, spec.dtype, spec.weak, exactly=True)
