"""Programs like those of the introduction to graphs: what they compute and print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf

Printed = Callable[[], list[str]]


def ops(function: Any, *args: Any) -> list[str]:
    """The names of the ops in the graph for these arguments."""
    operations = function.get_concrete_function(*args).graph.get_operations()
    return [operation.type for operation in operations]


# --- making graphs --------------------------------------------------------------------


def affine(weights: Any, x: Any, offset: Any) -> Any:
    y = tf.matmul(weights, x)
    y = y - offset
    return y


def test_a_wrapped_function_gives_what_the_python_function_gives() -> None:
    weights = tf.constant([[3.0, 1.0], [0.5, 2.0]])
    x = tf.constant([[1.0], [4.0]])
    offset = tf.constant(0.25)
    affine_as_a_graph = tf.function(affine)

    expected = affine(weights, x, offset).numpy()
    result = affine_as_a_graph(weights, x, offset).numpy()

    assert result.dtype == np.float32
    assert result.tolist() == expected.tolist() == [[6.75], [8.25]]


def test_the_decorator_reaches_the_functions_that_are_called(printed: Printed) -> None:
    @tf.function
    def prediction(x: Any) -> Any:
        weights = tf.constant([[1.0, -1.0], [2.0, 0.0]])
        return affine(weights, x, tf.constant(1.0))

    x = tf.constant([[5.0], [3.0]])
    print(repr(prediction(x).numpy()))

    assert printed() == [
        "array([[1.],",
        "       [9.]], dtype=float32)",
    ]
    assert ops(prediction, x) == [
        "Placeholder", "Const", "Const", "MatMul", "Sub", "Identity"
    ]  # fmt: skip


def test_a_function_keeps_what_a_python_function_has() -> None:
    @tf.function
    def documented(x: Any, factor: float = 2.0) -> Any:
        """Scale the input."""
        return x * factor

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Scale the input."
    assert documented(tf.constant(3.0)).numpy() == 6.0
    assert documented(factor=0.5, x=tf.constant(3.0)).numpy() == 1.5
    assert documented.python_function(3.0) == 6.0


# --- Python control flow --------------------------------------------------------------


def at_most_ten(x: Any) -> Any:
    if tf.less(x, 10):
        return x
    else:
        return 10


def test_a_condition_on_a_tensor_chooses_when_the_graph_runs(printed: Printed) -> None:
    capped = tf.function(at_most_ten)

    print("Below, with graph:", capped(tf.constant(7)).numpy())
    print("Above, with graph:", capped(tf.constant(12)).numpy())

    assert printed() == ["Below, with graph: 7", "Above, with graph: 10"]
    assert capped.experimental_get_tracing_count() == 1


def test_the_converted_code_can_be_read() -> None:
    code = tf.autograph.to_code(at_most_ten)

    assert code.startswith("def at_most_ten(x")
    assert "ag." in code
    assert len(code.splitlines()) < 10


def test_the_graph_has_both_branches() -> None:
    capped = tf.function(at_most_ten)

    graph = capped.get_concrete_function(tf.constant(1)).graph
    node = next(node for node in graph.as_graph_def().node if node.op == "StatelessIf")
    less = next(node for node in graph.as_graph_def().node if node.op == "Less")

    names = [node.name for node in graph.as_graph_def().node]
    assert names == ["x", "Less/y", "Less", "cond", "cond/Identity", "Identity"]
    for branch in graph.as_graph_def().library.function:
        assert branch.ret == {"cond_identity": "cond/Identity:output:0"}
    assert less.input == ["x", "Less/y"]
    assert node.input == ["Less", "x"]
    assert graph.as_graph_def().node[0].op == "Placeholder"
    text = str(graph.as_graph_def())
    assert text.startswith('node {\n  name: "x"\n  op: "Placeholder"\n')


def test_break_continue_and_early_return() -> None:
    @tf.function
    def first_square_above(limit: Any, numbers: Any) -> Any:
        for number in numbers:
            if number < 0:
                continue
            square = number * number
            if square > limit:
                return square
            if number == 99:
                break
        return -1

    numbers = tf.constant([-9, 2, -7, 3, 5, 99, 100])

    def answer(limit: int) -> int:
        return int(first_square_above(tf.constant(limit), numbers))

    assert [answer(limit) for limit in (0, 4, 24, 25, 9801)] == [4, 9, 25, 9801, -1]
    assert first_square_above.experimental_get_tracing_count() == 1


# --- polymorphism ---------------------------------------------------------------------


def test_one_function_many_graphs(printed: Printed) -> None:
    @tf.function
    def at_most_one(x: Any) -> Any:
        return tf.minimum(1.0, x)

    print(at_most_one(tf.constant(0.5)))
    print(at_most_one([3, -2]))
    print(at_most_one(tf.constant([4.0, -4.0, 0.25])))

    assert printed() == [
        "tf.Tensor(0.5, shape=(), dtype=float32)",
        "tf.Tensor([ 1. -2.], shape=(2,), dtype=float32)",
        "tf.Tensor([ 1.   -4.    0.25], shape=(3,), dtype=float32)",
    ]

    # These signatures are known.
    print(at_most_one(tf.constant(1.5)))
    print(at_most_one(tf.constant([0.0, 2.0, 1.0])))

    assert printed() == [
        "tf.Tensor(1.0, shape=(), dtype=float32)",
        "tf.Tensor([0. 1. 1.], shape=(3,), dtype=float32)",
    ]
    assert at_most_one.experimental_get_tracing_count() == 3

    print(at_most_one.pretty_printed_concrete_signatures())

    assert printed() == [
        "at_most_one(x)",
        "  Args:",
        "    x: float32 Tensor, shape=()",
        "  Returns:",
        "    float32 Tensor, shape=()",
        "",
        "at_most_one(x=[3, -2])",
        "  Returns:",
        "    float32 Tensor, shape=(2,)",
        "",
        "at_most_one(x)",
        "  Args:",
        "    x: float32 Tensor, shape=(3,)",
        "  Returns:",
        "    float32 Tensor, shape=(3,)",
    ]


# --- graphs and eager execution -------------------------------------------------------


def mean_distance(a: Any, b: Any) -> Any:
    print("Measuring")
    return tf.reduce_mean(tf.abs(a - b))


A = tf.constant([1, 8, 3, 9, 2])
B = tf.constant([0, 9, 6, 3, 4])


def test_random_numbers_have_the_range_and_shape_that_was_asked_for() -> None:
    numbers = tf.random.uniform([500], minval=-1, maxval=10, dtype=tf.int32)

    assert numbers.shape == [500]
    assert numbers.dtype == tf.int32
    assert set(numbers.numpy().tolist()) <= set(range(-1, 10))
    assert len(set(numbers.numpy().tolist())) > 5


def test_a_mean_of_integers_is_an_integer() -> None:
    assert repr(tf.function(mean_distance)(A, B)) == (
        "<tf.Tensor: shape=(), dtype=int32, numpy=2>"
    )


def test_the_same_function_eagerly(eagerly: Any) -> None:
    measured = tf.function(mean_distance)

    with eagerly():
        eager = measured(A, B)

    assert repr(eager) == repr(measured(A, B))


def test_python_prints_while_tracing_only(printed: Printed) -> None:
    measured = tf.function(mean_distance)
    for _ in range(3):
        measured(A, B)

    assert printed() == ["Measuring"]


def test_python_prints_at_each_eager_call(printed: Printed, eagerly: Any) -> None:
    measured = tf.function(mean_distance)
    with eagerly():
        for _ in range(3):
            measured(A, B)

    assert printed() == ["Measuring", "Measuring", "Measuring"]
    assert measured.experimental_get_tracing_count() == 0


def test_a_traced_function_goes_on_eagerly_and_back(
    printed: Printed, eagerly: Any
) -> None:
    measured = tf.function(mean_distance)
    measured(A, B)
    with eagerly():
        assert tf.config.functions_run_eagerly()
        measured(A, B)
    assert not tf.config.functions_run_eagerly()
    measured(A, B)

    assert printed() == ["Measuring", "Measuring"]


def test_tf_print_prints_either_way(printed: Printed, eagerly: Any) -> None:
    @tf.function
    def shown(x: Any) -> Any:
        tf.print("x is", x)
        return x

    shown(tf.constant([1, 2]))
    shown(tf.constant([3, 4]))
    with eagerly():
        shown(tf.constant([5, 6]))

    assert printed() == ["x is [1 2]", "x is [3 4]", "x is [5 6]"]


# --- non-strict execution -------------------------------------------------------------


def third_is_there(x: Any) -> Any:
    tf.gather(x, [2])
    return x


def test_all_operations_run_eagerly() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2 is not in \[0, 2\)"):
        third_is_there(tf.constant([0.5, 1.5]))


def test_a_graph_runs_what_is_needed(printed: Printed) -> None:
    print(tf.function(third_is_there)(tf.constant([0.5, 1.5])))

    assert printed() == ["tf.Tensor([0.5 1.5], shape=(2,), dtype=float32)"]


def test_what_is_needed_still_fails_in_a_graph() -> None:
    @tf.function
    def third(x: Any) -> Any:
        return tf.gather(x, [2])

    assert third(tf.constant([1, 2, 3])).numpy().tolist() == [3]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2 is not in \[0, 2\)"):
        third(tf.constant([0.5, 1.5]))


def test_effects_run_although_no_result_needs_them(printed: Printed) -> None:
    seen = tf.Variable(0)

    @tf.function
    def checked(x: Any) -> Any:
        seen.assign_add(1)
        tf.print("checking", x)
        tf.debugging.assert_less(x, 100)
        tf.gather([1], x)
        return 0

    checked(tf.constant(7))
    checked(tf.constant(8))
    with pytest.raises(tf.errors.InvalidArgumentError):
        checked(tf.constant(100))

    assert printed() == ["checking 7", "checking 8", "checking 100"]
    assert seen.numpy() == 3


# --- Python loops are unrolled --------------------------------------------------------


def powered(x: Any, exponent: Any) -> Any:
    result = tf.eye(4, dtype=tf.dtypes.int32)
    for _ in range(exponent):
        result = tf.matmul(x, result)
    return result


def test_a_python_number_unrolls_the_loop() -> None:
    x = tf.random.uniform(shape=[4, 4], minval=-1, maxval=2, dtype=tf.dtypes.int32)
    powered_as_a_graph = tf.function(powered)

    expected = powered(x, 12).numpy()
    assert powered_as_a_graph(x, 12).numpy().tolist() == expected.tolist()
    assert ops(powered_as_a_graph, x, 12).count("MatMul") == 12

    # The same function with a tensor: range() gives a loop of the graph.
    assert powered_as_a_graph(x, tf.constant(12)).numpy().tolist() == expected.tolist()
    names = ops(powered_as_a_graph, x, tf.constant(12))
    assert (names.count("MatMul"), names.count("StatelessWhile")) == (0, 1)


# --- when a function is traced --------------------------------------------------------


def test_new_kinds_of_arguments_are_traced(printed: Printed) -> None:
    @tf.function
    def with_a_side_effect(x: Any) -> Any:
        print("Tracing!")
        return 3 * x - tf.constant(1)

    print(with_a_side_effect(tf.constant(2)))
    print(with_a_side_effect(tf.constant(5)))

    assert printed() == [
        "Tracing!",
        "tf.Tensor(5, shape=(), dtype=int32)",
        "tf.Tensor(14, shape=(), dtype=int32)",
    ]

    # Each Python number is a hyperparameter with a graph of its own.
    print(with_a_side_effect(2))
    print(with_a_side_effect(5))
    print(with_a_side_effect(2))

    assert printed() == [
        "Tracing!",
        "tf.Tensor(5, shape=(), dtype=int32)",
        "Tracing!",
        "tf.Tensor(14, shape=(), dtype=int32)",
        "tf.Tensor(5, shape=(), dtype=int32)",
    ]
