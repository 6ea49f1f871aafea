"""Modules with code that is nested too deeply: the rest of them, and that code kept.

Trees are walked by recursion, so code that Python compiles can still be nested too
deeply. The statements that are, most often whole functions, stand as they were: in the
tree a placeholder has their position and binds their names, and the compiled module has
the statements themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import gast

from . import nodes
from .visitors import clone

__all__ = ["kept_in", "restored", "without_deep"]

_MARK = "\0autograph kept "

#: The statements that were left out, by the texts in their places.
Kept = dict[str, ast.stmt]


def without_deep(tree: ast.Module, kept: Kept) -> gast.Module:
    """The tree with placeholders for statements that are nested too deeply.

    ``kept`` collects those.
    """
    return gast.Module([_part(statement, kept) for statement in tree.body], [])


def _part(statement: ast.stmt, kept: Kept) -> Any:
    try:
        return gast.ast_to_gast(statement)
    except RecursionError:
        pass
    if isinstance(statement, ast.ClassDef):
        try:
            return _class(statement, kept)
        except RecursionError:
            pass  # its bases or decorators are
    mark = f"{_MARK}{len(kept)}"
    kept[mark] = statement
    return _placeholder(statement, mark)


def _class(statement: ast.ClassDef, kept: Kept) -> Any:
    fields = {name: getattr(statement, name) for name in statement._fields}
    shell = ast.ClassDef(**{**fields, "body": []})
    new = gast.ast_to_gast(ast.copy_location(shell, statement))
    return clone(new, body=[_part(inner, kept) for inner in statement.body])


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


def kept_in(statement: Any, kept: Mapping[str, ast.stmt]) -> ast.stmt | None:
    """The statement that a placeholder stands for; None for any other statement."""
    value = getattr(statement, "value", None)
    text = getattr(value, "value", None)
    return kept.get(text) if isinstance(text, str) else None


def restored(module: ast.Module, kept: Mapping[str, ast.stmt]) -> ast.Module:
    """The module with the statements that were kept in their places."""
    if kept:
        _restore(module, lambda statement: kept_in(statement, kept) or statement)
    return module


def _restore(node: Any, original: Callable[[ast.stmt], ast.stmt]) -> None:
    node.body = [original(statement) for statement in node.body]
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            _restore(statement, original)
