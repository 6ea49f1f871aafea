"""``match`` and ``assert`` on tensors: as on Python values, whatever runs the graph."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
import traceback
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph
import runtime as tf
from runtime.core.errors import StagedStateError, SymbolicTensorError
from runtime.engines import interpreter

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


class Codes:
    """Values with a name."""

    OK = 0
    MISSING = 4


def values(x):
    match x:
        case 0:
            return 10
        case 1 | 2:
            return 20
        case Codes.MISSING:
            return 40
        case int():
            return -1
        case _:
            return 30


def captures(x):
    match x:
        case 0 as n:
            result = n - 1
        case 1 | 2 as n if x > 1:
            result = n * 10
        case n if n > 2:
            result = n + 1
        case m:
            result = m * m
    return result


def subject_once(x, y):
    calls = 0

    def measure(value):
        nonlocal calls
        calls += 1
        return value % 4

    match measure(x + y):
        case 0:
            result = y
        case 1 | 3 as n if n > y:
            result = -n
        case n:
            result = n * 100
    return result, calls


def written_out(x, y):
    match x % 3, y % 2:
        case 0, 0:
            return 1
        case 0, _:
            return 2
        case n, 1 if n > 1:
            return 3
        case n, m:
            return 10 * n + m


def truths(x, y):
    match x > 1, y > 1:
        case True, True:
            return 1
        case False, True:
            return 2
        case False, other if not other:
            return 3
    return 4


def classes(x, y):
    match Point(x, y):
        case Point(x=a, y=b) if a == 0 and b == 0:
            return -1
        case Point(left, right) if left > right:
            result = left
        case Point() as point:
            result = point.x + point.y
    return result * 2


def sequences(x, y):
    match [x, y, x + y]:
        case [first, *rest] if first == 1:
            result = rest[0] + rest[1]
        case [_, _]:
            result = 0
        case [first, second, third] if third != 5:
            result = first * second * third
        case [x, *_]:
            result = x
    return result + x


def nested(x, y):
    match {"kind": "pair", "value": Pair(x, [y, 3])}:
        case {"kind": "single"}:
            return 0
        case {"kind": "pair", "value": Pair(left, [n, 3])} if left == 0:
            return n
        case {"value": Pair(right=[m, n]), **rest} if m == 1 or m == 2:
            return n + len(rest)
        case {"value": Pair(left, [n, *_])}:
            return left * 100 + n


def guard_fails_after_a_capture(x, y):
    last = 7
    match [x, y]:
        case [first, last] if first < 2 and last > 2:
            result = 1
        case [first, second] if first == 0 and second == 1:
            result = last
        case _:
            result = last + 100
    return result * 10 + last


def laziness(x, y):
    match x, y:
        case 0, _:
            return 0
        case n, m if m // n > 1:
            return m // n
        case _:
            return -1


def jumps(x, y):
    total = 0
    for i in range(6):
        match i + x:
            case 2:
                continue
            case 7:
                break
            case 1 if y > 2:
                return total
            case n if n % 2 == 0:
                total += n
            case n:
                total -= y
    else:
        total += 100
    return total


def in_while(x, y):
    steps = 0
    while True:
        match x:
            case 1 | 0:
                break
            case n if n % 2 == 0:
                x = n // 2
            case n if n > 12 - y:
                return steps
            case _:
                x = 3 * x + 1
        steps += 1
    return steps * 1000 + x


def nested_match(x, y):
    match x:
        case 0 | 1:
            match y:
                case 0:
                    return 5
                case n:
                    x = x + n
        case 2:
            pass
        case n:
            match [n, y]:
                case [m, k] if m == 3:
                    x = k
    return x


def no_case(x, y):
    result = 1
    match x:
        case 0:
            result = 2
        case 1 if y > 1:
            result = 3
    return result


ONE = (values, captures)
TWO = (subject_once, written_out, truths, classes, sequences, nested, laziness)
TWO += (guard_fails_after_a_capture, jumps, in_while, nested_match, no_case)
SMALL = range(5)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return np.asarray(value).tolist()


@functools.cache
def _staged(function: Any, count: int) -> tuple[Any, Any]:
    """The function staged for so many numbers, and its graph."""
    staged = tf.function(function)
    return staged, staged.get_concrete_function(*[tf.constant(0)] * count).graph


def _check(function: Any, *arguments: Any) -> None:
    expected = function(*arguments)
    tensors = [tf.constant(argument) for argument in arguments]
    staged, graph = _staged(function, len(arguments))
    run = interpreter.run(graph, [tensor.numpy() for tensor in tensors])
    first, *others = map(_plain, run)

    assert _plain(autograph.convert(function)(*arguments)) == expected
    assert _plain(staged(*tensors)) == expected
    assert (first, *others) == (expected if others else (expected,))


@pytest.mark.parametrize("function", TWO, ids=lambda f: f.__name__)
def test_two_numbers(function: Any) -> None:
    for x, y in itertools.product(SMALL, SMALL):
        _check(function, x, y)


@pytest.mark.parametrize("x", SMALL)
def test_one_number(x: int) -> None:
    _check(captures, x)
    assert int(tf.function(values)(tf.constant(x))) == values(x)
    # To Python a tensor is no int.
    expected = values(x) if x < 3 or x == 4 else 30
    assert int(values(tf.constant(x))) == expected


@pytest.mark.parametrize("function", TWO[1:6], ids=lambda f: f.__name__)
def test_tensors_with_values(function: Any) -> None:
    if function is truths:
        return  # to Python, a tensor is not True
    for x, y in itertools.product(SMALL, SMALL):
        tensors = tf.constant(x), tf.constant(y)
        assert _plain(function(*tensors)) == function(x, y)
        assert _plain(autograph.convert(function)(*tensors)) == function(x, y)


def test_texts_and_floats() -> None:
    def kind(text, number):
        match text:
            case "one" | "eins":
                result = 1.0
            case "half":
                result = 0.5
            case _:
                result = number
        match result:
            case 0.5:
                result = -result
            case 1.0 | 2.0 as r if r < number:
                result = r + 10.0
        return result

    staged = tf.function(kind)
    for text, number in itertools.product(
        ("one", "eins", "half", "x"), (0.5, 1.5, 2.0)
    ):
        expected = kind(text, number)
        assert float(staged(tf.constant(text), tf.constant(number))) == expected
        assert float(staged(text, tf.constant(number))) == expected


def test_a_value_that_may_be_none() -> None:
    def describe(x):
        found = None
        if x > 2:
            found = x
        match found:
            case None:
                return -1
            case 3:
                return 30
            case n:
                return n

    for x in range(6):
        _check(describe, x)


def test_captured_objects_that_a_graph_cannot_choose_between() -> None:
    def named(x):
        match {"n": x, "name": "first", "call": abs}:
            case {"n": n, "name": name, "call": call} if n == 0:
                return call(x - len(name))
            case {"n": n}:
                return n

    for x in range(3):
        _check(named, x)


def test_captured_names_after_the_match() -> None:
    def later(x, y):
        match x, y:
            case 0, n:
                pass
            case n, 0 | 1:
                pass
            case _:
                n = 50
        return n

    for x, y in itertools.product(SMALL, SMALL):
        _check(later, x, y)


def test_an_unbound_capture_raises_when_the_graph_runs() -> None:
    def f(x):
        match x:
            case 1 as n:
                pass
        return n

    staged = tf.function(f)
    assert int(staged(tf.constant(1))) == 1
    with pytest.raises(UnboundLocalError, match="'n'"):
        staged(tf.constant(2))


def test_effects_run_in_the_case_that_is_taken() -> None:
    log = tf.Variable(0)

    @tf.function
    def f(x, y):
        match [x, y]:
            case [m, _] if m == 0:
                log.assign_add(1)
            case [_, n] if n == 0:
                log.assign_add(10)
            case [m, n] if (m == 1 or m == 2) and n > 1:
                log.assign_add(100)
        return log.read_value()

    seen = [int(f(tf.constant(x), tf.constant(y))) for x, y in ((0, 0), (3, 0), (2, 2))]
    assert seen == [1, 11, 111]


class Weight:
    """Compares in its own way."""

    def __init__(self, grams: Any) -> None:
        self.grams = grams

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weight) and self.grams == other.grams

    __hash__ = None  # type: ignore[assignment]


class Known:
    """Weights with a name."""

    HEAVY = Weight(3)


def test_a_comparison_of_the_users() -> None:
    def compared(x):
        match Weight(x):
            case Known.HEAVY:
                x = x + 10
        return x

    for x in range(5):
        _check(compared, x)


def part_of_an_object(x):
    match Point(x, 1):
        case Point(x=0):
            return 1
    return 0


def part_of_a_list(x):
    match [x, 1]:
        case [0 | 1, *_]:
            return 1
    return 0


def part_of_a_dict(x):
    match {"n": x}:
        case {"n": 3}:
            return 1
    return 0


def a_guard_that_binds(x):
    match x:
        case 1 if (m := x + 1) > 2:
            return m
    return 0


PARTS = (part_of_an_object, part_of_a_list, part_of_a_dict, a_guard_that_binds)


@pytest.mark.parametrize("function", PARTS, ids=lambda f: f.__name__)
def test_a_part_that_a_tensor_decides_is_refused_at_its_line(function: Any) -> None:
    with pytest.raises(SymbolicTensorError, match="by a pattern") as caught:
        tf.function(function)(tf.constant(3))
    assert caught.value.code == "AG301"
    first = function.__code__.co_firstlineno
    assert f"{Path(__file__).name}:{first + 2}" in str(caught.value)


def test_an_object_that_may_be_none_is_refused() -> None:
    @tf.function
    def f(x):
        found = None
        if x > 2:
            found = Point(x, x)
        match found:
            case Point(left, _):
                return left
        return 0

    with pytest.raises(StagedStateError, match=r"AG209.*matched by a pattern"):
        f(tf.constant(3))


# --- assert ---------------------------------------------------------------------------


def checked(x):
    assert x > 0
    assert x != 3, "three"
    assert x < 10, f"{x} is too large"
    return x * 2


@pytest.mark.parametrize(
    ("x", "message"), [(0, ""), (3, "three"), (11, "11 is too large")]
)
def test_an_assertion_on_a_tensor(x: int, message: str) -> None:
    staged = tf.function(checked)
    graph = staged.get_concrete_function(tf.constant(1)).graph
    runs = (
        lambda: staged(tf.constant(x)),
        lambda: interpreter.run(graph, [np.int32(x)]),
    )
    assert int(staged(tf.constant(4))) == 8
    for run in runs:
        with pytest.raises(AssertionError) as caught:
            run()
        last = traceback.extract_tb(caught.value.__traceback__)[-1]

        assert type(caught.value) is AssertionError
        assert str(caught.value) == message
        assert last.filename == __file__
        assert (last.line or "").startswith("assert ")


@pytest.mark.parametrize("x", [0, 3])
def test_an_assertion_on_a_tensor_with_a_value(x: int) -> None:
    converted = autograph.convert(checked)

    assert int(converted(tf.constant(4))) == 8
    with pytest.raises(AssertionError):
        converted(tf.constant(x))


def test_an_assertion_in_a_branch_and_in_a_loop() -> None:
    @tf.function
    def f(x):
        total = 0
        for i in range(x):
            if i > 2:
                assert total < 4, f"{total} after {i}"
            total += i
        return total

    assert int(f(tf.constant(4))) == 6
    with pytest.raises(AssertionError, match=r"^6 after 4$"):
        f(tf.constant(9))


def test_an_assertion_is_kept_in_order_with_effects() -> None:
    log = tf.Variable(0)

    @tf.function
    def f(x):
        log.assign_add(1)
        assert x > 0
        log.assign_add(10)

    f(tf.constant(1))
    assert int(log) == 11
    with pytest.raises(AssertionError):
        f(tf.constant(0))
    assert int(log) == 12


def test_the_message_is_made_only_if_the_test_fails() -> None:
    @tf.function
    def f(x):
        assert x > 0, 10 // (x + 1)
        return x

    assert int(f(tf.constant(2))) == 2
    with pytest.raises(AssertionError) as caught:
        f(tf.constant(0))
    assert int(caught.value.args[0]) == 10


def test_an_assertion_about_a_vector_is_ambiguous() -> None:
    @tf.function
    def f(x):
        assert x > 0

    with pytest.raises(Exception, match="truth value"):
        f(tf.constant([1, 2]))


def test_assertions_of_python_values_raise_while_tracing() -> None:
    @tf.function
    def f(x, limit):
        assert limit > 3, limit
        return x

    with pytest.raises(AssertionError) as caught:
        f(tf.constant(1), 2)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert caught.value.args == (2,)
    if sys.version_info >= (3, 11):
        assert Path(last.filename) == Path(__file__)
        assert last.line == "assert limit > 3, limit"


def test_a_list_whose_length_a_tensor_decides_is_refused() -> None:
    @tf.function
    def structure_alone(x):
        items = [x]
        if x > 2:
            items.append(x + 1)
        match items:
            case [_, _]:
                return 2
        return 0

    @tf.function
    def with_a_guard(x):
        items = [x]
        if x > 2:
            items.append(x + 1)
        match items:
            case [first, *_] if first > 3:
                return 1
        return 0

    for function in (structure_alone, with_a_guard):
        with pytest.raises(StagedStateError, match="AG210"):
            function(tf.constant(5))


def account(balance, entries):
    for entry in entries:
        match entry:
            case ("deposit", amount):
                balance += amount
            case ("interest", percent) if balance > 0:
                balance += balance * percent // 100
            case ("close",):
                break
            case _:
                raise ValueError(f"unknown entry: {entry!r}")
    return balance


def test_a_pattern_that_leaves_a_loop():
    entries = [("interest", 5), ("close",), ("deposit", 1)]

    assert int(tf.function(account)(tf.constant(200), entries)) == 210
    assert account(200, entries) == 210
