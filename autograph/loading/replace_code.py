"""Functions that are converted where they are: the object stays, its code is replaced.

Properties, operators and callbacks are called by Python or a library: no converted
call leads to them. Where one of them met a staged value, `convert_raising` looks for it
among the variables of the traceback's frames, and converts it in place. Then the
program can be staged again from the start.

A function that was converted in place stays so. That is safe, also with other threads:
the code is replaced in one step, calls that are under way go on with the old code, and
on Python values both mean the same. Who holds the function, by whatever name or in
whatever wrapper or registry, has it converted; what it is compared with still holds.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

from ..errors import ConversionError, SourceError
from ..operators.dispatch import backend_of
from ..options import DEFAULT, ConversionOptions
from ..ownership import (
    CONVERTED,
    ORIGINAL,
    Rule,
    Unconverted,
    functions_of,
    is_marked,
    is_registered,
    rule_for_module,
)
from .disk_cache import converted_code
from .on_demand import (
    is_converted,
    is_from_converted_module,
    is_generated,
    lock,
    note_generated,
)

__all__ = ["Obstacle", "Repair", "convert_in_place", "convert_raising"]

#: `inspect.CO_NESTED`, the flag of inner functions; `inspect` would import `ast`.
_CO_NESTED = 0x10


def convert_in_place(
    function: FunctionType, options: ConversionOptions = DEFAULT
) -> bool:
    """Replace the code of a function by its converted form, for good.

    Returns whether it did: not for a function that is converted already.

    >>> def sign(x):
    ...     return 1 if x > 0 else -1
    >>> same = sign
    >>> convert_in_place(sign), convert_in_place(sign), same(-3)
    (True, False, -1)

    Raises:
        SourceError: its source is not available.
        ConversionError: it cannot be converted.
    """
    with lock:
        if is_converted(function):
            return False
        original = _copy(function)
        code, _ = converted_code(function, options)
        note_generated(code)
        key = id(function.__code__)
        dies = weakref.ref(function, lambda _: _replaced.pop(key, None))
        _replaced[key] = original.__code__, dies
        function.__code__ = code
        function.__dict__[ORIGINAL] = (function, original)
        function.__dict__[CONVERTED] = function
        return True


#: The code that was replaced, and in which function.
_replaced: dict[int, tuple[CodeType, weakref.ref[FunctionType]]] = {}


def _copy(function: FunctionType) -> FunctionType:
    """A function of its own with the code that the other has now."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


class Obstacle:
    """Why a function in which an error arose was not converted in place."""

    def __init__(
        self, rule: Rule, name: str, module: str, why: str = "", instead: str = ""
    ) -> None:
        self.rule = rule
        #: The function that the rule is for.
        self.name = name
        self.module = module
        #: Of code that stands as it was written.
        self.why = why
        self.instead = instead

    def __str__(self) -> str:
        return f"`{self.name}` of {self.module} was called as it is: {self.rule.value}"


class Repair:
    """What `convert_raising` did. It is true where staging again is worth trying."""

    def __init__(
        self,
        converted: tuple[FunctionType, ...] = (),
        obstacle: Obstacle | None = None,
    ) -> None:
        self.converted = converted
        self.obstacle = obstacle

    def __bool__(self) -> bool:
        return bool(self.converted)


def convert_raising(
    error: BaseException, options: ConversionOptions = DEFAULT
) -> Repair:
    """Convert in place the functions in which converted code met an error.

    A library calls this when staging failed because Python asked a staged value for
    what it has not (its truth, say): where functions were converted, staging again from
    the start gets further. They are the user's functions between the innermost
    converted function of the traceback and the error. Conversion does not help, and the
    obstacle says why, where the error arose in library code, in or below what is marked
    `do_not_convert`, or where the source is not available. Where it arose in converted
    code there is neither.
    """
    frames = _unconverted_frames(error)
    if not frames:
        return Repair(obstacle=_what_stays(error))
    functions = _functions([frame.f_code for frame in frames], error)
    obstacle = _obstacle(frames, functions, options)
    if obstacle is not None:
        return Repair(obstacle=obstacle)
    changed: list[FunctionType] = []
    for frame in reversed(frames):
        if not rule_for_module(_module(frame), options).converts:
            continue
        if any(_contains(other.f_code, frame.f_code) for other in frames):
            continue  # converted with the function that it is a part of
        found = functions[frame.f_code]
        if not found and id(frame.f_code) not in _replaced:
            obstacle = obstacle or Obstacle(Rule.UNNAMED, *_described(frame))
        for function in found:
            try:
                if convert_in_place(function, options):
                    changed.append(function)
            except (SourceError, ConversionError) as refusal:
                is_lost = isinstance(refusal, SourceError)
                rule = Rule.NO_SOURCE if is_lost else Rule.REFUSED
                obstacle = obstacle or Obstacle(rule, *_described(frame))
        if id(frame.f_code) in _replaced:  # perhaps by another thread, since the call
            replaced = _replaced[id(frame.f_code)][1]()
            if replaced is not None and replaced not in changed:
                changed.append(replaced)
    return Repair(tuple(changed), obstacle)


