"""Staged Python equals Python: the state of branches and loops through graphs."""

from __future__ import annotations

import dataclasses
import sys
from collections import namedtuple

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError, SymbolicTensorError
from runtime.engines import interpreter

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: object
    y: object


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def sign(x):
    if x < 0:
        return -1
    if x == 0:
        return 0
    return 1


def bucket(x):
    if x > 100:
        name = 3
    elif x > 10:
        name = 2
    elif x > 0:
        name = 1
    else:
        name = 0
    return name


def count_odd(n):
    count = 0
    for i in range(n):
        if i % 2 == 0:
            continue
        count += 1
    return count


def first_square_above(n):
    i = 0
    while True:
        i += 1
        if i * i > n:
            break
    return i


def first_factor(n):
    for i in range(2, n):
        if n % i == 0:
            return i
    return n


def is_prime(n):
    for i in range(2, n):
        if n % i == 0:
            result = 0
            break
    else:
        result = 1
    return result


def nested_break(n):
    total = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if i + j == 7:
                return total
            total += i * j
    return total


def python_range_tensor_break(n):
    total = 0
    for i in range(6):
        if i > n:
            break
        total += i
    return total


def logic(x):
    return 1 if (0 < x < 10 and not x == 5) or x > 100 else 0


def truthy(x):
    if x:
        return x and 7
    return x or 9


def maybe_unbound(x):
    if x > 1:
        y = x * 2
    if x > 5:
        return y
    return 0


def accumulate_first(n):
    for i in range(n):
        if i == 0:
            y = 1
        else:
            y += i
    return y


def int_to_float(n):
    x = 1
    while x < n:
        x = x * 1.5
    return x


def swap_pairs(n):
    pair = (0, 1)
    for _ in range(n):
        a, b = pair
        pair = (b, a + b)
    return pair[0]


def named(n):
    pair = Pair(0, 1)
    while pair.left < n:
        pair = Pair(pair.left + 1, pair.right * 2)
    return pair.right


def dictionary(n):
    state = {"i": 0, "total": 0}
    while state["i"] < n:
        state = {"i": state["i"] + 1, "total": state["total"] + state["i"]}
    return state["total"]


def record(n):
    p = Point(0, 1)
    if n > 3:
        p = Point(n, n * 2)
    return p.x + p.y


def attributes(n):
    p = Point(0, 1)
    while p.x < n:
        p.x += 1
        p.y = p.y * 2
    return p.y


def through_helper(n):
    total = 0
    while n > 0:
        total += sign(n - 3)
        n -= 1
    return total


def inner_function(n):
    scale = 2

    def grow(v):
        if v > 10:
            return v + scale
        return v * scale

    for _ in range(4):
        n = grow(n)
    return n


def nonlocal_write(n):
    hits = 0

    def note():
        nonlocal hits
        if n > 3:
            hits += 5

    note()
    return hits


def late_binding(n):
    i = 0
    get = lambda: i  # noqa: E731
    while i < n:
        i += 1
    return get()


def with_else(n):
    while n > 10:
        n -= 3
        if n == 20:
            break
    else:
        n = n + 100
    return n


def try_finally(n):
    total = 0
    try:
        if n > 2:
            total = 1
        while n > 0:
            n -= 1
            total += 2
    finally:
        total += 10
    return total


PROGRAMS = [
    (collatz, [1, 6, 27]),
    (sign, [-4, 0, 4]),
    (bucket, [-1, 5, 50, 500]),
    (count_odd, [0, 1, 7]),
    (first_square_above, [0, 50]),
    (first_factor, [2, 9, 13, 35]),
    (is_prime, [2, 9, 13]),
    (nested_break, [0, 3, 8]),
    (python_range_tensor_break, [-1, 2, 9]),
    (logic, [0, 1, 5, 9, 10, 101]),
    (truthy, [0, 3]),
    (maybe_unbound, [0, 3, 8]),
    (accumulate_first, [1, 4]),
    (int_to_float, [0, 1, 20]),
    (swap_pairs, [0, 1, 9]),
    (named, [0, 5]),
    (dictionary, [0, 5]),
    (record, [0, 5]),
    (attributes, [0, 5]),
    (through_helper, [0, 6]),
    (inner_function, [1, 20]),
    (nonlocal_write, [0, 5]),
    (late_binding, [0, 3]),
    (with_else, [5, 15, 26]),
    (try_finally, [0, 4]),
]


