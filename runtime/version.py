"""The version of this project: ``tf.version``."""

from __future__ import annotations

from runtime.compiler.conversion import VERSION

__all__ = ["VERSION"]
