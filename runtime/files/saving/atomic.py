"""Files that appear whole or not at all.

What is written goes to a file of another name, and to the disk, before it takes its own
name: a process that ends in between leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: The ending of files that are being written. Those that remain are of processes that
#: ended in the middle of it.
PART = ".part"


@contextlib.contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """A block that writes the file it is given, which then becomes `path`.

    Where the block raises, `path` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(PART, f".{path.name}.", path.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        os.chmod(part, 0o666 & ~_umask())
        _flush(part)
        os.replace(part, path)
        _flush_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Replace the text of a file."""
    with replacing_file(path) as part:
        part.write_text(text, encoding="utf-8")


def _flush(path: Path) -> None:
    """Have the disk keep the contents of a file before its name is changed."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(path: Path) -> None:
    """Have the disk keep the names of a folder, where the system can."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # Windows opens no folders.
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    # It can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
