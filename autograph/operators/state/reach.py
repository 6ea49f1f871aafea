"""What the user's running functions can reach, and for how long they will."""

from __future__ import annotations

import gc
import sys
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import takewhile
from types import CodeType, FrameType, FunctionType
from typing import Any

from ...frames import frame_at
from ...ownership import is_library_module
from ..activity import has_written_form
from ..classes import defines
from ..dispatch import UNBOUND, is_around_trace
from .kinds import kinds_outside_libraries, named_globals, objects_in
from .slots import Access, Identity, StateVariable
from .snapshot import walk

_IDLE = ("CACHE", "NOP", "EXTENDED_ARG", "PRECALL")
_NO_NAMES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE")
#: Objects that are searched for one; one that may be beyond counts as found.
_LIMIT = 100_000
#: Variables of running functions; None for all.
Leaving = dict[FrameType, "frozenset[str] | None"]


#: What calls that are traced as bodies of their own are given: their callers, of which
#: the frames may be gone or not there yet, can still see it.
_given: ContextVar[tuple[Any, ...]] = ContextVar("given to calls", default=())


@contextmanager
def seen_by_callers(values: Iterable[Any]) -> Iterator[None]:
    """Within the block count some values among those that can be reached."""
    token = _given.set((*_given.get(), *values))
    try:
        yield
    finally:
        _given.reset(token)


def user_frames() -> Iterator[FrameType]:
    """The frames of the user's functions that are running, the innermost first."""
    return outer_frames(frame_at(1))


def trace_variables() -> Iterator[tuple[str, Any]]:
    """The variables that the user's functions in the trace can name.

    Only these can have an object that the trace has made: what is around the trace, a
    program with all of its data, is not looked at.
    """
    for frame in _frames_in_trace():
        yield from variables_of(frame).items()
        yield from named_globals(frame.f_code, frame.f_globals)


def _frames_in_trace() -> list[FrameType]:
    """The frames of the user's functions inside of the outermost trace, or all."""
    found: list[FrameType] = []
    inside = None
    frame: FrameType | None = frame_at(1)
    while frame is not None:
        if not is_library_module(frame.f_globals.get("__name__", "")):
            found.append(frame)
        elif is_around_trace(frame.f_code):
            inside = len(found)
        frame = frame.f_back
    return found[:inside]


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a running function, and what they are."""
    variables = frame.f_locals
    found = dict(variables)
    if sys.version_info < (3, 13) and variables is not frame.f_globals:
        variables.clear()  # a copy, which would keep the values alive
    return {} if _has_handed_over(frame.f_code, found) else found


def _has_handed_over(code: CodeType, variables: dict[str, Any]) -> bool:
    """Whether a function has called what conversion made of it, which has the variables
    now: see `passes.as_written`.
    """
    if not has_written_form(code):
        return False
    # A function defines it last; a lambda has both forms in its own expression.
    last = variables.get(code.co_varnames[-1]) if code.co_varnames else None
    if not isinstance(last, FunctionType):
        return False
    return any(constant is last.__code__ for constant in code.co_consts)


def outer_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the user's functions, from one frame outwards."""
    while frame is not None:
        if not is_library_module(frame.f_globals.get("__name__", "")):
            yield frame
        frame = frame.f_back


def _assign(frame: FrameType, name: str, value: Any) -> None:
    variables = frame.f_locals
    variables[name] = value
    if sys.version_info < (3, 13):
        import ctypes  # what debuggers assign variables by

        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        if variables is not frame.f_globals:
            variables.clear()  # a copy, which would keep the values alive


#: A local variable of a function that is running.
LOCAL = Access(
    lambda frame, name: frame.f_locals.get(name, UNBOUND),
    _assign,
    lambda frame, name: _assign(frame, name, UNBOUND),
)

# --- what they can reach ------------------------------------------------------------


