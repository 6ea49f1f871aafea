"""map_fn, vectorized_map, scan and the folds: eager, in graphs, wrong on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
N = tf.constant([1, 2, 3])
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def plain(value: Any) -> Any:
    return tf.nest.map_structure(lambda t: t.numpy().tolist(), value)


def halves_and_sums(part: dict[str, Any]) -> Any:
    return {"half": part["a"] / 2, "sum": tf.reduce_sum(part["b"])}


PROGRAMS: list[tuple[Any, Any]] = [
    (lambda: tf.map_fn(lambda x: x * x, N), [1, 4, 9]),
    (lambda: tf.map_fn(lambda x: 7, N), [7, 7, 7]),
    (
        lambda: tf.map_fn(lambda x: [x[0], x[0] + 1], [N], dtype=[tf.int32] * 2)[1],
        [2, 3, 4],
    ),
    (
        lambda: tf.map_fn(
            lambda x: x > 1, N, fn_output_signature=tf.TensorSpec([], "bool")
        ),
        [False, True, True],
    ),
    (
        lambda: tf.map_fn(
            halves_and_sums,
            {"a": X[:, 0], "b": X},
            fn_output_signature={"half": tf.float32, "sum": tf.float32},
        ),
        {"half": [0.5, 1.5, 2.5], "sum": [3.0, 7.0, 11.0]},
    ),
    (lambda: tf.map_fn(lambda x: tf.concat([x, x], 0), tf.zeros([0, 2])), []),
    (
        lambda: tf.vectorized_map(lambda x: (x > 1, x), N),
        ([False, True, True], [1, 2, 3]),
    ),
    (lambda: tf.vectorized_map(lambda x: x > 1, tf.zeros([0])), []),
    (lambda: tf.scan(lambda a, x: a + x, X), [[1.0, 2.0], [4.0, 6.0], [9.0, 12.0]]),
    (lambda: tf.scan(lambda a, x: 10 * a + x, N, reverse=True), [321, 32, 3]),
    (lambda: tf.scan(lambda a, x: 10 * a + x, N, 5, reverse=True), [5321, 532, 53]),
    (
        lambda: tf.scan(lambda a, x: (a[1], a[0] + x), N, (0, 1)),
        ([1, 1, 3], [1, 3, 4]),
    ),
    (lambda: tf.scan(lambda a, x: a + x, tf.zeros([0, 2]), tf.zeros([2])), []),
    (lambda: tf.foldl(lambda a, x: 10 * a + x, N), 123),
    (lambda: tf.foldr(lambda a, x: 10 * a + x, N), 321),
    (lambda: tf.foldl(lambda a, x: a - x, N, initializer=0), -6),
    (lambda: tf.foldr(lambda a, x: a + x["n"], {"n": N}, initializer=0), 6),
]


@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_eager_and_staged(program: Any, expected: Any) -> None:
    eager, staged = program(), tf.function(program, autograph=False)()

    assert plain(eager) == plain(staged) == expected
    for one, other in zip(tf.nest.flatten(eager), tf.nest.flatten(staged)):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)


def test_one_loop_for_any_length() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def sums(x: Any) -> Any:
        return tf.map_fn(tf.reduce_sum, x), tf.scan(tf.add, x), tf.foldl(tf.add, x)

    graph = sums.get_concrete_function().graph
    ops = [node.op for node in graph.nodes]

    assert ops.count("While") == 3
    assert plain(sums(X)) == ([3, 7, 11], [[1, 2], [4, 6], [9, 12]], [9, 12])
    with pytest.raises(tf.errors.InvalidArgumentError, match="scan: without elements"):
        sums(tf.zeros([0, 2]))


def test_control_flow_in_functions_that_are_mapped() -> None:
    def steps(n: Any) -> Any:
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    found = tf.function(lambda x: tf.map_fn(steps, x))(tf.constant([1, 6, 27]))

    assert plain(found) == [0, 8, 111]


def test_maps_in_maps_and_captured_tensors() -> None:
    @tf.function
    def products(x: Any, y: Any) -> Any:
        return tf.map_fn(lambda a: tf.vectorized_map(lambda b: a * b, y), x)

    assert plain(products(N, N)) == [[1, 2, 3], [2, 4, 6], [3, 6, 9]]
    with pytest.raises(ValueError, match="does not go with"):
        tf.map_fn(lambda n: tf.range(n), N)


def test_effects_happen_once_for_each_element() -> None:
    calls: list[int] = []

    def noted(x: Any) -> Any:
        calls.append(int(x))
        return x > 1

    tf.vectorized_map(noted, N)

    assert calls == [1, 2, 3]


def test_lengths_that_only_a_run_knows() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])])
    def dot(x: Any, y: Any) -> Any:
        return tf.foldl(lambda total, xy: total + xy[0] * xy[1], (x, y), 0.0)

    assert float(dot(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))) == 11
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be equally long"):
        dot(tf.constant([1.0]), tf.constant([3.0, 4.0]))


WRONG: list[tuple[Any, Any, str]] = [
    (
        lambda: tf.map_fn(lambda x: x > 1, N),
        tf.errors.InvalidArgumentError,
        "fn returns bool, but elems .* has int32 there; .* give fn_output_signature",
    ),
    (
        lambda: tf.map_fn(lambda x: (x, x), N),
        ValueError,
        r"fn returns \(int32\[\], int32\[\]\), but elems .* is int32\[\.\.\.\]",
    ),
    (
        lambda: tf.map_fn(lambda x: {"a": [x]}, N, dtype={"a": (tf.int32,)}),
        TypeError,
        r"fn returns {'a': \[int32\[\]\]}, but .* is {'a': \(int32\[\.\.\.\],\)}",
    ),
    (
        lambda: tf.map_fn(lambda x: x, N, dtype=tf.TensorSpec([2], tf.int32)),
        tf.errors.InvalidArgumentError,
        r"fn returns the shape \(\), but fn_output_signature has \(2,\)",
    ),
    (
        lambda: tf.map_fn(abs, N[:0], dtype=tf.TensorSpec([None, 3], tf.int32)),
        tf.errors.InvalidArgumentError,
        r"fn returns the shape \(\), but fn_output_signature has \(None, 3\)",
    ),
    (lambda: tf.map_fn(lambda x: None, N), TypeError, "fn returns None, which is no"),
    (lambda: tf.map_fn(3, N), TypeError, "fn must be callable"),
    (lambda: tf.map_fn(abs, []), ValueError, "at least one tensor"),
    (lambda: tf.map_fn(abs, [1, 2]), ValueError, r"elems\[0\] has the shape \(\)"),
    (lambda: tf.map_fn(abs, {"a": object()}), TypeError, r"elems\['a'\] is no tensor"),
    (lambda: tf.map_fn(abs, (N, X[:2])), ValueError, r"shapes are \(3,\), \(2, 2\)"),
    (lambda: tf.foldl(abs, N[:0]), ValueError, "must be an initializer"),
    (
        lambda: tf.scan(lambda a, x: tf.cast(a, tf.float32), N),
        tf.errors.InvalidArgumentError,
        "scan: fn returns float32, but elems has int32",
    ),
    (
        lambda: tf.foldr(lambda a, x: (a[0], x), N, (0,)),
        ValueError,
        r"foldr: fn returns \(int32\[\], .*\), but initializer is \(int32\[\.\.\.\],\)",
    ),
]


@pytest.mark.parametrize(("program", "error", "message"), WRONG)
def test_what_goes_wrong(program: Any, error: Any, message: str) -> None:
    for run in (program, tf.function(program, autograph=False)):
        with pytest.raises(error, match=message):
            run()


def test_no_elements_and_a_function_that_cannot_be_traced() -> None:
    def odd(x: Any) -> Any:
        return x if x % 2 else -x

    with pytest.raises(ValueError, match="give fn_output_signature="):
        tf.map_fn(odd, N[:0])
    found = tf.map_fn(odd, N[:0], fn_output_signature=tf.TensorSpec([], tf.int32))
    assert found.shape == [0]


def test_against_numpy() -> None:
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")

    np.testing.assert_allclose(tf.scan(tf.add, x), np.cumsum(x, 0), rtol=1e-6)
    np.testing.assert_allclose(tf.map_fn(tf.reduce_max, x), x.max(1))
