"""Machine code on disk, kept from one process to the next.

A file holds the object code of one module, after its SHA-256: what was cut off or
changed is compiled anew. Its name is the SHA-256 of all that the code depends on: the
text of the module, the processor and LLVM. The code holds no addresses of a process:
it names the functions that it calls, and gets arrays by its slots.

The folder belongs to the user alone, since whoever writes to it decides what runs. The
environment variable ``AUTOGRAPH_NO_CACHE`` has everything compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

#: The bytes that all files may have together; beyond that the oldest half goes.
LIMIT = 256 << 20
#: Seconds after which a file that is read counts as new.
_FRESH = 24 * 3600
_DIGEST = 32


def key_of(parts: Sequence[str]) -> str:
    """The name for code that depends on these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(key: str) -> bytes | None:
    """The code of a name; None where there is none that is whole."""
    folder = _folder()
    if folder is None:
        return None
    path = os.path.join(folder, f"{key}.o")
    try:
        with open(path, "rb") as file:
            content = file.read()
            if time.time() - os.fstat(file.fileno()).st_mtime > _FRESH:
                os.utime(path)
    except OSError:
        return None
    digest, code = content[:_DIGEST], content[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def store(key: str, code: bytes) -> None:
    """Keep code under a name, if that is possible."""
    folder = _folder()
    if folder is None:
        return
    path = os.path.join(folder, f"{key}.o")
    temporary = f"{path}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
    else:
        _make_room(folder)


def _folder() -> str | None:
    if os.environ.get("AUTOGRAPH_NO_CACHE"):
        return None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return _own_folder(os.path.join(base, "autograph-compiler", "native"))


@cache
def _own_folder(path: str) -> str | None:
    """The folder, made if need be; None unless it is the user's alone."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        found = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    if hasattr(os, "getuid") and (
        found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077
    ):
        return None
    return path


def _make_room(folder: str) -> None:
    """Remove files that nobody has read for long, where all together are too large."""
    with suppress(OSError), os.scandir(folder) as entries:
        files = sorted((e.stat().st_mtime, e.stat().st_size, e.path) for e in entries)
        total = sum(size for _, size, _ in files)
        if total <= LIMIT:
            return
        for _, size, path in files:
            with suppress(OSError):
                os.unlink(path)
            total -= size
            if total <= LIMIT // 2:
                break
