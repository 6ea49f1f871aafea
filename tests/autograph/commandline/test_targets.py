"""Targets of the command line: found without being executed, or explained."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograph.commandline.targets import (
    TargetName,
    excerpt,
    files_in,
    find_module_spec,
    parse_target,
    read_target,
    spans,
)
from autograph.errors import SourceError, TargetError
from autograph.source.text import Source

SHAPES = '''\
import functools


class Square:
    """A square."""

    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side**2

    @area.setter
    def area(self, value):
        text = """kept
as it is"""
        self.side = value**0.5, text


@functools.cache
def measure(n):
    def step(x):
        return x + 1

    if n:

        def other(x):
            return step(x)

    return other(n)


if sys:

    async def measured(n): return n
'''


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-", ("stdin", "-", "")),
        ("-::f", ("stdin", "-", "f")),
        ("a/b.py", ("file", "a/b.py", "")),
        ("b.py", ("file", "b.py", "")),
        ("a/b.py::f", ("file", "a/b.py", "f")),
        ("a/b.py::C.m", ("file", "a/b.py", "C.m")),
        ("script::f", ("file", "script", "f")),
        ("a.b", ("module", "a.b", "")),
        ("a.b:f", ("module", "a.b", "f")),
        ("a.b:C.m", ("module", "a.b", "C.m")),
        ("a/b", ("file", "a/b", "")),
        ("a b", ("file", "a b", "")),
        (".", ("file", ".", "")),
    ],
)
def test_parse(text: str, expected: tuple[str, str, str]) -> None:
    assert parse_target(text) == TargetName(*expected)


def test_a_file_goes_before_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json").write_text("x = 1")

    assert parse_target("json").kind == "file"
    assert parse_target("json.decoder").kind == "module"


def test_modules_are_read_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "bomb").mkdir()
    (tmp_path / "bomb" / "__init__.py").write_text("raise SystemExit('executed')")
    (tmp_path / "bomb" / "inner.py").write_text("raise SystemExit('executed')\n")
    before = set(sys.modules)

    source = read_target(TargetName("module", "bomb.inner"))

    assert source.text == "raise SystemExit('executed')\n"
    assert source.filename == str(tmp_path / "bomb" / "inner.py")
    assert {n for n in set(sys.modules) - before if n.startswith("bomb")} == set()


def test_modules_in_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("zipped/inner.py", "x = 'é'\n")
        archive.writestr("zipped/__init__.py", "")
    monkeypatch.syspath_prepend(str(tmp_path / "lib.zip"))

    assert read_target(TargetName("module", "zipped.inner")).text == "x = 'é'\n"


def test_standard_input_is_decoded_as_python_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = "# coding: latin-1\r\nx = 'é'\r\n".encode("latin-1")

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    source = read_target(TargetName("stdin", "-"))

    assert source == Source("# coding: latin-1\nx = 'é'\n", "<stdin>", "\r\n")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("missing.py", "AG401 cannot read `missing.py`\n  why: No such file"),
        (".", "AG401 cannot read `.`\n  why: the folder has no Python"),
        ("no_such_module", "AG402 there is no module `no_such_module`"),
        ("json.decoder.JSONDecoder", "write `json.decoder:JSONDecoder`"),
        ("sys", "AG402 module `sys` has no Python source"),
        ("xxsubtype", "AG402 module `xxsubtype` has no Python source"),
    ],
)
def test_what_cannot_be_read(
    target: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "script.py").write_text("")
    with pytest.raises(TargetError) as caught:
        read_target(parse_target(target))

    assert message in str(caught.value)


#: What Python says of texts in UTF-16.
NOT_UTF_8 = "null bytes" if sys.version_info >= (3, 14) else "encoding declaration"


@pytest.mark.parametrize(
    ("data", "place", "why"),
    [
        (b"a = 1\nb = '\xff'\n", ":2:1: AG100", "can't decode byte 0xff"),
        (b"# coding: no-such-code\n", ":1:1: AG100", "unknown encoding"),
        (b"# coding: hex\n", ":1:1: AG100", "not a text encoding"),
        (b"# coding: undefined\n", ":1:1: AG100", "undefined"),
        ("x = 1\n".encode("utf-16"), ":1:1: AG100", NOT_UTF_8),
    ],
)
def test_what_cannot_be_decoded(
    data: bytes, place: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.py"
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        read_target(parse_target(str(path)))

    assert str(caught.value).startswith(f"{path}{place}")
    assert why in str(caught.value)


def test_files_in_a_folder(tmp_path: Path) -> None:
    names = ["b.py", "a/z.py", "a/__init__.py", ".venv/x.py", "notes.txt", "a/.x.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    found = [Path(file).relative_to(tmp_path).as_posix() for file in files_in(tmp_path)]

    assert found == ["b.py", "a/__init__.py", "a/z.py"]


def test_find_module_spec() -> None:
    spec = find_module_spec("json.decoder")

    assert spec is not None
    assert spec.name == "json.decoder"
    assert find_module_spec("json.nothing.below") is None
    assert find_module_spec("sys.path") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Square", [(4, 18)]),
        ("Square.__init__", [(7, 8)]),
        ("Square.area", [(10, 12), (14, 18)]),
        ("measure", [(21, 31)]),
        ("measure.step", [(23, 24)]),
        ("measure.<locals>.step", [(23, 24)]),
        ("measure.other", [(28, 29)]),
        ("measured", [(36, 36)]),
    ],
)
def test_spans(name: str, expected: list[tuple[int, int]]) -> None:
    assert list(spans(Source(SHAPES, "shapes.py"), name)) == expected


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Square.aera", "did you mean `Square.area`?"),
        ("step", "`measure.step`"),
        ("mesure", "`measure`"),
        ("zzz", ""),
    ],
)
def test_did_you_mean(name: str, hint: str) -> None:
    with pytest.raises(TargetError) as caught:
        spans(Source(SHAPES, "shapes.py"), name)

    assert f"AG403 there is no `{name}` in shapes.py" in str(caught.value)
    assert hint in str(caught.value)
    assert bool(hint) == ("fix:" in str(caught.value))


def test_excerpt_is_code_of_its_own() -> None:
    text = excerpt(SHAPES, "Square.__init__")

    assert text == "def __init__(self, side):\n    self.side = side\n"
    assert excerpt(SHAPES, "measured") == "async def measured(n): return n\n"


def test_excerpt_finds_what_moved_inward() -> None:
    moved = (
        "def f(x):\n    def if_true():\n        def g():\n            return x\n    g\n"
    )

    assert excerpt(moved, "f.g") == "def g():\n    return x\n"
