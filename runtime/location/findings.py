"""What is wrong with the variables of a statement, told at once and by their names."""

from __future__ import annotations

import dis
import re
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

from runtime.errors import StagedStateError
from runtime.location.frames import user_frame

__all__ = ["RESULT", "Findings", "named"]

#: What the value of a conditional expression is called.
RESULT = "the value chosen here"

_T = TypeVar("_T")
_STORE = re.compile("STORE_(FAST|DEREF|GLOBAL|NAME)")
_PARTS = re.compile(r"(?:\[(\d+)\])?(.*)")


class Findings:
    """The errors about several variables, which are raised as one."""

    def __init__(self) -> None:
        self._errors: list[StagedStateError] = []

    def of(self, check: Callable[..., _T], *args: Any) -> _T | None:
        """What ``check(*args)`` gives; None, and a finding, if it raises an error."""
        try:
            return check(*args)
        except StagedStateError as error:
            if error.explained:
                raise  # about a statement inside
            self._errors.append(error)
            return None

    def check(self) -> None:
        """Raise what was found, if anything."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            text = "\n".join(map(str, self._errors))
            raise StagedStateError(text, self._errors[0].code) from None


def named(label: str) -> str:
    """The label of a value; that of `RESULT` with the variable that it is assigned to.

    It is found in the user's code that is running: what follows the call.
    """
    if not label.startswith(RESULT):
        return label
    part = label.removeprefix(RESULT)
    match = _PARTS.fullmatch(part)
    assert match is not None
    frame = user_frame()
    targets = [] if frame is None else _targets(frame.f_code, frame.f_lasti)
    index, rest = match.groups()
    if len(targets) > 1 and index is not None and int(index) < len(targets):
        return f"{RESULT} for '{targets[int(index)]}{rest}'"
    if len(targets) == 1:
        return f"{RESULT} for '{targets[0]}{part}'"
    return label


def _targets(code: CodeType, call: int) -> list[str]:
    """The variables that the result of a call is assigned to at once."""
    following = [i for i in dis.get_instructions(code) if i.offset > call]
    count = 1
    if [i.opname for i in following[1:2]] == ["STORE_ATTR"]:
        return [f"{following[0].argval}.{following[1].argval}"]
    if following and following[0].opname == "UNPACK_SEQUENCE":
        count = following.pop(0).arg or 0
    names: list[str] = []
    for instruction in following[:count]:
        if not _STORE.match(instruction.opname):
            break
        # Python 3.13 has instructions that store one variable and do more.
        one, *more = _names(instruction.argval)
        stores_two = instruction.opname == "STORE_FAST_STORE_FAST"
        names += [one, *(more if stores_two else [])]
    return names[:count] if len(names) >= count else []


def _names(argument: Any) -> tuple[str, ...]:
    return argument if isinstance(argument, tuple) else (str(argument),)
