"""``tf.io.gfile``: local files, and files elsewhere, such as ``gs://bucket/file``.

Every function calls Python's own for the same purpose, or that of fsspec
(``pip install 'autograph-compiler[files]'``). What the system refuses is raised as the
error of `tf.errors` that TensorFlow raises for it. What changes files while a function
is traced is warned of (AG322), as it is of Python's own functions.

>>> import tempfile
>>> folder = tempfile.mkdtemp()
>>> with GFile(join(folder, "notes.txt"), "w") as file:
...     file.write("one line")
>>> listdir(folder), GFile(join(folder, "notes.txt")).read()
(['notes.txt'], 'one line')
>>> rmtree(folder)
"""

from __future__ import annotations

import os
import shutil
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from runtime.core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnimplementedError,
)
from runtime.core.missing import advise
from runtime.ops.files.systems import LOCAL, Path, error_of, files_of, refusals
from runtime.staging.tracing.impure import noting_calls

__all__ = [
    "FileStatistics", "GFile", "copy", "exists", "glob", "isdir", "join", "listdir",
    "makedirs", "mkdir", "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip

_MODES = ("r", "w", "a", "r+", "w+", "a+")

# --- files ----------------------------------------------------------------------------


class GFile:
    """An open file: of text in UTF-8, or of bytes if its mode has a ``b``.

    Lines end where the file says, on every system. `read` and `seek` count bytes.
    """

    def __init__(self, name: Path, mode: str = "r") -> None:
        kind = mode.replace("b", "", 1)
        if kind not in _MODES:
            raise InvalidArgumentError(
                f"mode is not {' or '.join(map(repr, _MODES))}, with or without 'b', "
                f"but {mode!r}"
            )
        self.name = name
        self.mode = mode
        self._is_binary = kind != mode
        self._reads = kind == "r" or "+" in kind
        self._writes = kind != "r"
        files, path = files_of(name)
        with refusals():
            self._file: Any = noting_calls(files.open)(path, mode=f"{kind}b")
        # Programs read a file in one expression, without closing it.
        weakref.finalize(self, self._file.close)

    def _readable(self) -> Any:
        if not self._reads:
            raise PermissionDeniedError("File isn't open for reading")
        return self._file

    def _value(self, data: bytes) -> Any:
        return data if self._is_binary else data.decode()

    def read(self, n: int = -1) -> Any:
        """The rest of the file, or its next `n` bytes."""
        return self._value(self._readable().read(n))

    def readline(self) -> Any:
        """The next line with its end; nothing at the end of the file."""
        return self._value(self._readable().readline())

    def readlines(self) -> list[Any]:
        """The lines up to the end of the file."""
        return [*self]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def write(self, file_content: str | bytes) -> None:
        """Write text, in UTF-8, or bytes."""
        if not self._writes:
            raise PermissionDeniedError("File isn't open for writing")
        text = file_content
        with refusals():
            self._file.write(text.encode() if isinstance(text, str) else text)

    def seek(self, offset: int = 0, whence: int = os.SEEK_SET) -> None:
        """Go to a place, counted from the start (0), from here (1) or the end (2)."""
        self._file.seek(offset, whence)

    def seekable(self) -> bool:
        """Whether places can be found again, as those of local files can."""
        return bool(self._file.seekable())

    def tell(self) -> int:
        """The number of bytes before the present place."""
        place: int = self._file.tell()
        return place

    def size(self) -> int:
        """The length of the file in bytes."""
        self.flush()
        return stat(self.name).length

    def flush(self) -> None:
        """Give the system what is written by now."""
        if self._writes and not self._file.closed:
            with refusals():
                self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with refusals():
            self._file.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tf.io.gfile.GFile {os.fsdecode(self.name)!r} mode={self.mode!r}>"


def exists(path: Path) -> bool:
    """Whether there is a file or a folder of this name."""
    files, name = files_of(path)
    return bool(files.exists(name))


@noting_calls
def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file. Raises AlreadyExistsError if `dst` is there, without `overwrite`."""
    (source, old), (target, new) = files_of(src), _free(dst, overwrite)
    with refusals(), suppress(shutil.SameFileError):
        if source is target is LOCAL:
            shutil.copyfile(old, new)
        elif (source, old) != (target, new):
            with source.open(old, "rb") as read, target.open(new, "wb") as written:
                shutil.copyfileobj(read, written)


@noting_calls
def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Rename a file or a folder; as for `copy`, `dst` must not be there."""
    (source, old), (target, new) = files_of(src), _free(dst, overwrite)
    if source != target:
        raise UnimplementedError(
            f"{src!r} and {dst!r} are of two file systems: copy it, and remove it"
        )
    with refusals():
        source.replace(old, new)


def _free(path: Path, overwrite: bool) -> tuple[Any, str]:
    files, name = files_of(path)
    if not overwrite and files.exists(name):
        raise AlreadyExistsError(f"{name}; file already exists, and overwrite is False")
    return files, name


@noting_calls
def remove(path: Path) -> None:
    """Remove a file."""
    files, name = files_of(path)
    if files.isdir(name):  # systems name this error differently
        raise FailedPreconditionError(f"{name}; Is a directory; see tf.io.gfile.rmtree")
    with refusals():
        files.remove(name)


@dataclass(frozen=True)
class FileStatistics:
    """What `stat` says of a file or a folder."""

    #: In bytes.
    length: int
    #: When it was changed, in nanoseconds since 1970; 0 where nobody knows it.
    mtime_nsec: int
    is_directory: bool


def stat(path: Path) -> FileStatistics:
    """The length of a file, when it was changed, and whether it is a folder."""
    files, name = files_of(path)
    with refusals():
        return FileStatistics(*files.stat(name))


# --- folders --------------------------------------------------------------------------


def isdir(path: Path) -> bool:
    """Whether there is a folder of this name."""
    files, name = files_of(path)
    return bool(files.isdir(name))


def join(path: Path, *paths: Path) -> str:
    """One path of several parts."""
    return os.path.join(os.fsdecode(path), *map(os.fsdecode, paths))


def listdir(path: Path) -> list[str]:
    """The names in a folder, sorted. Raises NotFoundError if it is no folder."""
    files, name = files_of(path)
    if not files.isdir(name):
        raise NotFoundError(f"Could not find directory {name}")
    with refusals():
        return sorted(files.listdir(name))


@noting_calls
def mkdir(path: Path) -> None:
    """Make a folder, where its parent is; nothing if it is there."""
    files, name = files_of(path)
    if not files.isdir(name):
        with refusals():
            files.mkdir(name)


@noting_calls
def makedirs(path: Path) -> None:
    """Make a folder and those above it; nothing if they are there."""
    files, name = files_of(path)
    with refusals():
        files.makedirs(name)


@noting_calls
def rmtree(path: Path) -> None:
    """Remove a folder and all that is in it."""
    files, name = files_of(path)
    with refusals():
        files.rmtree(name)


def walk(
    top: Path, topdown: bool = True, onerror: Callable[[OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """For a folder and each one below it: its path, its folders and its files, sorted.

    `onerror` is called with the error for a folder that cannot be read.
    """
    tell = None if onerror is None else lambda error: onerror(error_of(error))
    files, start = files_of(top)
    for folder, folders, names in files.walk(start, topdown, tell):
        folders.sort()
        yield folder, folders, sorted(names)


def glob(pattern: Path | Iterable[Path]) -> list[str]:
    """The paths that match a pattern, or one of several.

    ``*`` and ``?`` match what is within one name, also a name with a dot in front.
    """
    is_one = isinstance(pattern, (str, bytes, os.PathLike))
    patterns: Any = [pattern] if is_one else pattern
    found = map(files_of, patterns)
    return [path for files, one in found for path in files.matches(one)]


advise(sys.modules[__name__], "tf.io.gfile")
