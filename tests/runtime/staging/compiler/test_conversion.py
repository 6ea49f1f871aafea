"""Code that Python calls by itself is converted when a tensor is in its way."""

from __future__ import annotations

import array
import asyncio
import colorsys
import functools
import statistics
import threading
import warnings
from typing import Any

import pytest

import autograph
import runtime as tf
from autograph.ownership import Rule


def is_converted(function: Any) -> bool:
    return getattr(function, "__autograph_converted__", None) is function


def of(value: Any) -> Any:
    return value.numpy().item()


def test_what_is_in_the_way_is_converted_in_place_and_once() -> None:
    class Thing:
        def __init__(self, x: Any) -> None:
            self.x = x

        @property
        def size(self) -> Any:
            return self.x if self.x > 0 else -self.x

        @property
        def other(self) -> Any:
            return self.x

    def program(x: Any) -> Any:
        traces.append(x)
        return Thing(x).size + Thing(x).other

    traces: list[Any] = []
    size = Thing.size.fget
    assert of(tf.function(program)(tf.constant(-3))) == 0
    assert len(traces) == 2
    assert Thing.size.fget is size
    assert is_converted(size)
    assert not is_converted(Thing.other.fget)
    # Another Function finds it converted.
    assert of(tf.function(program)(tf.constant(3))) == 6
    assert len(traces) == 3
    assert [Thing(x).size for x in (-2, 0, 2)] == [2, 0, 2]


def test_all_that_is_in_the_way_is_converted() -> None:
    class Chain:
        def __init__(self, x: Any) -> None:
            self.x = x

        @property
        def a(self) -> Any:
            return self.b if self.x > 0 else 0

        @property
        def b(self) -> Any:
            return self + 1 if self.x > 1 else 1

        def __add__(self, other: Any) -> Any:
            return max([self.x, other], key=lambda v: v if v > other else 0)

    def program(x: Any) -> Any:
        return Chain(x).a

    staged = tf.function(program)
    values = [-1, 1, 2, 5]
    assert [of(staged(tf.constant(v))) for v in values] == [program(v) for v in values]


