"""The public names of ``tf.io``: files of records, and ``tf.io.gfile``."""

from runtime.data.files import TFRecordOptions as TFRecordOptions
from runtime.data.files import TFRecordWriter as TFRecordWriter
from runtime.names import gfile as gfile