@pytest.mark.parametrize(
    ("function", "argument"),
    [(function, argument) for function, inputs in PROGRAMS for argument in inputs],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_staged_equals_python(function, argument):
    """One trace for any argument; the executors and eager tensors agree with Python."""
    expected = function(argument)
    tensor = tf.constant(argument)

    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([], tf.int32))

    (interpreted,) = interpreter.run(concrete.graph, [tensor.numpy()])
    assert interpreted == expected
    assert concrete(tensor) == expected
    assert tf.autograph.to_graph(function)(tensor) == expected


def test_unbound_variable_raises_when_it_is_read():
    """An UnboundLocalError with the name, at run time, only on the path that reads."""

    @tf.function
    def f(x, read):
        if x > 1:
            y = x
        if read:
            return y
        return x

    assert f(tf.constant(5), tf.constant(True)) == 5
    assert f(tf.constant(0), tf.constant(False)) == 0
    with pytest.raises(UnboundLocalError, match="'y'"):
        f(tf.constant(0), tf.constant(True))


def test_raise_happens_at_run_time_with_its_type():
    """A branch that raises does so when it is taken, not while it is traced."""

    class NegativeError(ValueError):
        pass

    @tf.function
    def root(x):
        if x < 0:
            raise NegativeError("negative")
        return tf.sqrt(x)

    assert root(tf.constant(4.0)) == 2.0
    with pytest.raises(NegativeError, match=r"^negative$"):
        root(tf.constant(-1.0))
    assert root(tf.constant(9.0)) == 3.0


def test_raise_in_a_loop():
    @tf.function
    def find(xs, wanted):
        for i in tf.range(tf.size(xs)):
            if xs[i] == wanted:
                return i
        raise LookupError("not there")

    xs = tf.constant([4, 5, 6])
    assert find(xs, tf.constant(5)) == 1
    with pytest.raises(LookupError, match="not there"):
        find(xs, tf.constant(7))


def test_assert_on_a_tensor_is_refused_where_it_is_not_converted():
    """Python's assert needs a value: the message says so and names the line."""

    @tf.function(autograph=False)
    def f(x):
        assert x > 0
        return x

    place = r"test_staging\.py:\d+: AG301.*assert"
    with pytest.raises(SymbolicTensorError, match=place):
        f(tf.constant(1))


def test_state_that_no_graph_can_choose_is_refused():
    """The variable, what it is in each branch, and where."""

    @tf.function
    def f(x):
        if x > 0:
            y = {"a": x}
            x += 1
        else:
            y = x
        return y

    with pytest.raises(StagedStateError, match=r"test_staging\.py:\d+: AG201") as info:
        f(tf.constant(1))
    message = str(info.value)
    assert "'y' is a dict with the keys 'a' where the condition holds" in message


def test_values_that_no_graph_can_choose_are_refused():
    @tf.function
    def f(x):
        return "text" if x > 0 else x

    with pytest.raises(TypeError, match="the value chosen here"):
        f(tf.constant(1))


def test_loop_that_changes_the_kind_of_a_variable_is_refused():
    @tf.function
    def f(n):
        last = {}
        while n > 0:
            last = n
            n -= 1
        return last

    with pytest.raises(StagedStateError, match=r"AG202.*'last' is {} before"):
        f(tf.constant(3))


def test_staging_errors_survive_a_broad_except():
    """A refusal is not swallowed by the user's own handler within the branch."""

    @tf.function
    def f(x):
        if x > 0:
            y = int(x)
        else:
            y = 0
        return y + len(x)

    with pytest.raises(TypeError):
        f(tf.constant(1))


def test_iterating_tensors():
    @tf.function
    def dot(xs, ys):
        total = 0.0
        for i, (x, y) in enumerate(zip(xs, ys)):
            total += x * y * (i + 1)
        return total

    xs, ys = tf.constant([1.0, 2.0, 3.0]), tf.constant([4.0, 5.0, 6.0])
    assert dot(xs, ys) == 4.0 + 20.0 + 54.0


