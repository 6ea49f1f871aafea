"""From source to gast trees: whole modules, and the definition of a function object.

A file is parsed once, by the standard library; of a function asked for, only its own
node becomes a gast tree. So the first function of a file costs the parse, the others
next to nothing.
"""

from __future__ import annotations

import ast
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any, cast

import gast

from ..diagnostics import Diagnostic, Location
from ..errors import SourceError
from .cached import cached_property
from .deep import Kept, without_deep
from .edited import was_edited
from .source import Source, code_of, source_of

__all__ = [
    "Enclosing",
    "Found",
    "find_function",
    "parse_module",
    "parse_parts",
    "too_deep",
]


class Enclosing:
    """A function, lambda or class that a definition stands in."""

    def __init__(self, kind: str, name: str, lineno: int) -> None:
        #: ``'function'``, ``'class'`` or ``'lambda'``.
        self.kind = kind
        self.name = name
        self.lineno = lineno


class Found:
    """A function's definition in its source."""

    def __init__(
        self,
        source: Source,
        node: gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda,
        enclosing: tuple[Enclosing, ...],
    ) -> None:
        self.source = source
        #: A tree of its own: nobody else holds it.
        self.node = node
        #: The definitions around it, outermost first.
        self.enclosing = enclosing

    @property
    def class_name(self) -> str | None:
        """The innermost class around; private names (``__x``) are mangled with it."""
        classes = [outer.name for outer in self.enclosing if outer.kind == "class"]
        return classes[-1] if classes else None


def parse_module(source: Source) -> gast.Module:
    """The tree of a whole source; a syntax error raises a located SourceError AG100.

    >>> parse_module(Source("a = 1")).body[0].targets[0].id
    'a'
    >>> parse_module(Source("a = = 1", "f.py"))
    Traceback (most recent call last):
        ...
    autograph.errors.SourceError: f.py:1:5: AG100 the source is not valid Python
       1 | a = = 1
         |     ^
      why: invalid syntax
    """
    return _to_gast(_parse(source), source)


def parse_parts(source: Source) -> tuple[gast.Module, Kept]:
    """The tree of a whole source, without the statements that are nested too deeply.

    Those have placeholders in the tree: see `autograph.lang.deep`.
    """
    tree = _parse(source)
    try:
        return gast.ast_to_gast(tree), {}
    except RecursionError:
        kept: Kept = {}
        return without_deep(tree, kept), kept


def find_function(fn: Any) -> Found:
    """The definition of a function, method, lambda or code object.

    Raises SourceError: AG102 if there is no text, or it no longer holds the function;
    AG103 if several lambdas fit; AG100 if the text is not valid Python; AG105 if it is
    nested too deeply.

    >>> find_function(find_function).node.name
    'find_function'
    """
    source = source_of(fn)
    code = code_of(fn)
    if code is None:
        raise _not_found(fn, source, "it is not a function")
    definitions = _definitions(source)
    if code.co_name == "<lambda>":
        from .lambdas import choose_lambda  # most functions have a name

        candidates = definitions.lambdas.get(code.co_firstlineno, [])
        found = choose_lambda(code, source, candidates)
        if found is None:
            why = f"line {code.co_firstlineno} no longer holds this lambda"
            raise _not_found(fn, source, why)
    else:
        found = definitions.functions.get((code.co_firstlineno, code.co_name))
        if found is None:
            why = f"line {code.co_firstlineno} no longer defines `{code.co_name}`"
            raise _not_found(fn, source, why)
    node, enclosing = found
    if was_edited(fn, source):
        why = f"line {code.co_firstlineno} is not what was imported"
        raise _not_found(fn, source, why)
    return Found(source, _to_gast(node, source), enclosing)


def _to_gast(tree: ast.AST, source: Source) -> Any:
    try:
        return gast.ast_to_gast(tree)
    except RecursionError as error:
        raise too_deep(source, tree) from error


#: Threads that parse at once confuse the interpreter (a SystemError until Python
#: 3.12.2) and the filters of warnings, which all threads share.
_parsing = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: cast(Any, _parsing)._at_fork_reinit())


def _parse(source: Source) -> ast.Module:
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
    """The error for valid code that trees cannot be walked of, at its deepest line."""
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


def _not_found(fn: Any, source: Source, why: str) -> SourceError:
    name = getattr(fn, "__qualname__", None) or getattr(fn, "co_name", repr(fn))
    message = f"`{name}` was not found in {source.filename}: {why}"
    fix = "reload the module if its file was edited after the import"
    return SourceError(Diagnostic("AG102", "no source", message, fix=fix))


_Definition = tuple[ast.AST, tuple[Enclosing, ...]]


class _Definitions:
    """Where the functions of a parsed file begin."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._tree = _parse(source)

    @cached_property
    def functions(self) -> dict[tuple[int, str], _Definition]:
        """By first line, decorators included, and name: as code objects know it."""
        return {
            (_first_line(node), node.name): (node, enclosing)
            for node, enclosing in _statements(self._tree.body, ())
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        }

    @cached_property
    def lambdas(self) -> dict[int, list[_Definition]]:
        """By line. A file of functions never needs them, so they are found late."""
        found: dict[int, list[_Definition]] = {}
        stack: list[_Definition] = [(self._tree, ())]
        while stack:
            node, enclosing = stack.pop()
            if isinstance(node, ast.Lambda):
                found.setdefault(node.lineno, []).append((node, enclosing))
            inner = _enter(node, enclosing)
            children = list(ast.iter_child_nodes(node))
            stack.extend((child, inner) for child in reversed(children))
        return found


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _enter(node: ast.AST, enclosing: tuple[Enclosing, ...]) -> tuple[Enclosing, ...]:
    """The definitions around the parts of `node`."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return (*enclosing, Enclosing("function", node.name, node.lineno))
    if isinstance(node, ast.ClassDef):
        return (*enclosing, Enclosing("class", node.name, node.lineno))
    if isinstance(node, ast.Lambda):
        return (*enclosing, Enclosing("lambda", "<lambda>", node.lineno))
    return enclosing


def _statements(
    body: list[ast.stmt], enclosing: tuple[Enclosing, ...]
) -> Iterator[tuple[ast.stmt, tuple[Enclosing, ...]]]:
    """All compound statements below `body`, which is where any `def` is."""
    pending = [(statement, enclosing) for statement in reversed(body)]
    while pending:
        statement, enclosing = pending.pop()
        if isinstance(statement, _SIMPLE):
            continue
        yield statement, enclosing
        inner = _enter(statement, enclosing)
        blocks = [(part, inner) for block in _blocks(statement) for part in block]
        pending += reversed(blocks)


_SIMPLE = (ast.Expr, ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _definitions(source: Source) -> _Definitions:
    known = _parsed.get(source.filename)
    if known is None or known.source != source:
        known = _parsed[source.filename] = _Definitions(source)
    return known


#: Per file name, the text that was parsed last.
_parsed: dict[str, _Definitions] = {}
