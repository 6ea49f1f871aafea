"""Converted modules as files, written ahead of time: they run without the compiler.

The command line calls `write_module`, the disk cache `write_atomically`.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
from os import PathLike


def write_module(text: str, path: str | PathLike[str], line_end: str = "\n") -> None:
    """Write the text of a converted module to `path`, whole or not at all.

    The written module imports `autograph.operators` and nothing else of this package.
    It is encoded as its coding declaration says. A link is followed; a terminal, a pipe
    or another special file is written to directly. Raises OSError.
    """
    data = encode_module(text, line_end)
    path = os.path.realpath(path)
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "wb") as file:
            file.write(data)
    else:
        write_atomically(path, data)


def write_atomically(path: str, data: bytes, mode: int | None = None) -> None:
    """Write a file that other programs see either old or complete. Raises OSError.

    It gets the permissions ``mode``, or by default keeps those that it has.
    """
    if mode is None and os.path.exists(path):
        mode = stat.S_IMODE(os.stat(path).st_mode)
    temporary = f"{path}.{os.getpid()}.tmp"
    # No other user can read the file before it has its permissions.
    initial_mode = 0o666 if mode is None else 0o600
    try:
        with open(
            temporary, "wb", opener=lambda p, flags: os.open(p, flags, initial_mode)
        ) as f:
            f.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def encode_module(text: str, line_end: str = "\n") -> bytes:
    r"""The bytes of a source text, in the encoding that its first lines declare.

    >>> encode_module("a = 1\nb = 2\n", "\r\n")
    b'a = 1\r\nb = 2\r\n'
    """
    import tokenize  # imported here: `write_atomically` must stay quick to import

    head = "\n".join(text.split("\n", 2)[:2])
    line = io.BytesIO(head.encode("utf-8", "replace")).readline
    encoding, _ = tokenize.detect_encoding(line)
    return text.replace("\n", line_end).encode(encoding)
