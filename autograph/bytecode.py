"""Cache files for the code of converted modules.

They stand beside Python's own, with names of their own
(``clip.cpython-312.autograph-<digest>.pyc``): neither can be taken for the other. The
invariant: a file of that name is a complete ``.pyc`` with a checked hash (PEP 552) of
the source and its path, made by the compiler that the digest stands for, and after the
code (where Python does not look) the hash of that. Files appear by an atomic rename,
with the permissions of the source; a cache that cannot be read or written is done
without.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import PathFinder
from types import CodeType
from typing import Any

from ._version import __version__
from .build import write_atomically
from .library import library_key
from .options import ConversionOptions

__all__ = [
    "COMPILER",
    "cache_file",
    "load",
    "load_content",
    "store",
    "store_content",
]

COMPILER = ("autograph", "gast", "astor")
"""The packages that converted code is made by."""


def cache_file(path: str, options: ConversionOptions, part: str = "") -> str:
    """Where the converted code of the source file `path`, or a part, is cached."""
    # cache_from_source knows the Python version, -O and PYTHONPYCACHEPREFIX.
    stem = importlib.util.cache_from_source(path).removesuffix(".pyc")
    digest = _compiler_digest(options)
    return f"{stem}.autograph-{digest}{part and '-'}{part}.pyc"


def load(file: str, path: str, source: bytes) -> CodeType | None:
    """The code in a cache file, if it is that of `source`, which `path` holds now."""
    code = load_content(file, path, source)
    return code if isinstance(code, CodeType) else None


def load_content(file: str, path: str, source: bytes) -> Any:
    """What is in a cache file, if it is of `source`, which `path` holds now; or None"""
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError:
        return None
    if content[:16] != _header(path, source):
        return None
    data, end = content[16:-8], content[-8:]
    if end != importlib.util.source_hash(data):
        return None  # a disk that filled up, say: what is malformed may crash Python
    try:
        return marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None


def store(file: str, path: str, source: bytes, code: CodeType) -> None:
    """Write a cache file if possible; read-only folders and the like are no error."""
    store_content(file, path, source, code)


def store_content(file: str, path: str, source: bytes, content: Any) -> None:
    """As `store`, for all that can be marshalled."""
    with suppress(OSError, ValueError):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        data = marshal.dumps(content)
        mode = None
        if os.path.exists(path):  # not in a zip archive
            # Who may not read the source shall not read its code.
            mode = os.stat(path).st_mode & 0o666 | 0o200
        end = importlib.util.source_hash(data)
        write_atomically(file, _header(path, source) + data + end, mode)


def _header(path: str, source: bytes) -> bytes:
    # The path is in the code object: a file that was moved is another one.
    digest = importlib.util.source_hash(os.fsencode(path) + b"\0" + source)
    flags = 0b11  # hash-based, and to be checked against the source
    return importlib.util.MAGIC_NUMBER + flags.to_bytes(4, "little") + digest


def _compiler_digest(options: ConversionOptions) -> str:
    """What converted code depends on besides its source, as a part of a file name.

    That is our version, what counts as library code, and the sizes and times of the
    compiler's files, so a compiler that is being worked on converts anew.
    `importlib.metadata` would tell the versions of gast and astor, but imports much
    that a hook might be meant for.
    """
    key = (options, library_key())
    known = _digests.get(key)
    if known is None:
        parts = [__version__, repr(key)]
        parts += [line for name in COMPILER for line in _files_of(name)]
        known = importlib.util.source_hash("\n".join(parts).encode()).hex()
        _digests[key] = known
    return known


_digests: dict[tuple[ConversionOptions, str], str] = {}


def _files_of(package: str) -> Iterator[str]:
    if package == __package__:
        roots: Iterable[str] = [os.path.dirname(__file__)]
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
