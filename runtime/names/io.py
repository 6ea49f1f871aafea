"""The public names of ``tf.io``: files of records, and ``tf.io.gfile``."""

from runtime.data.files import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from runtime.names import gfile as gfile
