"""Readers of files, and the checksums and writers of TFRecord files."""

from __future__ import annotations

import gzip
import os
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import runtime as tf
from runtime.data.checksums import crc32c, masked_crc32c

Dataset = tf.data.Dataset


def values(dataset: Any) -> list[Any]:
    return list(dataset.as_numpy_iterator())


def simple_crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_checksums() -> None:
    # Of RFC 3720.
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    random = np.random.default_rng(3)
    for size in (0, 1, 1023, 1024, 1025, 2047, 4096, 5000, 9999, 20_000):
        data = random.bytes(size)
        assert crc32c(data) == simple_crc(data), size


RECORDS = [b"", b"one", "zwölf".encode(), b"\0" * 3000]


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_records_are_read_as_they_were_written(
    tmp_path: Path, compression: Any
) -> None:
    path = tmp_path / "records"
    options = tf.io.TFRecordOptions(compression_type=compression)
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for record in RECORDS:
            writer.write(record)
    dataset = tf.data.TFRecordDataset(str(path), compression_type=compression)
    assert values(dataset) == RECORDS
    assert repr(dataset) == "<TFRecordDataset shapes: (), types: tf.string>"


#: Written by TensorFlow 2.21: the records b"abc" and b"".
WRITTEN = "0300000000000000b099490e6162636e57f121000000000000000029039807d8ea82a2"


def test_files_are_tensorflow_s(tmp_path: Path) -> None:
    path = tmp_path / "records"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write("abc")
        writer.write("")
    assert path.read_bytes().hex() == WRITTEN


def test_damage_is_found(tmp_path: Path) -> None:
    path = tmp_path / "records"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write("first")
        writer.write("second")
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError, match=r"damaged|ends within"):
            values(tf.data.TFRecordDataset(path))
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        try:
            found = values(tf.data.TFRecordDataset(path))
        except tf.errors.DataLossError:
            continue
        assert (found, length) == ([b"first"], 21)


