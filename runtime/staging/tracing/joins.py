"""`join_specs`: a dtype and a shape that hold two values of one variable.

`subgraph` joins the outputs of branches, `stage_while` the state of loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from runtime.core.location.findings import Findings, named
from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import cast_number
from runtime.ops.values import meet


def join_specs(
    one: TensorSpec,
    other: TensorSpec,
    label: str = "the value",
    promote: bool = False,
) -> TensorSpec:
    """The narrowest spec that holds tensors of both.

    Two tensors must have one dtype, or with `promote` dtypes of numbers, of which the
    wider one is taken, and floats before ints. A weak one (a Python number) takes the
    dtype of the other where that holds its kind of numbers: an int beside float32 is
    float32, a float beside int32 is an error, or a Python float with `promote`.
    Dimensions that differ become None. Raises StagedStateError AG206, which calls the
    value `label`.
    """
    weak = one.weak and other.weak
    if one.dtype is other.dtype:
        dtype = one.dtype
    elif weak and one.dtype.is_numeric and other.dtype.is_numeric:
        dtype = max(one.dtype, other.dtype, key=_width)
    else:
        strong, number = (other, one) if one.weak else (one, other)
        joined = meet(strong.dtype, number.dtype) if number.weak else None
        if joined is None and promote:
            wider = _wider(one.dtype, other.dtype)
            joined = None if wider is None else (wider, False)
        if joined is None or (joined[0] is not strong.dtype and not promote):
            text = f"{named(label)} has two dtypes: {_kind(one)} and {_kind(other)}"
            raise state_error("AG206", text, "cast one of them so that they agree")
        dtype, weak = joined
    shape = one.shape.most_specific_common_shape(other.shape)
    return TensorSpec(shape, dtype, weak=weak)


def _wider(one: DType, other: DType) -> DType | None:
    """The numeric dtype that holds both; None if there is none."""
    if not (one.is_numeric and other.is_numeric):
        return None
    if one.is_integer is not other.is_integer:
        # An int takes the dtype of the float; a cast makes sure that it can.
        return other if one.is_integer else one
    dtype = as_dtype(np.promote_types(one.np_dtype, other.np_dtype))
    return dtype if dtype.is_integer is one.is_integer else None


def _width(dtype: DType) -> tuple[int, int]:
    return "biufc".index(dtype.kind), dtype.size


def _kind(spec: TensorSpec) -> str:
    if not spec.weak:
        return spec.dtype.name
    return (
        f"a Python {'number' if spec.dtype.is_numeric else 'str'} ({spec.dtype.name})"
    )


def join_all(
    values: Iterable[Sequence[TensorSpec]], labels: Iterable[str], promote: bool = False
) -> list[TensorSpec]:
    """For each value the spec that holds tensors of all of its specs.

    Raises StagedStateError AG206, for all that have none.
    """
    findings = Findings()
    joined = []
    for (spec, *others), label in zip(values, labels):
        joined.append(findings.of(_joined, spec, others, label, promote) or spec)
    findings.check()
    return joined


def _joined(
    spec: TensorSpec, others: Sequence[TensorSpec], label: str, promote: bool
) -> TensorSpec:
    for other in others:
        spec = join_specs(spec, other, label, promote)
    return spec


def check_invariant(shape: TensorShape, invariant: TensorShape, label: str) -> None:
    """Raise ValueError unless the shape after an iteration fits its invariant.

    >>> check_invariant(TensorShape([2, 3]), TensorShape([None, 3]), "'x'")
    """
    if not shape.is_subtype_of(invariant):
        wider = invariant.most_specific_common_shape(shape)
        raise ValueError(
            f"the shape invariant {invariant} of {named(label)} does not hold after an "
            f"iteration: the shape is {shape}; give shape_invariants={wider} for it"
        )


def adapted(tensor: SymbolicTensor, spec: TensorSpec) -> SymbolicTensor:
    """The tensor, cast to the dtype and the weakness of a spec."""
    number = cast_number(tensor, spec.dtype, spec.weak, exactly=True)
    return cast(SymbolicTensor, number)
