"""Parsing: from `Source` to trees, with located errors AG100 and AG105."""

from __future__ import annotations

import ast
import os
import threading
import warnings
from typing import Any, cast

import gast

from ..diagnostics import Diagnostic, Location
from ..errors import SourceError
from ..trees.translate import to_gast
from .text import Source


def parse_module(source: Source) -> gast.Module:
    """The gast tree of a source; a syntax error raises a located SourceError AG100.

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
    return to_gast(parse_ast(source))


#: One thread parses at a time: parallel parsing breaks the interpreter (a SystemError
#: until Python 3.12.2) and the filters of warnings, which all threads share.
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
