"""File systems, of this machine and elsewhere, and their errors as `tf.errors`.

Paths such as ``gs://bucket/file`` are those of file systems that fsspec knows by their
schemes. It is imported when such a path is used.
"""

from __future__ import annotations

import errno
import fnmatch
import importlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

from runtime.core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnimplementedError,
    UnknownError,
)

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

#: The errors for what a system refuses, by its numbers or by Python's errors.
_ERRORS: dict[Any, type[OpError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EINVAL: InvalidArgumentError,
    FileNotFoundError: NotFoundError,
    FileExistsError: AlreadyExistsError,
    IsADirectoryError: FailedPreconditionError,
    NotADirectoryError: FailedPreconditionError,
    PermissionError: PermissionDeniedError,
}


def files_of(path: Path) -> tuple[Any, str]:
    """The file system of a path, and the name of the file there.

    Raises UnimplementedError for a scheme that is not known, or whose package is not
    installed.
    """
    name = os.fsdecode(path)
    scheme = _scheme(name)
    if scheme in ("", "file"):
        return LOCAL, name.removeprefix("file://")
    try:
        find: Any = importlib.import_module("fsspec.core").url_to_fs
    except ImportError as error:
        raise UnimplementedError(
            f"{name!r} needs a package that cannot be imported ({error}): "
            "pip install 'autograph-compiler[files]', and what fsspec needs for "
            f"{scheme}://"
        ) from None
    try:
        system, inside = find(name)
    except (ImportError, ValueError) as error:
        raise UnimplementedError(f"{name!r} cannot be opened: {error}") from None
    base = name.rstrip("/")
    prefix = base.removesuffix(inside.rstrip("/"))
    if base == f"{scheme}:":
        prefix = f"{scheme}://".removesuffix(system.root_marker)
    return Elsewhere(system, prefix), inside


def local_name(path: Path) -> str:
    """The name of a file or folder of this machine.

    Raises UnimplementedError for a path of another file system.
    """
    name = os.fsdecode(path)
    if _scheme(name) not in ("", "file"):
        raise UnimplementedError(
            f"{name!r} is on another file system: save to a local folder, and load "
            "from one; tf.io.gfile.copy copies the files"
        )
    return name.removeprefix("file://")


def _scheme(name: str) -> str:
    scheme, mark, _ = name.partition("://")
    return scheme if mark and scheme.isalnum() else ""


@dataclass(frozen=True)
class Elsewhere:
    """A file system of fsspec, with what `LOCAL` has.

    `prefix` stands before the names of its files in paths.
    """

    system: Any
    prefix: str = field(compare=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copies and pickles ask, without a `system`
            raise AttributeError(name)
        return getattr(self.system, "rm_file" if name == "remove" else name)

    def open(self, name: str, mode: str) -> Any:
        """An open file of bytes."""
        return self.system.open(name, mode)

    def listdir(self, name: str) -> list[str]:
        """The names in a folder."""
        return [os.path.basename(path) for path in self.system.ls(name, detail=False)]

    def makedirs(self, name: str) -> None:
        """Make a folder and those above it."""
        self.system.makedirs(name, exist_ok=True)

    def replace(self, old: str, new: str) -> None:
        """Rename a file, or a folder with all that is in it."""
        self.system.mv(old, new, recursive=True)

    def rmtree(self, name: str) -> None:
        """Remove a folder and all that is in it, or a file."""
        self.system.rm(name, recursive=True)

    def stat(self, name: str) -> tuple[int, int, bool]:
        """Length, time of the last change (0 if it is not known), and if a folder."""
        info = self.system.info(name)
        is_folder, when = info["type"] == "directory", 0
        if not is_folder:
            with suppress(NotImplementedError):
                when = int(self.system.modified(name).timestamp() * 1e9)
        return info["size"] or 0, when, is_folder

    def walk(self, top: str, topdown: bool, tell: Any) -> Iterator[Any]:
        """As `os.walk`, with whole paths."""
        for folder, *names in self.system.walk(top, None, topdown, tell or "omit"):
            folder = self.prefix + (folder or self.system.root_marker)
            yield (folder, *map(list, names))

    def matches(self, pattern: str) -> list[str]:
        """The paths that match."""
        return [self.prefix + name for name in sorted(self.system.glob(pattern))]


def error_of(error: OSError) -> OpError:
    """What the system refused, as an error of `tf.errors`."""
    kind = _ERRORS.get(error.errno) or _ERRORS.get(type(error), UnknownError)
    reason = error.strerror or type(error).__name__
    return kind(f"{error.filename or error}; {reason}")


@contextmanager
def refusals() -> Iterator[None]:
    """Raise what the system refuses as errors of `tf.errors`."""
    try:
        yield
    except OSError as error:
        raise error_of(error) from None


def matches(pattern: str) -> list[str]:
    """The paths that match: ``*`` and ``?`` stand for what is within one name."""
    # Not Python's glob, which leaves names out that begin with a dot.
    if not any(mark in pattern for mark in "*?["):
        return [pattern] if os.path.lexists(pattern) else []
    folder, name = os.path.split(pattern)
    found = []
    for one in filter(os.path.isdir, matches(folder)) if folder else [""]:
        names = fnmatch.filter(sorted(os.listdir(one or ".")), name) if name else [""]
        found += [os.path.join(one, each) for each in names]
    return found


def _stat(name: str) -> tuple[int, int, bool]:
    found = os.stat(name)
    return found.st_size, found.st_mtime_ns, os.path.isdir(name)


def _rmtree(name: str) -> None:
    (os.remove if os.path.isfile(name) else shutil.rmtree)(name)


LOCAL = SimpleNamespace(
    exists=os.path.exists,
    isdir=os.path.isdir,
    listdir=os.listdir,
    makedirs=partial(os.makedirs, exist_ok=True),
    matches=matches,
    mkdir=os.mkdir,
    open=open,
    remove=os.remove,
    replace=os.replace,
    rmtree=_rmtree,
    stat=_stat,
    walk=os.walk,
)
