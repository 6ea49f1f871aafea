"""The version of this project: ``tf.version``."""

from __future__ import annotations

__all__ = ["VERSION"]

#: That of the compiler, which is not imported for it.
VERSION = "0.2.0"
