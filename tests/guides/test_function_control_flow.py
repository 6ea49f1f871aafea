"""Programs like those of the guide to `function`: conditions, loops, accumulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf

Printed = Callable[[], list[str]]


def node_types(function: Any, *args: Any) -> list[str]:
    """The types of the nodes in the graph for these arguments."""
    graph = function.get_concrete_function(*args).graph
    return [node.op for node in graph.get_operations()]


# --- while ----------------------------------------------------------------------------


def test_a_loop_prints_what_it_goes_through(printed: Printed) -> None:
    @tf.function
    def squash(x: Any) -> Any:
        while tf.reduce_max(x) > 0.5:
            tf.print(x)
            x = tf.tanh(x)
        return x

    result = squash(tf.constant([0.6, 0.25]))

    assert printed() == ["[0.6 0.25]", "[0.537049592 0.244918659]"]
    np.testing.assert_allclose(result.numpy(), np.tanh(np.tanh([0.6, 0.25])), rtol=1e-6)
    assert squash(tf.constant([0.1, 0.2])).numpy().tolist() == [
        np.float32(0.1), np.float32(0.2)
    ]  # fmt: skip
    assert squash.experimental_get_tracing_count() == 1


def test_the_converted_loop_can_be_read() -> None:
    @tf.function
    def doubled_until(x: Any, limit: Any) -> Any:
        while x < limit:
            x = x * 2
        return x

    code = tf.autograph.to_code(doubled_until.python_function)

    assert "ag.while_loop(" in code
    assert "x = x * 2" in code
    assert max(map(len, code.splitlines())) <= 88


def test_a_condition_on_python_values_stays_in_python(printed: Printed) -> None:
    @tf.function
    def countdown(start: Any) -> Any:
        left = start
        while left > 0:
            print("Tracing the body with", left)
            left = left - 1
        return left

    countdown(2)
    countdown(tf.constant(2))

    assert printed() == [
        "Tracing the body with 2",
        "Tracing the body with 1",
        'Tracing the body with Tensor("left:0", shape=(), dtype=int32)',
    ]
    assert "While" not in node_types(countdown, 2)
    assert "While" in node_types(countdown, tf.constant(2))


def test_a_tensor_may_grow_in_a_loop() -> None:
    @tf.function
    def doubled_to(x: Any, length: Any) -> Any:
        while tf.shape(x)[0] < length:
            x = tf.concat([x, x], axis=0)
        return x

    assert doubled_to(tf.constant([1, 2]), 5).numpy().tolist() == [1, 2] * 4
    concrete = doubled_to.get_concrete_function(tf.constant([1, 2]), tf.constant(5))
    assert concrete.structured_outputs.shape.as_list() == [None]


# --- if -------------------------------------------------------------------------------


def test_all_branches_are_traced_once_and_one_of_them_runs(printed: Printed) -> None:
    @tf.function
    def clap_game(last: Any) -> None:
        for number in tf.range(1, last + 1):
            print("Tracing the loop")
            if number % 6 == 0:
                print("Tracing both")
                tf.print("clap stomp")
            elif number % 2 == 0:
                print("Tracing clap")
                tf.print("clap")
            elif number % 3 == 0:
                print("Tracing stomp")
                tf.print("stomp")
            else:
                print("Tracing the rest")
                tf.print(number)

    clap_game(tf.constant(4))

    assert printed() == [
        "Tracing the loop",
        "Tracing both",
        "Tracing clap",
        "Tracing stomp",
        "Tracing the rest",
        "1",
        "clap",
        "stomp",
        "clap",
    ]

    clap_game(tf.constant(7))

    assert printed() == ["1", "clap", "stomp", "clap", "5", "clap stomp", "7"]


def test_a_python_condition_leaves_one_branch(printed: Printed) -> None:
    @tf.function
    def thinned(x: Any, training: Any = True) -> Any:
        if training:
            print("Tracing for training")
            return tf.where(x > 1.0, x, 0.0)
        else:
            print("Tracing for use")
            return x

    x = tf.constant([0.5, 1.5])
    assert thinned(x).numpy().tolist() == [0.0, 1.5]
    assert thinned(x, training=False).numpy().tolist() == [0.5, 1.5]
    assert thinned(x, training=True).numpy().tolist() == [0.0, 1.5]

    assert printed() == ["Tracing for training", "Tracing for use"]
    assert "If" not in node_types(thinned, x, True)
    assert len(node_types(thinned, x, False)) < len(node_types(thinned, x, True))

    # As a tensor the flag is read when the graph runs.
    chosen = thinned.get_concrete_function(x, tf.constant(True))
    assert chosen(x, tf.constant(False)).numpy().tolist() == [0.5, 1.5]
    assert printed() == ["Tracing for training", "Tracing for use"]


def test_a_value_may_be_assigned_in_both_branches() -> None:
    @tf.function
    def halved_or_increased(n: Any) -> Any:
        if tf.reduce_sum(n) > 4:
            result = n * n
        else:
            result = -n // 2
        return result

    assert halved_or_increased(tf.constant([2, 3])).numpy().tolist() == [4, 9]
    assert halved_or_increased(tf.constant([2, 1])).numpy().tolist() == [-1, -1]


def test_branches_of_two_dtypes_meet_in_the_wider_one() -> None:
    """TensorFlow refuses this; in Python both are numbers."""

    @tf.function
    def mixed(x: Any) -> Any:
        if x > 0:
            result = tf.constant(1)
        else:
            result = tf.constant(1.5)
        return result

    assert mixed(tf.constant(1)).numpy() == 1
    assert mixed(tf.constant(0)).numpy() == 1.5


def test_branches_of_a_bool_and_a_number_are_refused() -> None:
    @tf.function
    def mixed(x: Any) -> Any:
        if x > 0:
            result = tf.constant(1)
        else:
            result = tf.constant(True)
        return result

    with pytest.raises(TypeError, match=r"AG206: .* two dtypes: int32 and bool"):
        mixed(tf.constant(1))


# --- for ------------------------------------------------------------------------------


def test_the_rows_of_a_tensor(printed: Printed) -> None:
    @tf.function
    def show_rows(x: Any) -> None:
        for row in x:
            print("Tracing", row.shape, row.dtype)
            tf.print("row", row)

    show_rows(tf.constant([[1, 2], [3, 4], [5, 6]]))

    assert printed() == ["Tracing (2,) <dtype: 'int32'>"] + [
        "row [1 2]", "row [3 4]", "row [5 6]"
    ]  # fmt: skip


def test_a_python_range_is_unrolled_and_a_tensor_range_is_not(printed: Printed) -> None:
    @tf.function
    def unrolled(x: Any) -> Any:
        for i in range(3):
            print("Tracing step", i)
            x = x + i
        return x

    @tf.function
    def staged(x: Any) -> Any:
        for i in tf.range(3):
            print("Tracing a step")
            x = x + i
        return x

    x = tf.constant(10)

    assert unrolled(x).numpy() == staged(x).numpy() == 13
    assert printed() == [
        "Tracing step 0",
        "Tracing step 1",
        "Tracing step 2",
        "Tracing a step",
    ]
    assert node_types(unrolled, x).count("AddV2") == 3
    assert node_types(staged, x).count("AddV2") == 0
    assert node_types(staged, x).count("While") == 1


# --- accumulating ---------------------------------------------------------------------


def decaying_step(inputs: Any, state: Any) -> Any:
    return inputs + state * 0.5


def recurrent(step: Any, sequences: Any, initial_state: Any) -> Any:
    # [batch, time, features] -> [time, batch, features]
    sequences = tf.transpose(sequences, [1, 0, 2])
    length = sequences.shape[0]
    states = tf.TensorArray(tf.float32, size=length)
    state = initial_state
    for t in tf.range(length):
        state = step(sequences[t], state)
        states = states.write(t, state)
    return tf.transpose(states.stack(), [1, 0, 2])


def test_a_tensor_array_collects_the_states_of_a_loop() -> None:
    sequences = np.random.default_rng(0).random([2, 4, 3], np.float32)
    expected, state = [], np.zeros([2, 3], np.float32)
    for t in range(4):
        state = sequences[:, t] + state * np.float32(0.5)
        expected.append(state)
    arguments = (decaying_step, tf.constant(sequences), tf.zeros([2, 3]))

    staged = tf.function(recurrent)

    assert staged(*arguments).shape == [2, 4, 3]
    np.testing.assert_allclose(
        staged(*arguments).numpy(), np.stack(expected, axis=1), rtol=1e-6
    )
    np.testing.assert_array_equal(staged(*arguments), recurrent(*arguments))
    assert staged.experimental_get_tracing_count() == 1


def test_a_tensor_array_may_grow() -> None:
    @tf.function
    def collatz(n: Any) -> Any:
        steps = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        i = 0
        while n != 1:
            steps = steps.write(i, n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            i += 1
        return steps.stack()

    assert collatz(tf.constant(6)).numpy().tolist() == [6, 3, 10, 5, 16, 8, 4, 2]
    assert collatz(tf.constant(4)).numpy().tolist() == [4, 2]
    assert collatz.experimental_get_tracing_count() == 1


def test_a_python_list_collects_in_a_staged_loop() -> None:
    @tf.function
    def listed(x: Any) -> Any:
        found = []
        for item in x:
            found.append(item * 2)
        return tf.stack(found)

    assert listed(tf.constant([1, 2, 3])).numpy().tolist() == [2, 4, 6]


# --- by hand --------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "graph"])
def test_conditions_and_loops_by_hand(wrap: Any) -> None:
    def sign(x: Any) -> Any:
        return tf.cond(x < 0, lambda: -1, lambda: tf.minimum(x, 1))

    def fibonacci(n: Any) -> Any:
        _, a, _ = tf.while_loop(
            lambda i, a, b: i < n,
            lambda i, a, b: (i + 1, b, a + b),
            (tf.constant(0), tf.constant(0), tf.constant(1)),
        )
        return a

    def size(x: Any) -> Any:
        return tf.case(
            [
                (x < 10, lambda: tf.constant("small")),
                (x < 100, lambda: tf.constant("middle")),
            ],
            default=lambda: tf.constant("large"),
        )

    def planet(i: Any) -> Any:
        names = [lambda name=name: tf.constant(name) for name in ("Venus", "Mars")]
        return tf.switch_case(i, names)

    signs = [int(wrap(sign)(tf.constant(x))) for x in (-5, 0, 9)]
    sizes = [wrap(size)(tf.constant(x)).numpy() for x in (5, 50, 500)]
    planets = [wrap(planet)(tf.constant(i)).numpy() for i in (0, 1)]

    assert signs == [-1, 0, 1]
    assert wrap(fibonacci)(tf.constant(10)).numpy() == 55
    assert sizes == [b"small", b"middle", b"large"]
    assert planets == [b"Venus", b"Mars"]
