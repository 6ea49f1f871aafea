"""Files of pictures: what is read and written, and what broken ones give."""

from __future__ import annotations

import io
import os
import random
import struct
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.ops.pictures import codecs
from tests.runtime.ops.pictures import record
from tests.runtime.ops.pictures.test_recorded import RECORDED, check_equal

Image = pytest.importorskip("PIL.Image")

FILES = {
    name.removeprefix("file "): array.tobytes()
    for name, array in RECORDED.items()
    if name.startswith("file ")
}
PIXELS = np.add.outer(np.arange(9) * 15, np.arange(6) * 10)[..., None]
PIXELS = (PIXELS + np.array([0, 20, 35])).astype(np.uint8)
DECODERS = {
    "PNG": tf.io.decode_png,
    "JPEG": tf.io.decode_jpeg,
    "GIF": tf.io.decode_gif,
    "BMP": tf.io.decode_bmp,
}


def saved(pixels: Any, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(file, kind, **options)
    return file.getvalue()


def animation() -> bytes:
    frames = [Image.fromarray(np.roll(PIXELS, place, 0)) for place in range(3)]
    return saved(frames[0], "GIF", save_all=True, append_images=frames[1:])


# --- TensorFlow's files ---------------------------------------------------------------


def test_its_files_are_read_as_it_reads_them() -> None:
    for name, found in record.decoded(tf, FILES).items():
        check_equal(found, RECORDED[name])


def test_it_writes_the_same_pictures() -> None:
    ours = record.decoded(tf, record.files(tf))

    for name, found in ours.items():
        check_equal(found, RECORDED[name])


# --- formats and dtypes ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP"])
def test_each_format_is_read(kind: str) -> None:
    data = saved(PIXELS, kind)
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    if kind == "GIF":
        expected = expected[None]

    assert np.array_equal(DECODERS[kind](data), expected)
    assert np.array_equal(tf.image.decode_image(data), expected)


def test_png_keeps_all_pixels_of_both_dtypes() -> None:
    for channels in (1, 2, 3, 4):
        pixels = np.random.default_rng(channels).integers(0, 256, (5, 3, channels))
        data = tf.io.encode_png(pixels.astype(np.uint8), compression=9)
        assert np.array_equal(tf.io.decode_png(data), pixels)
    words = np.arange(0, 60000, 5000, np.uint16).reshape(3, 4, 1)
    data = tf.io.encode_png(words)
    assert np.array_equal(tf.io.decode_png(data, dtype=tf.uint16), words)
    assert np.array_equal(tf.io.decode_png(data), words >> 8)


def test_frames_of_a_gif() -> None:
    data = animation()

    frames = tf.io.decode_gif(data)
    assert frames.shape == [3, 9, 6, 3]
    assert np.array_equal(tf.io.decode_image(data), frames)
    first = tf.io.decode_image(data, expand_animations=False)
    assert np.array_equal(first, frames[0])
    assert not np.array_equal(frames[1], frames[0])
    with pytest.raises(InvalidArgumentError, match=r"several frames: use tf\.io\."):
        tf.io.decode_png(data)


def test_a_palette_becomes_colours_and_its_transparency_alpha() -> None:
    palette = Image.fromarray(PIXELS).quantize(4)

    assert tf.io.decode_png(saved(palette, "PNG")).shape == [9, 6, 3]
    for transparency in (2, b"\x10\x20"):
        data = saved(palette, "PNG", transparency=transparency)
        assert tf.io.decode_png(data).shape == [9, 6, 4]
        assert tf.io.decode_png(data, channels=3).shape == [9, 6, 3]


def test_jpeg_options() -> None:
    small = tf.io.encode_jpeg(PIXELS, quality=20, optimize_size=True)
    large = tf.io.encode_jpeg(PIXELS, quality=100, progressive=True)

    assert len(small.numpy()) < len(large.numpy())
    apart = np.abs(tf.io.decode_jpeg(large).numpy().astype(int) - PIXELS)
    assert apart.max() < 12
    assert tf.io.is_jpeg(large)
    assert not tf.io.is_jpeg(tf.io.encode_png(PIXELS))
    assert not tf.io.is_jpeg(b"")


# --- graphs and data sets -------------------------------------------------------------


@pytest.mark.parametrize("executor", ["numpy", "native"])
def test_graphs_read_and_write(executor: str) -> None:
    if executor == "native":
        pytest.importorskip("llvmlite")

    @tf.function
    def brighter(data: Any) -> Any:
        pixels = tf.io.decode_png(data, channels=3)
        assert pixels.shape.as_list() == [None, None, 3]
        return tf.io.encode_png(tf.image.adjust_brightness(pixels, 0.1))

    before = tf.config.get_executor()
    tf.config.set_executor(executor)
    try:
        found = tf.io.decode_png(brighter(tf.constant(FILES["png 3"])))
    finally:
        tf.config.set_executor(before)
    pixels = tf.io.decode_png(FILES["png 3"])
    assert np.array_equal(found, tf.image.adjust_brightness(pixels, 0.1))


def test_an_unknown_rank_is_refused_with_what_tells_it() -> None:
    @tf.function
    def small(data: Any) -> Any:
        return tf.image.resize(tf.io.decode_image(data), [2, 2])

    with pytest.raises(InvalidArgumentError, match="expand_animations=False"):
        small(tf.constant(FILES["png 3"]))


def test_data_sets_decode() -> None:
    files = [FILES["png 3"], FILES["jpeg 3"]] * 3
    pictures = tf.data.Dataset.from_tensor_slices(files).map(
        lambda data: tf.image.resize(
            tf.io.decode_image(data, 3, expand_animations=False), [4, 4]
        ),
        num_parallel_calls=2,
    )

    (batch,) = pictures.batch(6)
    assert batch.shape == [6, 4, 4, 3]
    assert np.array_equal(batch[0], batch[2])
    assert not np.array_equal(batch[0], batch[1])


# --- refusals -------------------------------------------------------------------------


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"channels must be 0, 1, 3 or 4, not 2"):
        tf.io.decode_png(FILES["png 3"], channels=2)
    with pytest.raises(ValueError, match=r"dtype must be one of \('uint8', 'uint16'\)"):
        tf.io.decode_png(FILES["png 3"], dtype=tf.float32)
    with pytest.raises(InvalidArgumentError, match=r"one of \(0, 1, 3\) for JPEG"):
        tf.io.decode_jpeg(FILES["jpeg 3"], channels=4)
    with pytest.raises(InvalidArgumentError, match=r"no whole picture .*'BMP'"):
        tf.io.decode_bmp(FILES["png 3"])
    with pytest.raises(InvalidArgumentError, match="one file is decoded at a time"):
        tf.io.decode_png([FILES["png 3"]])
    with pytest.raises(UnimplementedError, match=r"tf\.image\.resize shrinks it"):
        tf.io.decode_jpeg(FILES["jpeg 3"], ratio=2)
    with pytest.raises(ValueError, match="compression must be -1 to 9"):
        tf.io.encode_png(PIXELS, compression=10)
    with pytest.raises(InvalidArgumentError, match="has one of"):
        tf.io.encode_jpeg(PIXELS[..., :2])
    with pytest.raises(InvalidArgumentError, match="uint8 or uint16, not float32"):
        tf.io.encode_png(PIXELS / np.float32(2))
    with pytest.raises(InvalidArgumentError, match="it cannot be encoded"):
        tf.io.encode_png(PIXELS[:0])
    with pytest.raises(UnimplementedError, match="16 bits"):
        tf.io.encode_png(PIXELS.astype(np.uint16))


