"""Exceptions that the user's code raises in a branch that a library stages.

To trace a branch is to run it, also where the program will not take it. A ``raise`` in
it is a result of the branch then, and no failure of the trace. Nor does an ``except``
clause around it act when the program runs: who stages the branch is told of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from ...diagnostics import Diagnostic, Location
from ...errors import AutographError, StagingError
from ...frames import frame_at, outwards
from ...ownership import (
    is_library_module,
    is_registered,
    is_user_frame,
    user_location,
)
from ..dispatch import Backend, State
from ..state.variables import Variables

_OPERATORS = __name__.rpartition(".merge.")[0]
#: What calls backends, and what they call: whether a backend is around its frame.
_EDGES: dict[CodeType, bool] = {
    Variables.stage.__code__: False,
    Variables.trial.__code__: True,
}


class Raised:
    """The result of a branch that ends with an exception of the user's.

    ``handled``: an ``except`` clause that is running around the statement would catch
    it. ``place`` is that of the ``raise``.
    """

    __slots__ = ("error", "handled", "place")

    def __init__(self, error: Exception, handled: bool) -> None:
        self.error, self.handled, self.place = error, handled, _place(error)

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
            raised = Raised(error, _is_handled(error))
            error.with_traceback(None)
            return raised, state

    return caught


def _place(error: Exception) -> Location | None:
    """The innermost line of the user's code in the traceback of an error."""
    found, step = None, error.__traceback__
    while step is not None:
        if is_user_frame(step.tb_frame):
            found = Location(step.tb_frame.f_code.co_filename, step.tb_lineno)
        step = step.tb_next
    return found


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


def _is_handled(error: Exception) -> bool:
    """Whether a clause that runs around the branch would catch the error."""
    from ...handlers import catching, statements_at  # as above

    return any(
        catching(statement, error, frame) is not None
        for frame in _frames()
        for statement in statements_at(frame, frame.f_lineno)
    )


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
