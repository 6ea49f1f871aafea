"""The disk cache of converted code, from one run of a program to the next.

Cache files stand beside Python's own, with names of their own
(``clip.cpython-312.autograph-<digest>.pyc``): neither can be taken for the other. The
invariant: a file of that name is a complete ``.pyc`` with a checked hash (PEP 552) of
the source and its path, made by the compiler that the digest stands for, and after the
code (where Python does not look) the hash of that. Files appear by an atomic rename,
with the permissions of the source; a cache that cannot be read or written is done
without.

The import hook stores the code of a module. For functions that are converted one by
one there is one file for each source file, with an entry for each function: what
`pipeline.convert_code` gave. An entry is used again for a function with the same code
object whose names mean the same: whether they are of library code is all that the
compiler asks of the program.

The environment variable ``AUTOGRAPH_NO_CACHE`` has functions converted anew.
"""

from __future__ import annotations

import atexit
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import PathFinder
from types import CodeType, FunctionType
from typing import Any, TypeGuard

from .._version import __version__
from ..errors import AutographError
from ..interpreter import recursion_room
from ..options import DEFAULT, ConversionOptions
from ..ownership import library_key, names_library, shadowed_builtins
from ..source.code_objects import codes_in, fill_placeholder
from .build import write_atomically

COMPILER = ("autograph", "gast", "astor")
"""The packages that converted code is made by."""


def cache_file(path: str, options: ConversionOptions, part: str = "") -> str:
    """Where the converted code of the source file `path`, or a part, is cached."""
    # cache_from_source knows the Python version, -O and PYTHONPYCACHEPREFIX.
    stem = importlib.util.cache_from_source(path).removesuffix(".pyc")
    digest = compiler_digest(options)
    return f"{stem}.autograph-{digest}{part and '-'}{part}.pyc"


def load(file: str, path: str, source: bytes) -> Any:
    """The content of a cache file if it was made of `source` at `path`; else None."""
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError:
        return None
    if content[:16] != _header(path, source):
        return None
    data, end = content[16:-8], content[-8:]
    if end != importlib.util.source_hash(data):
        return None  # a disk that filled up, say: malformed data may crash Python
    try:
        return marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None


def store(file: str, path: str, source: bytes, content: Any) -> None:
    """Write a cache file with content that `marshal` supports, if possible.

    Read-only folders and the like are no error.
    """
    with suppress(OSError, ValueError):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        data = marshal.dumps(content)
        mode = None
        if os.path.exists(path):  # not in a zip archive
            # Users who may not read the source must not read its code.
            mode = os.stat(path).st_mode & 0o666 | 0o200
        end = importlib.util.source_hash(data)
        write_atomically(file, _header(path, source) + data + end, mode)


def _header(path: str, source: bytes) -> bytes:
    # The path is in the code object: a file that was moved is another one.
    digest = importlib.util.source_hash(os.fsencode(path) + b"\0" + source)
    flags = 0b11  # hash-based, and to be checked against the source
    return importlib.util.MAGIC_NUMBER + flags.to_bytes(4, "little") + digest


def compiler_digest(options: ConversionOptions) -> str:
    """A digest of everything but the source that converted code depends on.

    It covers our version, the rules for library code, and the sizes and times of the
    compiler's files: an edited compiler converts anew. `importlib.metadata` would give
    the versions of gast and astor, but imports modules that a hook may be meant for.
    """
    key = (options, library_key())
    digest = _digests.get(key)
    if digest is None:
        lines = [__version__, repr(key)]
        lines += [line for name in COMPILER for line in _files_of(name)]
        digest = importlib.util.source_hash("\n".join(lines).encode()).hex()
        _digests[key] = digest
    return digest


_digests: dict[tuple[ConversionOptions, str], str] = {}


def _files_of(package: str) -> Iterator[str]:
    if package == COMPILER[0]:
        roots: Iterable[str] = [os.path.dirname(os.path.dirname(__file__))]
    else:
        spec = PathFinder.find_spec(package)
        roots = (spec and spec.submodule_search_locations) or ()
    for root in roots:
        folders = [root]
        for folder in folders:
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.name.endswith(".py"):
                        stat = entry.stat()
                        name = f"{package} {entry.name}"
                        yield f"{name} {stat.st_size} {stat.st_mtime_ns}"
                    elif entry.name != "__pycache__" and entry.is_dir():
                        folders.append(entry.path)


#: Which names are of library code, as `pipeline.convert_code` found.
Answers = dict[str, bool]
#: The key, the answers, and the code with a placeholder in it.
_Entry = tuple[bytes, Answers, CodeType]
#: One way in which a function uses a name: see `analysis.name_uses`.
Use = tuple[str, str, str, tuple[tuple[int, str], ...], int]


class _FunctionCache:
    """The cached entries of the functions of one source file."""

    def __init__(self, path: str, options: ConversionOptions) -> None:
        with open(path, "rb") as stream:
            self.source = stream.read()
        self.path = path
        self.file = cache_file(path, options, "functions")
        self.entries: dict[Any, Any] = self._read()
        self.new: dict[Any, Any] = {}

    def _read(self) -> dict[Any, Any]:
        content = load(self.file, self.path, self.source)
        return content if isinstance(content, dict) else {}

    def write(self) -> None:
        """Add the new entries to the file; other programs may have written it, too."""
        entries = {**self._read(), **self.new}
        store(self.file, self.path, self.source, entries)


