"""Modules and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for name in ("autograph", "runtime")
    for path in sorted((ROOT / name).rglob("*.py"))
}
MAX_MODULE = 600
MAX_FUNCTION = 60


def test_modules() -> None:
    lengths = {path: len(text.splitlines()) for path, text in TEXTS.items()}

    assert {path: n for path, n in lengths.items() if n > MAX_MODULE} == {}


def test_functions() -> None:
    lengths = {
        f"{path}:{node.name}": node.end_lineno - node.lineno + 1
        for path, text in TEXTS.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    }

    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION} == {}


def test_no_loose_ends() -> None:
    marks = ("TODO", "FIXME", "XXX")

    assert [path for path, text in TEXTS.items() if any(m in text for m in marks)] == []
