"""``match`` with patterns that look into structures.

Each pattern stands verbatim in a function of its own, so that Python values are matched
by Python itself. Where a pattern compares a part that belongs to a tensor library,
Python asks for the truth of the comparison, which nobody knows yet. The library's
``__bool__`` passes the question on to `pattern_truth`, and the pattern is run again for
each answer: the answers that make it match are the condition that is staged.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import StagingError
from ..ownership import user_location
from .control_flow import Body, Branch, staged_cond
from .dispatch import answer_for, backend_of
from .protocols import call_bool, truth_of
from .state.slots import parse_state
from .state.variables import Variables
from .unbound import raise_as_python

Answers = tuple[bool, ...]

#: Ways through one pattern that are followed; few patterns have more than five.
PATH_LIMIT = 1_000


def match(
    *cases: tuple[Any, ...],
    default: Branch = None,
    state: str = "",
) -> Any:
    """``match``: the result of the first case whose pattern matches and guard holds.

    Args:
        cases: ``(pattern, body)`` or ``(pattern, guard, body)``, functions without
            parameters; a body may be a constant. A pattern returns whether it matches,
            and binds what it captures; it is called when the cases before it failed.
        default: what ``case _`` does.
        state: as for `cond`.

    >>> def pair():
    ...     match (1, 2):
    ...         case (1, _):
    ...             return True
    >>> match((pair, "a pair"), default="something else")
    'a pair'
    """
    try:
        for position, (test, *guards, body) in enumerate(cases):
            pattern = _Pattern(test)
            matched = pattern.holds()
            if matched is False:
                continue
            if matched is True and pattern.asks:
                pattern.bind()  # it matches whatever the answers
            value = matched
            if guards and matched is True:
                value = call_bool(guards[0]())
            if value is not True and value is not False:
                backend = backend_of(value)
                if backend is not None:
                    rest = _Rest(cases[position:], default, state)
                    return rest.stage(pattern, matched, value)
            if value:
                return body() if callable(body) else body
        return default() if callable(default) else default
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def is_bool(value: Any, expected: bool) -> Any:
    """Whether the pattern ``True`` or ``False`` matches: by identity, as in Python, or
    as a library says of its bools.

    >>> is_bool(1 == 1, True), is_bool(1, True)
    (True, False)
    """
    staged = answer_for("is_bool", value)
    return value is expected if staged is None else staged(value, expected)


def subject(value: Any) -> Any:
    """What a pattern is matched against: ``value``; if a library says that it, or an
    item of it, may be None, then what it is, as the pattern is told.

    >>> subject((1, None))
    (1, None)
    """
    run: _Run | None = getattr(_thread, "run", None)
    if run is None:
        return value
    if type(value) is tuple or type(value) is list:
        parts = list(map(subject, value))
        same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    staged = answer_for("subject", value)
    return value if staged is None else staged(value, run.answer)


class _Rest:
    """The cases of a ``match`` from the first one on that a tensor decides."""

    def __init__(
        self,
        cases: tuple[tuple[Any, ...], ...],
        default: Branch,
        state: str,
    ) -> None:
        (_, *self._guards, self._body), *self._later = cases
        self._default = default
        self._state = state
        self._functions = [f for case in cases for f in case]

    def stage(self, pattern: _Pattern, matched: Any, value: Any) -> Any:
        """The result of the cases; ``value`` is that of the guard if ``matched``."""
        staged = matched is not True  # then nothing is captured yet

        def taken() -> Any:
            if staged:
                pattern.bind()
            return self._body() if callable(self._body) else self._body

        def others() -> Any:
            if staged and self._guards and pattern.binds_any(self._state):
                # Where only the guard fails, what the pattern captured stays.
                self._choose(matched, pattern.bind, None, self._state)
            return match(*self._later, default=self._default, state=self._state)

        def guarded() -> Any:
            pattern.bind()
            return truth_of(self._guards[0](), merged=True)

        if staged and self._guards:
            value = self._choose(matched, guarded, lambda: False, "")
        return self._choose(value, taken, others, self._state)

    def _choose(
        self, test: Any, if_true: Body, if_false: Body | None, state: str
    ) -> Any:
        return _choose(
            test, if_true, if_false, state, (*self._functions, self._default)
        )


class _Pattern:
    """The ways through one pattern, by the truth of what it asks on the way."""

    def __init__(self, test: Callable[[], Any]) -> None:
        self._test = test
        self._ways: set[Answers] = set()
        self._runs = 0

    def holds(self, answers: Answers = ()) -> Any:
        """Whether the pattern matches: a bool, or what a library decides."""
        asked, value = self._run(answers)
        if asked:
            self._count()
            return self._choose(
                value,
                lambda: self.holds((*answers, True)),
                lambda: self.holds((*answers, False)),
            )
        value = truth_of(value)
        if value is not False:
            self._ways.add(answers)
        return value

    def bind(self, answers: Answers = ()) -> None:
        """Bind what the pattern captures, where it is known to match."""
        asked, value = self._run(answers)
        if not asked:
            return
        at = len(answers)
        ways = {way[at] for way in self._ways if way[:at] == answers}
        if len(ways) == 1:
            self.bind((*answers, *ways))
        elif ways:
            self._choose(
                value,
                lambda: self.bind((*answers, True)),
                lambda: self.bind((*answers, False)),
                ", ".join(self._test.__code__.co_freevars),
            )

    @property
    def asks(self) -> bool:
        """Whether the pattern asked a library, so that `holds` has bound nothing."""
        return self._runs > 0

    def binds_any(self, state: str) -> bool:
        """Whether the pattern may bind a variable of the state."""
        return not set(parse_state(state)).isdisjoint(self._test.__code__.co_freevars)

    def _choose(self, test: Any, yes: Body, no: Body, state: str = "") -> Any:
        return _choose(test, yes, no, state, (self._test,))

    def _run(self, answers: Answers) -> tuple[bool, Any]:
        """Whether the pattern asks for more than the answers, and what it asks; else
        what it returns.
        """
        test = self._test
        outer = getattr(_thread, "run", None)
        _thread.run = _Run(test.__code__, answers)
        try:
            return False, test()
        except _Question as question:
            return True, question.value
        finally:
            _thread.run = outer

    def _count(self) -> None:
        self._runs += 1
        if self._runs > PATH_LIMIT:
            raise StagingError(
                Diagnostic(
                    "AG212",
                    "a pattern with too many ways to match",
                    "a tensor decides which alternatives of this pattern match, and "
                    f"they can be combined in more than {PATH_LIMIT:,} ways",
                    user_location(),
                    "write several cases, or compare the parts in a guard",
                )
            )


class _Question(BaseException):
    """Leaves a pattern that asks for the truth of ``value``."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Run:
    """One run of a pattern: its code, and the answers that it gets, in order."""

    __slots__ = ("_answers", "code")

    def __init__(self, code: Any, answers: Answers) -> None:
        self.code = code
        self._answers = iter(answers)

    def answer(self, value: Any) -> bool:
        for answer in self._answers:
            return answer
        raise _Question(value)


_thread = threading.local()


def pattern_truth(value: Any) -> bool | None:
    """What a pattern that asks for the truth of a staged value is to be told.

    For the ``__bool__`` of a library's tensors, which calls this first and raises its
    error, if it has one, when the answer is None: then no pattern asks.
    """
    run: _Run | None = getattr(_thread, "run", None)
    if run is None or sys._getframe(2).f_code is not run.code:
        return None
    return run.answer(value)


def _choose(
    test: Any,
    if_true: Body,
    if_false: Body | None,
    state: str,
    functions: Iterable[object],
) -> Any:
    backend = backend_of(test)
    if backend is None:  # the guard said the same in every way to match
        return if_true() if test else None if if_false is None else if_false()
    variables = Variables(state, functions)
    return staged_cond(backend, test, if_true, if_false, variables)
