"""`Findings`: the errors about the variables of a statement, raised together.

`staging.state` collects them while it merges variables; `named` adds the name of the
variable that receives a result.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

from runtime.core.errors import StagedStateError
from runtime.core.location.frames import user_frame

#: The label of the value of a conditional expression.
RESULT = "the value chosen here"

_T = TypeVar("_T")
_STORE = re.compile("STORE_(FAST|DEREF|GLOBAL|NAME)")
_PARTS = re.compile(r"(?:\[(\d+)\])?(.*)")


class Findings:
    """The errors about several variables, which are raised as one."""

    def __init__(self) -> None:
        self._errors: list[StagedStateError] = []

    def of(self, check: Callable[..., _T], *args: Any) -> _T | None:
        """The result of ``check(*args)``; None, with a finding, if it raises."""
        try:
            return check(*args)
        except StagedStateError as error:
            if error.explained:
                raise  # an inner statement's error, complete already
            self._errors.append(error)
            return None

    def check(self) -> None:
        """Raise the findings as one error, if there are any."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            text = "\n".join(map(str, self._errors))
            raise StagedStateError(text, self._errors[0].code) from None


def named(label: str) -> str:
    """The label of a value; for `RESULT` with the variable that receives it.

    The variable is found in the bytecode that follows the running call.
    """
    if not label.startswith(RESULT):
        return label
    path = label.removeprefix(RESULT)
    match = _PARTS.fullmatch(path)
    assert match is not None
    frame = user_frame()
    targets = [] if frame is None else _targets(frame.f_code, frame.f_lasti)
    index, rest = match.groups()
    if len(targets) > 1 and index is not None and int(index) < len(targets):
        return f"{RESULT} for '{targets[int(index)]}{rest}'"
    if len(targets) == 1:
        return f"{RESULT} for '{targets[0]}{path}'"
    return label


def _targets(code: CodeType, call: int) -> list[str]:
    """The variables to which the result of a call is assigned directly."""
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
        name, *more = _names(instruction.argval)
        stores_two = instruction.opname == "STORE_FAST_STORE_FAST"
        names += [name, *(more if stores_two else [])]
    return names[:count] if len(names) >= count else []


def _names(argument: Any) -> tuple[str, ...]:
    return argument if isinstance(argument, tuple) else (str(argument),)
