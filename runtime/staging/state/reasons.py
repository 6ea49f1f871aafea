"""Why a statement is staged, and where its variables are assigned: for messages.

Staging refuses a variable after the branches have been traced; the error names it.
`explaining`, which the backend wraps around each statement, adds two facts to the
error: the lines on which each branch assigns the variable, from the bytecode of the
branches, and the tensor that decides about the statement.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from runtime.core.errors import StagedStateError
from runtime.core.location.frames import is_user_file
from runtime.core.tensor import SymbolicTensor

_STORES = frozenset({"STORE_DEREF", "STORE_FAST", "STORE_GLOBAL", "STORE_NAME"})
_CODES = frozenset({"AG201", "AG202", "AG205", "AG206", "AG210"})


@contextmanager
def explaining(
    cause: str,
    tensor: Any,
    functions: Mapping[str, Callable[..., Any]],
    names: Sequence[str],
) -> Iterator[None]:
    """Add these facts to errors about variables that the block raises.

    Args:
        cause: why the statement is staged, for the message.
        tensor: the tensor that decides.
        functions: the functions made of the statement; their keys say when each runs.
        names: the variables of the statement.
    """
    try:
        yield
    except StagedStateError as error:
        if error.code in _CODES and not error.explained:
            error.explained = True
            lines = [str(error), *_assignments(str(error), functions, names)]
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
    message: str, functions: Mapping[str, Callable[..., Any]], names: Sequence[str]
) -> Iterator[str]:
    """The lines on which the functions assign the variables that the message names."""
    for name in names:
        if not any(f"'{name}{end}" in message for end in "'[."):
            continue
        assigned = []
        for when, function in functions.items():
            lines = sorted(_lines_assigning(function, name))
            if lines:
                listed = ", ".join(f"{filename}:{line}" for filename, line in lines)
                assigned.append(f"at {listed} {when}")
        if assigned:
            yield f"  {name!r} is assigned {' and '.join(assigned)}"
    if message.partition(": AG")[2][3:].startswith(": the value chosen here"):
        yield from _chosen(functions)


def _chosen(functions: Mapping[str, Callable[..., Any]]) -> Iterator[str]:
    """The lines of the expressions that a statement chooses from, if they differ."""
    locations = {}
    for when, function in functions.items():
        for code in _user_code(function):
            lines = {line for _, _, line in code.co_lines() if line is not None}
            locations[when] = code.co_filename, max(lines, default=code.co_firstlineno)
    if len(set(locations.values())) > 1:
        texts = [f"that of {f}:{line} {when}" for when, (f, line) in locations.items()]
        yield f"  the value is {' and '.join(texts)}"


def _lines_assigning(function: Callable[..., Any], name: str) -> set[tuple[str, int]]:
    """The lines on which the user's code behind a function assigns a variable."""
    owner, _, attribute = name.rpartition(".")
    stores = frozenset({"STORE_ATTR"}) if owner else _STORES
    return {
        (code.co_filename, line)
        for code in _user_code(function)
        for line in _lines(code, attribute, stores)
    }


def _user_code(function: Any) -> Iterator[CodeType]:
    """The user's code that a function calls through its closure."""
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
