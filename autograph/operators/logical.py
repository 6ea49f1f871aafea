"""``and``, ``or`` and ``not`` as functions.

The operands after the first are functions without parameters, evaluated only where
Python would evaluate them, or constants; the result is one of the operands, as in
Python. What an operand calls may change variables and objects. Where a tensor library
decides whether an operand is evaluated, those changes are state, as of an ``if``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .classes import defines
from .dispatch import Backend, Constant, State, backend_of
from .perhaps import assuming
from .protocols import call_bool, truth_of
from .raising import or_raised
from .state.variables import Variables
from .unbound import raise_as_python

#: A function that gives the operand, or a constant that is one.
Operand = Callable[[], Any] | Constant


def truth(value: Any, reached: Callable[[], Any] | None = None) -> Any:
    """``True if value else False``: a bool, of the tensor library where it decides.

    ``reached`` is called unless it is False.

    >>> truth([]), truth("text")
    (False, True)
    """
    found = truth_of(value, merged=True)
    if reached is not None and found is not False:
        reached()
    return found


def and_(left: Any, *rest: Operand) -> Any:
    """``left and rest[0]() and …``.

    >>> and_(1, lambda: [])
    []
    """
    return _first(False, left, rest)


def or_(left: Any, *rest: Operand) -> Any:
    """``left or rest[0]() or …``.

    >>> or_(0, "default")
    'default'
    """
    return _first(True, left, rest)


def all_of(left: Any, *rest: Operand) -> Any:
    """``left and rest[0]() and …`` where only its truth is asked, as in an ``if``.

    A false operand is answered by False, so that nobody asks for its truth again.

    >>> all_of(1, lambda: [], lambda: "never asked for")
    False
    """
    return _first(False, left, rest, truth=True)


def any_of(left: Any, *rest: Operand) -> Any:
    """``left or rest[0]() or …`` where only its truth is asked, as in an ``if``.

    >>> any_of(1, lambda: "never asked for")
    True
    """
    return _first(True, left, rest, truth=True)


def and_binding(left: Any, *rest: Operand, state: str, truth: bool = False) -> Any:
    """``left and rest[0]() and …``, where the operands change the variables `state`.

    An example is ``a and (n := f()) > 3``. ``truth``: only the truth of the result is
    asked, as in an ``if``.

    >>> and_binding(1, lambda: [], state="")
    []
    """
    return _first(False, left, rest, truth, state)


def or_binding(left: Any, *rest: Operand, state: str, truth: bool = False) -> Any:
    """``left or rest[0]() or …``, where the operands change the variables `state`.

    ``truth``: only the truth of the result is asked, as in an ``if``.

    >>> or_binding(0, lambda: "default", state="")
    'default'
    """
    return _first(True, left, rest, truth, state)


def not_(value: Any) -> Any:
    """``not value``."""
    value = call_bool(value)
    backend = backend_of(value)
    return not value if backend is None else backend.not_(value)


def _first(
    end: bool,
    left: Any,
    rest: tuple[Operand, ...],
    truth: bool = False,
    state: str = "",
) -> Any:
    """The first operand whose truth is `end`, or the last operand."""
    try:
        for position, right in enumerate(rest):
            if truth:
                left = call_bool(_asked(left))
            backend = backend_of(left)
            if backend is not None:
                return _staged(backend, end, left, rest[position:], truth, state)
            if bool(left) is end:
                return end if truth else left
            left = _given(right)
        return _asked(left) if truth else left
    except NameError as error:
        raise_as_python(error, depth=2)  # `and_` has the operands
        raise


def _asked(value: Any) -> Any:
    """A value of which only the truth is asked: of a library's container that alone.

    A graph chooses among two containers by making a copy.
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
    truth: bool = False,
    state: str = "",
) -> Any:
    """`_first` where the library of `left` decides whether the rest is evaluated.

    The backend has operations for operands that change nothing; with state it is a
    conditional.
    """

    def go_on() -> Any:
        with assuming(left, not end):
            return _first(end, _given(rest[0]), rest[1:], truth, state)

    def as_it_is() -> Any:
        return left

    variables = Variables(state, (go_on, *rest))

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
