"""Comprehensions and generator expressions over tensors mean what Python's mean."""

from __future__ import annotations

import functools
import linecache
import re
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import autograph
import runtime as tf
from autograph.errors import ConversionError, StagingError
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify
from tests import modes

Program = Callable[..., Any]


def plain(value: Any) -> Any:
    """A result with its tensors as Python values."""
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf, value
    )


def outcome(function: Program, *args: Any) -> Any:
    """What a call gives, or the exception that it raises."""
    try:
        return plain(function(*args))
    except Exception as error:
        return type(error), str(error).splitlines()[0]


def concrete_function(function: Program, args: Any, is_static: bool) -> Any:
    tensors = [tf.constant(arg, tf.int32) for arg in args]
    shapes = [t.shape if is_static else [None] * t.shape.rank for t in tensors]
    specs = [tf.TensorSpec(shape, tf.int32) for shape in shapes]
    return staged_function(function).get_concrete_function(*specs)


@functools.lru_cache(maxsize=1)  # the inputs of a program follow each other
def staged_function(function: Program) -> Any:
    return tf.function(function)


def staged(function: Program, *args: Any) -> Iterator[Any]:
    """What the executors give for traced functions, of known and of open lengths."""
    tensors = [tf.constant(arg, tf.int32) for arg in args]
    for is_static in (False, True):
        concrete = concrete_function(function, args, is_static)
        verify(concrete.graph)

        def interpreted(*arrays: Any, concrete: Any = concrete) -> Any:
            values = [array.numpy() for array in arrays]
            found = interpreter.run(concrete.graph, values)
            return concrete._trace.results.pack(list(map(tf.constant, found)))

        yield outcome(concrete, *tensors)
        yield outcome(interpreted, *tensors)


def check(function: Program, *args: Any) -> None:
    expected = outcome(function, *args)
    assert outcome(autograph.convert(function), *args) == expected
    assert outcome(function, *(tf.constant(arg, tf.int32) for arg in args)) == expected
    for found in staged(function, *args):
        assert found == expected


# --- programs -------------------------------------------------------------------------


def mapped(x):
    return [v * 2 + 1 for v in x]


def filtered(x):
    return [v * 2 for v in x if v > 0]


def several_filters(x):
    return [v for v in x if v > 0 if v < 4 or v == 7]


def pairs(x):
    return [(v, {"square": v * v}) for v in x if v > 0]


def taken_apart(x):
    return [i * v for i, v in enumerate(x) if v > 0]


def nested_targets(x):
    return [i * v - w for i, (v, w) in enumerate(zip(x, x)) if i != 1]


def over_a_range(x):
    return [i * i for i in range(len(x))], [i for i in range(len(x)) if i % 2]


def rows_of_known_length(x):
    return [[v * k for k in (1, 2, 3)] for v in x]


def several_generators(x):
    return [u * v for u in x for v in x if u < v], [v + k for v in x for k in (1, 2)]


def python_outside(x):
    return [k * v for k in (1, 2) for v in x if v > k]


def python_items(x):
    return [k for k in (1, 2, 3) if len(x) > k], sum(k for k in (1, 2) if len(x) > k)


def of_a_comprehension(x):
    return [v + 1 for v in [u * 2 for u in x if u > 0] if v < 8]


def of_a_generator(x):
    return [v + 1 for v in (u * 2 for u in x if u > 0) if v < 8]


def in_a_branch(x):
    found = [-1]
    if len(x) > 2:
        found = [v for v in x if v > 0]
    return found


def in_a_loop(x):
    total = 0
    for v in x:
        total += sum(u * v for u in x if u > v) + len([u for u in x if u == v])
    return total


def choosing(x):
    return [v if v > 0 else -v for v in x], [v > 0 and v < 3 for v in x]


def sums(x):
    return sum(v * v for v in x if v > 0), sum((v for v in x), 10)


def searches(x):
    return (
        any(v > 3 for v in x),
        all(v > 0 for v in x),
        any(v for v in x if v > 100),
        all(v > 0 for v in x if v > 0),
    )


def extremes(x):
    return (
        max((v * v for v in x), default=-1),
        min((v for v in x if v < 100), key=lambda v: v * v, default=-1),
    )


