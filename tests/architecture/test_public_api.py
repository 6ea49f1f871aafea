"""The public names: listed once, present, documented (ruff keeps them sorted)."""

from __future__ import annotations

import importlib
import inspect

import pytest

PACKAGES = ["autograph", "autograph.operators", "runtime"]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_true(name: str) -> None:
    module = importlib.import_module(name)

    assert len(module.__all__) == len(set(module.__all__)) > 0
    assert [n for n in module.__all__ if not hasattr(module, n)] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_everything_public_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    undocumented = [
        n
        for n in module.__all__
        if (inspect.isfunction(value := getattr(module, n)) or inspect.isclass(value))
        and not value.__doc__
    ]

    assert undocumented == []


def test_dir_shows_lazy_names() -> None:
    """Names that load on first use are there for completion all the same."""
    module = importlib.import_module("autograph")

    assert set(module.__all__) <= set(dir(module))