def is_reached(
    values: Iterable[Any], leaving: Leaving | None = None, *, by_copies: bool = False
) -> bool:
    """Whether the user's functions that are running can reach one of some objects.

    ``leaving``: by frame, the variables that end before that matters; a frame with
    None: all of its variables.
    ``by_copies``: what a library watches as a copy of the object counts, too.
    """
    objects: dict[int, Any] = {}
    for value in values:
        objects.update(objects_in(value))
    if not objects:
        return False
    found = walk(_roots(leaving or {}), kinds=kinds_outside_libraries)
    for number, seen in enumerate(found):
        if id(seen.value) in objects or number == _LIMIT:
            return True
        if by_copies and defines(type(seen.value), "__autograph_sources__"):
            if any(id(s) in objects for s in seen.value.__autograph_sources__()):
                return True
    return False


def _roots(leaving: Leaving) -> Iterator[tuple[str, Any]]:
    yield from (("", value) for value in _given.get())
    for frame in user_frames():
        names = leaving.get(frame, frozenset())
        if names is not None:
            yield from (v for v in variables_of(frame).items() if v[0] not in names)
        yield from named_globals(frame.f_code, frame.f_globals)


def leaving_before(where: Identity | None) -> Leaving:
    """The variables that end, or get other values, before a place is read.

    Those of a result are the variables that it is assigned to, and those of the
    functions that return it.
    """
    found: Leaving = {}
    if where is None:
        for frame in user_frames():
            kind, stored = _use_of_result(frame.f_code, frame.f_lasti)
            if not kind.startswith("RETURN"):
                return {**found, **_sharing(frame, stored)}
            found[frame] = None
        return found
    cls, _, name = where
    for frame in user_frames() if cls is StateVariable else ():
        found[frame] = None
        if name not in frame.f_code.co_freevars:
            return found if _keeps_result(found, name) else {}
    return {}


def _keeps_result(frames: Iterable[FrameType], name: Hashable) -> bool:
    """Whether the converter keeps in a variable what is returned at the end.

    It has two variables for that (`passes.exits`), whose names are longer than
    names like them in the user's function. The two may be those of different functions
    among the ones that the frames run: of a body and of what is around it.
    """
    codes = [frame.f_code for frame in frames]
    names = {n for c in codes for n in (*c.co_varnames, *c.co_cellvars, *c.co_freevars)}
    results = (n for n in names if n.rstrip("_") == "return_value")
    has_flag = any(n.rstrip("_") == "did_return" for n in names)
    return has_flag and name == max(results, key=len, default=None)


def _sharing(frame: FrameType, names: set[str]) -> Leaving:
    """The functions around a running one that have variables of it, and which."""
    found: Leaving = {}
    for outer in user_frames():
        if found or outer is frame:
            found[outer] = frozenset(names)
            names = names & set(outer.f_code.co_freevars)
            if not names:
                break
    return found


def _use_of_result(code: CodeType, offset: int) -> tuple[str, set[str]]:
    """What is done with the result of the call at an offset, and the names it gets."""
    import dis  # not at once: a program's first call would wait for it

    instructions = [i for i in dis.get_instructions(code) if i.opname not in _IDLE]
    places = {i.offset: number for number, i in enumerate(instructions)}
    number = sum(i.offset <= offset for i in instructions)
    while instructions[number].opname == "JUMP_FORWARD":
        number = places[instructions[number].argval]
    first = instructions[number]
    stores = instructions[number + first.opname.startswith("UNPACK") :]
    stored = takewhile(lambda i: i.opname.startswith("STORE_"), stores)
    names = (i.argval for i in stored if i.opname not in _NO_NAMES)
    return first.opname, {n for name in names for n in names_in(name)}


def names_in(argument: Any) -> Iterable[str]:
    """The variables of an instruction: some of 3.13 store two."""
    return argument if isinstance(argument, tuple) else (argument,)


def referrers(*values: Any) -> list[Any]:
    """The objects that refer to one of these.

    Servers freeze the heap before they fork; Python does not search what is frozen, and
    what is not found would go on as if nothing had changed. So it thaws.
    """
    if gc.get_freeze_count():
        gc.unfreeze()
    return gc.get_referrers(*values)