def test_a_missing_pillow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    codecs._pillow.cache_clear()
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    try:
        with pytest.raises(UnimplementedError, match=r"autograph-compiler\[images\]"):
            tf.io.decode_png(FILES["png 3"])
    finally:
        codecs._pillow.cache_clear()


# --- hostile data ---------------------------------------------------------------------


def _png(width: int, height: int, depth: int = 8, color: int = 2) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    length = height * (1 + width * (3 if color == 2 else 1) * depth // 8)
    data = zlib.compress(b"\0" * min(length, 10_000))
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.filterwarnings("ignore:Image size")
@pytest.mark.parametrize("size", [(2**31 - 1, 2**31 - 1), (30000, 30000), (9500, 9500)])
def test_huge_sizes_are_refused_before_there_is_memory(size: tuple[int, int]) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgumentError):
            tf.io.decode_png(_png(*size))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_frames_together_are_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = animation()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 9 * 6 * 3)
    tf.io.decode_gif(data)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 9 * 6 * 3 - 1)
    with pytest.raises(InvalidArgumentError, match="162 pixels are more than PIL"):
        tf.io.decode_gif(data)
    tf.io.decode_image(data, expand_animations=False)


def test_16_bits_of_colours_are_no_fewer_unless_told() -> None:
    data = _png(4, 4, depth=16)

    assert tf.io.decode_png(data).shape == [4, 4, 3]
    with pytest.raises(UnimplementedError, match="decode as uint8"):
        tf.io.decode_png(data, dtype=tf.uint16)


#: How many broken files of each format are read; `make fuzz` tries more.
COUNT = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 120


def broken(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Data cut off, with bits turned over, or with parts that are other bytes."""
    rng = random.Random(seed)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(changed))
            kind = rng.randrange(4)
            if kind == 0:
                del changed[max(place, 1) :]
            elif kind == 1:
                changed[place] ^= 1 << rng.randrange(8)
            elif kind == 2:
                changed[place : place + 4] = rng.randbytes(4)
            else:
                changed[place : place + 8] = changed[: rng.randrange(8) + 1]
        yield bytes(changed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", DECODERS)
def test_fuzzed_data_is_a_picture_or_an_error(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1 << 16)
    data = animation() if kind == "GIF" else saved(PIXELS, kind)
    refused = 0

    for changed in broken(data, COUNT, seed=len(kind)):
        try:
            found = DECODERS[kind](changed)
        except (InvalidArgumentError, UnimplementedError):
            refused += 1
        else:
            assert found.dtype == tf.uint8
            assert found.numpy().size <= 4 << 16

    assert 0 < refused < COUNT


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"\xff" * 99]
)
def test_no_pictures(data: bytes) -> None:
    for decode in (*DECODERS.values(), tf.io.decode_image):
        with pytest.raises(InvalidArgumentError):
            decode(data)
