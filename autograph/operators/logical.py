"""``and``, ``or`` and ``not`` as functions.

Converted code calls these functions. The operands after the first are constants, or
functions without parameters that are evaluated only where Python would evaluate them;
the result is one of the operands. Evaluating an operand may change variables and
objects. Where a tensor library decides whether to evaluate one, such changes are the
state of a conditional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .classes import defines
from .dispatch import Backend, Constant, State, backend_of
from .merge.perhaps import assuming
from .merge.raising import or_raised
from .protocols import call_bool, truth_of
from .state.variables import Variables
from .unbound import raise_as_python

#: An operand: a function that computes it, or a constant.
Operand = Callable[[], Any] | Constant


def truth(value: Any, reached: Callable[[], Any] | None = None) -> Any:
    """``True if value else False``: a bool, of the tensor library where it decides.

    ``reached`` is called unless it is False.

    >>> truth([]), truth("text")
    (False, True)
    """
    answer = truth_of(value, merged=True)
    if reached is not None and answer is not False:
        reached()
    return answer


def and_(left: Any, *rest: Operand, state: str = "") -> Any:
    """``left and rest[0]() and …``.

    ``state`` names the variables that the operands assign and that are observed later:
    ``n`` of ``a and (n := f())``.

    >>> and_(1, lambda: [])
    []
    """
    return _first(False, left, rest, state)


def or_(left: Any, *rest: Operand, state: str = "") -> Any:
    """``left or rest[0]() or …``.

    >>> or_(0, "default")
    'default'
    """
    return _first(True, left, rest, state)


def all_of(left: Any, *rest: Operand, state: str = "") -> Any:
    """``left and rest[0]() and …`` where only its truth is asked, as in an ``if``.

    The result for a false operand is False, so that its truth is asked only once.

    >>> all_of(1, lambda: [], lambda: "never asked for")
    False
    """
    return _first(False, left, rest, state, truth=True)


def any_of(left: Any, *rest: Operand, state: str = "") -> Any:
    """``left or rest[0]() or …`` where only its truth is asked, as in an ``if``.

    >>> any_of(1, lambda: "never asked for")
    True
    """
    return _first(True, left, rest, state, truth=True)


def not_(value: Any) -> Any:
    """``not value``."""
    value = call_bool(value)
    backend = backend_of(value)
    return not value if backend is None else backend.not_(value)


def _first(
    end: bool,
    left: Any,
    rest: tuple[Operand, ...],
    state: str = "",
    truth: bool = False,
) -> Any:
    """The first operand whose truth is `end`, or the last operand."""
    try:
        for position, right in enumerate(rest):
            if left is not True and left is not False:
                if truth:
                    left = call_bool(_asked(left))
                backend = backend_of(left)
                if backend is not None:
                    return _staged(backend, end, left, rest[position:], state, truth)
            if bool(left) is end:
                return end if truth else left
            left = right() if callable(right) else right
        is_bool = left is True or left is False
        return _asked(left) if truth and not is_bool else left
    except NameError as error:
        raise_as_python(error, depth=2)  # `and_` has the operands
        raise


def _asked(value: Any) -> Any:
    """The truth of a library's container; any other value itself.

    A graph would choose between two containers by copying; their truth is enough here.
    """
    is_container = defines(type(value), "__autograph_parts__")
    return truth_of(value, merged=True) if is_container else value


def _given(operand: Operand) -> Any:
    return operand() if callable(operand) else operand


def staged_and(backend: Backend, left: Any, right: Operand) -> Any:
    """``left and right()``, where ``left`` belongs to a tensor library."""
    return _staged(backend, False, left, (right,))


def _staged(
    backend: Backend,
    end: bool,
    left: Any,
    rest: tuple[Operand, ...],
    state: str = "",
    truth: bool = False,
) -> Any:
    """`_first` where the library of `left` decides whether the rest is evaluated.

    Operands that change nothing become an operation of the backend, others a
    conditional with the changes as its state.
    """

    def go_on() -> Any:
        with assuming(left, not end):
            right = _first(end, _given(rest[0]), rest[1:], state, truth)
            return backend.settled(right)

    def as_it_is() -> Any:
        with assuming(left, end):
            return backend.settled(left)

    variables = Variables(state, (go_on, *rest), "or" if end else "and")

    def trial(body: Callable[[], Any]) -> Callable[[State], tuple[Any, State]]:
        return or_raised(backend, lambda state: variables.trial(state, body))

    def attempt() -> Any:
        names = variables.names
        if not names:
            operation = backend.or_ if end else backend.and_
            return operation(left, lambda: trial(go_on)(())[0])
        if_true, if_false = (as_it_is, go_on) if end else (go_on, as_it_is)
        result, after = backend.cond(
            left, trial(if_true), trial(if_false), variables.read(), names
        )
        variables.write(after)
        return result

    return variables.stage(attempt, backend)
