"""Files that are edited while the program runs: the old function, the new text."""

from __future__ import annotations

import importlib
import linecache
import os
import sys
import types
import warnings
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

import autograph
from autograph.errors import SourceError
from autograph.source.definitions import find_function

TEXT = """\
def double(x):
    if x:
        return x * 2
    return 0


class C:
    def method(self, x, y=lambda v: v):
        assert x
        return [y(i) for i in range(x)]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    (tmp_path / "edited_sample.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("edited_sample")
    monkeypatch.delitem(sys.modules, "edited_sample")
    return module


def test_an_edit_at_the_same_place_is_noticed(module: types.ModuleType) -> None:
    """Converting must not put the new text in place of what was imported."""
    assert autograph.convert(module.double)(2) == 4
    Path(module.__file__ or "").write_text(TEXT.replace("x * 2", "x * 20"))

    with pytest.raises(SourceError, match="AG102 no source") as info:
        find_function(module.double)
    assert "`double` was not found in " in str(info.value)
    assert "line 1 is not what was imported" in str(info.value)
    assert "reload the module" in str(info.value)


def test_the_time_of_an_edit_does_not_matter(module: types.ModuleType) -> None:
    """Tools that copy files keep the times that those had elsewhere."""
    path = Path(module.__file__ or "")
    path.write_text(TEXT.replace("x * 2", "x * 20"))
    os.utime(path, (0, 0))

    with pytest.raises(SourceError, match="line 1 is not what was imported"):
        find_function(module.double)


def test_what_was_not_edited_itself_is_converted(module: types.ModuleType) -> None:
    Path(module.__file__ or "").write_text(TEXT.replace("x * 2", "x * 20"))

    assert autograph.convert(module.C.method)(None, 2) == [0, 1]
    assert autograph.convert(module.C.method.__defaults__[0])(3) == 3


def test_functions_of_a_converted_module_are_found(module: types.ModuleType) -> None:
    """Their code is not that of their text, without an edit."""
    converted = autograph.convert(module)

    assert find_function(converted.double).node.name == "double"


def test_a_text_is_compiled_with_the_future_of_its_surroundings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As doctests do, whose names are those of a module with a loader."""
    text = 'def f(x: int) -> str:\n    return "\\d" if x else ""\n'
    lines = text.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<example>", (len(text), None, lines, ""))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flags = annotations.compiler_flag
        code = compile(text, "<example>", "exec", flags=flags, dont_inherit=True)
    namespace: dict[str, Any] = {"__loader__": SourceFileLoader("a", "a.py")}
    exec(code, namespace)

    assert find_function(namespace["f"]).node.name == "f"
