"""Paths of local files, patterns of them, and errors of the system as `tf.errors`."""

from __future__ import annotations

import errno
import fnmatch
import os
from collections.abc import Iterator
from contextlib import contextmanager

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

#: The errors for what a system refuses, by its numbers.
_ERRORS: dict[int | None, type[OpError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EINVAL: InvalidArgumentError,
}


def local(path: Path) -> str:
    """The path as Python's functions take it. Raises for other machines' files."""
    name = os.fsdecode(path)
    scheme, mark, rest = name.partition("://")
    if not mark or not scheme.isalnum():
        return name
    if scheme == "file":
        return rest
    raise UnimplementedError(
        f"tf.io.gfile has local files alone, and {name!r} is one of {scheme}://; copy "
        "it to this machine, or open it with a library for that, such as fsspec"
    )


def error_of(error: OSError) -> OpError:
    """What the system refused, as an error of `tf.errors`."""
    kind = _ERRORS.get(error.errno, UnknownError)
    return kind(f"{error.filename or ''}; {error.strerror or error}")


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
