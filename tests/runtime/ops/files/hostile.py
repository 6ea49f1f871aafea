"""Damaged pictures, sounds, records and messages, each read once.

What is read must give a tensor or an error of this library, and take at most twice the
memory that docs/pictures.md states. Each number is an input; the same one damages the
same data in the same way::

    python -m tests.runtime.ops.files.hostile [COUNT [FIRST]]
"""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import runtime as tf
from runtime.core.errors import UnimplementedError

#: More pixels than that are refused before they are decoded.
LIMIT = 1 << 22
#: What the interpreter takes and gives back between two looks at the memory.
SLACK = 16 << 20
#: The memory that reading takes for each byte of data: of a picture that is compressed
#: well it is the result that counts, of messages it is objects of Python.
PER_BYTE = 200
ERRORS = (tf.errors.OpError, UnimplementedError)

Reader = Callable[[bytes], Any]


# --- what is read ---------------------------------------------------------------------


def _picture(kind: str, mode: str, **options: Any) -> bytes:
    rng = np.random.default_rng(len(mode))
    shape = {"L": (9, 13), "1": (9, 13), "P": (9, 13), "I;16": (9, 13)}.get(mode)
    pixels = rng.integers(0, 256, shape or (9, 13, len(mode)), np.uint8)
    if mode == "I;16":
        image = Image.fromarray(pixels.astype(np.uint16) * 257)
    else:
        image = Image.fromarray(pixels)
        image = image.convert(mode) if image.mode != mode else image
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def _animation() -> bytes:
    frames = [Image.new("RGB", (9, 7), (index * 40, 9, 200)) for index in range(4)]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    return file.getvalue()


def _feature(**kind: Any) -> Any:
    return tf.train.Feature(
        **{
            name: {
                "bytes_list": tf.train.BytesList,
                "float_list": tf.train.FloatList,
                "int64_list": tf.train.Int64List,
            }[name](value=value)
            for name, value in kind.items()
        }
    )


@cache
def _example() -> bytes:
    features = {
        "n": _feature(int64_list=[1, -2, 300]),
        "x": _feature(float_list=[0.5, 2.0]),
        "s": _feature(bytes_list=[b"one", b"two"]),
    }
    found: bytes = tf.train.Example(
        features=tf.train.Features(feature=features)
    ).SerializeToString()
    return found


@cache
def _sequence() -> bytes:
    steps = [_feature(int64_list=[n, n]) for n in range(3)]
    lists = {"steps": tf.train.FeatureList(feature=steps)}
    found: bytes = tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": _feature(int64_list=[7])}),
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    ).SerializeToString()
    return found


@cache
def _records(pack: Callable[[bytes], bytes] = bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "records"))
        with tf.io.TFRecordWriter(path) as writer:
            for size in (0, 5, 300):
                writer.write(b"r" * size)
        return pack(Path(path).read_bytes())


def _read_records(data: bytes, compression: str = "") -> Any:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        records = tf.data.TFRecordDataset(file.name, compression_type=compression)
        return [record.numpy() for record in records]


def _parse(data: bytes) -> Any:
    fixed, varied = tf.io.FixedLenFeature, tf.io.VarLenFeature
    features = {
        "n": varied(tf.int64),
        "x": fixed([2], tf.float32),
        "s": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }
    return tf.io.parse_single_example(data, features)


def _parse_sequence(data: bytes) -> Any:
    return tf.io.parse_single_sequence_example(
        data,
        {"n": tf.io.FixedLenFeature([], tf.int64)},
        {"steps": tf.io.FixedLenSequenceFeature([2], tf.int64)},
    )


def _json() -> bytes:
    features = {"n": {"int64List": {"value": ["1", "2"]}}}
    return json.dumps({"features": {"feature": features}}).encode()


def _tensor(values: Any) -> bytes:
    found: bytes = tf.io.serialize_tensor(values).numpy()
    return found