def test_builtins_on_tensors():
    @tf.function
    def f(xs, n):
        total = max(n, 3) + min(n, 3) + sum(xs) + len(xs)
        if any(xs > 2) and not all(xs > 2):
            total += int(2.7 * float(n))
        for x in reversed(xs):
            total = total * 2 + x
        return total

    def plain(xs, n):
        total = max(n, 3) + min(n, 3) + sum(xs) + len(xs)
        if any(x > 2 for x in xs) and not all(x > 2 for x in xs):
            total += int(2.7 * float(n))
        for x in reversed(xs):
            total = total * 2 + x
        return total

    for xs, n in [([1, 2, 3], 5), ([3, 4], 1), ([1], 0)]:
        assert f(tf.constant(xs), tf.constant(n)) == plain(xs, n)


def extremes(xs):
    return min(xs), max(xs)


@pytest.mark.parametrize("shape", [[0], [None]])
def test_the_extreme_of_nothing_is_an_error(shape):
    """Not the limit of the dtype, which reductions give."""
    spec = tf.TensorSpec(shape, tf.int32)
    concrete = tf.function(extremes).get_concrete_function(spec)

    with pytest.raises(ValueError, match=r"^min\(\) .* empty"):
        concrete(tf.constant([], tf.int32))
    if shape == [None]:
        assert concrete(tf.constant([3, 1, 2])) == (1, 3)


def test_what_extremes_do_not_take():
    rows = tf.TensorSpec([2, 2], tf.int32)
    with pytest.raises(
        TypeError, match=r"max\(\) takes a tensor of rank 1.*reduce_max"
    ):
        tf.function(lambda xs: max(xs)).get_concrete_function(rows)


def test_growing_shape_needs_no_declaration():
    """A dimension that changes in a loop becomes unknown by itself."""

    @tf.function
    def grow(x, n):
        for _ in range(n):
            x = tf.concat([x, x], axis=0)
        return x

    assert grow(tf.constant([1]), tf.constant(3)).shape == (8,)


def test_set_loop_options():
    @tf.function
    def capped(n):
        i = tf.constant(0)
        while i < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=4)
            i += 1
        return i

    assert capped(tf.constant(100)) == 4
    assert capped(tf.constant(2)) == 2


def test_variables_in_staged_branches():
    v = tf.Variable(1)

    @tf.function
    def step(n):
        while v < n:
            v.assign(v * 2)
        if v:
            return v + 0
        return n

    assert step(tf.constant(10)) == 16
    assert v.numpy() == 16


def test_effects_of_a_branch_run_only_if_it_is_taken(capsys):
    @tf.function
    def f(x):
        if x > 0:
            tf.print("positive", output_stream=sys.stdout)
        return x

    f(tf.constant(-1))
    assert capsys.readouterr().out == ""
    f(tf.constant(1))
    assert "positive" in capsys.readouterr().out


def test_code_without_source_says_why_it_was_not_converted():
    namespace = {}
    exec("def f(x):\n    return x if x > 0 else -x", namespace)

    with pytest.raises(SymbolicTensorError, match="be read: `f` was defined by"):
        tf.function(namespace["f"])(tf.constant(1))


def listed(*ends):
    total = 0
    for i in range(*ends):
        total = total * 100 + i
    return total, len(range(*ends))


@pytest.mark.parametrize(
    "bounds", [(5,), (0,), (-3,), (2, 7), (7, 2), (1, 10, 3), (10, 1, -3), (3, 3, -1)]
)
def test_ranges_of_tensors(bounds):
    """They have the items of Python's range, and no tensor of them is made."""
    total, length = tf.function(listed)(*map(tf.constant, bounds))

    assert (int(total), int(length)) == listed(*bounds)


def test_loop_over_tf_range():
    @tf.function
    def total(start, stop, step):
        result = 0
        for i in tf.range(start, stop, step):
            result = result * 100 + i
        return result

    assert total(*map(tf.constant, (1, 10, 3))) == 10407
    assert total(*map(tf.constant, (10, 1, -3))) == 100704
