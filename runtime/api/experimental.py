"""``tf.experimental``: tensors that are divided over many devices."""

from __future__ import annotations

import sys

from runtime.distribute import dtensor
from runtime.missing import advise

__all__ = ["dtensor"]

advise(dtensor, "tf.experimental.dtensor")
advise(sys.modules[__name__], "tf.experimental")
