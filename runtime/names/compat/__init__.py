"""Names of older programs: ``tf.compat``."""

from __future__ import annotations

from runtime.names.compat import v1

__all__ = ["v1"]
