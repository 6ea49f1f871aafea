"""Files that programs read and write: when, in which order, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import runtime as tf


def test_writes_make_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"

    tf.io.write_file(path, b"\xff\x00")

    assert path.read_bytes() == b"\xff\x00"
    assert tf.io.read_file(path).numpy() == b"\xff\x00"
    tf.io.write_file(str(path), "")
    assert tf.io.read_file(tf.constant(str(path))).numpy() == b""


def test_a_graph_reads_each_time_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1")
    read = tf.function(lambda: tf.io.read_file(str(path)))

    assert read().numpy() == b"1"
    path.write_bytes(b"2")
    assert read().numpy() == b"2"
    assert read.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("executor", ["numpy", "native"])
def test_reads_and_writes_keep_their_order(tmp_path: Path, executor: str) -> None:
    if executor == "native":
        pytest.importorskip("llvmlite")
    path = tmp_path / "file"
    path.write_bytes(b"old")

    @tf.function(executor=executor)
    def exchange(name: tf.Tensor, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        before = tf.io.read_file(name)
        tf.io.write_file(name, text + before)
        for _ in tf.range(2):
            tf.io.write_file(name, tf.io.read_file(name) + "!")
        return before, tf.io.read_file(name)

    found = exchange(tf.constant(str(path)), tf.constant("new"))

    assert [x.numpy() for x in found] == [b"old", b"newold!!"]


def test_a_write_whose_result_nobody_asks_for_happens(tmp_path: Path) -> None:
    path = tmp_path / "file"

    @tf.function
    def write(x: tf.Tensor) -> tf.Tensor:
        tf.io.write_file(str(path), tf.strings.as_string(x))
        return x + 1

    assert write(tf.constant(3)).numpy() == 4
    assert path.read_bytes() == b"3"


def test_files_of_a_data_set(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(name.encode() * 2)
    names = tf.data.Dataset.list_files(f"{tmp_path}/*", shuffle=False)

    contents = names.map(tf.io.read_file)

    assert list(contents.as_numpy_iterator()) == [b"aa", b"bb"]
    (tmp_path / "a").write_bytes(b"new")
    assert list(contents.as_numpy_iterator()) == [b"new", b"bb"]


def test_matching_files(tmp_path: Path) -> None:
    for name in ("b.txt", ".h.txt", "a.txt", "c.md"):
        (tmp_path / name).touch()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "e.txt").touch()

    def names(*patterns: str) -> list[str]:
        given = [f"{tmp_path}/{pattern}" for pattern in patterns]
        found = tf.io.matching_files(given[0] if len(given) == 1 else given)
        return [os.path.relpath(os.fsdecode(x), tmp_path) for x in found.numpy()]

    # As TensorFlow 2.21.
    assert names("*.txt") == [".h.txt", "a.txt", "b.txt"]
    assert names("b*", "*.txt") == [".h.txt", "a.txt", "b.txt", "b.txt"]
    assert names("*/*") == ["d/e.txt"]
    assert names("none*") == names("none/*") == []
    match = tf.function(lambda: tf.size(tf.io.matching_files(f"{tmp_path}/*.md")))
    assert match().numpy() == 1
    (tmp_path / "more.md").touch()
    assert match().numpy() == 2


def test_refusals(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.read_file(missing)
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.function(tf.io.read_file)(tf.constant(missing))
    with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
        tf.io.read_file(str(tmp_path))
    with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
        tf.io.write_file(str(tmp_path), "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="one string"):
        tf.io.read_file([missing])
    with pytest.raises(tf.errors.InvalidArgumentError, match="one string"):
        tf.io.write_file(missing, ["x"])
    with pytest.raises(tf.errors.UnimplementedError, match="zz://"):
        tf.io.read_file("zz://bucket/file")
    with pytest.raises(tf.errors.DTypeMismatchError):
        tf.io.read_file(3)


def test_saved_models_read_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    module = tf.Module()
    module.read = tf.function(
        lambda name: tf.io.read_file(name),
        input_signature=[tf.TensorSpec([], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path / "model"))

    path.write_bytes(b"text")
    model = f"tf.saved_model.load({str(tmp_path / 'model')!r})"
    code = f"import runtime as tf; print({model}.read({str(path)!r}).numpy())"

    # Nothing has asked for tf.io there.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("b'text'\n", "")
