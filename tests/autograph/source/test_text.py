"""Texts, their lines and columns, and where they come from."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import io
import linecache
import types
import typing
import zipfile

import pytest

from autograph.errors import SourceError
from autograph.source.text import Source, code_of, source_of


def test_lines_are_those_of_the_parser() -> None:
    text = "a = 1\r\nb = '\x0c\u2028'\rc = 2\n"
    source = Source(text)

    assert source.lines == ("a = 1", "b = '\x0c\u2028'", "c = 2", "")
    assert [n.lineno for n in ast.parse(text).body] == [1, 2, 3]


def test_segments_count_characters() -> None:
    source = Source("é = 'ü'; b = ('ß',\n   'ö') + 1 # ä\n")
    first, second = ast.parse(source.text).body

    assert source.segment(first) == "é = 'ü'"
    assert source.segment(second) == "b = ('ß',\n   'ö') + 1"


def test_read_decodes_as_python_does(tmp_path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes(b"# -*- coding: latin-1 -*-\r\na = '\xe9'\r\n")

    assert Source.read(path).text == "# -*- coding: latin-1 -*-\na = 'é'\n"
    assert Source.read(path).filename == str(path)


@pytest.mark.parametrize("content", [None, b"a = '\xff'", b"# coding: nonsense"])
def test_unreadable_files(tmp_path, content: bytes | None) -> None:
    path = tmp_path / "f.py"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(SourceError) as raised:
        Source.read(path)

    assert raised.value.code == "AG102"
    assert str(path) in str(raised.value)


def test_objects_of_a_file() -> None:
    import textwrap

    whole = Source.read(textwrap.__file__)

    assert source_of(textwrap) == whole
    assert source_of(textwrap.dedent) == whole
    assert source_of(textwrap.TextWrapper) == whole
    assert source_of(textwrap.TextWrapper().wrap) == whole
    assert source_of(textwrap.dedent.__code__) == whole


def test_an_edited_file_is_read_again(tmp_path, monkeypatch) -> None:
    path = tmp_path / "edited_module.py"
    path.write_text("def f(): return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import edited_module

    assert source_of(edited_module.f).text == "def f(): return 1\n"
    path.write_text("def f(): return 12345\n")
    assert source_of(edited_module.f).text == "def f(): return 12345\n"


def test_modules_in_archives(tmp_path, monkeypatch) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("zipped_module.py", "def f(): return 1\n")
    monkeypatch.syspath_prepend(tmp_path / "a.zip")
    import zipped_module

    assert source_of(zipped_module.f).text == "def f(): return 1\n"


def _wrapped(method):
    @functools.wraps(method)
    def wrapper(*args):
        return method(*args)

    return wrapper


class _Colour(enum.Enum):
    RED = 1

    def name_of(self):
        return self.name


@dataclasses.dataclass
class _Point:
    x: int


class _Pair(typing.NamedTuple):
    a: int


class _Decorated:
    @functools.singledispatchmethod
    def dispatched(self, x):
        return x

    method = _wrapped(ast.NodeVisitor.visit)

    @property
    def own(self):
        return 1


@pytest.mark.parametrize("cls", [_Colour, _Point, _Pair, _Decorated])
def test_a_class_with_methods_from_elsewhere(cls: type) -> None:
    """Its base, or what generated its methods, is not where the class is defined."""
    assert source_of(cls).filename == __file__


def test_a_class_of_a_cell(monkeypatch) -> None:
    text = "class C:\n    a = 1\n    def f(self): return 1\n"
    monkeypatch.setitem(
        linecache.cache,
        "<cell 1>",
        (len(text), None, text.splitlines(True), "<cell 1>"),
    )
    namespace = {"__name__": "__main__"}
    exec(compile(text, "<cell 1>", "exec"), namespace)

    assert source_of(namespace["C"]).text == text


def test_what_has_no_source() -> None:
    namespace: dict[str, types.FunctionType] = {}
    exec("def f(): return 1", namespace)

    for obj in (namespace["f"], len, 1, dict, io):
        if obj is not io:
            with pytest.raises(SourceError, match="AG102 no source"):
                source_of(obj)
    with pytest.raises(SourceError, match="`f` was defined by `exec` or `python -c`"):
        source_of(namespace["f"])


def test_code_of() -> None:
    def f() -> None: ...

    assert code_of(f) is code_of(f.__code__) is code_of(staticmethod(f)) is f.__code__
    assert code_of(classmethod(f)) is f.__code__
    assert code_of(len) is code_of(int) is None
