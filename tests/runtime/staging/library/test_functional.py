"""`itertools`, `functools.reduce` and `operator` on tensors, beside Python."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import operator

import pytest

import runtime as tf
from autograph.errors import StagingError
from runtime.core.errors import StagedStateError
from tests.modes import as_python


def of_vectors(xs, n):
    small = [x for x in xs if x < 4]
    return (
        list(itertools.accumulate(xs)),
        list(itertools.accumulate(xs, max)),
        list(itertools.accumulate(small, operator.mul, initial=n)),
        list(itertools.chain(xs, small, [n])),
        list(itertools.chain.from_iterable([small, xs])),
        [a * b for a, b in itertools.product(xs, small)],
        [a * b for a, b in itertools.combinations(small, 2)],
        [a * b for a, b in itertools.combinations_with_replacement(xs, 2)],
        [a * 10 + b for a, b in itertools.permutations(small, 2)],
        list(itertools.compress(xs, [x > 1 for x in xs])),
        list(itertools.islice(xs, n)),
        list(itertools.islice(small, 1, None)),
        [a + b for a, b in itertools.zip_longest(small, xs, fillvalue=n)],
        [b - a for a, b in itertools.pairwise(small)],
        list(itertools.takewhile(lambda x: x < n, xs)),
        list(itertools.dropwhile(lambda x: x < n, xs)),
        list(itertools.filterfalse(lambda x: x < n, small)),
        list(itertools.starmap(pow, [(x, n) for x in xs])),
        [x for x, _ in zip(itertools.cycle(small), xs)],
        functools.reduce(lambda a, b: a if a > b else b, xs),
        functools.reduce(math.gcd, xs, 0),
        functools.reduce(operator.add, (x * x for x in small), n),
    )


def of_ranges(n):
    total = 0
    for i in itertools.count(n):
        if i * i > 50:
            break
        total += i
    for i, j in itertools.product(range(n), repeat=2):
        total += i * j if i != j else 1
    for i, j, k in itertools.combinations(range(n + 2), 3):
        total += i * j + k
    return (
        total,
        sum(itertools.chain(range(n), range(2))),
        list(itertools.repeat(7, n)),
        list(itertools.islice(range(2 * n), 1, n, 2)),
        list(itertools.islice(itertools.count(n, 3), 4)),
        functools.reduce(operator.mul, range(1, n + 1), 1),
        list(itertools.combinations(range(n), 0)),
        [a - b for a, b in itertools.pairwise(range(n))],
    )


def of_operators(xs, n):
    items = [5, 6, 7]
    operator.setitem(items, n - 1, 9)
    return (
        items,
        operator.itemgetter(n)(xs),
        operator.itemgetter(0, n)(items),
        sorted([(x, -x) for x in xs], key=operator.itemgetter(1)),
        operator.methodcaller("index", xs[1])([1, 2, 3]),
        operator.countOf(xs, n),
        operator.indexOf(xs, xs[1]),
        operator.concat([n], [0] * n),
        operator.is_(n > 1, True),
        operator.is_not(n > 1, False),
        operator.index(n),
        operator.mod("%d!", n),
        operator.lt(n, 3),
        {"+": operator.add, "-": operator.sub}["-"](n, 1),
    )


@pytest.mark.parametrize("numbers", [[1, 2, 3, 1], [9, 9, 2]])
def test_functions_of_vectors(numbers):
    xs, n = tf.constant(numbers, tf.int64), tf.constant(2, tf.int64)
    assert as_python(tf.function(of_vectors)(xs, n)) == of_vectors(numbers, 2)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_functions_of_ranges(number):
    found = tf.function(of_ranges)(tf.constant(number, tf.int64))
    assert as_python(found) == of_ranges(number)


def test_functions_of_operator():
    xs, n = tf.constant([2, 3, 1], tf.int64), tf.constant(1, tf.int64)
    assert as_python(tf.function(of_operators)(xs, n)) == of_operators([2, 3, 1], 1)


@pytest.mark.parametrize(
    ("program", "number"),
    [
        (lambda n: functools.reduce(operator.add, range(n)), 0),
        (lambda n: operator.indexOf([1, 2], n), 3),
        (lambda n: operator.itemgetter(n)([1, 2]), 2),
        (lambda n: list(itertools.islice([1, 2], n)), -1),
        (lambda n: list(itertools.combinations([n], -1)), 1),
        (lambda n: operator.index(n / 2), 1),
    ],
)
def test_errors_are_those_of_python(program, number):
    with pytest.raises((TypeError, ValueError, IndexError)) as expected:
        program(number)
    with pytest.raises(expected.type) as found:
        tf.function(program)(tf.constant(number, tf.int64))
    if "islice" not in str(expected.value) and expected.type is not TypeError:
        assert str(found.value).partition("\n")[0] == str(expected.value)


def test_items_are_gone_through_once():
    @tf.function
    def twice(n):
        pairs = itertools.pairwise(range(n))
        return sum(a for a, _ in pairs) + sum(b for _, b in pairs)

    with pytest.raises(Exception, match="AG213"):
        twice(tf.constant(4))


def test_an_iterator_is_not_counted():
    @tf.function
    def first(n):
        return list(itertools.islice(itertools.cycle("ab"), n))

    with pytest.raises(StagedStateError, match="AG303"):
        first(tf.constant(4))


def test_what_wraps_a_function_of_a_library_is_not_taken_for_it():
    @functools.wraps(math.sqrt)
    def root(x):
        return x + 1

    assert tf.function(lambda x: root(x))(tf.constant(3)) == 4


def first_squares(n, start, step):
    total = 0
    for i in itertools.count(start, step):
        if i * i > n:
            break
        total += i
    return total, i


@pytest.mark.parametrize(("start", "step"), [(1, 1), (0, 7), (20, 1)])
def test_counting_on_is_one_loop(start, step):
    staged = tf.function(lambda n: first_squares(n, start, step))
    n = tf.constant(500, tf.int64)
    assert as_python(staged(n)) == first_squares(500, start, step)
    assert len(staged.get_concrete_function(n).graph.nodes) < 20


def test_builtins_that_are_called_by_other_names():
    def program(x, n):
        make, listed, number = type, list, int
        return make("Point", (), {"x": x}).x, listed(range(n)), number(x / 2)

    found = tf.function(program)(tf.constant(3), tf.constant(2))
    assert as_python(found) == program(3, 2)


def counted(n):
    items = []
    for i in range(n):
        items.append(i)
    return items


def changed_after(n):
    items = counted(n)
    chained = itertools.chain(items, [7])
    items.append(100)
    return list(chained)


def changed_in_place(n):
    items = counted(n)
    pairs = itertools.pairwise(items)
    items[0] = 55
    return list(pairs)


def changed_before(n):
    items = counted(n)
    items.append(100)
    chained = itertools.chain(items, [7])
    if n > 1:
        return sum(chained)
    return 0


def copied_before(n):
    items = counted(n)
    pairs = itertools.combinations(items, 2)
    items[0] = 55
    return list(pairs)


@pytest.mark.parametrize("program", [changed_after, changed_in_place])
def test_a_list_that_changes_under_an_iterator_is_refused(program):
    with pytest.raises(StagingError, match="AG213") as error:
        tf.function(program)(tf.constant(3))
    assert "changed after an iterator" in str(error.value)


@pytest.mark.parametrize("program", [changed_before, copied_before])
def test_a_list_that_an_iterator_does_not_see_change(program):
    found = tf.function(program)(tf.constant(3, tf.int64))
    assert as_python(found) == program(3)


def test_generators_without_an_end_are_merged_as_they_are_asked_for():
    def multiples(k):
        n = 0
        while True:
            n += k
            yield n

    def first(x):
        return x + sum(itertools.islice(heapq.merge(multiples(2), multiples(3)), 5))

    assert tf.function(first)(tf.constant(1)) == first(1)
