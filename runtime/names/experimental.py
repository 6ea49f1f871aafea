"""``tf.experimental``: tensors that are divided over many devices."""

from __future__ import annotations

import sys

from runtime.core.missing import advise
from runtime.training.distribute import dtensor

__all__ = ["dtensor"]

advise(dtensor, "tf.experimental.dtensor")
advise(sys.modules[__name__], "tf.experimental")
