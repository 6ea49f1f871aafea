"""Modules and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    p for name in ("autograph", "runtime") for p in (ROOT / name).rglob("*.py")
)
MAX_MODULE = 600
MAX_FUNCTION = 60


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_size(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    functions = [
        (node.name, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]

    assert len(text.splitlines()) <= MAX_MODULE
    assert [found for found in functions if found[1] > MAX_FUNCTION] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_loose_ends(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert [mark for mark in ("TODO", "FIXME", "XXX") if mark in text] == []
