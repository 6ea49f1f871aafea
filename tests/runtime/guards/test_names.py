"""Names that code reads, also by operations of Pythons that are not known yet."""

from __future__ import annotations

import dis

import pytest

from runtime.guards import names
from runtime.guards.names import names_of


def test_an_unknown_operation_on_a_name_counts_as_a_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(names, "_GLOBALS", frozenset())
    monkeypatch.setattr(names, "_ATTRIBUTES", frozenset())
    found = names_of(compile("def f(): return scale * model.rate", "", "exec"))
    assert {"scale", "model"} <= found.globals
    assert "rate" in found.attributes


def test_the_operations_of_this_python_are_known() -> None:
    known = {*names._GLOBALS, *names._ATTRIBUTES, *names._STORED, *names._OF_CLASSES}
    operations = {dis.opname[code] for code in dis.hasname}
    # The others are steps of the compiler that no finished code has.
    assert {name for name in operations - known if "SUPER" not in name} == set()
