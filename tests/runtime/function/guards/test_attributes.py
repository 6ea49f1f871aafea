"""Where attributes come from, and that each of these places is looked at again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf

pytestmark = pytest.mark.filterwarnings("ignore::runtime.core.errors.RetracingWarning")

X = tf.constant(1.0)


class Top:
    shared: Any = 2.0

    def scaled(self, x: Any) -> Any:
        return x * 3.0


class Middle(Top):
    __slots__ = ("slot",)

    @property
    def computed(self) -> Any:
        return 4.0

    @staticmethod
    def static(x: Any) -> Any:
        return x * 5.0

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.shared


class Bottom(Middle):
    def __init__(self) -> None:
        self.rate = 6.0
        self.shared = 7.0

    def by_bases(self, x: Any) -> Any:
        return x * super().shared

    def by_other(self, x: Any) -> Any:
        bases = super()
        return bases.scaled(x)


def by_slot(model: Any, x: Any) -> Any:
    try:
        return x * model.slot
    except AttributeError:
        return x


READS: dict[str, Callable[[Any, Any], Any]] = {
    "variable": lambda m, x: x * m.rate,
    "method": lambda m, x: m.scaled(x),
    "property": lambda m, x: x * m.computed,
    "static": lambda m, x: m.static(x),
    "class method": lambda m, x: m.of_class(x),
    "class": lambda m, x: x * type(m).shared,
    "bases": lambda m, x: m.by_bases(x),
    "super alone": lambda m, x: m.by_other(x),
    "slot": by_slot,
    "text": lambda m, x: x * getattr(m, "missing", 8.0),
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "variable": lambda m: setattr(m, "rate", 9.0),
    "method of the object": lambda m: setattr(m, "scaled", lambda x: x * 9.0),
    "method of a base": lambda m: setattr(Top, "scaled", lambda self, x: x * 9.0),
    "method between": lambda m: setattr(Middle, "scaled", lambda self, x: x * 9.0),
    "property": lambda m: setattr(Middle, "computed", property(lambda self: 9.0)),
    "property between": lambda m: setattr(
        Bottom, "computed", property(lambda self: 9.0)
    ),
    "property over a variable": lambda m: setattr(
        Bottom, "rate", property(lambda self: 9.0)
    ),
    "value for a property": lambda m: setattr(Middle, "computed", 9.0),
    "static": lambda m: setattr(Middle, "static", staticmethod(lambda x: x * 9.0)),
    "class method": lambda m: setattr(
        Bottom, "of_class", classmethod(lambda cls, x: x * 9.0)
    ),
    "value of a base": lambda m: setattr(Top, "shared", 9.0),
    "value between": lambda m: setattr(Middle, "shared", 9.0),
    "slot": lambda m: setattr(m, "slot", 9.0),
    "missing": lambda m: setattr(m, "missing", 9.0),
    "missing in a base": lambda m: setattr(Top, "missing", 9.0),
    "class": lambda m: setattr(m, "__class__", Other),
}


class Other(Middle):
    def scaled(self, x: Any) -> Any:
        return x * 10.0

    def by_bases(self, x: Any) -> Any:
        return x * 11.0

    by_other = by_bases
    shared = 12.0


@pytest.fixture(autouse=True)
def _same_classes() -> Any:
    before = {cls: dict(vars(cls)) for cls in (Top, Middle, Bottom)}
    yield
    for cls, names in before.items():
        for name in {**vars(cls), **names}:
            if name not in names:
                delattr(cls, name)
            elif vars(cls)[name] is not names[name]:
                setattr(cls, name, names[name])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("read", READS)
def test_a_change_is_seen_where_python_sees_it(read: str, change: str) -> None:
    model = Bottom()
    traced = tf.function(lambda x: READS[read](model, x))
    by_argument = tf.function(lambda model, x: READS[read](model, x))
    for _ in range(2):
        expected = float(READS[read](model, X))
        assert float(traced(X)) == float(by_argument(model, X)) == expected
        assert float(traced(X)) == float(by_argument(model, X)) == expected
        CHANGES[change](model)


def test_no_more_places_are_looked_at_than_python_needs() -> None:
    model = Bottom()
    traced = tf.function(lambda x: model.scaled(x) * model.shared)
    traced(X)
    (entry,) = (e for group in traced._cache._entries.values() for e in group)
    names = [read.name for read in entry.guards._reads]
    assert names == [
        "captured variable `model`",
        "the class of `model`",
        "`model.scaled`",
        "`model.shared`",
        "the bases of `Bottom`",
        "`Bottom.scaled`",
        "the bases of `Middle`",
        "`Middle.scaled`",
        "`Top.scaled`",
    ]


def test_the_class_of_what_a_bound_method_has() -> None:
    model = Bottom()
    method = model.scaled
    by_method = tf.function(model.scaled)
    by_value = tf.function(lambda x: method(x))
    assert float(by_method(X)) == float(by_value(X)) == 3.0
    model.shared = 1.0

    class Another(Bottom):
        def helper(self, x: Any) -> Any:
            return x * 9.0

        def __call__(self, x: Any) -> Any:
            return self.helper(x)

    class Changed(Another):
        def helper(self, x: Any) -> Any:
            return x * 10.0

    owner: Any = Another()
    traced = tf.function(owner.__call__)
    call = owner.__call__
    by_call = tf.function(lambda x: call(x))
    assert float(traced(X)) == float(by_call(X)) == 9.0
    owner.__class__ = Changed
    assert float(traced(X)) == float(by_call(X)) == 10.0


def test_other_bases() -> None:
    class First:
        def scaled(self, x: Any) -> Any:
            return x * 2.0

    class Second:
        def scaled(self, x: Any) -> Any:
            return x * 3.0

    class Last(First):
        pass

    model = Last()
    traced = tf.function(lambda x: model.scaled(x))
    assert float(traced(X)) == 2.0
    Last.__bases__ = (Second,)
    assert float(traced(X)) == 3.0
    (change,) = traced.explain_retrace().changes
    assert change.name.startswith("the bases of `test_other_bases")


def test_an_object_that_each_trace_makes_is_no_reason() -> None:
    class Made:
        step = 2.0

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: object) -> None:
            return None

    @tf.function
    def f(x: Any) -> Any:
        with Made() as made:
            y = (lambda: x * made.step)()
            if x > 0:
                y = y + made.step
        return y

    for _ in range(3):
        assert float(f(X)) == 4.0
    assert f.experimental_get_tracing_count() == 1
