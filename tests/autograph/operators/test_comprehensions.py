"""Comprehensions and generator expressions as functions, on Python values."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import autograph.operators as ag
from autograph.errors import StagingError
from autograph.operators.generators import StagedGenerator
from tests.toybackend import toy


class Undecided:
    """A value of a library that stages nothing but lists."""

    class Backend:
        def stages(self, value: Any) -> bool:
            return True

        def builtin(self, name: str) -> Any:
            return None

    __autograph_backend__ = Backend()


def test_list_comp_gives_a_list() -> None:
    assert ag.list_comp(lambda x: -x, range(3)) == [0, -1, -2]
    assert ag.list_comp(lambda x: x, "abc", lambda x: x > "a") == ["b", "c"]


def test_filters_are_asked_in_order_and_only_where_needed() -> None:
    seen: list[Any] = []

    def note(name: str, value: Any) -> Any:
        seen.append((name, value))
        return value

    ag.list_comp(
        lambda x: note("element", x),
        iter([0, 1, 2]),
        lambda x: note("first", x),
        lambda x: note("second", x - 1),
    )

    assert seen == [
        *(("first", 0), ("first", 1), ("second", 0)),
        *(("first", 2), ("second", 1), ("element", 2)),
    ]


@pytest.mark.parametrize(
    ("target", "item", "parts"),
    [
        ("k, v", (1, 2), (1, 2)),
        ("k,", [1], (1,)),
        ("i, (j, *k)", (1, (2, 3, 4)), (1, 2, [3, 4])),
    ],
)
def test_targets(target: str, item: Any, parts: tuple[Any, ...]) -> None:
    assert ag.list_comp(lambda *args: args, [item], target=target) == [parts]


@pytest.mark.parametrize("item", [(1,), (1, 2, 3), 5])
def test_items_that_do_not_fit_the_target_raise_as_in_python(item: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as expected:
        _, _ = item

    with pytest.raises(expected.type) as caught:
        ag.list_comp(lambda k, v: k, [item], target="k, v")

    assert str(caught.value) == str(expected.value)


def test_several_generators() -> None:
    def inner(x: int) -> Any:
        return ag.list_comp(lambda y: (x, y), range(x), lambda y: y != 1)

    expected = [(x, y) for x in range(4) if x for y in range(x) if y != 1]

    assert ag.list_comp(inner, range(4), lambda x: x, flat=True) == expected


def test_an_iterable_must_be_one() -> None:
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        ag.list_comp(lambda x: x, 5)
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        ag.generator(lambda x: x, 5)


def test_stop_iteration_leaves_a_list_and_breaks_a_generator() -> None:
    def stop(x: Any) -> Any:
        raise StopIteration(x)

    with pytest.raises(StopIteration):
        ag.list_comp(stop, [1])
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        list(ag.generator(stop, [1]))


def test_a_generator_is_one_of_python_and_lazy() -> None:
    seen: list[int] = []
    items = ag.generator(
        lambda x: seen.append(x) or x, iter([1, 2, 3]), lambda x: x > 1
    )

    assert isinstance(items, types.GeneratorType)
    assert items.__name__ == "<genexpr>"
    assert "<locals>.<genexpr>" in repr(items)
    assert seen == []
    assert next(items) == 2
    assert seen == [2]
    items.close()
    assert list(items) == []


def test_an_exception_thrown_into_a_generator_ends_it() -> None:
    items = ag.generator(lambda x: x, [1, 2])
    next(items)

    with pytest.raises(KeyError):
        items.throw(KeyError("k"))
    assert list(items) == []


def test_generators_are_closed_where_they_are_left() -> None:
    closed: list[str] = []

    def items() -> Iterator[int]:
        try:
            yield from range(5)
        finally:
            closed.append("closed")

    for _ in ag.generator(lambda x: x, items(), lambda x: x > 1):
        break

    gc.collect()
    assert closed == ["closed"]


def test_generators_do_not_keep_items() -> None:
    class Item:
        pass

    def made(_: int) -> Item:
        return Item()

    items = ag.generator(made, range(2), lambda x: x >= 0)
    first = weakref.ref(next(items))

    gc.collect()
    assert first() is None


def test_consumers_search_no_further_than_python() -> None:
    items = ag.generator(lambda x: x, iter(range(5)), lambda x: x % 2)

    assert ag.any(items)
    assert list(items) == [3]
    assert ag.all(ag.generator(lambda x: x, []))
    assert not ag.all(ag.generator(lambda x: x, [1, 0, 2]))


def test_extremes() -> None:
    def items(*values: Any) -> Any:
        return ag.generator(lambda x: x, values)

    assert ag.max(items("a", "ccc", "bb", "ddd"), key=len) == "ccc"
    assert ag.min(items(3, 1, 2)) == 1
    assert ag.max(items(), default=None) is None
    with pytest.raises(ValueError, match=r"min\(\)") as expected:
        min(iter(()))
    with pytest.raises(ValueError, match=r"min\(\)") as caught:
        ag.min(items())
    assert str(caught.value) == str(expected.value)


def test_an_unbound_variable_of_a_comprehension() -> None:
    def f() -> Any:
        if not sys:
            missing = 1
        return ag.list_comp(lambda x: missing, [1])

    kind = UnboundLocalError if sys.version_info >= (3, 12) else NameError
    with pytest.raises(NameError, match="missing") as caught:
        f()
    assert caught.type is kind


def test_a_filter_that_nobody_decides_is_refused_where_python_iterates() -> None:
    items = ag.generator(lambda x: x, [1, 2], lambda x: x == 1 or Undecided())

    assert next(items) == 1
    with pytest.raises(StagingError, match="AG213"):
        next(items)


def test_what_a_library_iterates_is_unrolled_only_if_it_knows_the_items() -> None:
    assert ag.unrolled([1]) == [1]
    with pytest.raises(StagingError, match="AG213"):
        ag.unrolled(Undecided())


def test_a_generator_over_a_library_value_is_staged() -> None:
    items = ag.generator(lambda x: x, Undecided())

    assert type(items) is StagedGenerator
    with pytest.raises(StagingError, match="AG213"):
        iter(items)


def test_a_third_library_sums_what_passes() -> None:
    vector = toy.Parameter()
    items = ag.generator(lambda x: x * 2, vector, lambda x: x > 1)

    total = ag.sum(items)

    assert toy.evaluate(total, {vector: [1, 2, 3]}) == 10
    assert toy.evaluate(total, {vector: []}) == 0


def test_a_third_library_searches() -> None:
    vector = toy.Parameter()

    found = ag.any(ag.generator(lambda x: x > 2, vector))

    assert toy.evaluate(found, {vector: [1, 2, 3]}) is True
    assert toy.evaluate(found, {vector: [1]}) is False