_files: dict[tuple[str, ConversionOptions], _FunctionCache | None] = {}


@recursion_room()
def converted_code(
    function: FunctionType, options: ConversionOptions = DEFAULT
) -> tuple[CodeType, Answers]:
    """The code to put in place of a function's own: it has the same free variables.

    It is that of all functions with the same code and for which the same answers hold:
    see `holds`.

    Raises:
        SourceError: its source is not available.
        ConversionError: it cannot be converted.
    """
    from ..operators.calls import operators

    key = _key(function)
    cache = None if key is None else _cache_of(function, options)
    entry = None if cache is None else _cached(cache, key, function, options)
    if entry is None:
        from ..pipeline import convert_code  # the compiler, which takes long to import

        converted = convert_code(function, options)
        entry = converted.library, converted.code
        if key and cache is not None and _is_text(cache.source, converted.source):
            cache.new[_place(function)] = cache.entries[_place(function)] = key, *entry
    library, code = entry
    return fill_placeholder(code, operators(options)), library


@recursion_room()
def uses_in_text(function: FunctionType, is_generated: bool) -> tuple[Use, ...]:
    """The names that a function uses, as its text has them; none if it has no text.

    ``is_generated`` says that the function is a part of converted code.
    """
    # Generated code has the operators in it, and was made of a text that was compared.
    key = _names_in(function.__code__) if is_generated else _key(function)
    cache = None if key is None else _cache_of(function, DEFAULT)
    place = (*_place(function), "uses")
    entry = None if cache is None else cache.entries.get(place)
    if _is_uses(entry) and entry[0] == key:
        return entry[1]
    from ..pipeline import uses_of

    try:
        text, uses = uses_of(function.__code__ if is_generated else function)
    except AutographError:
        return ()
    if cache is not None and _is_text(cache.source, text):
        cache.new[place] = cache.entries[place] = key, uses
    return uses


def _names_in(code: CodeType) -> bytes:
    """The names in code: they tell lambdas of one line apart."""
    names = [(c.co_names, c.co_freevars, c.co_varnames) for c in codes_in(code)]
    return marshal.dumps(names, 2)


def _is_uses(entry: Any) -> TypeGuard[tuple[bytes, tuple[Use, ...]]]:
    return (
        type(entry) is tuple
        and [*map(type, entry)] == [bytes, tuple]
        and all(type(use) is tuple and len(use) == 5 for use in entry[1])
    )


def holds(answers: Answers, function: FunctionType, options: ConversionOptions) -> bool:
    """Whether the names of a function mean what they did for another one."""
    return all(
        names_library(path, function, options) is answer
        for path, answer in answers.items()
    )


def _cache_of(
    function: FunctionType, options: ConversionOptions
) -> _FunctionCache | None:
    """The cache of the file of a function; None if it has no file."""
    if os.environ.get("AUTOGRAPH_NO_CACHE"):
        return None
    path = function.__code__.co_filename
    if (path, options) not in _files:
        try:
            _files[path, options] = _FunctionCache(path, options)
        except (OSError, ValueError):
            _files[path, options] = None  # a notebook cell, say
    return _files[path, options]


def _cached(
    cache: _FunctionCache,
    key: bytes | None,
    function: FunctionType,
    options: ConversionOptions,
) -> tuple[Answers, CodeType] | None:
    entry = cache.entries.get(_place(function))
    if not _is_entry(entry):
        return None
    of, answers, code = entry
    return (answers, code) if of == key and holds(answers, function, options) else None


def _is_entry(entry: Any) -> TypeGuard[_Entry]:
    """Whether content has the form of an entry: any program can write the file."""
    return (
        type(entry) is tuple
        and [*map(type, entry)] == [bytes, dict, CodeType]
        and all(type(name) is str for name in entry[1])
    )


def _place(function: FunctionType) -> tuple[int, str]:
    return function.__code__.co_firstlineno, function.__qualname__


def _key(function: FunctionType) -> bytes | None:
    """What the converted code depends on besides the text of the file; None if that
    cannot be told, since a tool has put objects into the code.
    """
    try:
        # The second version of the format has no references, which vary between runs.
        code = marshal.dumps(function.__code__, 2)
    except ValueError:
        return None
    shadowed = ",".join(sorted(shadowed_builtins(function.__globals__)))
    return importlib.util.source_hash(code + b"\0" + shadowed.encode())


def _is_text(content: bytes, text: str) -> bool:
    """Whether a file holds the text that was converted: it may have been edited."""
    try:
        return importlib.util.decode_source(content) == text
    except (SyntaxError, UnicodeDecodeError):
        return False


def _write() -> None:
    if not sys.dont_write_bytecode:
        for cache in _files.values():
            if cache is not None and cache.new:
                cache.write()


atexit.register(_write)
