"""Rules of ops name other ops by `ops.late`: each name is that of one function."""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from runtime.ops import late

OPS = Path(inspect.getfile(late)).parent


def names_used() -> set[str]:
    """What modules of ops read as attributes of ``tf``."""
    return {
        node.attr
        for path in OPS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "tf"
    }


def test_rules_name_functions_that_are_there():
    assert {name for name in names_used() if not callable(getattr(late, name))} == set()


def test_no_name_is_that_of_two_functions():
    homes = defaultdict(set)
    for path in late._MODULES:
        module = import_module(f"runtime.ops.{path}")
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__:
                homes[name].add(path)

    used = names_used()

    assert {
        name: found for name, found in homes.items() if len(found) > 1 and name in used
    } == {}


def test_an_unknown_name_is_told():
    with pytest.raises(AttributeError, match="the function 'nonsense'"):
        late.nonsense
