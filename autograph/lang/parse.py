"""From source to gast trees.

Trees are walked by recursion, so code that Python compiles can still be nested too
deeply. In the tree of a module, a placeholder has the position of such a statement,
most often a whole function, and binds its names; the compiled module has the statement
itself.
"""

from __future__ import annotations

import ast
import os
import threading
import warnings
from collections.abc import Mapping
from typing import Any, cast

import gast

from ..diagnostics import Diagnostic, Location
from ..errors import SourceError
from . import nodes
from .source import Source
from .visitors import clone

__all__ = [
    "Skipped",
    "parse_ast",
    "parse_module",
    "restore_skipped",
    "skipped_statement",
    "to_gast",
    "too_deep",
]


def parse_module(source: Source) -> tuple[gast.Module, Skipped]:
    """The tree of a whole source, and the statements that it has placeholders for.

    A syntax error raises a located SourceError AG100.

    >>> tree, _ = parse_module(Source("a = 1"))
    >>> tree.body[0].targets[0].id
    'a'
    >>> parse_module(Source("a = = 1", "f.py"))
    Traceback (most recent call last):
        ...
    autograph.errors.SourceError: f.py:1:5: AG100 the source is not valid Python
       1 | a = = 1
         |     ^
      why: invalid syntax
    """
    tree = parse_ast(source)
    try:
        return gast.ast_to_gast(tree), {}
    except RecursionError:
        skipped: Skipped = {}
        return _skip_deep(tree, skipped), skipped


def to_gast(tree: ast.AST, source: Source) -> Any:
    """The gast tree; SourceError AG105 if it is nested too deeply."""
    try:
        return gast.ast_to_gast(tree)
    except RecursionError as error:
        raise too_deep(source, tree) from error


#: Threads that parse at once confuse the interpreter (a SystemError until Python
#: 3.12.2) and the filters of warnings, which all threads share.
_parsing = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: cast(Any, _parsing)._at_fork_reinit())


def parse_ast(source: Source) -> ast.Module:
    """The standard library's tree, with errors located and warnings left out."""
    try:
        with _parsing, warnings.catch_warnings():
            # Python warned about a `"\d"` when it compiled the file for its user.
            warnings.simplefilter("ignore")
            return ast.parse(source.text, source.filename)
    except SyntaxError as error:
        raise _syntax_error(source, error.msg, error) from error
    except (RecursionError, MemoryError) as error:
        raise too_deep(source) from error
    except ValueError as error:  # null bytes, until Python 3.12
        raise _syntax_error(source, str(error)) from error


def _syntax_error(
    source: Source, message: str, error: SyntaxError | None = None
) -> SourceError:
    location = Location(source.filename, 1)
    if error is not None and error.lineno is not None:
        # Python counts characters from 1 here, the diagnostics bytes from 0.
        line = source.lines[min(error.lineno, len(source.lines)) - 1]
        column = len(line[: max((error.offset or 1) - 1, 0)].encode())
        location = Location(source.filename, error.lineno, column)
    title = "the source is not valid Python"
    return SourceError(
        Diagnostic("AG100", title, message, location, source=source.text)
    )


def too_deep(source: Source, tree: ast.AST | None = None) -> SourceError:
    """The error for valid code whose tree cannot be walked, at its deepest line."""
    deepest, line = 0, 1
    pending = [] if tree is None else [(tree, 0, 1)]
    while pending:
        node, depth, lineno = pending.pop()
        lineno = getattr(node, "lineno", lineno)
        if depth > deepest:
            deepest, line = depth, lineno
        pending += [(child, depth + 1, lineno) for child in ast.iter_child_nodes(node)]
    return SourceError(
        Diagnostic(
            "AG105",
            "the code is nested too deeply",
            "each operator, bracket, block and `elif` is a level, and so many cannot "
            "be converted",
            Location(source.filename, line),
            "split it into functions, or look the value up in a dict",
            source.text,
        )
    )


# --- statements nested too deeply ---

#: Sentinel constants begin so; the NUL cannot occur in user source.
_MARK = "\0autograph skipped "

#: The skipped statements, by the sentinels in their places.
Skipped = dict[str, ast.stmt]


def _skip_deep(tree: ast.Module, skipped: Skipped) -> gast.Module:
    """The tree with placeholders for statements that are nested too deeply.

    ``skipped`` collects those.
    """
    return gast.Module([_part(statement, skipped) for statement in tree.body], [])


def _part(statement: ast.stmt, skipped: Skipped) -> Any:
    try:
        return gast.ast_to_gast(statement)
    except RecursionError:
        pass
    if isinstance(statement, ast.ClassDef):
        try:
            return _class(statement, skipped)
        except RecursionError:
            pass  # its bases or decorators are
    mark = f"{_MARK}{len(skipped)}"
    skipped[mark] = statement
    return _placeholder(statement, mark)


def _class(statement: ast.ClassDef, skipped: Skipped) -> Any:
    fields = {name: getattr(statement, name) for name in statement._fields}
    shell = ast.ClassDef(**{**fields, "body": []})
    new = gast.ast_to_gast(ast.copy_location(shell, statement))
    return clone(new, body=[_part(inner, skipped) for inner in statement.body])


def _placeholder(statement: ast.stmt, mark: str) -> Any:
    decorators = getattr(statement, "decorator_list", [])
    lineno = min([statement.lineno, *(node.lineno for node in decorators)])
    at = gast.Pass()
    at.lineno, at.col_offset = lineno, statement.col_offset
    at.end_lineno, at.end_col_offset = statement.end_lineno, statement.end_col_offset
    value = nodes.constant(mark, at)
    targets = [nodes.target(name, at) for name in _bound(statement)]
    if not targets:
        return nodes.located(gast.Expr(value), at)
    return nodes.located(gast.Assign(targets, value, None), at)


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement may bind in its scope, and maybe some others."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    names: dict[str, None] = {}
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names[node.name] = None
        elif isinstance(node, ast.alias):
            names[(node.asname or node.name).partition(".")[0]] = None
    return list(names)


def skipped_statement(
    statement: Any, skipped: Mapping[str, ast.stmt]
) -> ast.stmt | None:
    """The statement that a placeholder stands for; None for any other statement."""
    value = getattr(statement, "value", None)
    text = getattr(value, "value", None)
    return skipped.get(text) if isinstance(text, str) else None


def restore_skipped(module: ast.Module, skipped: Mapping[str, ast.stmt]) -> ast.Module:
    """Put the skipped statements back in place of their placeholders."""
    pending: list[Any] = [module] if skipped else []
    while pending:
        node = pending.pop()
        node.body = [skipped_statement(s, skipped) or s for s in node.body]
        pending += [s for s in node.body if isinstance(s, ast.ClassDef)]
    return module
