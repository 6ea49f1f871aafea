"""Functions that call themselves: as plain Python, eagerly, and as graphs."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import EndlessRecursionError, StagedStateError
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify

Result = namedtuple("Result", ["count", "total"])


def fact(n):
    if n > 1:
        return n * fact(n - 1)
    return 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def even(n):
    if n == 0:
        return True
    return odd(n - 1)


def odd(n):
    if n == 0:
        return False
    return even(n - 1)


def collatz(n):
    if n == 1:
        return 0
    rest = collatz(n // 2) if n % 2 == 0 else collatz(3 * n + 1)
    return 1 + rest


def collatz_steps(n, steps=0):
    if n == 1:
        return steps
    if n % 2 == 0:
        return collatz_steps(n // 2, steps + 1)
    return collatz_steps(3 * n + 1, steps + 1)


def search(values, x, low, high):
    if low >= high:
        return -1
    middle = (low + high) // 2
    if values[middle] == x:
        return middle
    if values[middle] < x:
        return search(values, x, middle + 1, high)
    return search(values, x, low, middle)


def pair(n):
    if n == 0:
        return 0, {"scale": 1.0}
    total, rest = pair(n - 1)
    return total + n, {"scale": rest["scale"] * 2}


def named(n):
    if n == 0:
        return Result(count=0, total=0)
    before = named(n - 1)
    return Result(before.count + 1, before.total + n)


def keywords(n, *, scale=2, **rest):
    if n == 0:
        return rest["start"]
    return scale + keywords(n - 1, scale=scale, **rest)


def closure(n, k):
    def go(m):
        if m == 0:
            return k
        return go(m - 1) * k

    return go(n) + go(n + 1)


def sibling_closures(n):
    def ping(m):
        return 0 if m == 0 else 1 + pong(m - 1)

    def pong(m):
        return 0 if m == 0 else 10 + ping(m - 1)

    return ping(n)


def in_a_loop(n):
    total = 0
    for i in range(n):
        total += fact(i)
    return total


def loop_of_calls(n):
    """A loop in the recursive function, with a call in its body."""
    if n <= 1:
        return 1
    total = 0
    for i in range(n):
        total += loop_of_calls(i)
    return total


def and_or(n):
    return n == 0 or (n > 1 and and_or(n - 2))


def through_a_ternary(n):
    return 0 if n == 0 else (1 if n == 1 else 2 + through_a_ternary(n - 2))


def branches_that_all_recurse(n):
    if n <= 0:
        return 0
    if n % 2 == 0:
        return branches_that_all_recurse(n - 1)
    else:
        return branches_that_all_recurse(n - 2) + 1


def variables_after(n):
    if n <= 0:
        r = 1
    else:
        if n % 2 == 0:
            r = variables_after(n - 1)
        else:
            r = variables_after(n - 2) + 1
    return r * 2


def depth_counter(x, depth=0):
    if depth == 5:
        return x
    if x > 10:
        return depth_counter(x - 1, depth + 1)
    return depth_counter(x + 3, depth + 1)


def deep_counter(x, depth=0):
    if depth == 60:
        return x
    if x > 10:
        return deep_counter(x - 1, depth + 1)
    return deep_counter(x + 3, depth + 1)


def needs_its_counter(x, names=("a",)):
    """The tuple grows: Python has to decide how deep the calls go."""
    if len(names) == 14:
        return x
    if x > 0:
        return needs_its_counter(x - 1, (*names, "b"))
    return x


def doubles(x):
    return x if tf.reduce_sum(x) > 100 else doubles(tf.concat([x, x], 0))


def weights(n, w):
    if n == 0:
        return w
    return weights(n - 1, w) * w


def float_power(x, n):
    if n == 0:
        return 1
    return x * float_power(x, n - 1)


def none(n):
    if n > 0:
        none(n - 1)


def raises_at_the_end(n):
    if n == 0:
        raise ValueError("the end")
    return raises_at_the_end(n - 1)


def divides(n):
    if n == 0:
        return 6 // n
    return divides(n - 1)


class Tree:
    """Recursive methods."""

    scale = 2

    def power(self, n):
        return self.scale if n == 0 else self.power(n - 1) * 2

    @classmethod
    def of(cls, n):
        return 1 if n == 0 else cls.of(n - 1) + 2

    @staticmethod
    def stat(n):
        return 1 if n == 0 else Tree.stat(n - 1) + 2

    def __call__(self, n):
        return 0 if n == 0 else self(n - 1) + self.scale


def countdown_to_one(n):
    if n == 0:
        return None
    if n == 1:
        return 1
    return countdown_to_one(n - 2)


def grows_a_list(n):
    if n == 0:
        return [0]
    rest = grows_a_list(n - 1)
    rest.append(n)
    return rest


def grows_an_empty_list(n):
    if n == 0:
        return []
    return grows_an_empty_list(n - 1) + [n * n]


def quicksort(values):
    if tf.size(values) <= 1:
        return tf.convert_to_tensor(values)
    first, rest = values[0], values[1:]
    small = quicksort(tf.boolean_mask(rest, rest < first))
    large = quicksort(tf.boolean_mask(rest, rest >= first))
    return tf.concat([small, [first], large], 0)


def mccarthy(n):
    return n - 10 if n > 100 else mccarthy(mccarthy(n + 11))


def takeuchi(x, y, z):
    if y < x:
        return takeuchi(
            takeuchi(x - 1, y, z), takeuchi(y - 1, z, x), takeuchi(z - 1, x, y)
        )
    return z


def memoized_by_nothing(n, acc=None):
    if acc is None:
        acc = 0
    if n == 0:
        return acc
    return memoized_by_nothing(n - 1, acc + n)


def in_a_comprehension(n):
    return 1 if n <= 0 else sum([in_a_comprehension(n - k) for k in (1, 2)])


def in_a_generator(n):
    return sum(in_a_generator(i) for i in range(n)) + 1


def out_of_a_loop(n):
    while n > 0:
        if n == 3:
            return out_of_a_loop(n - 1) + 100
        n -= 1
    return n


ARRAY = np.array([1, 3, 5, 7, 9, 11], np.int32)

CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (fact, (5,)),
    (fact, (0,)),
    (fib, (10,)),
    (gcd, (48, 18)),
    (ackermann, (2, 3)),
    (even, (7,)),
    (even, (8,)),
    (collatz, (7,)),
    (collatz_steps, (27,)),
    (search, (ARRAY, 9, 0, 6)),
    (search, (ARRAY, 4, 0, 6)),
    (pair, (4,)),
    (named, (4,)),
    (closure, (3, 2)),
    (sibling_closures, (5,)),
    (in_a_loop, (5,)),
    (loop_of_calls, (5,)),
    (and_or, (7,)),
    (and_or, (8,)),
    (through_a_ternary, (7,)),
    (branches_that_all_recurse, (9,)),
    (variables_after, (6,)),
    (depth_counter, (3,)),
    (deep_counter, (3,)),
    (needs_its_counter, (5,)),
    (needs_its_counter, (50,)),
    (doubles, (ARRAY,)),
    (weights, (3, 2.5)),
    (float_power, (1.5, 4)),
    (none, (3,)),
    (grows_a_list, (3,)),
    (grows_a_list, (0,)),
    (grows_an_empty_list, (3,)),
    (grows_an_empty_list, (0,)),
    (quicksort, (ARRAY[::-1],)),
    (mccarthy, (87,)),
    (takeuchi, (6, 4, 2)),
    (memoized_by_nothing, (4,)),
    (in_a_comprehension, (5,)),
    (in_a_generator, (4,)),
    (out_of_a_loop, (6,)),
    (countdown_to_one, (5,)),
    (countdown_to_one, (4,)),
    (raises_at_the_end, (3,)),
    (divides, (2,)),
    (Tree().power, (3,)),
    (Tree.of, (3,)),
    (Tree.stat, (3,)),
    (Tree(), (3,)),
    (functools.partial(gcd, 30), (18,)),
]


def outcome(run: Any) -> Any:
    """The values of a result, or the error."""
    try:
        leaves = nest.flatten(run())
    except Exception as error:
        return type(error).__name__, str(error).partition("\n")[0]
    return [None if leaf is None else np.asarray(leaf).tolist() for leaf in leaves]


def results(concrete: Any, values: Any) -> Any:
    """The values of the outputs, which the interpreter gives flat, as a result."""
    tensors = [tf.constant(value) for value in values]
    packed = concrete._trace.results.pack(tensors)
    return outcome(lambda: packed)


@pytest.mark.parametrize(
    ("function", "args"), CASES, ids=[str(n) for n in range(len(CASES))]
)
def test_recursion_means_the_same_everywhere(function: Any, args: Any) -> None:
    plain = outcome(lambda: function(*args))
    assert outcome(lambda: tf.autograph.to_graph(function)(*args)) == plain
    tensors = [tf.constant(arg) for arg in args]
    if function is not divides:  # operations word their errors as TensorFlow does
        assert outcome(lambda: tf.autograph.to_graph(function)(*tensors)) == plain
    staged = tf.function(function)
    concrete = staged.get_concrete_function(*tensors)
    verify(concrete.graph)
    assert str(concrete.graph)
    assert concrete.graph.as_graph_def()
    source = outcome(lambda: staged(*tensors))
    arrays = [tensor._array for tensor in tensors]
    values = outcome(lambda: interpreter.run(concrete.graph, arrays))
    if isinstance(source, tuple):
        assert source == values
    elif "list" not in getattr(function, "__name__", ""):  # given as a buffer
        assert source == results(concrete, values)
    if function is not divides:
        assert source == plain


def test_the_source_is_a_function_that_calls_itself() -> None:
    concrete = tf.function(fib).get_concrete_function(tf.constant(1))
    assert concrete.to_source().endswith(
        """
