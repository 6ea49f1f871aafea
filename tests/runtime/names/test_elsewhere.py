"""Files of other file systems: ``tf.io`` and ``tf.data`` on what fsspec opens."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import runtime as tf
from runtime.ops.files.systems import files_of

gfile = tf.io.gfile


@pytest.fixture
def root() -> Iterator[str]:
    """A folder in memory, with a few files in it."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for name in ("x.txt", "b/y.txt"):
        tf.io.write_file(f"memory://root/{name}", f"{name}\n")
    yield "memory://root"
    system.rm("/", recursive=True)


def test_gfile_reads_and_writes(root: str) -> None:
    with gfile.GFile(f"{root}/new", "w") as file:
        file.write("é\n")
        file.write(b"2\n")
    with gfile.GFile(f"{root}/new", "a") as file:
        file.write("3")

    file = gfile.GFile(f"{root}/new")
    assert (file.size(), file.seekable(), file.readline()) == (6, True, "é\n")
    file.seek(-1, 2)
    assert file.read() == "3"
    assert gfile.GFile(f"{root}/new", "rb").readlines() == [
        "é\n".encode(),
        b"2\n",
        b"3",
    ]
    assert gfile.stat(f"{root}/new").length == 6
    assert gfile.stat(f"{root}/new").mtime_nsec > 1e18
    assert gfile.stat(f"{root}/b").is_directory


def test_gfile_lists(root: str) -> None:
    """As TensorFlow does it in its own file system in memory, ``ram://``."""
    assert gfile.listdir(root) == ["b", "x.txt"]
    assert gfile.isdir(root)
    assert not gfile.isdir(f"{root}/x.txt")
    assert gfile.exists(f"{root}/b/y.txt")
    assert not gfile.exists(f"{root}/no")
    assert gfile.glob([f"{root}/*.txt", f"{root}/*/*"]) == [
        f"{root}/x.txt",
        f"{root}/b/y.txt",
    ]
    places = [(root, ["b"], ["x.txt"]), (f"{root}/b", [], ["y.txt"])]
    assert [*gfile.walk(root)] == places
    assert [*gfile.walk(root, topdown=False)] == places[::-1]
    assert [*gfile.walk(f"{root}/no")] == []
    assert tf.io.matching_files(f"{root}/b/*").numpy() == [f"{root}/b/y.txt".encode()]
    assert gfile.join(root, "b") == f"{root}/b"


def test_gfile_changes(root: str, tmp_path: Path) -> None:
    here = f"file://{tmp_path}/here"
    gfile.copy(f"{root}/x.txt", here)
    gfile.copy(here, f"{root}/copy")
    gfile.copy(f"{root}/copy", f"{root}/copy", overwrite=True)
    gfile.rename(f"{root}/copy", f"{root}/moved")

    assert gfile.GFile(f"{root}/moved").read() == gfile.GFile(here).read() == "x.txt\n"
    assert not gfile.exists(f"{root}/copy")
    gfile.remove(f"{root}/moved")
    gfile.makedirs(f"{root}/new/one")
    gfile.mkdir(f"{root}/new")
    gfile.rmtree(f"{root}/b")
    assert gfile.listdir(root) == ["new", "x.txt"]


def test_slashes_at_the_end(root: str) -> None:
    assert [*gfile.walk(f"{root}/")] == [*gfile.walk(root)]
    top, *rest = gfile.walk("memory://")
    assert top == ("memory://", ["root"], [])
    assert rest == [*gfile.walk(root)]
    assert gfile.glob(f"{root}/b*/") == [f"{root}/b"]
    assert gfile.glob("memory://*") == [root]
    gfile.rename(f"{root}/b/", f"{root}/moved")
    assert gfile.glob(f"{root}/*/*") == [f"{root}/moved/y.txt"]


