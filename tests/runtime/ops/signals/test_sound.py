"""WAV files: the samples are those that TensorFlow reads and writes."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
import pytest

import runtime as tf

InvalidArgumentError = tf.errors.InvalidArgumentError


def written(channels: int, width: int, data: bytes) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(width)
        writer.setframerate(8000)
        writer.writeframes(data)
    return file.getvalue()


SAMPLES = np.array([[1, -2], [32767, -32768], [5, 6]], "<i2")
STEREO = written(2, 2, SAMPLES.tobytes())


def read(contents: Any, **options: int) -> list[list[float]]:
    found: list[list[float]] = []
    for decode in (tf.audio.decode_wav, tf.function(tf.audio.decode_wav)):
        sound = decode(contents, **options)
        assert sound.sample_rate.numpy() == 8000
        assert sound.sample_rate.dtype == tf.int32
        found.append((sound.audio * 32768).numpy().tolist())
    assert found[0] == found[1]
    return found[0]


def test_samples_channels_and_silence() -> None:
    assert read(STEREO) == SAMPLES.tolist()
    assert read(STEREO, desired_channels=1) == SAMPLES[:, :1].tolist()
    assert read(STEREO, desired_channels=3) == SAMPLES[:, [0, 1, 1]].tolist()
    assert read(STEREO, desired_samples=1) == SAMPLES[:1].tolist()
    assert read(STEREO, desired_samples=4) == [*SAMPLES.tolist(), [0, 0]]
    assert read(written(1, 2, b"")) == []


def test_what_is_written_is_read() -> None:
    sound = [[0.1, -1.0], [0.9999, 2.0], [-3.0, 0.00002], [float("nan"), 0.5 / 32768]]

    data = tf.audio.encode_wav(sound, 8000)

    # As TensorFlow rounds them: half of a unit away from 0, what is too loud clipped.
    expected = [[3277, -32768], [32765, 32767], [-32768, 1], [0, 1]]
    assert read(data) == expected
    assert data.numpy() == written(2, 2, np.array(expected, "<i2").tobytes())


def test_shapes_are_known_while_a_function_is_traced() -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def decode(contents: Any) -> Any:
        sound = tf.audio.decode_wav(contents, desired_channels=1)
        assert sound.audio.shape.as_list() == [None, 1]
        again = tf.audio.decode_wav(contents, 2, 7)
        assert again.audio.shape == (7, 2)
        return sound.audio

    assert decode(STEREO).shape == (3, 1)


def test_data_sets_read_sounds() -> None:
    contents = tf.data.Dataset.from_tensors(STEREO)
    (sound,) = contents.map(lambda data: tf.audio.decode_wav(data).audio)

    assert sound.shape == (3, 2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no whole WAV file"),
        (b"RIFF", "no whole WAV file"),
        (STEREO[:-2], "ends after 10 of 12 bytes"),
        (written(1, 1, b"abc"), "not those of 8 bits"),
        (written(1, 3, b"abcdef"), "not those of 24 bits"),
        ([STEREO], "one file is decoded at a time"),
    ],
)
def test_data_that_is_no_sound(data: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        tf.audio.decode_wav(data)


def test_what_no_file_can_have() -> None:
    with pytest.raises(InvalidArgumentError, match=r"\(samples, channels\)"):
        tf.audio.encode_wav([0.5], 8000)
    with pytest.raises(InvalidArgumentError, match="cannot be encoded"):
        tf.audio.encode_wav([[0.5]], 0)
    with pytest.raises(InvalidArgumentError, match="cannot be encoded"):
        tf.audio.encode_wav(np.zeros([1, 0], np.float32), 8000)
    with pytest.raises(ValueError, match="desired_channels"):
        tf.audio.decode_wav(STEREO, desired_channels=0)
