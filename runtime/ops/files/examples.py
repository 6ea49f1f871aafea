"""The features of records as tensors: ``tf.io.parse_example`` and its kin.

The message of a record is read by ``protobuf``; the ops make arrays of its lists.
Where a feature has as many values as it likes, TensorFlow gives a sparse tensor. Here
one record gives a vector, and several give `PaddedValues`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.shape import reshape
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.files.messages import classes, parsed
from runtime.ops.operands import define, listed, run, unwrapped
from runtime.ops.shapes import Dims, dims_of, spec
from runtime.ops.text.each import each, infer_same

Array = np.ndarray[Any, Any]

# --- what programs ask for ------------------------------------------------------------


class FixedLenFeature(NamedTuple):
    """A feature of values of one shape; `default_value` stands for a missing one."""

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of any number of values."""

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of items of one shape, along a first axis.

    In a batch `default_value` fills the shorter ones up.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class PaddedValues(NamedTuple):
    """The values of a `VarLenFeature` of several records, or of several steps.

    `values` has a row for each, filled up with zeros or empty strings; `lengths` says
    how many values of a row are the record's own.
    """

    values: Any
    lengths: Any


#: As an attribute: the key, the form ("fixed", "sequence" or "values"), the dtype, the
#: shape of an item, and whether there is a default, which is an input; of a sequence:
#: whether it may be missing.
_Feature = tuple[Any, ...]
_KINDS = {
    dtypes.string: "bytes_list",
    dtypes.float32: "float_list",
    dtypes.int64: "int64_list",
}

# --- kernels --------------------------------------------------------------------------


def _values(feature: Any, key: str, dtype: DType) -> list[Any] | None:
    """The values of a feature; None if there is none."""
    kind = None if feature is None else feature.WhichOneof("kind")
    if kind is None:
        return None
    if kind != _KINDS[dtype]:
        raise InvalidArgumentError(
            f"the feature {key!r} has the kind {kind}, and {dtype.name} is asked for"
        )
    return list(getattr(feature, kind).value)


def _fixed(rows: list[Any], feature: _Feature, default: Array | None) -> Array:
    key, _, dtype, dims, _ = feature
    size = math.prod(dims)
    result = np.empty((len(rows), size), dtype.np_dtype)
    for row, values in zip(result, rows):
        if values is None and default is None:
            raise InvalidArgumentError(
                f"the feature {key!r} ({dtype.name}) is required but could not be found"
            )
        given = default.reshape(-1) if values is None else values  # type: ignore[union-attr]
        if len(given) != size:
            raise InvalidArgumentError(
                f"the feature {key!r} has {len(given)} values, and its shape "
                f"{dims} has {size}"
            )
        row[:] = given
    return result.reshape(len(rows), *dims)