def test_functions_made_anew_in_each_trace() -> None:
    def limited(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(x: Any) -> Any:
            result = function(x)
            return result if result < 5 else 5

        return wrapper

    @autograph.do_not_convert
    def library(x: Any) -> Any:
        return x * 2

    def made(x: Any) -> Any:
        return list(map(limited(library), [x, 3]))

    staged = tf.function(made)
    assert [of(v) for v in staged(tf.constant(1))] == [2, 5]
    assert [of(v) for v in staged(tf.constant(9.0))] == [5.0, 5]


def test_variables_are_created_once_when_a_trace_is_repeated() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count: Any = None

        @property
        def limited(self) -> Any:
            return self.count + 0 if self.count < 3 else 3

    counter = Counter()

    @tf.function
    def step(x: Any) -> Any:
        if counter.count is None:
            counter.count = tf.Variable(0)
        counter.count.assign_add(x)
        return counter.limited

    assert [of(step(tf.constant(2))) for _ in range(3)] == [2, 3, 3]


def test_the_library_in_the_way_is_named() -> None:
    @tf.function
    def program(x: Any) -> Any:
        return colorsys.rgb_to_hsv(x, 2, 3)

    with pytest.raises(tf.errors.SymbolicTensorError) as caught:
        program(tf.constant(1))
    message = str(caught.value)
    assert "`rgb_to_hsv` of colorsys was called as it is: library module" in message
    assert "tf.autograph.options(include=[...])" in message


def test_a_library_can_be_included() -> None:
    def clamp(x: Any) -> Any:
        return statistics.median([x, 2, 3])

    options = tf.autograph.options(include=["statistics"])
    staged = tf.function(clamp, experimental_autograph_options=options)

    assert of(staged(tf.constant(1))) == clamp(1)
    rules = {callee.name: callee.rule for callee in staged.converted_callees()}
    assert rules["median"] is Rule.INCLUDED


def test_what_is_marked_stays_and_is_named() -> None:
    @autograph.do_not_convert
    def marked(x: Any) -> Any:
        return inner(x)

    def inner(x: Any) -> Any:
        return x if x > 0 else 0

    def plain(x: Any) -> Any:
        return x if x > 0 else 0

    for program, name in [
        (lambda x: marked(x), "marked"),
        (lambda x: autograph.unconverted(plain)(x), "plain"),
    ]:
        with pytest.raises(tf.errors.SymbolicTensorError) as caught:
            tf.function(program)(tf.constant(1))
        assert f"{name}` of {__name__} was called as it is: marked" in str(caught.value)
    assert not is_converted(inner)
    assert not is_converted(plain)


def test_excluded_modules_stay() -> None:
    class Thing:
        def __init__(self, x: Any) -> None:
            self.x = x

        @property
        def size(self) -> Any:
            return self.x if self.x > 0 else 0

    options = tf.autograph.options(exclude=[__name__])
    staged = tf.function(
        lambda x: Thing(x).size, experimental_autograph_options=options
    )
    with pytest.raises(tf.errors.SymbolicTensorError, match="excluded by a pattern"):
        staged(tf.constant(1))
    assert not is_converted(Thing.size.fget)


def test_code_without_source_is_named() -> None:
    namespace = {"__name__": __name__}
    exec("def generated(x):\n    return x if x > 0 else 0", namespace)
    generated = namespace["generated"]

    with pytest.raises(
        tf.errors.SymbolicTensorError, match="source of `generated` cannot be"
    ):
        tf.function(lambda x: generated(x))(tf.constant(1))


def test_unconverted_functions_are_not_repaired() -> None:
    def inner(x: Any) -> Any:
        return x if x > 0 else 0

    with pytest.raises(tf.errors.SymbolicTensorError):
        tf.function(lambda x: inner(x), autograph=False)(tf.constant(1))
    assert not is_converted(inner)


def test_marked_functions_are_traced_as_they_are() -> None:
    @tf.function
    @autograph.do_not_convert
    def marked(x: Any) -> Any:
        return x if x > 0 else 0

    with pytest.raises(tf.errors.SymbolicTensorError):
        marked(tf.constant(1))


def test_an_error_that_conversion_does_not_cure_is_raised() -> None:
    class Thing:
        def __init__(self, x: Any) -> None:
            self.x = x

        @property
        def item(self) -> Any:
            return array.array("d", [self.x])

    with pytest.raises(tf.errors.SymbolicTensorError, match="AG302"):
        tf.function(lambda x: Thing(x).item)(tf.constant(1))


def test_several_threads_trace_what_is_converted_in_place() -> None:
    class Thing:
        def __init__(self, x: Any) -> None:
            self.x = x

        @property
        def size(self) -> Any:
            return self.x if self.x > 0 else -self.x

    results: list[Any] = []
    barrier = threading.Barrier(6)

    def work(number: int) -> None:
        staged = tf.function(lambda x: Thing(x).size * number)
        barrier.wait()
        results.append(of(staged(tf.constant(-2))) == 2 * number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 6


# --- callees --------------------------------------------------------------------------


class Cell:
    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def size(self) -> Any:
        return self.x if self.x > 0 else 0

    def grown(self, by: Any) -> Any:
        return helper(self.x) + by


def helper(x: Any) -> Any:
    return abs(x) if x < 5 else 5


def test_methods_and_properties_are_listed_once_they_were_traced() -> None:
    @tf.function
    def program(x: Any) -> Any:
        cell = Cell(x)
        return cell.grown(1) + cell.size

    before = {callee.name: callee.rule for callee in program.converted_callees()}
    assert before == {"Cell": Rule.OWN, "cell.grown": Rule.UNKNOWN}
    program(tf.constant(2))
    after = {callee.name: callee.rule for callee in program.converted_callees()}
    assert {"Cell.grown", "Cell.size", "helper", "Cell"} <= {
        name for name, rule in after.items() if rule is Rule.OWN
    }
    assert after["abs"] is Rule.BUILTIN


# --- what suspends --------------------------------------------------------------------


async def coroutine(x: Any) -> Any:
    await asyncio.sleep(0)
    if x > 0:
        x = x + 1
    return x


def generator(x: Any) -> Any:
    if x > 0:
        first = x
    else:
        first = -x
    yield first
    for number in range(2):
        if x > number:
            part = number
        else:
            part = 10
        yield part


async def asynchronous(x: Any) -> Any:
    yield x


class Suspending:
    @tf.function
    def generator(self, x: Any) -> Any:
        yield x


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (tf.function(coroutine), "a coroutine"),
        (tf.function(generator), "a generator"),
        (tf.function(asynchronous), "an asynchronous generator"),
        (tf.function(lambda x: coroutine(x)), "a coroutine"),
        (Suspending().generator, "a generator"),
    ],
)
def test_what_suspends_is_no_result(function: Any, kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(autograph.ConversionError, match=f"AG215 {kind} is no"):
            function(tf.constant(1))


def consumed(x: Any) -> Any:
    total = 0
    for part in generator(x):
        total = total + part
    return total, sum(generator(x)), list(generator(x)), next(generator(x))


def awaited(x: Any) -> Any:
    return asyncio.run(coroutine(x))


@pytest.mark.parametrize("value", [-3, 0, 1, 5])
def test_what_suspends_can_be_consumed(value: int) -> None:
    total, added, parts, first = tf.function(consumed)(tf.constant(value))

    assert (of(total), of(added), [of(p) for p in parts], of(first)) == consumed(value)
    assert of(tf.function(awaited)(tf.constant(value))) == awaited(value)


def executing(x: Any) -> Any:
    scope: dict[str, Any] = {}
    exec("y = 5", scope)
    if x > 3:
        x = 3
    return x + scope["y"] + seeing(x)


def seeing(x: Any) -> Any:
    names = sorted(locals())
    return limited(x) + eval("len(names)")


def limited(x: Any) -> Any:
    return x if x < 2 else 2


@pytest.mark.parametrize("value", [1, 7])
def test_what_looks_at_its_variables_is_converted_around_that(value: int) -> None:
    assert of(tf.function(executing)(tf.constant(value))) == executing(value)
