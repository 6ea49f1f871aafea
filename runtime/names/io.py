"""``tf.io``: files of records, the pictures of files, and ``tf.io.gfile``."""

from runtime.data.files import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from runtime.names import gfile as gfile
from runtime.ops.pictures.codecs import (
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
    is_jpeg as is_jpeg,
)