def _padded(
    rows: list[Any], feature: _Feature, default: Array | None
) -> tuple[Array, Array]:
    key, _, dtype, dims, _ = feature
    size = math.prod(dims)
    rows = [values or [] for values in rows]
    for values in rows:
        if len(values) % size:
            raise InvalidArgumentError(
                f"the feature {key!r} has {len(values)} values, which is no multiple "
                f"of the {size} of an item of shape {dims}"
            )
    lengths = np.array([len(values) // size for values in rows], np.int64)
    longest = int(lengths.max(initial=0))
    fill = b"" if dtype is dtypes.string else 0
    fill = fill if default is None else default.item()
    result = np.empty((len(rows), longest * size), dtype.np_dtype)
    result.fill(fill)  # `np.full` takes zeros at the end of a string off
    for row, values in zip(result, rows):
        row[: len(values)] = values
    return result.reshape(len(rows), longest, *dims), lengths


def _arrays(
    messages: list[Any],
    features: tuple[_Feature, ...],
    defaults: Sequence[Array] = (),
    is_single: bool = False,
) -> list[Array]:
    """The arrays of features, with an axis of the messages in front.

    That of a single message is taken off, and nobody asks how long its values are.
    """
    results: list[Array] = []
    left = iter(defaults)
    for feature in features:
        key, form, dtype, _, has_default = feature
        default = next(left) if has_default else None
        rows = [_values(message.get(key), key, dtype) for message in messages]
        if form == "fixed":
            results.append(_fixed(rows, feature, default))
        else:
            values, lengths = _padded(rows, feature, default)
            results.append(values)
            if form == "values" and not is_single:
                results.append(lengths)
    # An item of an array of strings is no array.
    return [a.reshape(a.shape[1:]) for a in results] if is_single else results


def _parse(serialized: Array, *defaults: Array, features: tuple[_Feature, ...]) -> Any:
    _check_rank(dims_of(TensorSpec(serialized.shape, dtypes.string)))
    texts = serialized.reshape(-1).tolist()
    messages = [parsed("Example", text).features.feature for text in texts]
    return unwrapped(
        _arrays(messages, features, defaults, is_single=not serialized.ndim)
    )


def _check_rank(dims: Dims | None) -> Dims:
    if dims is None or len(dims) > 1:
        raise InvalidArgumentError(
            "records are one string or a vector of them, and their rank is known: not "
            f"strings of shape {TensorShape(dims)}"
        )
    return dims


def _infer_features(
    front: tuple[int | None, ...], features: tuple[_Feature, ...]
) -> list[TensorSpec]:
    """The specs of features; the axes `front` are those of records or steps."""
    results = []
    for _, form, dtype, dims, _ in features:
        axes = (*front, *dims) if form == "fixed" else (*front, None, *dims)
        results.append(spec(axes, dtype))
        if form == "values" and front:
            results.append(spec(front, dtypes.int64))
    return results


def _infer_parse(
    serialized: TensorSpec, *defaults: TensorSpec, features: tuple[_Feature, ...]
) -> Any:
    dims = dims_of(serialized)
    return unwrapped(_infer_features(_check_rank(dims), features))


def _parse_sequence(
    serialized: Array,
    *defaults: Array,
    context: tuple[_Feature, ...],
    sequences: tuple[_Feature, ...],
) -> Any:
    message = parsed("SequenceExample", serialized.item())
    results = _arrays([message.context.feature], context, defaults, is_single=True)
    for *feature, may_be_missing in sequences:
        key = feature[0]
        found = message.feature_lists.feature_list.get(key)
        if found is None and not may_be_missing:
            raise InvalidArgumentError(
                f"the list of features {key!r} is required but could not be found"
            )
        steps = [] if found is None else found.feature
        results += _arrays([{key: step} for step in steps], ((*feature, False),))
    return unwrapped(results)


def _infer_sequence(
    serialized: TensorSpec,
    *defaults: TensorSpec,
    context: tuple[_Feature, ...],
    sequences: tuple[_Feature, ...],
) -> Any:
    steps = _infer_features((None,), sequences)
    return unwrapped([*_infer_features((), context), *steps])


def _from_json(text: bytes) -> bytes:
    example = classes()["Example"]
    json_format = importlib.import_module("google.protobuf.json_format")
    try:
        message = json_format.Parse(text, example())
    except (json_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArgumentError(f"the text is no Example: {error}") from None
    data: bytes = message.SerializeToString(deterministic=True)
    return data


define("ParseExampleV2", _parse, _infer_parse, takes="O", family="text")
define(
    "ParseSequenceExampleV2",
    _parse_sequence,
    _infer_sequence,
    takes="O",
    family="text",
)
_decode_json = partial(each, _from_json)
define("DecodeJSONExample", _decode_json, infer_same, takes="O", family="text")

# --- functions ------------------------------------------------------------------------

#: What features of a record, of a context and of the steps of a sequence may be, with
#: their forms.
_CONTEXT: dict[Any, str] = {FixedLenFeature: "fixed", VarLenFeature: "values"}
_RECORD = {**_CONTEXT, FixedLenSequenceFeature: "sequence"}
_STEPS = {FixedLenSequenceFeature: "fixed", VarLenFeature: "values"}


def _asked(
    features: Mapping[str, Any], forms: dict[Any, str], defaults: list[Tensor]
) -> tuple[_Feature, ...]:
    """Features as an attribute; their defaults become inputs."""
    return tuple([_attribute(k, f, forms, defaults) for k, f in features.items()])


def _attribute(
    key: str, feature: Any, forms: dict[Any, str], defaults: list[Tensor]
) -> _Feature:
    form = forms.get(type(feature))
    if form is None:
        allowed = ", ".join(kind.__name__ for kind in forms)
        raise ValueError(f"the feature {key!r} is one of {allowed}, not {feature!r}")
    shape = TensorShape(getattr(feature, "shape", ()))
    if not shape.is_fully_defined():
        raise ValueError(
            f"the shape {shape} of the feature {key!r} is not known; "
            "tf.io.FixedLenSequenceFeature has a first axis of any length"
        )
    if form == "sequence" and not (feature.allow_missing and shape.num_elements()):
        raise ValueError(f"{key!r} needs values, and allow_missing=True: {feature!r}")
    dtype = as_dtype(feature.dtype)
    if dtype not in _KINDS:
        raise InvalidArgumentError(
            f"the feature {key!r} has string, float32 or int64, not {dtype.name}"
        )
    item = key, form, dtype, tuple(shape.as_list())
    if forms is _STEPS:
        return *item, getattr(feature, "allow_missing", True)
    default = getattr(feature, "default_value", None)
    if default is not None:
        tensor = convert_to_tensor(default, dtype)
        defaults.append(reshape(tensor, shape if form == "fixed" else ()))
    return *item, default is not None


def _named(
    found: list[Any], features: tuple[_Feature, ...], is_single: bool
) -> dict[str, Any]:
    """A dict of the results of an op, which are taken from `found`."""
    named = {}
    for key, form, *_ in features:
        values = found.pop(0)
        is_padded = form == "values" and not is_single
        named[key] = PaddedValues(values, found.pop(0)) if is_padded else values
    return named


def _scalar(serialized: Any) -> Tensor:
    text = as_tensor(serialized)
    if text.shape.rank is None:
        text = reshape(text, ())
    if text.shape.rank != 0:
        raise ValueError(f"one record is a scalar, not strings of {text.shape}")
    return text


def parse_example(
    serialized: Any,
    features: Mapping[str, Any],
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Any]:
    """The features of serialized `tf.train.Example`, as a dict of tensors.

    Args:
        serialized: a string, or a vector of them, whose features have a first axis of
            the records.
        features: for each key a `FixedLenFeature`, a `FixedLenSequenceFeature`, or a
            `VarLenFeature`, of which a vector of records gives `PaddedValues`.
        example_names: not used.

    A record that is damaged, or has other features, is an InvalidArgumentError.
    """
    if not features:
        raise ValueError("parse_example: features has none")
    defaults: list[Tensor] = []
    texts = as_tensor(serialized)
    chosen = _asked(features, _RECORD, defaults)
    found = run("ParseExampleV2", texts, *defaults, features=chosen, name=name)
    return _named(listed(found), chosen, is_single=texts.shape.rank == 0)


def parse_single_example(
    serialized: Any,
    features: Mapping[str, Any],
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Any]:
    """The features of one serialized `tf.train.Example`: see `parse_example`."""
    text = _scalar(serialized)
    return parse_example(text, features, example_names, name)


def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The context of a serialized `tf.train.SequenceExample`, and its sequences.

    The features of a sequence have a first axis of the steps: a
    `FixedLenSequenceFeature` has a shape for each step, and a `VarLenFeature` gives
    `PaddedValues`.
    """
    defaults: list[Tensor] = []
    context = _asked(context_features or {}, _CONTEXT, defaults)
    sequences = _asked(sequence_features or {}, _STEPS, defaults)
    text = _scalar(serialized)
    attrs = {"context": context, "sequences": sequences}
    found = listed(run("ParseSequenceExampleV2", text, *defaults, name=name, **attrs))
    first = _named(found, context, is_single=True)
    return first, _named(found, sequences, is_single=False)


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """`tf.train.Example` in JSON, as their serialized strings."""
    return run("DecodeJSONExample", as_tensor(json_examples), name=name)
