"""Sounds in WAV files of 16 bits, by the module `wave` of Python."""

from __future__ import annotations

import io
import wave
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import convert_to_tensor
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, show, spec

Array = np.ndarray[Any, Any]
#: The largest sample in a file, plus one.
_SCALE = 1 << 15


class DecodeWav(NamedTuple):
    """What `decode_wav` gives."""

    audio: Any
    sample_rate: Any


def _infer_decode(
    contents: TensorSpec, *, channels: int, samples: int
) -> tuple[TensorSpec, TensorSpec]:
    if contents.shape.rank not in (0, None):
        raise InvalidArgumentError(
            f"one file is decoded at a time, not those of shape {contents.shape}; "
            "tf.map_fn and tf.data decode many"
        )
    known = None if samples < 0 else samples, None if channels < 0 else channels
    return spec(known, dtypes.float32), spec((), dtypes.int32)


def _decode(contents: Array, *, channels: int, samples: int) -> tuple[Array, Array]:
    _infer_decode(
        TensorSpec(contents.shape, dtypes.string), channels=channels, samples=samples
    )
    try:
        with wave.open(io.BytesIO(contents.item())) as file:
            count, width, rate, depth, *_ = file.getparams()
            data = file.readframes(depth)
    except (wave.Error, EOFError, RuntimeError) as error:
        raise InvalidArgumentError(f"the data is no whole WAV file: {error}") from error
    if width != 2 or rate > np.iinfo(np.int32).max:
        raise InvalidArgumentError(
            f"WAV files of 16 bits are read, not those of {8 * width} bits at {rate} Hz"
        )
    if len(data) != 2 * count * depth:
        raise InvalidArgumentError(
            f"the WAV file ends after {len(data)} of {2 * count * depth} bytes of sound"
        )
    sound = np.frombuffer(data, "<i2").reshape(depth, count)
    sizes = samples if samples >= 0 else depth, channels if channels >= 0 else count
    result: Array = np.zeros(sizes, np.float32)
    kept = sound[: sizes[0], : sizes[1]]
    np.divide(kept, np.float32(_SCALE), out=result[: len(kept), : kept.shape[1]])
    # Channels that the file lacks are as its last one.
    result[:, count:] = result[:, count - 1 : count]
    return result, np.array(rate, np.int32)


define("DecodeWav", _decode, _infer_decode, takes="O", family="text")


def _infer_encode(audio: TensorSpec, rate: TensorSpec | None) -> TensorSpec:
    dims = dims_of(audio)
    if dims is not None and len(dims) != 2:
        raise InvalidArgumentError(f"a sound is (samples, channels), not {show(dims)}")
    return spec((), dtypes.string)


def _encode(audio: Array, rate: Array) -> Array:
    _infer_encode(TensorSpec(audio.shape, dtypes.float32), None)
    samples = audio.astype(np.float64) * _SCALE
    samples = np.trunc(samples + np.copysign(0.5, samples))
    samples = np.nan_to_num(np.clip(samples, -_SCALE, _SCALE - 1))
    bytes_ = io.BytesIO()
    try:
        with wave.open(bytes_, "wb") as file:
            file.setnchannels(audio.shape[1])
            file.setsampwidth(2)
            file.setframerate(rate.item())
            file.writeframes(samples.astype("<i2").tobytes())
    except (wave.Error, ValueError) as error:
        raise InvalidArgumentError(f"it cannot be encoded: {error}") from error
    return np.array(bytes_.getvalue(), object)


define("EncodeWav", _encode, _infer_encode, takes="f", family="text")


def decode_wav(
    contents: Any,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> DecodeWav:
    """The sound of a WAV file, float32 of -1 to 1, (samples, channels), and its rate.

    A sound is cut, or filled up with silence, to the samples that are desired; channels
    are left out, or the last one is repeated. Raises InvalidArgumentError for data that
    is no WAV file of 16 bits, or is not whole.

    >>> sound = decode_wav(encode_wav([[0.5], [-1.0]], 8000), desired_samples=3)
    >>> sound.audio.numpy().ravel().tolist(), int(sound.sample_rate)
    ([0.5, -1.0, 0.0], 8000)
    """
    if desired_channels < -1 or desired_channels == 0 or desired_samples < -1:
        raise ValueError(
            "desired_channels and desired_samples are -1 for what the file has, or "
            f"numbers, not {desired_channels} and {desired_samples}"
        )
    return DecodeWav(
        *run(
            "DecodeWav",
            convert_to_tensor(contents, dtypes.string),
            channels=desired_channels,
            samples=desired_samples,
            name=name,
        )
    )


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Any:
    """The bytes of a WAV file of 16 bits of a sound, (samples, channels).

    What is beyond -1 and 1 is as loud as they are. Raises InvalidArgumentError for what
    no file can have, as a rate of 0.
    """
    return run(
        "EncodeWav",
        convert_to_tensor(audio, dtypes.float32),
        convert_to_tensor(sample_rate, dtypes.int32),
        name=name,
    )
