"""A function that tells what its variables are after each of its statements.

`verify` runs such functions where two ways of running the same one part, to find the
statement where they do.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from ..ownership import do_not_convert
from ..source.code_objects import codes_in
from ..source.definitions import find_function

_NOTE = "_note_of_verify"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_numbers = itertools.count(1)


def observed(
    function: FunctionType, note: Callable[[int, str, Any], None]
) -> FunctionType:
    """The same function, which calls ``note(line, variable, value)`` on its way.

    It has globals, defaults and closure of the original; its text is in `linecache`, so
    that it can be converted.

    Raises:
        SourceError: the text of the function is not found.
        ValueError: it is a lambda, or written where its text alone does not say what it
            means.
    """
    found = find_function(function)
    tree = ast.parse(found.source.text)
    definition = next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            and (node.lineno, node.name) == (found.node.lineno, function.__name__)
        ),
        None,
    )
    if definition is None:
        raise ValueError(f"{function.__name__} is no plain function")
    definition.decorator_list = []
    definition.body = list(_with_notes(definition.body))
    free = function.__code__.co_freevars
    around = ast.parse(f"def _around({', '.join([*free, _NOTE])}): pass").body[0]
    around.body = [definition]  # type: ignore[attr-defined]
    text = ast.unparse(around)
    filename = f"<{function.__name__}, observed {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    code = next(
        code
        for code in codes_in(compile(text, filename, "exec", dont_inherit=True))
        if code.co_name == function.__name__
    )
    return _bound(code, function, do_not_convert(note))


def _bound(code: CodeType, original: FunctionType, note: Any) -> FunctionType:
    names, values = original.__code__.co_freevars, original.__closure__ or ()
    cells = dict(zip(names, values, strict=True)) | {_NOTE: CellType(note)}
    new = FunctionType(
        code,
        original.__globals__,
        original.__name__,
        original.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    new.__kwdefaults__ = original.__kwdefaults__
    return new


def _with_notes(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, each that binds variables with a note of them behind it."""
    for statement in body:
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if inner and not isinstance(statement, _SCOPES):
                notes = _notes(statement) if field == "body" else []
                setattr(statement, field, [*notes, *_with_notes(inner)])
        for handler in getattr(statement, "handlers", ()):
            handler.body = list(_with_notes(handler.body))
        for case in getattr(statement, "cases", ()):
            case.body = list(_with_notes(case.body))
        yield statement
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            yield from _notes(statement)


def _notes(statement: ast.stmt) -> list[ast.stmt]:
    """The calls that tell of what a statement binds, as far as that are variables."""
    targets: list[ast.expr] = list(getattr(statement, "targets", ()))
    if getattr(statement, "value", True) is not None:  # a declaration binds nothing
        targets += filter(None, [getattr(statement, "target", None)])
    names = dict.fromkeys(name for target in targets for name in _variables(target))
    lines = [f"{_NOTE}({statement.lineno}, {name!r}, {name})" for name in names]
    return list(ast.parse("\n".join(lines)).body)


def _variables(target: ast.expr) -> Iterator[str]:
    """The variables of a target: of ``xs[i].y`` it is ``xs``."""
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _variables(part)
    elif isinstance(target, ast.Name) and not target.id.startswith("__"):
        yield target.id
