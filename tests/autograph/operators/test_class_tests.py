"""``type``, ``isinstance`` and ``hasattr`` of objects that stand for Python values."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest

import autograph
from autograph import operators as ag


class Rows:
    """Stands for a list."""

    rows = 3

    def __autograph_type__(self) -> type:
        return list


class Answering(type):
    def __getattr__(cls, name: str) -> str:
        return name


class Odd(metaclass=Answering):
    """Its class has an attribute of every name, and is asked for none."""


def test_the_class_that_an_object_stands_for_answers() -> None:
    rows = Rows()
    assert ag.type(rows) is ag.class_of(rows) is list
    assert ag.isinstance(rows, list)
    assert ag.isinstance(rows, (int, Sequence))
    assert not ag.isinstance(rows, (tuple, Rows))
    assert ag.hasattr(rows, "append")
    assert not ag.hasattr(rows, "rows")
    assert not ag.hasattr(rows, "__name__")


@pytest.mark.parametrize(
    "value", [1, [], Odd(), Odd, Rows], ids=["1", "[]", "Odd()", "Odd", "Rows"]
)
def test_python_answers_for_all_else(value: Any) -> None:
    assert ag.type(value) is type(value)
    assert ag.class_of(value) is value.__class__
    for cls in (int, list, type, Odd):
        assert ag.isinstance(value, cls) is isinstance(value, cls)
    for name in ("append", "rows", "__name__"):
        assert ag.hasattr(value, name) is hasattr(value, name)


def test_errors_are_those_of_python() -> None:
    with pytest.raises(TypeError, match="arg 2 must be a type"):
        ag.isinstance([], 1)
    with pytest.raises(TypeError, match="attribute name must be string"):
        ag.hasattr([], 1)


def test_single_dispatch_goes_by_the_class_that_an_object_stands_for() -> None:
    @functools.singledispatch
    def kind(value: Any) -> str:
        return "other"

    @kind.register
    def _(value: list) -> str:
        return "list"

    class Kinds:
        @functools.singledispatchmethod
        def kind(self, value: Any) -> str:
            return "other"

        @kind.register
        def _(self, value: list) -> str:
            return "list"

        @functools.singledispatchmethod
        @classmethod
        def of(cls, value: Any) -> Any:
            return cls, "other"

        @of.register
        @classmethod
        def _(cls, value: list) -> Any:
            return cls, "list"

    assert ag.call(kind)(Rows()) == ag.call(Kinds().kind)(Rows()) == "list"
    assert ag.call(Kinds.of)(Rows()) == ag.call(Kinds().of)([]) == (Kinds, "list")
    assert ag.call(Kinds().kind)(1) == "other"
    with pytest.raises((TypeError, IndexError)):
        ag.call(Kinds().kind)()


def test_classes_are_made_by_type() -> None:
    def make(name: str) -> Any:
        return type(name, (Rows,), {})

    assert "ag." not in autograph.to_code(make)
    assert autograph.convert(make)("New").__mro__[1] is Rows
