"""Exceptions that the user's code raises in a branch that a library stages.

To trace a branch is to run it, also where the program will not take it. A ``raise`` in
it is a result of the branch then, and no failure of the trace. Nor does an ``except``
clause around it act when the program runs: who stages the branch is told of one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from ...diagnostics import Diagnostic
from ...errors import AutographError, StagingError
from ...frames import frame_at, outwards
from ...ownership import is_library_module, is_registered, user_location
from ..dispatch import Backend, State
from ..state.variables import Variables

_OPERATORS = __name__.rpartition(".merge.")[0]
#: What calls backends, and what they call: whether a backend is around its frame.
_EDGES: dict[CodeType, bool] = {
    Variables.stage.__code__: False,
    Variables.trial.__code__: True,
}
#: What ends the search for the kind of a handler; and of these, what an ``except`` has.
_CATCHES = frozenset(
    {"CHECK_EXC_MATCH", "CHECK_EG_MATCH", "JUMP_IF_NOT_EXC_MATCH", "POP_EXCEPT"}
)
_ENDS = _CATCHES | {"RERAISE", "WITH_EXCEPT_START"}


class Raised:
    """The result of a branch that ends with an exception of the user's.

    ``handled``: an ``except`` clause that is running around the statement may be meant
    for it.
    """

    __slots__ = ("error", "handled")

    def __init__(self, error: Exception, handled: bool) -> None:
        self.error, self.handled = error, handled

    def refusal(self) -> StagingError:
        """The error AG208, for who cannot run the clause."""
        name = type(self.error).__name__
        return StagingError(
            Diagnostic(
                "AG208",
                "an exception that the graph raises would be caught",
                f"a tensor decides whether {name} is raised, which happens when the "
                "program runs; the `except` clause around it acts while it is traced",
                user_location(),
                "test the condition with `if` and `else` instead, or catch the "
                "exception around the call of the traced function",
            )
        )


def or_raised(
    backend: Backend, run: Callable[[State], tuple[Any, State]]
) -> Callable[[State], tuple[Any, State]]:
    """A branch that gives `Raised` in place of raising, if the backend wants that."""
    if not getattr(backend, "takes_raised", False):
        return run

    def caught(state: State) -> tuple[Any, State]:
        try:
            return run(state)
        except Exception as error:
            if not _is_of_user(error):
                raise
            return Raised(
                error.with_traceback(None), any(map(_handles, _frames()))
            ), state

    return caught


def _is_of_user(error: Exception) -> bool:
    """Whether a ``raise`` or ``assert`` of the user's raised it, and not an operation
    that failed; to read a variable without a value is to raise, too.
    """
    if isinstance(error, UnboundLocalError):
        return True
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return False
    import dis  # not at once: a program's first call would wait for it

    code, last = place.tb_frame.f_code, place.tb_lasti
    if code.co_code[last] != dis.opmap["RAISE_VARARGS"]:
        return False
    module = place.tb_frame.f_globals.get("__name__") or ""
    if module.startswith(_OPERATORS):
        # What an operator raises is Python's own: that `max` has no items, say.
        return not isinstance(error, (AutographError, NotImplementedError))
    return not is_library_module(module)


def _frames() -> Iterator[FrameType]:
    """The frames of the user's functions around a branch, out to where a library began
    to trace, or to the main program.
    """
    in_backend = True  # which called the branch
    for frame in outwards(frame_at(1)):
        module = frame.f_globals.get("__name__") or ""
        if frame.f_code in _EDGES:
            in_backend = _EDGES[frame.f_code]
        elif not is_library_module(module):
            yield frame
            if module == "__main__" and frame.f_code.co_name == "<module>":
                return  # What runs the main program is no part of it.
        elif not in_backend and is_registered(module) and not _is_own(module):
            return


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == "autograph"


def _handles(frame: FrameType) -> bool:
    """Whether a frame runs the body of a ``try`` that has ``except`` clauses, or of a
    ``with`` that suppresses exceptions.
    """
    return any(first <= frame.f_lasti < last for first, last in _tries(frame.f_code))


@functools.lru_cache(maxsize=256)
def _tries(code: CodeType) -> list[tuple[int, int]]:
    import dis  # as above

    steps = list(dis.get_instructions(code))
    found = []
    for first, last, target, is_cleanup in _protected(code, steps):
        handler = (step.opname for step in steps if step.offset >= target)
        end = next((name for name in handler if name in _ENDS), "RERAISE")
        if end == "WITH_EXCEPT_START":
            catches = "suppress" in code.co_names
        else:
            catches = end in _CATCHES and not is_cleanup
        if catches:
            found.append((first, last))
    return found


def _protected(
    code: CodeType, steps: list[Any]
) -> Iterator[tuple[int, int, int, bool]]:
    """From where to where exceptions are handled, where the handler begins, and whether
    that only leaves a clause or a ``with``.
    """
    import dis  # as above

    entries = getattr(dis.Bytecode(code), "exception_entries", None)
    if entries is None:  # Python 3.10 has instructions for it
        for step in steps:
            if step.opname in ("SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH"):
                yield step.offset, step.argval, step.argval, False
        return
    for entry in entries:
        yield entry.start, entry.end, entry.target, entry.lasti