def _obstacle(
    frames: list[FrameType], functions: _Functions, options: ConversionOptions
) -> Obstacle | None:
    for frame in frames:
        is_innermost = frame is frames[-1]
        rule = rule_for_module(_module(frame), options)
        if frame.f_code is _CALL_AS_IT_IS or any(
            map(is_marked, functions[frame.f_code])
        ):
            rule = Rule.MARKED
        if rule is Rule.MARKED or (is_innermost and not rule.converts):
            return Obstacle(rule, *_described(frame))
    return None


_CALL_AS_IT_IS = Unconverted.__call__.__code__


def _what_stays(error: BaseException) -> Obstacle | None:
    """Code that stands as it was written, in converted code that met an error."""
    from ..pipeline import staying_at  # the compiler, which nothing else needs here

    raising: tuple[FrameType, int] | None = None
    entry = error.__traceback__
    while entry is not None:
        if is_generated(entry.tb_frame.f_code):
            raising = entry.tb_frame, entry.tb_lineno
        entry = entry.tb_next
    if raising is None:
        return None
    frame, line = raising
    try:
        stays = staying_at(frame.f_code, line)
    except SourceError:
        return None
    if stays is None:
        return None
    return Obstacle(Rule.STAYS, *_described(frame), stays.why, stays.instead)


def _unconverted_frames(error: BaseException) -> list[FrameType]:
    """The frames of an error's traceback from its last converted one on, without
    that, and without those of the library that raised it.
    """
    frames: list[FrameType] = []
    entry = error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        if is_generated(frame.f_code) or is_from_converted_module(frame.f_globals):
            frames.clear()
        else:
            frames.append(frame)
        entry = entry.tb_next
    while frames and _is_of_tensors(frames[-1]):
        frames.pop()
    return frames


def _is_of_tensors(frame: FrameType) -> bool:
    """Whether a frame is of a tensor library, or of a method of a staged value."""
    if is_registered(_module(frame)):
        return True
    code = frame.f_code
    return code.co_argcount > 0 and (
        backend_of(frame.f_locals.get(code.co_varnames[0])) is not None
        and code.co_name.startswith("__")
    )


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or "__main__"


def _described(frame: FrameType) -> tuple[str, str]:
    """The function that a frame runs, and its module."""
    if frame.f_code is _CALL_AS_IT_IS:
        function = frame.f_locals["self"]
        return function.__qualname__, function.__module__
    name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    return name, _module(frame)


def _contains(outer: CodeType, code: CodeType) -> bool:
    """Whether one code object is defined inside the other."""
    return any(
        inner is code or _contains(inner, code)
        for inner in outer.co_consts
        if isinstance(inner, CodeType)
    )


_Functions = dict[CodeType, list[FunctionType]]


def _functions(codes: list[CodeType], error: BaseException) -> _Functions:
    """The functions that run these code objects, or make functions of them, as far as
    the frames of a traceback can name them.
    """
    found: _Functions = {code: [] for code in codes}
    nested = [code for code in codes if code.co_flags & _CO_NESTED]
    for function in _named(_frames(error)):
        if function.__code__ in found:
            found[function.__code__].append(function)
        for code in nested:
            if _contains(function.__code__, code):
                found[code].append(function)
    return found


def _frames(error: BaseException) -> Iterator[FrameType]:
    """The frames of an error's traceback."""
    entry = error.__traceback__
    while entry is not None:
        yield entry.tb_frame
        entry = entry.tb_next


def _named(frames: Iterable[FrameType]) -> Iterator[FunctionType]:
    """The functions that variables of frames lead to: by attributes of objects, items
    of containers, members of classes, closures, and what functions wrap.
    """
    pending: list[Any] = []
    for frame in frames:
        pending += frame.f_locals.values()
        for value in frame.f_locals.values():
            pending += (type(value), *getattr(value, "__dict__", {}).values())
        if not is_registered(_module(frame)):
            pending += frame.f_globals.values()
    met: set[int] = set()
    for value in pending:
        if id(value) in met:
            continue
        met.add(id(value))
        if isinstance(value, type):
            for cls in value.__mro__:
                pending += vars(cls).values()
        elif type(value) in (list, tuple):
            pending += value
        elif type(value) is dict:
            pending += value.values()
        elif isinstance(value, CellType) and value != _EMPTY:
            pending.append(value.cell_contents)
        for function in functions_of(value):
            if function is value:
                yield function
                pending += function.__closure__ or ()
                pending += vars(function).values()
            else:
                pending.append(function)


_EMPTY = CellType()
