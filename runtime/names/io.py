"""``tf.io``: files, records, pictures, and what is in them. See docs/records.md."""

from runtime.data.files import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from runtime.names import gfile as gfile
from runtime.ops.files.contents import (
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from runtime.ops.files.decoding import (
    decode_base64 as decode_base64,
    decode_csv as decode_csv,
    decode_raw as decode_raw,
    encode_base64 as encode_base64,
)
from runtime.ops.files.examples import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    PaddedValues as PaddedValues,
    VarLenFeature as VarLenFeature,
    decode_json_example as decode_json_example,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from runtime.ops.files.tensors import (
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
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