@cache
def kinds() -> dict[str, tuple[bytes, Reader]]:
    """For each kind of data whole data, and what reads it."""
    texts = np.array(["a", "bcd"], object)
    sound = np.linspace(-1, 1, 40, dtype=np.float32).reshape(20, 2)
    png, image = tf.io.decode_png, tf.io.decode_image
    return {
        "PNG": (_picture("PNG", "RGB"), png),
        "PNG with alpha": (_picture("PNG", "RGBA"), image),
        "PNG of a palette": (_picture("PNG", "P"), partial(png, channels=3)),
        "PNG of bits": (_picture("PNG", "1"), png),
        "PNG of words": (_picture("PNG", "I;16"), partial(png, dtype=tf.uint16)),
        "JPEG": (_picture("JPEG", "RGB"), tf.io.decode_jpeg),
        "JPEG, progressive": (
            _picture("JPEG", "RGB", progressive=True),
            partial(tf.io.decode_jpeg, channels=1),
        ),
        "JPEG of CMYK": (_picture("JPEG", "CMYK"), image),
        "GIF": (_animation(), tf.io.decode_gif),
        "GIF as a picture": (
            _animation(),
            partial(image, expand_animations=False, dtype=tf.float32),
        ),
        "BMP": (_picture("BMP", "RGB"), tf.io.decode_bmp),
        "WAV": (tf.audio.encode_wav(sound, 8000).numpy(), tf.audio.decode_wav),
        "records": (_records(), _read_records),
        "GZIP": (_records(gzip.compress), partial(_read_records, compression="GZIP")),
        "ZLIB": (_records(zlib.compress), partial(_read_records, compression="ZLIB")),
        "Example": (_example(), _parse),
        "SequenceExample": (_sequence(), _parse_sequence),
        "JSON": (_json(), tf.io.decode_json_example),
        "TensorProto": (
            _tensor(np.arange(12.0).reshape(3, 4)),
            partial(tf.io.parse_tensor, out_type=tf.float64),
        ),
        "TensorProto of texts": (
            _tensor(texts),
            partial(tf.io.parse_tensor, out_type=tf.string),
        ),
    }


# --- damage ---------------------------------------------------------------------------


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Data cut off, with bits turned over, huge numbers, or parts of itself twice."""
    text = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text) + 1)
        # Sizes and kinds stand at the beginning of most files.
        place = min(place, rng.randrange(64)) if rng.random() < 0.5 else place
        match rng.randrange(6):
            case 0:
                del text[place:]
            case 1 if place < len(text):
                text[place] ^= 1 << rng.randrange(8)
            case 2:
                size = rng.choice([0xFFFFFFFF, 0x7FFFFFFF, 0x10000000, 0xFFFF, 0])
                order = rng.choice("<>")
                text[place : place + 4] = struct.pack(f"{order}I", size)
            case 3:  # a number of protobuf of up to 2**63
                text[place:place] = b"\xff" * rng.randint(1, 9) + b"\x7f"
            case 4:
                start = rng.randrange(len(text) + 1)
                text[place:place] = text[start : start + rng.randint(1, 40)]
            case _:
                text[place : place + 4] = rng.randbytes(rng.randrange(5))
    return bytes(text)


# --- memory ---------------------------------------------------------------------------


def _peak() -> int:
    """The most memory that the process had since `_forget_peak`, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def can_measure() -> bool:
    """Whether the system tells the most memory that was used since a moment."""
    try:
        _forget_peak()
        return _peak() > 0
    except (OSError, IndexError, ValueError):
        return False


def stated(data: bytes, result: Any) -> int:
    """The memory that reading this may take, in bytes.

    Three times that of the result; of a picture that is no whole one, of what it would
    be.
    """
    size = sum(
        leaf.numpy().nbytes
        for leaf in tf.nest.flatten(result)
        if isinstance(leaf, tf.Tensor)
    )
    with suppress(Exception):  # It is no picture.
        image = Image.open(io.BytesIO(data))
        pixels = image.width * image.height
        size = max(size, pixels * 4 * 4 if pixels <= LIMIT else 0)
    return 3 * size + PER_BYTE * len(data)


# --- one input, and many --------------------------------------------------------------


def check(number: int, measure: bool) -> tuple[str, str]:
    """Read the input of a number: its kind, and what came of it.

    Raises AssertionError for an error that is none of ours, or for too much memory.
    """
    rng = random.Random(number)
    kind = rng.choice([*kinds()])
    whole, read = kinds()[kind]
    data, result, found = damaged(whole, rng), None, "read"
    before = 0
    if measure:
        _forget_peak()
        before = _peak()
    try:
        result = read(data)
    except ERRORS as error:
        found = type(error).__name__
    except BaseException as error:
        raise AssertionError(
            f"input {number}, {kind}: {type(error).__name__}: {error}\n{data!r}"
        ) from error
    used = _peak() - before if measure else 0
    allowed = 2 * stated(data, result) + SLACK if used > SLACK else SLACK
    assert used <= allowed, f"input {number}, {kind}: {used} bytes, not {allowed}"
    return kind, found


def main(arguments: list[str]) -> int:
    """Read so many inputs, and print what came of each kind."""
    numbers = [int(text) for text in arguments]
    count, first = (numbers + [10000, 0][len(numbers) :])[:2]
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = LIMIT
    measure, failures = can_measure(), 0
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds()}
    for number in range(first, first + count):
        try:
            kind, found = check(number, measure)
        except AssertionError as error:
            failures += 1
            print(error)
        else:
            counts[kind][found] += 1
    for kind, found_counts in counts.items():
        print(f"{kind}: {dict(found_counts.most_common())}")
    print(f"{count} inputs, {failures} failures, memory measured: {measure}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
