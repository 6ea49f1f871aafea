"""The messages of TensorFlow's records, by the package ``protobuf``.

Their descriptors are made here, in a pool of their own: TensorFlow and TensorBoard,
which register messages of the same names, may be in the process as well.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from runtime.core.errors import InvalidArgumentError, UnimplementedError

#: For each message its fields, numbered from 1 on: ``name kind``, where the kind is a
#: scalar type or a message, perhaps with a mark: ``*`` for several, ``{}`` for a map
#: from strings, ``?`` for those of which there is one.
_FIELDS = {
    "BytesList": "value *bytes",
    "FloatList": "value *float",
    "Int64List": "value *int64",
    "Feature": "bytes_list ?BytesList, float_list ?FloatList, int64_list ?Int64List",
    "Features": "feature {}Feature",
    "FeatureList": "feature *Feature",
    "FeatureLists": "feature_list {}FeatureList",
    "Example": "features Features",
    "SequenceExample": "context Features, feature_lists FeatureLists",
    "Dim": "size int64, name string",
    "TensorShapeProto": ", dim *Dim, unknown_rank bool",
    "TensorProto": "dtype int32, tensor_shape TensorShapeProto, version_number int32, "
    "tensor_content bytes, float_val *float, double_val *double, int_val *int32, "
    "string_val *bytes, scomplex_val *float, int64_val *int64, bool_val *bool, "
    "dcomplex_val *double, half_val *int32, , , uint32_val *uint32, uint64_val *uint64",
}
#: Those that `tf.train` has.
PUBLIC = tuple(_FIELDS)[:9]


@cache
def classes() -> dict[str, Any]:
    """The classes of the messages. Raises UnimplementedError without the package."""
    try:
        descriptors = importlib.import_module("google.protobuf.descriptor_pb2")
        pools = importlib.import_module("google.protobuf.descriptor_pool")
        factory = importlib.import_module("google.protobuf.message_factory")
    except ImportError as error:
        raise UnimplementedError(
            f"records are read by a package that cannot be imported ({error}): "
            "pip install 'autograph-compiler[records]'"
        ) from None
    file = descriptors.FileDescriptorProto(
        name="runtime/records.proto", package="tensorflow", syntax="proto3"
    )
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for number, field in enumerate(fields.split(","), 1):
            if field.strip():
                _add_field(message, number, *field.split())
    pool = pools.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    found = map(pool.FindMessageTypeByName, (f"tensorflow.{name}" for name in _FIELDS))
    return dict(zip(_FIELDS, map(factory.GetMessageClass, found)))


def _add_field(message: Any, number: int, name: str, kind: str) -> None:
    field = message.field.add(name=name, number=number, label=1)
    of = kind.lstrip("*?{}")
    if kind != of:
        field.label = 1 if kind[0] == "?" else 3
    if kind[0] == "?":
        field.oneof_index = 0
        if not message.oneof_decl:
            message.oneof_decl.add(name="kind")
    if kind[0] == "{":
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _add_field(entry, 1, "key", "string")
        _add_field(entry, 2, "value", of)
        of = f"{message.name}.{entry.name}"
    if of[0].isupper():
        field.type, field.type_name = field.TYPE_MESSAGE, f".tensorflow.{of}"
    else:
        field.type = getattr(field, f"TYPE_{of.upper()}")


def parsed(name: str, data: bytes) -> Any:
    """The message in some bytes. Raises InvalidArgumentError if they are damaged."""
    message = classes()[name]
    errors = importlib.import_module("google.protobuf.message")
    try:
        return message.FromString(data)
    except (errors.DecodeError, UnicodeDecodeError) as error:
        shown = data if len(data) <= 40 else data[:40] + b"..."
        raise InvalidArgumentError(f"{shown!r} is no {name}: {error}") from None