def test_systems_without_times_and_copies_of_systems(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _ = files_of(f"{root}/x.txt")
    assert copy.copy(files) == files
    base = sys.modules["fsspec.spec"].AbstractFileSystem
    monkeypatch.setattr(type(files.system), "modified", base.modified)
    assert gfile.stat(f"{root}/x.txt") == gfile.FileStatistics(6, 0, False)


@pytest.mark.parametrize(
    "save",
    [
        lambda path: tf.train.Checkpoint(v=tf.Variable(1.0)).save(path),
        lambda path: tf.train.Checkpoint(v=tf.Variable(1.0)).write(path),
        lambda path: tf.saved_model.save(tf.Module(), path),
        lambda path: tf.data.Dataset.range(3).save(path),
        lambda path: tf.data.Dataset.range(3).snapshot(path),
        lambda path: tf.data.Dataset.range(3).cache(path),
        lambda path: tf.data.Dataset.load(path),
    ],
)
def test_programs_are_saved_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tf.errors.UnimplementedError, match=r"tf\.io\.gfile\.copy"):
        save("gs://bucket/name")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda r: gfile.GFile(f"{r}/no"), "NotFoundError", "/root/no; FileNotFound"),
        (lambda r: tf.io.read_file(f"{r}/no"), "NotFoundError", "/root/no"),
        (lambda r: gfile.listdir(f"{r}/no"), "NotFoundError", "not find directory"),
        (lambda r: gfile.stat(f"{r}/no"), "NotFoundError", "/root/no"),
        (lambda r: gfile.remove(f"{r}/no"), "NotFoundError", "/root/no"),
        (lambda r: gfile.remove(f"{r}/b"), "FailedPreconditionError", "Is a directory"),
        (
            lambda r: gfile.copy("none", f"{r}/x.txt"),
            "AlreadyExistsError",
            "already exists",
        ),
        (
            lambda r: gfile.rename(f"{r}/x.txt", "x"),
            "UnimplementedError",
            "two file systems",
        ),
        (lambda r: gfile.exists("zz://x"), "UnimplementedError", "not known: zz"),
    ],
)
def test_refusals(root: str, use: Any, error: str, message: str) -> None:
    with pytest.raises(getattr(tf.errors, error), match=message):
        use(root)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records(root: str, compression: str) -> None:
    path = f"{root}/records"
    with tf.io.TFRecordWriter(path, compression) as writer:
        for text in ("one", "two"):
            writer.write(text)

    found = tf.data.TFRecordDataset(path, compression)
    assert [*found.as_numpy_iterator()] == [b"one", b"two"]


def test_data_sets(root: str, tmp_path: Path) -> None:
    lines = tf.data.TextLineDataset([f"{root}/x.txt", f"{root}/b/y.txt"])
    assert [*lines.as_numpy_iterator()] == [b"x.txt", b"b/y.txt"]
    names = tf.data.Dataset.list_files(f"{root}/*.txt")
    assert [*names.as_numpy_iterator()] == [f"{root}/x.txt".encode()]
    assert [*names.map(tf.io.read_file).as_numpy_iterator()] == [b"x.txt\n"]
    tf.io.write_file(f"{root}/table", "1,a\n2,b\n")
    rows = tf.data.experimental.CsvDataset(f"{root}/table", [tf.int32, tf.string])
    assert [*rows.as_numpy_iterator()] == [(1, b"a"), (2, b"b")]
    with pytest.raises(tf.errors.NotFoundError, match="no file 'memory://root/no'"):
        list(tf.data.TextLineDataset(f"{root}/no"))

    (tmp_path / "local").write_bytes(b"here\n")
    lines = tf.data.TextLineDataset(f"file://{tmp_path}/local")
    assert [*lines.as_numpy_iterator()] == [b"here"]


def test_tables(root: str) -> None:
    index = tf.lookup.TextFileIndex
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            *(f"{root}/x.txt", tf.string, index.WHOLE_LINE, tf.int64),
            index.LINE_NUMBER,
        ),
        -1,
    )
    assert table.lookup(tf.constant(["x.txt", "y"])).numpy().tolist() == [0, -1]


@pytest.mark.parametrize("executor", ["numpy", "native"])
def test_a_graph_reads_each_time_it_runs(root: str, executor: str) -> None:
    if executor == "native":
        pytest.importorskip("llvmlite")

    @tf.function(executor=executor)
    def exchange(name: Any, text: Any) -> Any:
        before = tf.io.read_file(name)
        tf.io.write_file(name, text)
        return before

    name = tf.constant(f"{root}/x.txt")
    assert exchange(name, tf.constant("1")).numpy() == b"x.txt\n"
    assert exchange(name, tf.constant("2")).numpy() == b"1"


def test_writing_while_a_function_is_traced_is_noted(root: str) -> None:
    @tf.function
    def write() -> None:
        gfile.GFile(f"{root}/traced", "w").write("x")

    with pytest.warns(tf.errors.TracingWarning, match=r"AG322.*tf.io.gfile.open\(\)"):
        write()


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    path = "gs://bucket/file"
    uses: tuple[Any, ...] = (
        gfile.exists,
        gfile.GFile,
        gfile.glob,
        tf.io.read_file,
        lambda path: list(tf.data.TFRecordDataset(path)),
        tf.io.TFRecordWriter,
    )
    for use in uses:
        with pytest.raises(
            tf.errors.UnimplementedError,
            match=r"gs://bucket/file.*pip install 'autograph-compiler\[files\]'.*gs://",
        ):
            use(path)
    assert gfile.exists(f"file://{__file__}")
