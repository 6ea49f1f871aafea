"""Ops that staged control flow needs: raise an exception, check for unbound names."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from runtime.context import current_graph
from runtime.errors import InvalidArgumentError
from runtime.graph import raise_location
from runtime.ops.registry import OpDef, apply, register
from runtime.specs import TensorSpec
from runtime.tensor import Tensor

__all__ = ["raise_error", "require_bound"]

Array = np.ndarray[Any, Any]


def _raise_kernel(exception: BaseException) -> Any:
    # A copy, because a graph runs many times and each raise hangs a traceback on it.
    raise _fresh(exception)


def _fresh(exception: BaseException) -> BaseException:
    """A copy of the exception with its arguments, attributes and cause, or itself."""
    try:
        fresh = copy.copy(exception)
    except Exception:
        # Its constructor takes something else than what it put into ``args``.
        fresh = exception
    fresh.__traceback__ = None
    fresh.__cause__ = exception.__cause__
    fresh.__suppress_context__ = exception.__suppress_context__
    return fresh


register(OpDef("Raise", _raise_kernel, lambda exception: (), stateful=True))


def _require_bound_kernel(value: Array, bound: Array, variable: str) -> Array:
    if not bound:
        raise UnboundLocalError(
            f"cannot access local variable '{variable}' where it is not associated "
            "with a value"
        )
    return value


def _require_bound_infer(
    value: TensorSpec, bound: TensorSpec, variable: str
) -> TensorSpec:
    if not bound.dtype.is_bool:
        raise InvalidArgumentError(f"bound must be a bool, not {bound.dtype.name}")
    return value


register(OpDef("RequireBound", _require_bound_kernel, _require_bound_infer))


def raise_error(exception: BaseException) -> None:
    """Raise `exception` when the graph being built runs up to here.

    Each run raises a fresh copy with the same type and arguments. Outside of a graph it
    is raised at once. If the exception has been raised already, it points there again.
    """
    location = raise_location(exception)
    apply("Raise", exception=exception)
    graph = current_graph()
    if graph is not None and location is not None:
        graph.nodes[-1].location = location


def require_bound(value: Tensor, bound: Tensor, variable: str) -> Tensor:
    """`value`, once it is read; reading it while `bound` is false is an error.

    The error is Python's UnboundLocalError for `variable`. A value that nobody reads is
    not checked; within a branch or a loop body that reads it the check is made there.
    """
    checked: Tensor = apply("RequireBound", value, bound, variable=variable)
    return checked
