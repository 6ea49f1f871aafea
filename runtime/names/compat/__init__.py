"""Names of older programs: ``tf.compat``."""

from __future__ import annotations

import sys

from runtime.names.compat import v1

#: The names of TensorFlow 2 are those of this library.
v2 = sys.modules["runtime"]

__all__ = ["v1", "v2"]
