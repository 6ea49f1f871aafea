"""``match`` with patterns that look into structures.

Converted code calls `match`. Each pattern stands verbatim in a function of its own, and
Python matches it: where a tensor would decide, its ``__bool__`` refuses. The guards and
the bodies of the cases are staged.
"""

from __future__ import annotations

from typing import Any

from .control_flow import Branch, staged_cond
from .dispatch import answer_for, backend_of
from .protocols import call_bool
from .state.variables import Variables
from .unbound import raise_as_python


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
        default: the body of ``case _``.
        state: as for `cond`.

    >>> def pair():
    ...     match (1, 2):
    ...         case (1, _):
    ...             return True
    >>> match((pair, "a pair"), default="something else")
    'a pair'
    """
    try:
        for position, (pattern, *guards, body) in enumerate(cases, 1):
            if not pattern():
                continue
            holds = call_bool(guards[0]()) if guards else True
            if holds is not True and holds is not False:
                backend = backend_of(holds)
                if backend is not None:
                    rest = cases[position:]
                    functions = (body, default, *(f for case in rest for f in case))

                    def others(rest: Any = rest) -> Any:
                        return match(*rest, default=default, state=state)

                    variables = Variables(state, functions, "match")
                    return staged_cond(backend, holds, body, others, variables)
            if holds:
                return body() if callable(body) else body
        return default() if callable(default) else default
    except NameError as error:
        raise_as_python(error)
        raise


def is_bool(value: Any, expected: bool) -> Any:
    """Whether the pattern ``True`` or ``False`` matches: by identity, as in Python, or
    by the library of a bool.

    >>> is_bool(1 == 1, True), is_bool(1, True)
    (True, False)
    """
    staged = answer_for("is_bool", value)
    return value is expected if staged is None else staged(value, expected)


def subject(value: Any) -> Any:
    """The subject of a ``match``: ``value``, or its library's replacement for it.

    A library refuses values here that patterns would misread.

    >>> subject((1, None))
    (1, None)
    """
    if type(value) is tuple or type(value) is list:
        subjects = list(map(subject, value))
        unchanged = all(new is old for new, old in zip(subjects, value, strict=True))
        return value if unchanged else type(value)(subjects)
    staged = answer_for("subject", value)
    return value if staged is None else staged(value)