def extreme_of_nothing(x):
    return max(v for v in x if v > 100)


def lists(x):
    return list(v for v in x if v > 0), len(list(v for v in x if v > 1))


def ordered(x):
    return sorted(v for v in x if v > 0), sorted([-v for v in x], reverse=True)


def joined(x):
    numbered = [i * v for i, v in enumerate(v for v in x if v > 0)]
    return numbered, [u + v for u, v in zip((v for v in x if v > 0), x)]


def loop_over_a_generator(x):
    total = 0
    for v in (u + total for u in x if u > 0):
        total += v
    return total


def loop_with_break(x):
    total = 0
    for v in (u for u in x if u > 0):
        if v > 2:
            break
        total += v
    else:
        total = -total
    return total


def loop_over_pairs(x):
    total = 0
    for u, v in ((u, v) for u in x for v in x if u < v):
        if total > 5:
            break
        total += u * v
    return total


def nobody_divides_by_zero(x):
    return [12 // v for v in x if v != 0], any(12 // v > 5 for v in x if v != 0)


def stops_before_the_error(x):
    items = [v for v in x]
    return any(items[v] >= 0 for v in x)


PROGRAMS = [
    *(mapped, filtered, several_filters, pairs, taken_apart, nested_targets),
    *(over_a_range, rows_of_known_length, several_generators, python_outside),
    *(python_items, of_a_comprehension, of_a_generator, in_a_branch, in_a_loop),
    *(choosing, sums, searches, extremes, extreme_of_nothing, lists, ordered, joined),
    *(loop_over_a_generator, loop_with_break, loop_over_pairs),
    *(nobody_divides_by_zero, stops_before_the_error),
]


@pytest.mark.parametrize("values", [[1, -2, 3, 0, 7, 3], [-1], []], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program: Program, values: list[int]) -> None:
    check(program, values)


# --- Python where Python knows --------------------------------------------------------


def trace(function: Program, values: Any, is_static: bool = False) -> Any:
    return concrete_function(function, [values], is_static)


def test_short_tensors_of_known_length_become_python_lists() -> None:
    def f(x):
        first, second, third = [v * 2 for v in x]
        kinds = {type([v for v in x]), type(tuple(v for v in x))}
        return first + third, second, len(kinds), {i: v for i, v in enumerate(x)}

    assert plain(trace(f, [1, 2, 3], is_static=True)(tf.constant([1, 2, 3]))) == (
        *(8, 4, 2),
        {0: 1, 1: 2, 2: 3},
    )


def test_sets_of_python_values_over_a_known_length() -> None:
    def f(x):
        return len({i % 2 for i in range(len(x))}), {i: x[i] for i in range(len(x))}

    found = trace(f, [4, 5, 6], is_static=True)(tf.constant([4, 5, 6]))

    assert plain(found) == (2, {0: 4, 1: 5, 2: 6})


def test_python_items_before_a_tensor_decides_are_pythons() -> None:
    seen = []

    def note(value):
        seen.append(value)
        return value

    def f(x):
        return any(note(v) for v in [0, "", x[0] > 0, x[1] > 0])

    assert trace(f, [0, 1])(tf.constant([0, 1])).numpy()
    assert seen[:2] == [0, ""]
    assert len(seen) == 4


def test_a_comprehension_over_a_generator_function() -> None:
    def numbers(x):
        yield from (1, 2)
        yield x[0]

    def f(x):
        return [v * 2 for v in numbers(x) if v > 1], max(v for v in numbers(x))

    assert plain(trace(f, [5])(tf.constant([5]))) == ([4, 10], 5)


# --- what is refused ------------------------------------------------------------------


def python_items_given_to_python(x):
    return {*(k for k in [1, 2] if x[0] > k)}


def a_tuple(x):
    return tuple(v for v in x if v > 0)


def consumed_twice(x):
    items = (v for v in x)
    return sum(items) + sum(items)


def consumed_after_a_search(x):
    items = (k for k in [1, 2] if x[0] > k)
    return any(items), list(items)


@pytest.mark.parametrize("xs", [[3, 4, 3], [1, 2]])
def test_the_first_item_as_python(xs) -> None:
    def first(xs):
        place = next((i for i, x in enumerate(xs) if x > 3), -1)
        return place, next((x for x in xs if x > 9), None), next(x for x in xs)

    def first_or_error(xs):
        return next(x for x in xs if x > 3)

    for program in (first, first_or_error):
        expected = modes.run(program, (xs,), "plain")
        for mode in modes.MODES[1:]:
            assert modes.run(program, (xs,), mode)[:2] == expected[:2]


def taken_one_by_one(x):
    items = (v for v in x)
    return next(items) + next(items)


@pytest.mark.parametrize(
    "program",
    [
        *(
            a_tuple,
            python_items_given_to_python,
            consumed_twice,
            consumed_after_a_search,
        ),
        taken_one_by_one,
    ],
    ids=lambda program: program.__name__,
)
def test_refused(program: Program) -> None:
    with pytest.raises(StagingError, match=r"AG213") as caught:
        trace(program, [1, 2, 3])

    line = program.__code__.co_firstlineno
    found = re.search(r"test_comprehensions\.py:(\d+)", str(caught.value))
    assert found is not None
    assert line < int(found[1]) <= line + 2
    assert "fix: " in str(caught.value)


@pytest.mark.parametrize("is_tensor", [True, False])
def test_a_generator_is_no_result(is_tensor: bool) -> None:
    def f(x):
        items = x if is_tensor else [x, x]
        return (v for v in items)

    line = f.__code__.co_firstlineno + 2
    with pytest.raises(
        ConversionError, match=rf"test_comprehensions\.py:{line}.*AG215"
    ):
        trace(f, [1])


def test_a_filter_of_a_dict_decides_its_keys() -> None:
    def f(x):
        return {k: k for k in (1, 2) if x[0] > k}

    assert list(tf.function(f)(tf.constant([2]))) == [1]


# --- random programs ------------------------------------------------------------------

_ELEMENTS = ("{v}", "{v} * 2 - {u}", "({v}, {u})", "{v} if {v} > {u} else {u}", "-{v}")
_FILTERS = (
    "{v} > 1",
    "{v} % 2 == 0",
    "{v} > {u}",
    "0 < {v} < 5",
    "not {v} == {u}",
    "{v}",
)
_ITERABLES = (
    "x",
    "range(len(x))",
    "(0, 3, 2)",
    "[w for w in x if w]",
    "(w for w in x)",
)
_CONSUMERS = (
    *("[{}]", "list({})", "len([{}])", "any({})", "all({})", "[w for w in [{}]]"),
    *(
        "[(i, w) for i, w in enumerate([{}])]",
        "[w for w in ({})]",
        "max({}, default=9)",
    ),
)


@st.composite
def comprehensions(draw: Any) -> str:
    """The text of an expression in ``x``, a vector."""

    def one_of(options: Any) -> str:
        return draw(st.sampled_from(options))

    parts = [f"for a in {one_of(_ITERABLES)}"]
    names = ["a"]
    if draw(st.booleans()):
        parts += [f"if {one_of(_FILTERS).format(v='a', u=2)}"]
    if draw(st.booleans()):
        parts += [f"for b in {one_of(_ITERABLES)}"]
        names = ["b", "a"]
        for _ in range(draw(st.integers(0, 2))):
            parts += [f"if {one_of(_FILTERS).format(v=one_of(names), u=one_of(names))}"]
    consumer = one_of(_CONSUMERS)
    elements = _ELEMENTS if "max" not in consumer else _ELEMENTS[:2]
    element = one_of(elements).format(v=one_of(names), u=one_of(names))
    text = f"{element} {' '.join(parts)}"
    if "({}, " in consumer:
        text = f"({text})"
    return consumer.format(text)


@given(comprehensions(), st.lists(st.integers(-2, 6), max_size=4))
@settings(max_examples=settings().max_examples // 3, deadline=None)
def test_random_comprehensions(text: str, values: list[int]) -> None:
    source = f"def f(x):\n    return {text}\n"
    name = f"<comprehension {text}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)

    check(namespace["f"], values)
