"""Checks that run with the program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec

D = tf.debugging
GOOD = [
    lambda: D.assert_equal([1, 2], [1, 2]),
    lambda: D.assert_equal(tf.ones([32, 10]).shape, (32, 10)),
    lambda: D.assert_none_equal([1, 2], 3),
    lambda: D.assert_less([1, 2], 3),
    lambda: D.assert_less_equal([1, 3], 3.5),
    lambda: D.assert_greater(tf.constant([4.0]), 3),
    lambda: D.assert_greater_equal([[3], [4]], [1, 3]),
    lambda: D.assert_near([1.0], [1.0 + 1e-7]),
    lambda: D.assert_near([1.0], [1.1], atol=0.2),
    lambda: D.assert_positive([1, 2]),
    lambda: D.assert_negative([-0.5]),
    lambda: D.assert_non_negative([0]),
    lambda: D.assert_non_positive([0, -1]),
    lambda: D.assert_equal(np.zeros((0,)), 1.0),
    lambda: D.Assert(True, ["fine"]),
    lambda: D.Assert([True, True], []),
    lambda: D.assert_all_finite([1.0], "x"),
    lambda: D.assert_rank([[1]], 2),
    lambda: D.assert_rank_at_least([[1]], 1),
    lambda: D.assert_scalar(1),
    lambda: D.assert_type(1, tf.int32),
    lambda: D.assert_integer([1]),
    lambda: D.assert_rank_in([[1]], (1, 2)),
    lambda: D.assert_proper_iterable([1]),
    lambda: D.assert_shapes([(tf.ones([3, 2]), ("N", 2)), (tf.ones([3]), "N")]),
    lambda: D.assert_shapes([(tf.ones([4, 3, 2]), (..., "N", None))]),
    lambda: D.assert_shapes({tf.ones([2]).ref(): tf.TensorShape([2])}),
    lambda: D.assert_shapes([(tf.constant(1), ())]),
]


@pytest.mark.parametrize("check", GOOD)
def test_what_holds(check: Callable[[], Any]) -> None:
    check()
    tf.function(check, autograph=False)()


BAD = [
    (lambda: D.assert_equal([1, 2], [1, 3]), "Condition x == y did not hold."),
    (lambda: D.assert_equal(tf.ones([2]).shape, (2, 1)), "Condition x == y"),
    (lambda: D.assert_none_equal([1, 2], 2), "Condition x != y"),
    (lambda: D.assert_less([1, 3], 3), "Condition x < y"),
    (lambda: D.assert_less_equal(4, 3), "Condition x <= y"),
    (lambda: D.assert_greater(3, 3), "Condition x > y"),
    (lambda: D.assert_greater_equal(2, 3), "Condition x >= y"),
    (lambda: D.assert_near([1.0], [1.1]), "Condition x ~= y"),
    (lambda: D.assert_positive([1, 0]), "Condition x > 0"),
    (lambda: D.assert_negative(0), "Condition x < 0"),
    (lambda: D.assert_non_negative(-1), "Condition x >= 0"),
    (lambda: D.assert_non_positive(1), "Condition x <= 0"),
    (lambda: D.assert_positive(0, "my message"), "my message\nCondition"),
    (
        lambda: D.Assert(tf.constant([True, False]), ["x =", tf.constant([1, 2]), 3]),
        r"assertion failed: \[x =\] \[1 2\] \[3\]",
    ),
    (lambda: D.check_numerics([np.nan], "in f"), "in f : Tensor had NaN values"),
    (lambda: D.check_numerics([np.inf], "g"), "g : Tensor had Inf values"),
    (lambda: D.assert_all_finite([np.inf, np.nan], "h"), "h : Tensor had Inf and NaN"),
]


@pytest.mark.parametrize(("check", "message"), BAD)
def test_what_does_not_hold(check: Callable[[], Any], message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        check()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(check, autograph=False)()


def test_the_message_shows_the_values() -> None:
    x = tf.constant([[1, 2, 3], [4, 5, 6]])

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        D.assert_less(x, [2, 3, 3], message="too large", summarize=2)

    assert str(caught.value) == (
        "too large\n"
        "Condition x < y did not hold.\n"
        "Indices of first 2 different values:\n[[0 2]\n [1 0]]\n"
        "Corresponding x values:\n[3 4]\n"
        "Corresponding y values:\n[3 2]\n"
        "First 2 elements of x:\n[1 2]\n"
        "First 2 elements of y:\n[2 3]"
    )


def test_known_values_are_checked_while_tracing() -> None:
    @tf.function
    def wrong(x: Any) -> Any:
        D.assert_equal(tf.shape(x)[0], 3, "x must have three rows")
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="three rows\nCondition"):
        wrong.get_concrete_function(tf.TensorSpec([2]))
    traced = wrong.get_concrete_function(tf.TensorSpec([3])).graph
    assert "AssertRelation" not in {node.op for node in traced.nodes}
    assert "AssertRelation" in {
        node.op
        for node in wrong.get_concrete_function(tf.TensorSpec([None])).graph.nodes
    }


def test_a_known_failure_in_a_branch_is_that_of_the_branch() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x < 0:
            D.assert_equal(1, 2, "not for negative numbers")
        return x

    assert f(tf.constant(1)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="not for negative"):
        f(tf.constant(-1))


def test_a_known_failure_in_a_function_of_a_branch_waits_for_it() -> None:
    def wrong(x: Any = 0) -> Any:
        D.assert_equal(1, 2, "not taken")
        return x + 1

    @tf.function(autograph=False)
    def f(n: Any) -> Any:
        n = tf.cond(n > 5, lambda: wrong(n), lambda: n)
        return tf.while_loop(lambda i: i < 0, lambda i: [wrong(i)], [n])

    assert f(tf.constant(1))[0].numpy() == 1
    for value in (-1, 6):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not taken"):
            f(tf.constant(value))


def test_checks_are_kept_although_nothing_uses_them() -> None:
    @tf.function
    def checked(x: Any) -> Any:
        D.assert_positive(x)
        return tf.constant(1)

    assert checked(tf.constant(1)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError):
        checked(tf.constant(-1))


def test_a_check_in_a_branch_runs_with_the_branch() -> None:
    @tf.function
    def checked(x: Any) -> Any:
        if x < 0:
            D.check_numerics(tf.sqrt(x), "of a negative number")
        return x

    assert checked(tf.constant(4.0)).numpy() == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="of a negative number"):
        checked(tf.constant(-4.0))


@pytest.mark.parametrize(
    ("check", "error", "message"),
    [
        (
            lambda: D.assert_rank([1], 2, "x"),
            ValueError,
            r"x: the tensor of shape \(1,\)",
        ),
        (lambda: D.assert_rank_at_least(1, 1), ValueError, "at least rank 1"),
        (lambda: D.assert_scalar([1]), ValueError, "must have rank 0"),
        (
            lambda: D.assert_rank_in([1], [0, 2], "x"),
            ValueError,
            r"x: .* one of the ranks \(0, 2\)",
        ),
        (
            lambda: D.assert_same_float_dtype([tf.constant(1.0)], tf.float64),
            ValueError,
            "must be of float64, not of float32",
        ),
        (lambda: D.assert_same_float_dtype([1]), ValueError, "not int32"),
        (lambda: D.assert_proper_iterable(tf.ones(1)), TypeError, "another iterable"),
        (lambda: D.assert_proper_iterable(1), TypeError, "cannot be iterated"),
        (
            lambda: D.assert_shapes([(tf.ones([2, 3]), ("N", "N"))], message="m"),
            ValueError,
            r"m: axis 1 of tensor 0 must be as long as axis 0 .*: 3 is not 2",
        ),
        (
            lambda: D.assert_shapes([([1], (3,))]),
            ValueError,
            "axis 0 of tensor 0 must have the length 3: 1 is not 3",
        ),
        (lambda: D.assert_shapes([([1], ())]), ValueError, "must have rank 0, not"),
        (
            lambda: D.assert_shapes([([1], ("*", 1, 2))]),
            ValueError,
            "must have at least rank 2",
        ),
        (lambda: D.assert_near([1], [1]), ValueError, "compares floats, not int32"),
        (lambda: D.assert_shapes([tf.ones([2])]), ValueError, "pairs of a tensor"),
        (lambda: D.assert_shapes([([1], (1, "*"))]), ValueError, "only the first axis"),
        (lambda: D.assert_type(1, tf.float32), TypeError, "of int32, not of float32"),
        (
            lambda: D.assert_integer(1.0),
            TypeError,
            "must be of integers, not of float32",
        ),
    ],
)
def test_what_tracing_shows(
    check: Callable[[], Any], error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        check()


def test_ranks_that_only_a_run_knows() -> None:
    spec = tf.TensorSpec(None, tf.float32)

    @tf.function(input_signature=[spec], autograph=False)
    def matrix(x: Any) -> Any:
        D.assert_rank(x, 2)
        D.assert_rank_at_least(x, 1)
        return tf.shape(x)

    assert matrix(tf.ones([1, 2])).numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="x == y"):
        matrix(tf.ones([3]))


SHAPES = [
    ([2, 3], [2], None),
    ([2, 3], [5, 2], None),
    ([2, 3], [3], "axis -1 of tensor 1 must be as long as axis 0 of tensor 0"),
    ([2, 3], [], "tensor 1 must have at least rank 1"),
]


@pytest.mark.parametrize(("first", "second", "message"), SHAPES)
def test_shapes_that_only_a_run_knows(first: Any, second: Any, message: Any) -> None:
    open_specs = [tf.TensorSpec([None, None]), tf.TensorSpec(None)]

    @tf.function(input_signature=open_specs, autograph=False)
    def fit(x: Any, y: Any) -> Any:
        D.assert_shapes([(x, ("N", "Q")), (y, (..., "N"))])
        D.assert_rank_in(x, [2, 3])
        D.assert_rank_in(y, [0, 1, 2])
        return tf.rank(y)

    if message is None:
        assert fit(tf.ones(first), tf.ones(second)).numpy() == len(second)
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            fit(tf.ones(first), tf.ones(second))


def test_one_floating_dtype() -> None:
    assert D.assert_same_float_dtype([tf.constant(1.0), None]) is tf.float32
    assert D.assert_same_float_dtype([np.float64(1)], tf.float64) is tf.float64
    assert D.assert_same_float_dtype() is tf.float32


def test_tracebacks_are_filtered_or_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOGRAPH_DEBUG", raising=False)
    failing = tf.function(lambda x: D.assert_positive(x), autograph=False)

    def files() -> set[str]:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            failing(tf.constant(-1))
        return {Path(entry.path).name for entry in caught.traceback}

    ours = set() if sys.version_info >= (3, 11) else {"function.py"}
    assert files() == {"test_debugging.py"} | ours
    D.disable_traceback_filtering()
    assert not D.is_traceback_filtering_enabled()
    assert "function.py" in files()
    D.enable_traceback_filtering()
    assert D.is_traceback_filtering_enabled()


def test_device_placement_is_accepted() -> None:
    D.set_log_device_placement(True)
    assert D.get_log_device_placement()
    D.set_log_device_placement(False)


def test_is_numeric_tensor() -> None:
    assert D.is_numeric_tensor(tf.constant(1))
    assert not D.is_numeric_tensor(tf.constant("a"))
    assert not D.is_numeric_tensor(1)


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not broadcast"):
        D.assert_less([1, 2], [1, 2, 3])
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([2], tf.int32))
        with pytest.raises(tf.errors.InvalidArgumentError, match="do not broadcast"):
            D.assert_less(x, [1, 2, 3])
