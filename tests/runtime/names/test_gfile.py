"""Local files under the names of ``tf.io.gfile``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runtime as tf

gfile = tf.io.gfile


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with a few files in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a/b/c").mkdir(parents=True)
    for name in ("a/x.txt", "a/.hidden", "a/b/y[1].txt"):
        (tmp_path / name).write_text(f"{name}\n")
    return tmp_path


def test_files_that_cannot_be_written(folder: Path) -> None:
    gfile.copy("a/x.txt", "a/x.txt", overwrite=True)
    assert gfile.GFile("a/x.txt").read() == "a/x.txt\n"
    with pytest.raises(tf.errors.NotFoundError, match="no/x"):
        tf.io.TFRecordWriter("no/x")


# --- GFile ----------------------------------------------------------------------------


def test_text_is_utf_8_and_bytes_are_bytes(folder: Path) -> None:
    with gfile.GFile("new", "w") as file:
        file.write("é\r\n")
        file.write(b"2\n")
        assert file.tell() == file.size() == 6

    assert gfile.GFile("new").read() == "é\r\n2\n"
    assert gfile.GFile("new", "rb").read() == "é\r\n2\n".encode()
    assert gfile.GFile("new").readlines() == [*gfile.GFile("new")] == ["é\r\n", "2\n"]
    assert gfile.GFile(folder / "new", "rb").readline() == "é\r\n".encode()


def test_files_are_read_in_parts_and_written_at_the_end(folder: Path) -> None:
    with gfile.GFile("new", "wb") as file:
        file.write("one")
    with gfile.GFile("new", "a") as file:
        file.write("two")
    file = gfile.GFile("new")

    assert (file.name, file.mode, file.seekable()) == ("new", "r", True)
    assert (file.read(2), file.tell(), next(file)) == ("on", 2, "etwo")
    file.seek(-3, 2)
    assert (file.read(), file.read(), file.readline()) == ("two", "", "")
    assert repr(file) == "<tf.io.gfile.GFile 'new' mode='r'>"
    with gfile.GFile("new", "w+") as file:
        file.write("12")
        file.flush()
        file.seek(1)
        assert file.read() == "2"


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: gfile.GFile("no"), "NotFoundError", "no; No such file"),
        (lambda: gfile.GFile("no/no", "w"), "NotFoundError", "no/no; No such file"),
        (lambda: gfile.GFile("a", "w"), "FailedPreconditionError", "a; Is a directory"),
        (
            lambda: gfile.GFile("a/x.txt", "x"),
            "InvalidArgumentError",
            "mode is not 'r'",
        ),
        (lambda: gfile.GFile("a/x.txt").write("x"), "PermissionDeniedError", "writing"),
        (lambda: gfile.GFile("n", "w").read(), "PermissionDeniedError", "for reading"),
        (lambda: gfile.mkdir("no/no"), "NotFoundError", "no/no; No such file"),
        (lambda: gfile.mkdir("a/x.txt"), "AlreadyExistsError", "a/x.txt; File exists"),
        (lambda: gfile.makedirs("a/x.txt/b"), "FailedPreconditionError", "Not a dir"),
        (lambda: gfile.listdir("no"), "NotFoundError", "not find directory no"),
        (lambda: gfile.listdir("a/x.txt"), "NotFoundError", "not find directory a/x"),
        (lambda: gfile.stat("no"), "NotFoundError", "no; No such file"),
        (lambda: gfile.remove("no"), "NotFoundError", "no; No such file"),
        (lambda: gfile.remove("a"), "FailedPreconditionError", "a; Is a directory"),
        (lambda: gfile.rmtree("no"), "NotFoundError", "no; No such file"),
        (lambda: gfile.copy("no", "n"), "NotFoundError", "no; No such file"),
        (lambda: gfile.copy("a/x.txt", "a/b"), "AlreadyExistsError", "already exists"),
        (lambda: gfile.rename("a/x.txt", "a"), "AlreadyExistsError", "already exists"),
        (lambda: gfile.exists(tf.constant("a")), "", "not EagerTensor"),
    ],
)
def test_refusals_are_the_errors_of_tf(
    folder: Path, use: Callable[[], Any], error: str, message: str
) -> None:
    kind = getattr(tf.errors, error) if error else TypeError

    with pytest.raises(kind, match=message):
        use()


# --- the other functions --------------------------------------------------------------


def test_files_are_copied_renamed_and_removed(folder: Path) -> None:
    gfile.copy("a/x.txt", "copy")
    gfile.copy("a/b/y[1].txt", "copy", overwrite=True)
    gfile.rename("copy", "moved")
    gfile.rename("moved", "a/x.txt", overwrite=True)

    assert gfile.GFile("a/x.txt").read() == "a/b/y[1].txt\n"
    assert gfile.listdir(".") == ["a"]
    gfile.remove("a/x.txt")
    assert not gfile.exists("a/x.txt")
    gfile.rmtree("a/b")
    gfile.rmtree("a/.hidden")
    assert gfile.listdir("a") == []


def test_folders_are_made_once(folder: Path) -> None:
    for _ in range(2):
        gfile.mkdir("new")
        gfile.makedirs("new/one/two")

    assert gfile.isdir("new/one/two")
    assert not gfile.isdir("a/x.txt")
    assert gfile.exists(b"new")
    assert not gfile.exists("other")
    assert gfile.join("new", folder.name, b"x") == os.path.join("new", folder.name, "x")


def test_stat(folder: Path) -> None:
    found = gfile.stat("a/x.txt")

    assert (found.length, found.is_directory) == (8, False)
    assert found.mtime_nsec == os.stat("a/x.txt").st_mtime_ns
    assert gfile.stat("a").is_directory


def test_walk(folder: Path) -> None:
    places = [
        ("a", ["b"], [".hidden", "x.txt"]),
        ("a/b", ["c"], ["y[1].txt"]),
        ("a/b/c", [], []),
    ]
    errors: list[Any] = []

    assert [*gfile.walk("a")] == places
    assert [*gfile.walk("a", topdown=False)] == places[::-1]
    assert [*gfile.walk("no")] == [*gfile.walk("no", onerror=errors.append)] == []
    assert [type(error) for error in errors] == [tf.errors.NotFoundError]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a/*", ["a/.hidden", "a/b", "a/x.txt"]),
        ("a/?", ["a/b"]),
        ("*", ["a"]),
        ("a/*/", ["a/b/"]),
        ("*/*/[!c]*", ["a/b/y[1].txt"]),
        ("a/**/c", ["a/b/c"]),
        ("a/b/y[[]1].txt", ["a/b/y[1].txt"]),
        ("a/x.txt", ["a/x.txt"]),
        ("no/*", []),
        ("no", []),
        (["a/x*", Path("a/.h*")], ["a/x.txt", "a/.hidden"]),
    ],
)
def test_glob(folder: Path, pattern: Any, found: list[str]) -> None:
    assert gfile.glob(pattern) == found


def test_paths_may_be_absolute_and_urls_of_local_files(folder: Path) -> None:
    assert gfile.glob(f"{folder}/a/x*") == [f"{folder}/a/x.txt"]
    assert gfile.exists(f"file://{folder}/a")
    assert gfile.exists("a/../a")
    assert not gfile.exists("a/b://c")
