"""Targets of the command line: a file, the files of a folder, standard input, a module,
or a function or class in one. `main` reads their source here, without executing it.

>>> parse_target("pkg/clip.py::Clip.apply")
TargetName(kind='file', name='pkg/clip.py', qualname='Clip.apply')
>>> parse_target("json.decoder:JSONDecoder")
TargetName(kind='module', name='json.decoder', qualname='JSONDecoder')
>>> parse_target("-")
TargetName(kind='stdin', name='-', qualname='')
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, PathFinder
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics import Diagnostic, Location
from ..errors import SourceError, TargetError
from .notebooks import Cell, cells_of

if TYPE_CHECKING:
    from ..source.text import Source

Span = tuple[int, int]
"""The first and the last line of a definition, from 1, decorators included."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class TargetName(NamedTuple):
    """The parts of a target."""

    kind: str
    """``'file'``, ``'module'`` or ``'stdin'``."""
    name: str
    qualname: str = ""
    """The function or class wanted, such as ``Class.method``; empty for all of it."""


def parse_target(text: str) -> TargetName:
    """Parse a target; a name that could be a module is a file if such a file exists."""
    # See `main._spaced`.
    text = text[1:] if text.startswith(" -::") else text
    path, separator, qualname = text.partition("::")
    if path == "-":
        return TargetName("stdin", path, qualname)
    if separator or path.endswith((".py", ".ipynb")) or os.path.exists(path):
        return TargetName("file", path, qualname)
    module, _, qualname = path.partition(":")
    if _MODULE.fullmatch(module):
        return TargetName("module", module, qualname)
    return TargetName("file", path)


def read_notebook(target: TargetName) -> list[Cell] | None:
    """The code cells of a notebook, or None of any other target.

    Raises:
        TargetError: AG401, the file is not there, or no notebook of Python.
    """
    if target.kind != "file" or not target.name.endswith(".ipynb"):
        return None
    return cells_of(_read_bytes(target), target.name)


def folders_of(target: str) -> list[str]:
    """The folder that a target is, or those of the package that it names."""
    if os.path.isdir(target):
        return [target]
    name = parse_target(target)
    if name.kind != "module" or name.qualname:
        return []
    spec = find_module_spec(name.name)
    return list(spec.submodule_search_locations or ()) if spec else []


def files_in(
    folder: str, suffixes: tuple[str, ...] = tuple(SOURCE_SUFFIXES)
) -> list[str]:
    """The Python files in a folder and in those inside it, in order of their names.

    Hidden files and folders (``.venv``) are left out, and virtual environments. A
    folder that cannot be listed is included itself, so that reading it gives the error.
    """
    paths: list[str] = []
    unread: list[OSError] = []
    for path, folders, files in os.walk(folder, onerror=unread.append):
        if "pyvenv.cfg" in files and path != folder:
            folders.clear()
            continue
        folders[:] = sorted(inner for inner in folders if not inner.startswith("."))
        paths += [
            os.path.join(path, file)
            for file in sorted(files)
            if file.endswith(suffixes) and not file.startswith(".")
        ]
    return [*map(os.path.normpath, paths), *(error.filename for error in unread)]


def read_target(target: TargetName) -> Source:
    """The source that the target is in, decoded as Python would.

    Raises TargetError (AG401 unreadable file, AG402 no such module) and SourceError
    (AG100, not decodable).
    """
    if target.kind == "stdin":
        return _decode(sys.stdin.buffer.read(), "<stdin>")
    if target.kind == "file":
        return _decode(_read_bytes(target), target.name)
    spec = find_module_spec(target.name)
    if spec is None:
        raise _no_module(target)
    get_source = getattr(spec.loader, "get_source", None)
    if not spec.has_location or get_source is None or spec.origin is None:
        raise TargetError(
            Diagnostic("AG402", f"module `{target.name}` has no Python source")
        )
    if os.path.isfile(spec.origin) and spec.origin.endswith(tuple(SOURCE_SUFFIXES)):
        return _decode(_read_bytes(TargetName("file", spec.origin)), spec.origin)
    text = get_source(target.name)  # such as a module in a zip archive
    if text is None:
        raise TargetError(
            Diagnostic("AG402", f"module `{target.name}` has no Python source")
        )
    return _source(text, spec.origin)


