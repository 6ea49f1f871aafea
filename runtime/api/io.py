"""The public names of ``tf.io``: files of records."""

from __future__ import annotations

import sys

from runtime.data.files import TFRecordOptions, TFRecordWriter
from runtime.missing import advise

__all__ = ["TFRecordOptions", "TFRecordWriter"]

advise(sys.modules[__name__], "tf.io")
