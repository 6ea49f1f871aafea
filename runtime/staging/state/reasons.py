"""Why a statement is staged, and where its variables are assigned: for messages.

What staging refuses is found when the branches have been traced; the error names the
variable. Here the error is told where each branch assigns it, from the bytecode of the
branches, and which tensor it is that decides about the statement.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from runtime.errors import StagedStateError
from runtime.location.frames import is_user_file
from runtime.tensor import SymbolicTensor

__all__ = ["explaining"]

_STORES = frozenset({"STORE_DEREF", "STORE_FAST", "STORE_GLOBAL", "STORE_NAME"})
_CODES = frozenset({"AG201", "AG202", "AG205", "AG206", "AG210"})


@contextmanager
def explaining(
    cause: str,
    tensor: Any,
    parts: Mapping[str, Callable[..., Any]],
    names: Sequence[str],
) -> Iterator[None]:
    """Within the block, which stages a statement, errors about its variables say more.

    Args:
        cause: why the statement is staged, for the message.
        tensor: the tensor that decides.
        parts: the functions that were made of the statement, and when each runs.
        names: the variables of the statement.
    """
    try:
        yield
    except StagedStateError as error:
        if error.code in _CODES and not error.explained:
            error.explained = True
            lines = [str(error), *_assignments(str(error), parts, names)]
            lines.append(f"  it is staged because {cause} is a tensor{_origin(tensor)}")
            error.args = ("\n".join(lines),)
        raise


def _origin(tensor: Any) -> str:
    if not isinstance(tensor, SymbolicTensor):
        return ""
    if tensor.op_name == "Cast" and tensor.spec.weak:
        (tensor,) = tensor.node.inputs  # an int of Python was made of it
    text = f", {tensor.spec.describe().rstrip('*')}"
    if tensor.op_name == "Placeholder":
        text += f" {tensor.node.name!r}"
    if tensor.node.location is not None:
        filename, lineno = tensor.node.location
        text += f", made at {filename}:{lineno}"
    return text


def _assignments(
    message: str, parts: Mapping[str, Callable[..., Any]], names: Sequence[str]
) -> Iterator[str]:
    """Where the parts assign the variables that the message names."""
    for name in names:
        if not any(f"'{name}{end}" in message for end in "'[."):
            continue
        found = []
        for when, function in parts.items():
            places = sorted(_places(function, name))
            if places:
                where = ", ".join(f"{filename}:{line}" for filename, line in places)
                found.append(f"at {where} {when}")
        if found:
            yield f"  {name!r} is assigned {' and '.join(found)}"
    if message.partition(": AG")[2][3:].startswith(": the value chosen here"):
        yield from _chosen(parts)


def _chosen(parts: Mapping[str, Callable[..., Any]]) -> Iterator[str]:
    """Where the expressions are that a statement chooses from, if not on its line."""
    found = {}
    for when, function in parts.items():
        for code in _user_code(function):
            lines = {line for _, _, line in code.co_lines() if line is not None}
            found[when] = code.co_filename, max(lines, default=code.co_firstlineno)
    if len(set(found.values())) > 1:
        places = [f"that of {f}:{line} {when}" for when, (f, line) in found.items()]
        yield f"  the value is {' and '.join(places)}"


def _places(function: Callable[..., Any], name: str) -> set[tuple[str, int]]:
    """The lines on which the user's code behind a function assigns a variable."""
    owner, _, attribute = name.rpartition(".")
    stores = frozenset({"STORE_ATTR"}) if owner else _STORES
    return {
        (code.co_filename, line)
        for code in _user_code(function)
        for line in _lines(code, attribute, stores)
    }


def _user_code(function: Any) -> Iterator[CodeType]:
    """The code of the user's that a function calls through its closure."""
    pending, seen = [function], set()
    while pending:
        item = pending.pop()
        if not isinstance(item, FunctionType) or item in seen:
            continue
        seen.add(item)
        if is_user_file(item.__code__.co_filename):
            yield item.__code__
        else:
            pending += [_content(cell) for cell in item.__closure__ or ()]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _lines(code: CodeType, name: str, stores: frozenset[str]) -> Iterator[int]:
    spans = [span for span in code.co_lines() if span[2] is not None]
    for instruction in dis.get_instructions(code):
        if instruction.opname in stores and instruction.argval == name:
            for start, end, line in spans:
                if start <= instruction.offset < end and line is not None:
                    yield line
    inner = stores - {"STORE_FAST", "STORE_NAME"}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant, name, inner)
