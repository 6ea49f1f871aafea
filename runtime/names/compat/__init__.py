"""Names of older programs: ``tf.compat``."""

from __future__ import annotations

import sys
from typing import Any

from runtime.names.compat import v1

#: The names of TensorFlow 2 are those of this library.
v2 = sys.modules["runtime"]

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "v1", "v2"]


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A text as bytes; bytes as they are. Raises TypeError for other values.

    >>> as_bytes("a"), as_bytes(b"b")
    (b'a', b'b')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"a text or bytes are needed, not {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as a text; a text as it is. Raises TypeError for other values."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    return as_bytes(bytes_or_text).decode(encoding)


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes as a text; ``str(value)`` of other values."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)
