"""The ``input_signature`` of a function: the specs that its tensors must fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime import nest
from runtime.errors import ConversionError
from runtime.ops.convert import convert_to_tensor
from runtime.signature import FlatCall, Signature, flatten_call
from runtime.specs import TensorSpec

__all__ = ["InputSignature"]


class InputSignature:
    """Specs for the first arguments of a function; one trace serves all calls.

    Raises TypeError if `specs` are not TensorSpecs, or more than the function takes.
    """

    def __init__(self, specs: Sequence[Any], signature: Signature) -> None:
        if not isinstance(specs, (list, tuple)):
            raise TypeError(
                "input_signature must be a tuple or list of tf.TensorSpec, not "
                f"{specs!r}"
            )
        for leaf in nest.flatten(list(specs)):
            if not isinstance(leaf, TensorSpec):
                raise TypeError(
                    f"input_signature must hold tf.TensorSpec, not {leaf!r}"
                )
        self.specs = tuple(specs)
        self._signature = signature
        # The arguments that are left must have defaults; a method gets its instance.
        instance = (None,) if signature.positional[:1] == ["self"] else ()
        signature.bind((*instance, *self.specs), {})

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> FlatCall:
        """Take a canonical call apart: with its arrays, and the key of these specs.

        Raises ValueError, with both sides in it, if the arguments do not fit.
        """
        count = len(self.specs)
        tensors = [self._fitted(spec, args, i) for i, spec in enumerate(self.specs)]
        call = flatten_call(self._signature, (*self.specs, *args[count:]), kwargs)
        found = flatten_call(self._signature, (*tensors, *args[count:]), kwargs)
        return call._replace(arrays=found.arrays)

    def fit(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with those that have a spec as tensors."""
        tensors = [self._fitted(spec, args, i) for i, spec in enumerate(self.specs)]
        return (*tensors, *args[len(tensors) :])

    def _fitted(self, expected: Any, args: tuple[Any, ...], index: int) -> Any:
        """Argument number `index` with tensors in it that have the specs `expected`."""
        if index >= len(args):
            raise self._incompatible(args)
        try:
            given = nest.flatten_up_to(expected, args[index])
        except ValueError:
            raise self._incompatible(args) from None
        leaves = []
        for spec, leaf in zip(nest.flatten(expected), given):
            if not isinstance(leaf, TensorSpec):
                try:
                    leaf = convert_to_tensor(leaf, dtype_hint=spec.dtype)
                except ConversionError:
                    raise self._incompatible(args) from None
            if not spec.is_compatible_with(leaf):
                raise self._incompatible(args)
            leaves.append(leaf)
        return nest.pack_sequence_as(expected, leaves)

    def _incompatible(self, args: tuple[Any, ...]) -> ValueError:
        inputs = ",\n    ".join(map(str, args))
        expected = ",\n    ".join(map(str, self.specs))
        return ValueError(
            f"the inputs of {self._signature.name!r} do not fit its input_signature:\n"
            f"  inputs: (\n    {inputs})\n  input_signature: (\n    {expected})."
        )
