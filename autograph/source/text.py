"""`Source`: the text of a file, cell or prompt, and lookup of an object's text."""

from __future__ import annotations

import linecache
import re
import sys
import tokenize
import types
import warnings
from collections.abc import Iterator
from os import PathLike, fspath
from typing import Any, NamedTuple

import gast

from ..diagnostics import Diagnostic
from ..errors import SourceError
from ..interpreter import cached_property
from .code_objects import FUTURE_FLAGS, codes_in


class _Source(NamedTuple):
    text: str
    filename: str = "<string>"
    #: The line ends of the file, which the text itself has as "\n".
    line_end: str = "\n"


class Source(_Source):
    r"""The text of a file, a notebook cell or a string, and its name.

    >>> source = Source("a = 1\nb = (2 +\n     3)\n", "f.py")
    >>> source.lines
    ('a = 1', 'b = (2 +', '     3)', '')
    """

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Source:
        """The source in a file, decoded as Python does; else SourceError AG102."""
        filename = fspath(path)
        try:
            with tokenize.open(filename) as file:
                return cls(file.read(), filename)
        except (OSError, SyntaxError, UnicodeError) as error:
            raise _no_source(f"{filename} cannot be read: {error}") from error

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends, as the parser counts them.

        Line 1 is ``lines[0]``. Form feeds and other separators do not end a line.
        """
        text = self.text
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return tuple(text.split("\n"))

    def column(self, lineno: int, col_offset: int) -> int:
        """The character column of a byte offset, as trees have them.

        >>> Source("é = x").column(1, 5)
        4
        """
        line = self.lines[lineno - 1]
        if line.isascii():
            return col_offset
        return len(line.encode()[:col_offset].decode(errors="ignore"))

    def segment(self, node: gast.AST) -> str:
        r"""The text of a located node (``ast`` or ``gast``), lines joined by ``\n``.

        >>> source = Source("a = 1\nb = (2 +\n     3)\n")
        >>> source.segment(gast.parse(source.text).body[1].value)
        '2 +\n     3'
        """
        first, last = node.lineno, node.end_lineno
        start = self.column(first, node.col_offset)
        end = self.column(last, node.end_col_offset)
        if first == last:
            return str(self.lines[first - 1][start:end])
        head = self.lines[first - 1][start:]
        tail = self.lines[last - 1][:end]
        return "\n".join([head, *self.lines[first : last - 1], tail])


def code_of(obj: Any) -> types.CodeType | None:
    """The code object of a function, method or code object; None of anything else."""
    if isinstance(obj, (types.MethodType, classmethod, staticmethod)):
        obj = obj.__func__
    if isinstance(obj, types.CodeType):
        return obj
    return obj.__code__ if isinstance(obj, types.FunctionType) else None


def source_of(obj: Any) -> Source:
    """The whole source text that `obj` was defined in.

    `obj` is a function, method, class, module or code object. Files, zip archives,
    notebook cells, doctests, statements typed at a prompt and registered generated
    code are found; an object without text raises SourceError AG102.

    >>> source_of(source_of).filename == __file__
    True
    """
    filename, namespace, code = _origin(obj)
    if filename == _PROMPT and code is not None:
        filename = _typed(code) or filename
    linecache.checkcache(filename)
    # The module attribute is used on purpose: doctest replaces it.
    lines = linecache.getlines(filename, namespace)
    if not lines:
        where = _KEEP_NO_TEXT.get(filename, f"in {filename}, whose text is not there")
        raise _no_source(f"{_name(obj)} was defined {where}")
    cached = _sources.get(filename)
    if cached is None or cached[0] is not lines:
        cached = (lines, Source("".join(lines), filename))
        _sources[filename] = cached
    return cached[1]


#: The file name of statements typed at Python's own prompt, before 3.13.
_PROMPT = "<stdin>"
#: How code gets these file names, for messages.
_KEEP_NO_TEXT = {
    _PROMPT: "at a prompt that keeps no text, nor does a terminal's history",
    "<string>": "by `exec` or `python -c`, which keep no text",
}
#: Per file: linecache's list of lines, which is a new list when the file changes.
_sources: dict[str, tuple[list[str], Source]] = {}


def _origin(obj: Any) -> tuple[str, dict[str, Any] | None, types.CodeType | None]:
    """File name, module namespace (for its loader) and code of an object."""
    if isinstance(obj, types.ModuleType):
        namespace = vars(obj)
    else:
        module = sys.modules.get(getattr(obj, "__module__", None) or "")
        namespace = getattr(obj, "__globals__", None) or getattr(module, "__dict__", {})
    code = code_of(obj)
    if code is None and isinstance(obj, type):
        # A class of a notebook cell has no file, but its methods have their cell's.
        code = next(_codes_of_class(obj), None)
    if code is not None:
        return code.co_filename, namespace, code
    import inspect  # rarely needed

    try:
        return inspect.getsourcefile(obj) or inspect.getfile(obj), namespace, None
    except (TypeError, OSError) as error:
        raise _no_source(f"{_name(obj)} is not defined in Python code") from error


def _codes_of_class(cls: type) -> Iterator[types.CodeType]:
    """The code of the methods that stand in the text of a class.

    Generated ones (of a dataclass) have no text; an Enum holds some of its base.
    """
    for member in vars(cls).values():
        value: Any = member.fget if isinstance(member, property) else member
        if code_of(value) is not None:
            import inspect

            value = inspect.unwrap(value)
        code = code_of(value)
        if code is None or getattr(value, "__module__", None) != cls.__module__:
            continue
        namespace = getattr(value, "__globals__", None)
        if linecache.getlines(code.co_filename, namespace) or _typed(code):
            yield code


def _name(obj: Any) -> str:
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    return f"`{name}`" if name else f"a `{type(obj).__name__}` object"


def _no_source(message: str) -> SourceError:
    fix = (
        "define it in a file or a notebook cell, or in a terminal (Python 3.13 keeps "
        "the text of each prompt and of `python -c`)"
    )
    return SourceError(Diagnostic("AG102", "no source", message, fix=fix))


# --- prompts ---
# Python keeps the text of statements typed at its prompt since 3.13. Before, they are
# in the history of `readline`, where the interpreter reads from a terminal. A statement
# of the history is the text of a code object if it compiles to that very code.


def _typed(code: types.CodeType) -> str | None:
    """The name under which `linecache` has the statement typed at a prompt, or None.

    The names are those that Python 3.13 gives.
    """
    if code.co_filename != _PROMPT:
        return None
    # Python compares the lines of code objects since 3.12.
    key = code, tuple(code.co_lines())
    name = _typed_names.get(key)
    if name is None:
        lines = _statement_of(code)
        if lines is None:
            return None
        name = _typed_names[key] = f"{_PROMPT}-{len(_typed_names)}"
        text = [f"{line}\n" for line in lines]
        linecache.cache[name] = sum(map(len, text)), None, text, name
    return name


_typed_names: dict[tuple[types.CodeType, tuple[Any, ...]], str] = {}


def _statement_of(code: types.CodeType) -> list[str] | None:
    """The newest statement in the history of the terminal that compiles to `code`."""
    readline: Any = sys.modules.get("readline")
    if readline is None:
        return None
    count = readline.get_current_history_length()
    history = [readline.get_history_item(i) or "" for i in range(1, count + 1)]
    is_lambda = code.co_name == "<lambda>"
    header = r".*\blambda\b" if is_lambda else rf".*\bdef {re.escape(code.co_name)}\b"
    # Lines of code count from the beginning of the statement.
    first, last = code.co_firstlineno, max(line or 0 for _, _, line in code.co_lines())
    for start in reversed(range(len(history) - last + 1)):
        own = history[start + first - 1 : start + last]
        if any(re.match(header, line) for line in own):
            for end in range(start + last, min(start + last + 99, len(history)) + 1):
                if _compiles_to(history[start:end], code):
                    return history[start:end]
    return None


def _compiles_to(lines: list[str], code: types.CodeType) -> bool:
    flags = code.co_flags & FUTURE_FLAGS
    text = "\n".join([*lines, ""])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has warned when it was typed
            module = compile(text, _PROMPT, "single", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    wanted = code, tuple(code.co_lines())
    return any((inner, tuple(inner.co_lines())) == wanted for inner in codes_in(module))
