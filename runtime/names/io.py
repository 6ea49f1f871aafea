"""The public names of ``tf.io``: files of records, and ``tf.io.gfile``."""

from __future__ import annotations

import sys

from runtime.core.missing import advise
from runtime.data.files import TFRecordOptions, TFRecordWriter
from runtime.names import gfile

__all__ = ["TFRecordOptions", "TFRecordWriter", "gfile"]

advise(sys.modules[__name__], "tf.io")
