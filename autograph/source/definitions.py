"""The definition of a function object in its source.

The pipeline calls `find_function`. A file is parsed once, by the standard library; only
the node of the requested function becomes a gast tree. So the first function of a file
costs the parse, further ones almost nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

import gast

from ..diagnostics import Diagnostic, Location
from ..errors import SourceError
from ..interpreter import cached_property
from ..trees.translate import to_gast
from ..trees.visitors import all_blocks
from .code_objects import FUTURE_FLAGS, codes_in
from .parse import parse_ast
from .text import Source, code_of, source_of


class Definition:
    """A function's definition in its source."""

    def __init__(
        self,
        source: Source,
        node: gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda,
        enclosing: tuple[Any, ...],
    ) -> None:
        self.source = source
        #: A tree that nothing else refers to.
        self.node = node
        #: The definitions and lambdas around it, nodes of `ast`, outermost first.
        self.enclosing = enclosing

    @property
    def class_name(self) -> str | None:
        """The innermost class around."""
        classes = (o.name for o in reversed(self.enclosing) if type(o) is ast.ClassDef)
        return next(classes, None)

    @property
    def mangling_class(self) -> str | None:
        """The class by which private names (``__x``) are mangled, if there are any."""
        lines = self.source.lines[self.node.lineno - 1 : self.node.end_lineno]
        text = "\n".join(lines)
        names = re.findall(r"\b__\w+", text)
        if text.isascii() and all(name.endswith("__") for name in names):
            return None
        return self.class_name


def find_function(fn: Any) -> Definition:
    """The definition of a function, method, lambda or code object.

    Raises SourceError: AG102 if there is no text, or it no longer holds the function;
    AG103 if several lambdas fit; AG100 if the text is not valid Python.

    >>> find_function(find_function).node.name
    'find_function'
    """
    source = source_of(fn)
    code = code_of(fn)
    if code is None:
        raise _not_found(fn, source, "it is not a function")
    definitions = _definitions(source)
    if code.co_name == "<lambda>":
        candidates = definitions.lambdas.get(code.co_firstlineno, [])
        candidate = _choose_lambda(code, source, candidates)
        if candidate is None:
            why = f"line {code.co_firstlineno} no longer holds this lambda"
            raise _not_found(fn, source, why)
    else:
        candidate = definitions.functions.get((code.co_firstlineno, code.co_name))
        if candidate is None:
            why = f"line {code.co_firstlineno} no longer defines `{code.co_name}`"
            raise _not_found(fn, source, why)
    node, enclosing = candidate
    if _was_edited(fn, node, definitions):
        why = f"line {code.co_firstlineno} is not what was imported"
        raise _not_found(fn, source, why)
    return Definition(source, to_gast(node), enclosing)


def _not_found(fn: Any, source: Source, why: str) -> SourceError:
    name = getattr(fn, "__qualname__", None) or getattr(fn, "co_name", repr(fn))
    message = f"`{name}` was not found in {source.filename}: {why}"
    fix = "reload the module if its file was edited after the import"
    return SourceError(Diagnostic("AG102", "no source", message, fix=fix))


#: A definition, and the definitions around it.
_Candidate = tuple[Any, tuple[Any, ...]]


class _Definitions:
    """The functions of a parsed file, by their first lines."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = parse_ast(source)
        #: By name and first line, decorators included, as in code objects. Also by the
        #: line of the `def`, where converted code begins.
        self.functions: dict[tuple[int, str], _Candidate] = {}
        #: The imports of the module itself.
        self.imports: list[ast.stmt] = []
        for node, enclosing in _statements(self.tree.body, ()):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for line in (_first_line(node), node.lineno):
                    self.functions[line, node.name] = node, enclosing
            elif isinstance(node, (ast.Import, ast.ImportFrom)) and not enclosing:
                self.imports.append(node)

    @cached_property
    def lambdas(self) -> dict[int, list[_Candidate]]:
        """By line."""
        by_line: dict[int, list[_Candidate]] = {}
        stack: list[_Candidate] = [(self.tree, ())]
        while stack:
            node, enclosing = stack.pop()
            if isinstance(node, ast.Lambda):
                by_line.setdefault(node.lineno, []).append((node, enclosing))
            inner = (*enclosing, node) if type(node) in _SCOPES else enclosing
            children = list(ast.iter_child_nodes(node))
            stack.extend((child, inner) for child in reversed(children))
        return by_line


def _first_line(statement: Any) -> int:
    decorators = getattr(statement, "decorator_list", ())
    return int(min([statement.lineno, *(d.lineno for d in decorators)]))


def _statements(
    body: list[ast.stmt], enclosing: tuple[Any, ...]
) -> Iterator[_Candidate]:
    """All compound statements below `body`, which is where any `def` is."""
    pending = [(statement, enclosing) for statement in reversed(body)]
    while pending:
        statement, enclosing = pending.pop()
        if isinstance(statement, _SIMPLE):
            continue
        yield statement, enclosing
        inner = (*enclosing, statement) if type(statement) in _SCOPES else enclosing
        blocks = [(part, inner) for block in all_blocks(statement) for part in block]
        pending += reversed(blocks)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_SIMPLE = (ast.Expr, ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign)


def _definitions(source: Source) -> _Definitions:
    definitions = _parsed.get(source.filename)
    if definitions is None or definitions.source != source:
        definitions = _parsed[source.filename] = _Definitions(source)
    return definitions


#: Per file name, the text that was parsed last.
_parsed: dict[str, _Definitions] = {}

# --- lambdas ---
# A code object knows its first line, and from Python 3.11 on the position of each
# instruction. Without positions (3.10, ``-X no_debug_ranges``) the candidates are
# compiled and compared.


def _choose_lambda(
    code: CodeType, source: Source, candidates: Sequence[_Candidate]
) -> _Candidate | None:
    """The candidate that `code` was compiled from, None if none fits.

    The candidates are the lambdas that begin on the first line of `code`. SourceError
    AG103 if several fit and differ.
    """
    fitting = [c for c in candidates if _parameters(c[0]) == _arguments(code)]
    if len(fitting) > 1:
        fitting = _by_position(code, fitting) or _by_bytecode(code, source, fitting)
    if len({ast.dump(node) for node, _ in fitting}) > 1:
        raise _ambiguous(source, fitting[0][0])
    return fitting[0] if fitting else None


def _arguments(code: CodeType) -> list[str]:
    """The parameter names of a code object, in the order of its variables."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return list(code.co_varnames[:count])


