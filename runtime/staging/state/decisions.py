"""One value or another, and errors, where a tensor decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.ops.staged.flow import raise_error
from runtime.staging.state.branches import stage_cond
from runtime.tensor import SymbolicTensor
from runtime.tracing.subgraph import predicate

__all__ = ["either", "raise_if"]


def either(test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any]) -> Any:
    """``if_true() if test else if_false()``."""
    if not isinstance(test, SymbolicTensor):
        return if_true() if test else if_false()
    result, _ = stage_cond(
        predicate(test), lambda _: (if_true(), ()), lambda _: (if_false(), ()), (), ()
    )
    return result


def raise_if(test: Any, error: Exception) -> None:
    """Raise the error where the test holds, when the graph runs."""
    either(test, lambda: raise_error(error), lambda: None)
