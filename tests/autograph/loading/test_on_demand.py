"""The converted forms of functions: for which functions, and for how long."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import autograph
from autograph.loading import on_demand
from autograph.operators import calls

TEXT = """\
def total(x):
    if tool.loads(x):
        return len(x)
    return 0
"""


@pytest.fixture
def total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FunctionType:
    monkeypatch.setenv("AUTOGRAPH_NO_CACHE", "1")
    path = tmp_path / "totals.py"
    path.write_text(TEXT)
    namespace: dict[str, Any] = {"__name__": "totals", "tool": json}
    exec(compile(TEXT, str(path), "exec"), namespace)
    function: FunctionType = namespace["total"]
    return function


def test_functions_with_the_same_code_have_their_own_globals(
    total: FunctionType,
) -> None:
    class Own:
        @staticmethod
        def loads(text: str) -> bool:
            return text == "true"

    mine = {**total.__globals__, "tool": Own}
    counted = {**total.__globals__, "len": lambda text: -1}
    forms = [
        autograph.convert(total),
        autograph.convert(FunctionType(total.__code__, mine)),
        autograph.convert(FunctionType(total.__code__, counted)),
        autograph.convert(FunctionType(total.__code__, dict(total.__globals__))),
    ]

    assert [form("true") for form in forms] == [4, 4, -1, 4]
    codes = [form.__code__ for form in forms]
    assert len({*map(id, codes[:3])}) == 3, "each is converted as its names are"


def test_forms_die_with_their_functions(total: FunctionType) -> None:
    gc.collect()
    before = (
        len(on_demand._codes),
        len(on_demand._generated),
        len(calls._converted_codes),
    )
    path = total.__code__.co_filename
    for _ in range(3):
        namespace: dict[str, Any] = {"__name__": "totals", "tool": json}
        exec(compile(TEXT, path, "exec"), namespace)
        assert autograph.convert(namespace["total"])("[]") == 0
        calls.note_converted(namespace["total"])
        other: dict[str, Any] = {"__name__": "totals", "tool": json}
        exec(compile(TEXT, path, "exec"), other)
        assert autograph.convert_in_place(other["total"])
    del namespace, other
    gc.collect()

    assert (
        len(on_demand._codes),
        len(on_demand._generated),
        len(calls._converted_codes),
    ) == before