def _parameters(node: ast.Lambda) -> list[str]:
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [arg.arg for arg in (*named, *rest)]


def _by_position(code: CodeType, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The innermost candidates whose body holds all instructions of `code`."""
    if not hasattr(code, "co_positions"):
        return []
    extents = [
        ((line, col), (end_line, end_col))
        for line, end_line, col, end_col in code.co_positions()
        # The instructions of the call itself (RESUME, COPY_FREE_VARS) have no extent.
        if None not in (line, end_line, col, end_col)
        and (line, col) != (end_line, end_col)
    ]
    if not extents:
        return []
    start = min(extent[0] for extent in extents)
    end = max(extent[1] for extent in extents)
    holding = [c for c in candidates if _begin(c) <= start and end <= _end(c)]
    innermost = max((_begin(c) for c in holding), default=None)
    return [c for c in holding if _begin(c) == innermost]


def _begin(candidate: _Candidate) -> tuple[int, int]:
    body = candidate[0].body
    return (body.lineno, body.col_offset)


def _end(candidate: _Candidate) -> tuple[int, int]:
    body = candidate[0].body
    return (body.end_lineno, body.end_col_offset)


def _by_bytecode(
    code: CodeType, source: Source, candidates: Sequence[_Candidate]
) -> list[_Candidate]:
    """The candidates that compile to the instructions of `code`."""
    wanted = _essence(code)
    flags = code.co_flags & FUTURE_FLAGS
    compiled = [_essence(_compiled_lambda(c[0], source, flags)) for c in candidates]
    return [c for c, essence in zip(candidates, compiled) if essence == wanted]


def _compiled_lambda(node: ast.Lambda, source: Source, flags: int) -> CodeType:
    """The code object of a lambda, compiled in its place in the source."""
    tree = ast.parse(source.text, source.filename)
    start = (node.lineno, node.col_offset)
    shift = len(source.lines)
    for other in ast.walk(tree):
        if isinstance(other, ast.Lambda) and (other.lineno, other.col_offset) == start:
            # Line numbers that no other code has identify its code object.
            ast.increment_lineno(other, shift)
    module = _compiled(tree, source.filename, flags)
    return next(code for code in codes_in(module) if code.co_firstlineno > shift)


def _compiled(module: ast.Module, filename: str, flags: int) -> CodeType:
    with warnings.catch_warnings():
        # Python warned about an `x is 0` when it compiled the file for its user.
        warnings.simplefilter("ignore")
        code: CodeType = compile(module, filename, "exec", flags, dont_inherit=True)
    return code


def _essence(code: CodeType) -> tuple[Any, ...]:
    """The instructions and names of a code object, without its lines."""
    constants = [
        _essence(c) if isinstance(c, CodeType) else (type(c), repr(c))
        for c in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, names, constants)


def _ambiguous(source: Source, node: ast.Lambda) -> SourceError:
    return SourceError(
        Diagnostic(
            "AG103",
            "the function cannot be told apart",
            "several lambdas on this line compile to the same instructions",
            Location.of(node, source.filename),
            fix="put each lambda on a line of its own",
            source=source.text,
        )
    )


# --- edited files ---
# Converting a function whose file was edited after the import would silently run the
# new text in place of the imported one.


def _was_edited(fn: Any, node: Any, definitions: _Definitions) -> bool:
    """Whether the text of a function differs from the text that was compiled.

    Only for Python's own loader: others may rewrite the text, as pytest does for
    assertions.
    """
    if not isinstance(fn, FunctionType):
        return False
    if type(fn.__globals__.get("__loader__")) is not SourceFileLoader:
        return False
    if _is_of_converted_module(fn):
        return False
    # Consoles and doctests compile with the `__future__` imports around a text.
    flags = fn.__code__.co_flags & FUTURE_FLAGS
    filename = definitions.source.filename
    # The compiler treats calls of imported names in its own way.
    body = [*definitions.imports, *_around(node.lineno, definitions.tree.body)]
    for module in (ast.Module(body, []), definitions.tree):  # in doubt, all of it
        if fn.__code__ in codes_in(_compiled(module, filename, flags)):
            return False
    return True


def _around(lineno: int, body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a module or class that hold a line.

    Functions cannot see the variables of a class, and variables of a module are global
    anyway: only these statements affect how the line compiles.
    """
    statements = [s for s in body if _first_line(s) <= lineno <= (s.end_lineno or 0)]
    if len(statements) == 1 and isinstance(statements[0], ast.ClassDef):
        outer = statements[0]
        if _first_line(outer.body[0]) <= lineno:
            fields = {**outer.__dict__, "body": _around(lineno, outer.body)}
            statements = [ast.ClassDef(**fields)]
    return statements


def _is_of_converted_module(fn: FunctionType) -> bool:
    """Whether a module was converted as a whole: its code differs from its text."""
    modules = (v for v in fn.__globals__.values() if isinstance(v, ModuleType))
    return any(module.__name__ == "autograph.operators" for module in modules)
