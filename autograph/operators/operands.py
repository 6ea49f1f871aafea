"""Operands that a tensor library evaluates only where Python would.

An operand is an expression, but what it calls may change variables and objects. Those
changes are state of the operation, as they are of an ``if``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dispatch import Backend, State
from .state.variables import Variables

Operand = Callable[[], Any]
_Branch = Callable[[State], tuple[Any, State]]


def staged_and(backend: Backend, left: Any, right: Operand) -> Any:
    """``left and right()``, where ``left`` belongs to a tensor library."""
    return _staged(
        backend,
        right,
        lambda trial: backend.and_(left, trial),
        lambda trial, given, state, names: backend.cond(
            left, trial, given(left), state, names
        ),
    )


def staged_or(backend: Backend, left: Any, right: Operand) -> Any:
    """``left or right()``, where ``left`` belongs to a tensor library."""
    return _staged(
        backend,
        right,
        lambda trial: backend.or_(left, trial),
        lambda trial, given, state, names: backend.cond(
            left, given(left), trial, state, names
        ),
    )


def _staged(
    backend: Backend,
    right: Operand,
    operation: Callable[[Operand], Any],
    conditional: Callable[..., tuple[Any, State]],
) -> Any:
    variables = Variables("", (right,))

    def given(value: Any) -> _Branch:
        return lambda state: variables.trial(state, lambda: value)

    def trial(state: State) -> tuple[Any, State]:
        return variables.trial(state, right)

    def attempt() -> Any:
        names = variables.names
        if not names:
            return operation(lambda: variables.trial((), right)[0])
        result, state = conditional(trial, given, variables.read(), names)
        variables.write(state)
        return result

    return variables.stage(attempt, backend)
