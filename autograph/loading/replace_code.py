"""Conversion in place: the function object stays, its code is replaced.

Python or a library calls properties, operators and callbacks, without a converted call.
Where one of them failed on a staged value, `convert_raising` looks for its function
among the variables of the traceback's frames and converts it in place. Then the tensor
library can stage the program again from the start.

A function that was converted in place stays so. That is safe, also with other threads:
the code is replaced in one step, running calls finish with the old code, and both mean
the same on Python values. Every reference to the function, in whatever wrapper or
registry, now has the converted one, and comparisons by identity still hold.
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
    """A new function with the present code of another."""
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
        #: The reason and the advice for code that is not converted.
        self.why = why
        self.instead = instead

    def __str__(self) -> str:
        return f"`{self.name}` of {self.module} was called as it is: {self.rule.value}"


class Repair:
    """The result of `convert_raising`; true if staging again is worth trying."""

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

    A library calls this when staging failed because Python asked a staged value for,
    say, its truth. The functions to convert are the user's functions between the
    innermost converted function of the traceback and the error; where there were any,
    staging again from the start gets further. The obstacle tells why conversion does
    not help: the error arose in library code, in or below a function marked
    `do_not_convert`, or in one without source. For an error in converted code there is
    neither a converted function nor an obstacle.
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
        candidates = functions[frame.f_code]
        if not candidates and id(frame.f_code) not in _replaced:
            obstacle = obstacle or Obstacle(Rule.UNNAMED, *_described(frame))
        for function in candidates:
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
    """The frames of an error's traceback after its last converted one, without those
    of the library that raised it.
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
    """The functions that have these code objects, or define functions with them, as far
    as variables in the frames of a traceback lead to them.
    """
    by_code: _Functions = {code: [] for code in codes}
    nested = [code for code in codes if code.co_flags & _CO_NESTED]
    for function in _named(_frames(error)):
        if function.__code__ in by_code:
            by_code[function.__code__].append(function)
        for code in nested:
            if _contains(function.__code__, code):
                by_code[code].append(function)
    return by_code


def _frames(error: BaseException) -> Iterator[FrameType]:
    """The frames of an error's traceback."""
    entry = error.__traceback__
    while entry is not None:
        yield entry.tb_frame
        entry = entry.tb_next


def _named(frames: Iterable[FrameType]) -> Iterator[FunctionType]:
    """The functions that variables of frames lead to: through attributes of objects,
    items of containers, members of classes, closures and wrappers.
    """
    pending: list[Any] = []
    for frame in frames:
        pending += frame.f_locals.values()
        for value in frame.f_locals.values():
            pending += (type(value), *getattr(value, "__dict__", {}).values())
        if not is_registered(_module(frame)):
            pending += frame.f_globals.values()
    seen: set[int] = set()
    for value in pending:
        if id(value) in seen:
            continue
        seen.add(id(value))
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