def find_module_spec(name: str) -> ModuleSpec | None:
    """The spec of a module, found without importing it or its parent packages.

    The current folder is searched last, as the installed command does not have it on
    `sys.path`.
    """
    path: list[str] | None = None
    spec: ModuleSpec | None = None
    names = name.split(".")
    for length in range(1, len(names) + 1):
        spec = _find_spec(".".join(names[:length]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return spec


def _find_spec(name: str, path: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find_spec(name, path) if find_spec else None
        if spec is not None:
            return spec
    return PathFinder.find_spec(name, [os.getcwd()]) if path is None else None


def _no_module(target: TargetName) -> TargetError:
    fix, name = "", target.name
    parent, _, last = name.rpartition(".")
    if os.path.isfile(name):
        fix = f"it is a file: write `{name}::{target.qualname}`"
    elif parent and find_module_spec(parent) is not None:
        fix = f"if `{last}` is defined in `{parent}`, write `{parent}:{last}`"
    return TargetError(Diagnostic("AG402", f"there is no module `{name}`", fix=fix))


def _read_bytes(target: TargetName) -> bytes:
    path = target.name
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        why, fix = error.strerror or str(error), ""
        outer, _, qualname = path.rpartition(":")
        if os.path.isdir(path):
            if os.access(path, os.R_OK):
                why = "the folder has no Python files"
        elif os.path.isfile(outer):
            fix = f"a function of a file has two colons: write `{outer}::{qualname}`"
        elif _MODULE.fullmatch(path) and find_module_spec(path) is not None:
            part = f":{target.qualname}" if target.qualname else ""
            fix = f"a function of a module has one colon: write `{path}{part}`"
        diagnostic = Diagnostic("AG401", f"cannot read `{path}`", why, fix=fix)
        raise TargetError(diagnostic) from error


def _decode(data: bytes, filename: str) -> Source:
    ends = _LINE_END.search(data)
    line_end = "\n" if ends is None else ends[0].decode()
    try:
        return _source(importlib.util.decode_source(data), filename, line_end)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reason, location = str(error), Location(filename, line)
    except SyntaxError as error:  # an unknown coding declaration
        reason, location = error.msg, Location(filename, 1)
    except (LookupError, UnicodeError) as error:  # "hex", which is none for texts
        reason, location = str(error), Location(filename, 1)
    raise SourceError(
        Diagnostic(
            "AG100", "the source is not valid Python", reason, location, source=""
        )
    )


def _source(text: str, filename: str, line_end: str = "\n") -> Source:
    from ..source.text import Source

    return Source(text, filename, line_end)


def spans(source: Source, qualname: str) -> tuple[Span, ...]:
    """The lines of the definitions that `qualname` names in `source`, in order.

    There are several for overloads, property setters and conditional definitions.
    Raises TargetError AG403 with the nearest name if there are none.
    """
    path = [part for part in qualname.split(".") if part != "<locals>"]
    tree = ast.parse(source.text, source.filename)
    definitions = _find(tree, path)
    if definitions:
        return tuple(map(_span, definitions))
    names = sorted(set(_all_names(tree, "")))
    near = difflib.get_close_matches(qualname, names, n=1)
    if not near:  # the right name in the wrong class, or without its class
        near = [n for n in names if n.rpartition(".")[2] == path[-1]][:3]
    raise TargetError(
        Diagnostic(
            "AG403",
            f"there is no `{qualname}` in {source.filename}",
            "" if names else "the file defines no function or class",
            fix="did you mean " + " or ".join(f"`{n}`" for n in near) + "?"
            if near
            else "",
        )
    )


def excerpt(text: str, qualname: str) -> str:
    """The definitions that `qualname` names in converted code, as code of their own.

    Conversion may move an inner function into a generated one: it is found there too.
    """
    names = [part for part in qualname.split(".") if part != "<locals>"]
    lines = text.split("\n")
    pieces = []
    for first, last in map(_span, _find(ast.parse(text), names, deep=True)):
        pieces.append(textwrap.dedent("\n".join(lines[first - 1 : last])) + "\n")
    return "\n\n".join(pieces)


def _find(tree: ast.AST, names: list[str], deep: bool = False) -> list[_Definition]:
    """The definitions of a qualified name; `deep` looks into other functions too."""
    scopes: list[Any] = [tree]
    for name in names:
        inner = [list(_definitions(node)) for node in scopes]
        matches = [d for ds in inner for d in ds if d.name == name]
        while deep and not matches and any(inner):
            inner = [list(_definitions(d)) for ds in inner for d in ds]
            matches = [d for ds in inner for d in ds if d.name == name]
        scopes = matches
    return scopes


def _definitions(node: ast.AST) -> Iterator[_Definition]:
    """The functions and classes of a scope, without theirs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _definitions(child)


def _all_names(node: ast.AST, prefix: str) -> Iterator[str]:
    for child in _definitions(node):
        yield prefix + child.name
        yield from _all_names(child, f"{prefix}{child.name}.")


def _span(node: _Definition) -> Span:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return first, node.end_lineno or first


def is_within(diagnostic: Diagnostic, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a finding is in one of the definitions, or has no place."""
    location = diagnostic.location
    return location is None or any(a <= location.lineno <= b for a, b in spans)