def test_lines(tmp_path: Path) -> None:
    one, other, packed = tmp_path / "a", tmp_path / "b", tmp_path / "c.gz"
    one.write_bytes(b"first\r\nsecond\n\nlast")
    other.write_bytes(b"other\n")
    packed.write_bytes(gzip.compress(b"packed\n"))
    expected = [b"first", b"second", b"", b"last", b"other"]
    names = [str(one), str(other)]
    assert values(tf.data.TextLineDataset(names)) == expected
    assert (
        values(tf.data.TextLineDataset(Dataset.from_tensor_slices(names))) == expected
    )
    assert values(tf.data.TextLineDataset(one)) == expected[:4]
    assert values(tf.data.TextLineDataset(str(packed), "GZIP")) == [b"packed"]
    files = Dataset.list_files(str(tmp_path / "[ab]"), shuffle=False)
    turns = files.interleave(tf.data.TextLineDataset, cycle_length=2)
    assert values(turns) == [b"first", b"other", b"second", b"", b"last"]
    short = files.flat_map(lambda name: tf.data.TextLineDataset(name).take(1))
    assert values(short) == [b"first", b"other"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    for kind in (tf.data.TextLineDataset, tf.data.TFRecordDataset):
        with pytest.raises(tf.errors.NotFoundError, match="none"):
            values(kind(missing))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no file fits"):
        Dataset.list_files(missing)
    with pytest.raises(tf.errors.InvalidArgumentError, match="LZ4"):
        tf.data.TextLineDataset(missing, "LZ4")


def test_files_are_closed_when_an_iterator_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("a\nb\n")
    opened = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc") else 0
    iterators = [iter(tf.data.TextLineDataset(str(path))) for _ in range(5)]
    for iterator in iterators:
        next(iterator)
    del iterator, iterators
    after = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc") else 0
    assert after == opened


def test_records_of_a_fixed_length(tmp_path: Path) -> None:
    path = tmp_path / "fixed"
    path.write_bytes(b"HHaabbccF")
    dataset = tf.data.FixedLengthRecordDataset(str(path), 2, 2, 1)
    assert values(dataset) == [b"aa", b"bb", b"cc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no multiple of 4"):
        values(tf.data.FixedLengthRecordDataset(str(path), 4, 2, 1))


def test_rows_of_arrays(tmp_path: Path) -> None:
    one, other = str(tmp_path / "a.npy"), str(tmp_path / "b.npy")
    np.save(one, np.arange(6, dtype=np.int32).reshape(3, 2))
    np.save(other, np.arange(4, dtype=np.int32).reshape(2, 2))
    dataset = tf.data.experimental.NpyDataset([one, other])
    assert len(dataset) == 5
    assert [row.tolist() for row in values(dataset.batch(4))] == [
        [[0, 1], [2, 3], [4, 5], [0, 1]],
        [[2, 3]],
    ]
    np.save(other, np.array([{"code": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(tf.errors.DataLossError):
        tf.data.experimental.NpyDataset(other)
    np.save(other, np.zeros(3))
    with pytest.raises(ValueError, match="another kind"):
        tf.data.experimental.NpyDataset([one, other])


def test_elements_kept_in_a_file(tmp_path: Path) -> None:
    calls: list[int] = []

    def note(x: Any) -> Any:
        calls.append(int(x))
        return x

    def make() -> Any:
        noted = Dataset.range(4).map(lambda x: tf.py_function(note, [x], tf.int64))
        texts = noted.map(lambda x: (x, {"t": tf.strings.as_string([x, x])}))
        return texts.cache(str(tmp_path / "kept"))

    first = [(int(x), parts["t"].tolist()) for x, parts in values(make())]
    assert first == [(i, [b"%d" % i] * 2) for i in range(4)]
    again = [(int(x), parts["t"].tolist()) for x, parts in values(make())]
    assert (again, calls) == (first, [0, 1, 2, 3])
    whole = (tmp_path / "kept").read_bytes()
    for length in range(0, len(whole), 37):
        (tmp_path / "kept").write_bytes(whole[:length])
        with pytest.raises(tf.errors.DataLossError, match="kept"):
            values(make())


def test_elements_that_are_saved(tmp_path: Path) -> None:
    where = tmp_path / "deep" / "saved"
    pairs = Dataset.from_tensor_slices(([1, 2, 3], {"t": ["a", "bc", ""]}))
    pairs.save(where)
    loaded = Dataset.load(str(where))

    assert loaded.element_spec == pairs.element_spec
    assert values(loaded) == values(pairs)
    assert repr(loaded) == repr(pairs).replace("TensorSlice", "Load")
    rows = Dataset.range(5).batch(2)
    rows.save(where)
    assert os.listdir(where) == ["elements"]
    assert Dataset.load(where).element_spec == rows.element_spec
    assert [row.tolist() for row in values(Dataset.load(where))] == [
        [0, 1],
        [2, 3],
        [4],
    ]


def test_a_snapshot_is_computed_once(tmp_path: Path) -> None:
    calls: list[int] = []

    def note(x: Any) -> Any:
        calls.append(int(x))
        return x

    noted = Dataset.range(3).map(lambda x: tf.py_function(note, [x], tf.int64))
    for _ in range(2):
        assert [int(x) for x in noted.snapshot(tmp_path / "kept")] == [0, 1, 2]
    assert calls == [0, 1, 2]
    spec = tf.TensorSpec(None, tf.int64)
    assert values(Dataset.load(tmp_path / "kept", spec)) == [0, 1, 2]


def test_elements_that_cannot_be_saved_or_loaded(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="no data sets"):
        Dataset.range(3).window(2).save(tmp_path)
    with pytest.raises(tf.errors.UnimplementedError, match="leave out the compression"):
        Dataset.range(3).save(tmp_path, compression="GZIP")
    with pytest.raises(tf.errors.NotFoundError, match="there are no elements in"):
        Dataset.load(tmp_path)
    file = tmp_path / "elements"
    Dataset.range(2).save(tmp_path)
    whole = file.read_bytes()
    for damaged in (b"", b"{}\n", whole.replace(b'"shape": []', b'"shape": "x"')):
        file.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError, match="is damaged"):
            Dataset.load(tmp_path)
    file.write_bytes(whole[:-1])
    with pytest.raises(tf.errors.DataLossError, match="ends too early"):
        values(Dataset.load(tmp_path))


def test_elements_of_classes_are_loaded_by_their_spec(tmp_path: Path) -> None:
    class Point(NamedTuple):
        x: Any
        y: Any

    points = Dataset.from_tensor_slices(Point([1, 2], [3, 4]))
    points.save(tmp_path)

    with pytest.raises(ValueError, match="give their element_spec"):
        Dataset.load(tmp_path)
    assert values(Dataset.load(tmp_path, points.element_spec)) == [(1, 3), (2, 4)]


def test_a_part_of_an_iteration_is_not_kept(tmp_path: Path) -> None:
    for name in ("", str(tmp_path / "kept")):
        dataset = Dataset.range(5).cache(name)
        iterator = iter(dataset)
        next(iterator)
        del iterator
        assert os.listdir(tmp_path) == []
        assert [int(x) for x in dataset.take(2)] == [0, 1]
        assert [int(x) for x in dataset] == [0, 1, 2, 3, 4]


def test_memory_is_read_in_later_iterations() -> None:
    dataset = Dataset.range(3).shuffle(3).cache()
    first = [int(x) for x in dataset]
    assert [[int(x) for x in dataset] for _ in range(3)] == [first] * 3


@pytest.mark.parametrize("length", [2**40, 2**63, 2**64 - 1])
def test_a_length_beyond_the_file_is_a_loss(tmp_path: Path, length: int) -> None:
    head = struct.pack("<Q", length)
    path = tmp_path / "file"
    path.write_bytes(head + struct.pack("<I", masked_crc32c(head)) + b"record")

    with pytest.raises(tf.errors.DataLossError, match="ends within the record"):
        values(tf.data.TFRecordDataset(str(path)))


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_packed_files_that_are_damaged(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for number in range(50):
            writer.write(str(number) * number)
    whole = path.read_bytes()

    for damaged in (b"\x00" * 9, whole[: len(whole) // 2], whole[:-9] + b"\x00" * 9):
        path.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError):
            values(tf.data.TFRecordDataset(str(path), compression))


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_packed_files_are_unpacked_as_far_as_they_are_read(
    tmp_path: Path, compression: str
) -> None:
    """64 MiB of zeros, in a file of 64 KiB: neither error nor first line needs all."""
    path = str(tmp_path / "packed")
    pack = {"GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    Path(path).write_bytes(pack(b"first\n" + bytes(1 << 26), 1))

    tracemalloc.start()
    try:
        with pytest.raises(tf.errors.DataLossError, match="damaged at byte 0"):
            list(tf.data.TFRecordDataset(path, compression))
        lines = iter(tf.data.TextLineDataset(path, compression))
        assert next(lines) == b"first"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 23


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_what_lies_before_the_damage_is_read(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "records"
    records = [
        bytes([n]) * 9999 + np.random.default_rng(n).bytes(999) for n in range(9)
    ]
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)
    data = tf.data.TFRecordDataset(str(path), compression)
    assert list(data.as_numpy_iterator()) == records

    path.write_bytes(path.read_bytes()[:-2000])
    assert list(data.take(6).as_numpy_iterator()) == records[:6]
    with pytest.raises(tf.errors.DataLossError, match=f"is no {compression} file"):
        list(data.as_numpy_iterator())
