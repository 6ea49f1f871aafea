"""Lists that an expression, a loop or a `with` still has when others stand for them."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import runtime as tf
from autograph import StagingError


class Walk:
    """Appends to a list where a number decides, and gives a number or a list."""

    def __init__(self, out: list[Any], gives: Any = 1) -> None:
        self.out = out
        self.gives = gives

    def visit(self, x: Any) -> Any:
        if x > 0:
            self.out.append(x)
        return self.gives


def receiver(x: Any, out: list[Any]) -> Any:
    walk = Walk(out)
    out.append(walk.visit(x))
    return out


def receiver_that_is_an_attribute(x: Any, out: list[Any]) -> Any:
    walk = Walk(out)
    walk.out.append(walk.visit(x))
    return walk.out


def argument(x: Any, out: list[Any]) -> Any:
    def length(items: list[Any], more: Any) -> Any:
        return len(items) + more

    walk = Walk(out)
    return length(out, walk.visit(x))


def truth_of_an_argument(x: Any, out: list[Any]) -> Any:
    def any_in(items: list[Any], more: Any) -> Any:
        return more if items else 0

    walk = Walk(out)
    return any_in(out, walk.visit(x))


def left_operand(x: Any, out: list[Any]) -> Any:
    walk = Walk(out, [1])
    return sum(out + walk.visit(x))


def operand_in_place(x: Any, out: list[Any]) -> Any:
    walk = Walk(out, [1])
    out += walk.visit(x)
    return out


def display(x: Any, out: list[Any]) -> Any:
    walk = Walk(out)
    pair = [out, walk.visit(x)]
    return len(pair[0])


def unpacked(x: Any, out: list[Any]) -> Any:
    walk = Walk(out)
    return sum([*out, walk.visit(x)])


def target(x: Any, out: list[Any]) -> Any:
    walk = Walk(out, 0)
    out[0] = 7
    out[walk.visit(x)] = 5
    return out


def assigned_together(x: Any, out: list[Any]) -> Any:
    walk, names = Walk(out), {}
    names["out"], names["more"] = out, walk.visit(x)
    return len(names["out"])


class Closing:
    """Appends when a block ends."""

    def __init__(self, out: list[Any]) -> None:
        self.out = out

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        self.out.append(9)


@contextlib.contextmanager
def closing(out: list[Any]) -> Iterator[None]:
    yield
    out.append(9)


def block(x: Any, out: list[Any]) -> Any:
    with Closing(out):
        if x > 0:
            out.append(x)
    return out


def block_of_a_generator(x: Any, out: list[Any]) -> Any:
    with closing(out):
        if x > 0:
            out.append(x)
    return out


def loop(x: Any, out: list[Any]) -> Any:
    total = 0
    for item, _ in zip(out, range(9)):
        if x > 0:
            out.append(x)
        total += item
    return total


PROGRAMS: list[Callable[..., Any]] = [
    receiver,
    receiver_that_is_an_attribute,
    argument,
    truth_of_an_argument,
    left_operand,
    operand_in_place,
    display,
    unpacked,
    target,
    assigned_together,
    block,
    block_of_a_generator,
    loop,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("begin", [[], [1], [1, 2]], ids=len)
@pytest.mark.parametrize("x", [-1, 1])
def test_the_list_as_it_was_is_not_used(
    program: Callable[..., Any], begin: list[int], x: int
) -> None:
    def run(x: Any) -> Any:
        return program(x, list(begin))

    try:
        expected = run(x)
    except IndexError:
        pytest.skip("the program needs an item")
    try:
        found = tf.function(run)(tf.constant(x))
    except StagingError as error:
        code = error.code
    else:
        code = None
        assert tf.nest.map_structure(int, found) == expected
    # An empty loop does not use the list.
    assert code == "AG210" or (program is loop and not begin)


def key_of_a_dict(x: Any) -> Any:
    found = {1: 5}

    def visit(key: Any) -> Any:
        found[key] = 1
        return 7

    found[visit(x)] = 2
    return len(found)


def dict_as_an_argument(x: Any) -> Any:
    found = {1: 5}

    def visit(key: Any) -> Any:
        found[key] = 1
        return {3: 4}

    found.update(visit(x))
    return len(found)


def dict_as_an_operand(x: Any) -> Any:
    found = {1: 5}

    def visit(key: Any) -> Any:
        found[key] = 1
        return 7

    return sum((found | {9: visit(x)}).values())


def default_of_a_dict(x: Any) -> Any:
    found = Counter([1])

    def visit(key: Any) -> Any:
        found[key] += 1
        return 7

    found[visit(x)] += 1
    return len(found)


def set_as_a_receiver(x: Any) -> Any:
    found = {1}

    def visit(value: Any) -> Any:
        found.add(value)
        return 7

    found.add(visit(x))
    return len(found)


def set_as_an_operand(x: Any) -> Any:
    found = {1}

    def visit(value: Any) -> Any:
        found.add(value)
        return {7}

    return sum(found | visit(x))


def deque_as_a_receiver(x: Any) -> Any:
    found = deque([1])

    def visit(value: Any) -> Any:
        if value > 0:
            found.appendleft(value)
        return 7

    found.append(visit(x))
    return len(found)


@pytest.mark.parametrize(
    "program",
    [
        key_of_a_dict,
        dict_as_an_argument,
        dict_as_an_operand,
        default_of_a_dict,
        set_as_a_receiver,
        set_as_an_operand,
        deque_as_a_receiver,
    ],
    ids=lambda p: p.__name__,
)
def test_other_containers_are_not_used(program: Callable[..., Any]) -> None:
    with pytest.raises(StagingError, match="AG210"):
        tf.function(program)(tf.constant(2))


def test_the_value_in_a_statement_of_its_own() -> None:
    def program(x: Any) -> Any:
        out: list[Any] = []

        def visit(x: Any) -> Any:
            if x > 0:
                out.append(x)
            return 1

        seen = visit(x)
        out.append(seen)
        return out

    found = tf.function(program)(tf.constant(3))

    assert list(map(int, found)) == [3, 1]


def test_lists_have_their_items_after_the_trace() -> None:
    out, kept = [1, 2], []
    kept.append(out)

    @tf.function
    def program(x: Any) -> Any:
        if x > 0:
            out.append(x)
        return len(out)

    with pytest.warns(tf.errors.TracingWarning, match="AG320"):
        program(tf.constant(1))

    assert kept == [[1, 2]]
