"""Names of older programs: ``tf.compat``."""

from __future__ import annotations

__all__ = ["v1"]
