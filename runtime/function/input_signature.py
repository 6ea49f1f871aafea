"""`InputSignature`: the specs that the arguments of a function must fit.

They are given as ``input_signature`` or written as annotations. `Function` makes one;
`Call.of` binds the arguments of each call with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.errors import ConversionError
from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.core.types.classes import defines
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import convert_to_tensor
from runtime.staging.tracing.signature import Signature

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

#: Stands for the spec of an argument that is any tensor.
_ANY_TENSOR = object()


class IncompatibleInputError(TypeError, ValueError):
    """Arguments do not fit an ``input_signature``: the message shows both sides."""


class InputSignature:
    """The parameters of a function, with specs for some of them, or none.

    One trace serves all calls that fit the specs.
    """

    def __init__(
        self,
        signature: Signature,
        expected: dict[str, Any] | None = None,
        call: Arguments = ((), {}),
    ) -> None:
        self.signature = signature
        #: Whether there are specs; they may be for no argument at all.
        self.has_specs = expected is not None
        #: Specs by the names of the arguments.
        self.expected = expected = expected or {}
        self._leaves = {
            name: nest.flatten(spec) for name, spec in _specs_of(expected).items()
        }
        #: The specs of positional arguments with their indices, and those of keywords.
        names = map(signature.name_of, range(len(signature.positional) + len(expected)))
        self._positional = [
            (index, (name, expected[name]))
            for index, name in enumerate(names)
            if name in expected
        ]
        positional = {name for _, (name, _) in self._positional}
        self._keywords = [(k, v) for k, v in expected.items() if k not in positional]
        #: The call with the specs for arguments, and no others.
        self.call = call

    @property
    def specs(self) -> tuple[Any, ...]:
        """The specs, in the order of the arguments that have one."""
        return tuple(_specs_of(self.expected).values())

    def specs_of(self, name: str) -> list[TensorSpec] | None:
        """The specs of the leaves of an argument; None if it has none."""
        return self._leaves.get(name)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """The call in canonical form, with tensors for the arguments that have a spec.

        Raises TypeError for arguments that the function does not take, and
        IncompatibleInputError for arguments that do not fit their specs.
        """
        args, kwargs = self.signature.bind(args, kwargs)
        if not self.expected:
            return args, kwargs
        call, fitted = (args, kwargs), list(args)
        for index, (name, expected) in self._positional:
            if index < len(fitted):
                fitted[index] = self._fitted(
                    name, expected, fitted[index], (args, kwargs)
                )
        for name, expected in self._keywords:
            if name in kwargs:
                value = self._fitted(name, expected, kwargs[name], call)
                kwargs = {**kwargs, name: value}
        return tuple(fitted), kwargs

    def _fitted(
        self,
        name: str,
        expected: Any,
        value: Any,
        call: Arguments,
    ) -> Any:
        """The value of an argument of a call, with tensors that have its specs."""
        if expected is _ANY_TENSOR:
            return _as_tensors(value)
        if not nest.is_nested(expected):
            tensor = _as_spec(value, expected)
            if tensor is None:
                raise self._incompatible(call, name, expected, value)
            return tensor
        try:
            given_leaves = nest.flatten_up_to(expected, value)
        except ValueError:
            raise self._incompatible(call, name, expected, value) from None
        leaves = []
        for (path, spec), leaf in zip(nest.flatten_with_paths(expected), given_leaves):
            tensor = _as_spec(leaf, spec)
            if tensor is None:
                raise self._incompatible(call, name + path, spec, leaf)
            leaves.append(tensor)
        return nest.pack_sequence_as(expected, leaves)

    def _incompatible(
        self, call: Arguments, path: str, spec: Any, leaf: Any
    ) -> IncompatibleInputError:
        values = dict(self.signature.named(*call))
        specs = _specs_of(self.expected)
        inputs = ",\n    ".join(str(values[name]) for name in specs if name in values)
        expected = ",\n    ".join(map(str, specs.values()))
        return IncompatibleInputError(
            f"the inputs of {self.signature.name!r} do not fit its input_signature "
            f"({path} is {_kind(leaf)}, not {_kind(spec)}):\n"
            f"  inputs: (\n    {inputs})\n  input_signature: (\n    {expected})."
        )


def _specs_of(expected: dict[str, Any]) -> dict[str, Any]:
    return {name: spec for name, spec in expected.items() if spec is not _ANY_TENSOR}


def _as_spec(leaf: Any, spec: Any) -> Any:
    """A tensor of the spec, or a spec within it; None if it does not fit."""
    if not isinstance(spec, TensorSpec):
        return spec.fitted(leaf)
    if not isinstance(leaf, (Tensor, TensorSpec)):
        # A dtype that is sure to fit is passed outright, which is faster than a hint.
        fits = type(leaf) is float and spec.dtype.is_floating
        dtype = spec.dtype if fits else None
        try:
            leaf = convert_to_tensor(leaf, dtype, dtype_hint=spec.dtype)
        except ConversionError:
            return None
    return leaf if spec.is_compatible_with(leaf) else None


def _as_tensors(value: Any) -> Any:
    """The value as a tensor, where it can be one: numbers, arrays, lists of them."""
    try:
        return convert_to_tensor(value)
    except ConversionError:
        return value


def _kind(value: Any) -> str:
    if isinstance(value, TensorSpec):
        return value.describe()
    if not isinstance(value, dict):
        try:
            return convert_to_tensor(value).spec.describe()
        except ConversionError:
            pass
    if not nest.is_nested(value):
        return f"a Python {type(value).__name__}"
    return f"a {type(value).__name__} of {len(nest.flatten(value))} values"


# --- making one -----------------------------------------------------------------------


def given(specs: Sequence[Any], signature: Signature) -> InputSignature:
    """The specs of an ``input_signature``: of the first arguments, in order.

    Raises TypeError if they are not TensorSpecs, or more than the function takes.
    """
    if not isinstance(specs, (list, tuple)):
        raise TypeError(
            f"input_signature must be a tuple or list of tf.TensorSpec, not {specs!r}"
        )
    for leaf in nest.flatten(list(specs)):
        if not isinstance(leaf, TensorSpec) and not defines(type(leaf), "fitted"):
            raise TypeError(f"input_signature must hold tf.TensorSpec, not {leaf!r}")
    # The arguments that are left must have defaults; a method gets its instance.
    instance = (None,) if signature.positional[:1] == ["self"] else ()
    try:
        signature.bind((*instance, *specs), {})
    except TypeError as error:
        raise TypeError(
            f"the input_signature has {len(specs)} specs for the arguments: {error}"
        ) from None
    named = [signature.name_of(len(instance) + i) for i in range(len(specs))]
    return InputSignature(signature, dict(zip(named, specs)), (tuple(specs), {}))


def annotated(
    function: Callable[..., Any], signature: Signature, follow: bool
) -> InputSignature:
    """The specs that are annotations of parameters.

    With `follow` an argument whose parameter is annotated as a Tensor becomes a tensor.
    """
    names = _Names(function)
    expected = {}
    args = []
    for name, parameter in signature.parameters.parameters.items():
        annotation = parameter.annotation
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if isinstance(annotation, str):
            annotation = names.value(annotation)
        if _are_specs(annotation):
            expected[name] = annotation
            if parameter.kind is parameter.POSITIONAL_ONLY:
                args.append(annotation)
        elif follow and isinstance(annotation, type) and issubclass(annotation, Tensor):
            expected[name] = _ANY_TENSOR
    keywords = dict(list(_specs_of(expected).items())[len(args) :])
    return InputSignature(signature, expected or None, (tuple(args), keywords))


class _Names:
    """The names that the annotations of a function may use."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._names: dict[str, Any] | None = None

    def value(self, annotation: str) -> Any:
        """The value of an annotation in text; None if it cannot be evaluated."""
        try:
            if self._names is None:
                self._names = self._all()
            return eval(annotation, self._names)
        except Exception:
            return None

    def _all(self) -> dict[str, Any]:
        written = inspect.unwrap(self._function)
        written = getattr(written, "__func__", written)
        try:
            enclosing = inspect.getclosurevars(written).nonlocals
        except TypeError:
            enclosing = {}
        return {**getattr(written, "__globals__", {}), **enclosing}


def _are_specs(annotation: Any) -> bool:
    if not isinstance(annotation, (TensorSpec, list, tuple, dict)):
        return False
    try:
        leaves = nest.flatten(annotation)
    except TypeError:  # Keys that cannot be sorted: an annotation of another kind.
        return False
    return bool(leaves) and all(isinstance(leaf, TensorSpec) for leaf in leaves)
