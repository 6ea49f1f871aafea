"""The public names of ``tf.io``: files of records."""

from __future__ import annotations

from runtime.data.files import TFRecordOptions, TFRecordWriter

__all__ = ["TFRecordOptions", "TFRecordWriter"]