def fib_1(n):
    if n < 2:
        result = n
    else:
        result = fib_1(n - 1) + fib_1(n - 2)
    return result


def fib(n):
    if n < 2:
        result = n
    else:
        result = fib_1(n - 1) + fib_1(n - 2)
    return result
"""
    )


def test_the_text_of_a_graph_has_a_recursive_graph_once() -> None:
    concrete = tf.function(fib).get_concrete_function(tf.constant(1))
    text = str(concrete.graph)
    assert text.count("PartitionedCall(%2, graph='fib')") == 2
    assert text.count("graph(%0: int32[] 'n'):") == 1


def test_functions_call_themselves() -> None:
    @tf.function
    def recursive_fn(n: Any) -> Any:
        if n > 0:
            return recursive_fn(n - 1)
        else:
            return 1

    assert recursive_fn(tf.constant(5)).numpy() == 1
    assert recursive_fn(5).numpy() == 1


def test_functions_that_are_not_converted_call_themselves() -> None:
    @tf.function(autograph=False)
    def down(n: Any) -> Any:
        return tf.cond(n > 0, lambda: down(n - 1) + 1, lambda: 0)

    assert down(tf.constant(5)).numpy() == 5


def test_functions_call_each_other() -> None:
    @tf.function
    def ping(n: Any) -> Any:
        return 0 if n == 0 else 1 + pong(n - 1)

    @tf.function
    def pong(n: Any) -> Any:
        return 0 if n == 0 else 10 + ping(n - 1)

    assert ping(tf.constant(5)).numpy() == 23
    assert pong(tf.constant(5)).numpy() == 32


def test_methods_of_models_call_themselves() -> None:
    class Model:
        def __init__(self) -> None:
            self.scale = tf.Variable(2.0)

        @tf.function
        def power(self, n: Any) -> Any:
            if n == 0:
                return 1.0
            return self.scale * self.power(n - 1)

    model = Model()
    assert model.power(tf.constant(3)).numpy() == 8.0
    model.scale.assign(3.0)
    assert model.power(tf.constant(2)).numpy() == 9.0


def test_effects_happen_at_each_call(capfd: pytest.CaptureFixture[str]) -> None:
    calls = tf.Variable(0)

    @tf.function
    def count(n: Any) -> Any:
        calls.assign_add(1)
        tf.print("at", n)
        if n <= 1:
            return n
        return count(n - 1) + count(n - 2)

    assert count(tf.constant(3)).numpy() == 2
    assert calls.numpy() == 5
    assert capfd.readouterr().err.split("\n")[:-1] == [
        f"at {n}" for n in (3, 2, 1, 0, 1)
    ]


def test_tensors_from_outside_are_passed_along() -> None:
    @tf.function
    def scaled(n: Any, x: Any) -> Any:
        offset = x * 2

        def go(m: Any) -> Any:
            if m == 0:
                return offset
            return go(m - 1) + x

        if n > 1:
            return go(n)
        return go(n + 10)

    assert scaled(tf.constant(3), tf.constant(1.5)).numpy() == 7.5
    assert scaled(tf.constant(0), tf.constant(1.5)).numpy() == 18.0
    concrete = scaled.get_concrete_function(tf.constant(3), tf.constant(1.5))
    verify(concrete.graph)


def test_values_that_changed_between_two_calls_are_seen() -> None:
    @tf.function
    def f(n: Any) -> Any:
        k = 1

        def go(m: Any) -> Any:
            return k if m == 0 else go(m - 1) + k

        if n > 0:
            first = go(n)
            k = 10
            return first, go(n)
        return 0, 0

    one, ten = f(tf.constant(3))
    assert (one.numpy(), ten.numpy()) == (4, 40)


def test_a_tensor_array_goes_through_recursion() -> None:
    @tf.function
    def filled(array: Any, n: Any) -> Any:
        if n == 0:
            return array
        return filled(array.write(n - 1, n * n), n - 1)

    array = tf.TensorArray(tf.int32, size=4, element_shape=())
    result = tf.function(lambda n: filled(array, n).stack())(tf.constant(4))
    assert result.numpy().tolist() == [1, 4, 9, 16]


class Tree:
    def __init__(self):
        self.labels = []


def assigns_a_list(tree, n):
    if n > 0:
        tree.labels = [n]
        assigns_a_list(tree, n - 1)


def test_other_changes_are_refused() -> None:
    with pytest.raises(StagedStateError, match=r"test_recursion\.py:\d+: AG211"):
        tf.function(lambda n: assigns_a_list(Tree(), n))(tf.constant(3))


def grows_a_tuple(n):
    if n == 0:
        return (1,)
    return (*grows_a_tuple(n - 1), n)


def test_results_of_different_structure_are_refused() -> None:
    with pytest.raises(StagedStateError, match=r"test_recursion\.py:\d+: AG2"):
        tf.function(grows_a_tuple)(tf.constant(3))


def endless(n, path=()):
    if n == 0:
        return 0
    return endless(n - 1, (path, n))


def test_tracing_without_end_is_located() -> None:
    with pytest.raises(
        EndlessRecursionError,
        match=r"test_recursion\.py:\d+: AG211: tracing 'endless' went deeper",
    ):
        tf.function(endless)(tf.constant(3))
    assert tf.executing_eagerly()


def test_calls_deeper_than_python_goes_are_located() -> None:
    function = tf.function(fact)
    concrete = function.get_concrete_function(tf.constant(1.0))
    deep = np.array(100_000, np.float32)
    match = r"test_recursion\.py:\d+: AG211: the graph 'fact' called itself"
    with pytest.raises(RecursionError, match=match):
        function(tf.constant(deep))
    with pytest.raises(RecursionError, match=match):
        interpreter.run(concrete.graph, [deep])


def test_the_limit_of_calls_is_pythons() -> None:
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5_000)
    try:
        assert tf.function(down)(tf.constant(3_000)).numpy() == 3_000
    finally:
        sys.setrecursionlimit(limit)


def test_an_error_points_to_the_line_of_the_user() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(divides)(tf.constant(2))
    line = divides.__code__.co_firstlineno + 2
    assert f"test_recursion.py:{line}" in str(caught.value)


def generated(n):
    if n > 0:
        yield from generated(n - 1)
    yield n


def test_generators_are_followed_as_python() -> None:
    f = tf.function(lambda n, x: sum(generated(n)) if x > 0 else 0)
    assert f(3, tf.constant(1)).numpy() == 6
