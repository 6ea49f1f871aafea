"""Programs like those on the limits of `function`: effects, state, leaks, recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf

Printed = Callable[[], list[str]]


# --- side effects ---------------------------------------------------------------------


def test_python_acts_while_tracing_and_tf_at_each_call(printed: Printed) -> None:
    log: list[int] = []
    calls = tf.Variable(0)

    @tf.function
    def effects(x: Any) -> None:
        print("Traced with", x)
        tf.print("Executed with", x)
        log.append(x)
        calls.assign_add(1)

    effects(7)
    effects(7)
    effects(8)

    assert printed() == [
        "Traced with 7",
        "Executed with 7",
        "Executed with 7",
        "Traced with 8",
        "Executed with 8",
    ]
    assert log == [7, 8]
    assert calls.numpy() == 3


class Meter(tf.Module):
    """Counts in Python whether it has started, and in a variable how often."""

    def __init__(self) -> None:
        self.started = tf.Variable(0)
        self.is_new = True

    @tf.function
    def start(self) -> Any:
        if self.is_new:
            self.is_new = False
            self.started.assign_add(1)
        return self.started

    @tf.function
    def start_outside_of_the_graph(self) -> Any:
        if self.is_new:
            with tf.init_scope():
                self.is_new = False
                self.started.assign_add(1)
        return self.started


def test_a_python_condition_is_part_of_the_trace() -> None:
    meter = Meter()

    assert [meter.start().numpy() for _ in range(3)] == [1, 2, 3]
    assert not meter.is_new


def test_init_scope_acts_while_tracing() -> None:
    meter = Meter()

    assert [meter.start_outside_of_the_graph().numpy() for _ in range(3)] == [1, 1, 1]


def test_a_python_iterator_advances_while_tracing(printed: Printed) -> None:
    @tf.function
    def show_next(numbers: Iterator[int]) -> None:
        tf.print("Next:", next(numbers))

    numbers = iter([10, 20, 30])
    for _ in range(3):
        show_next(numbers)

    assert printed() == ["Next: 10", "Next: 10", "Next: 10"]
    assert list(numbers) == [20, 30]


def test_numbers_from_numpy_are_drawn_while_tracing() -> None:
    source = np.random.default_rng(0)

    @tf.function
    def drawn_once() -> Any:
        return tf.zeros(3) + source.standard_normal(3)

    @tf.function
    def drawn_anew() -> Any:
        return tf.zeros(3) + tf.random.normal([3])

    assert drawn_once().numpy().tolist() == drawn_once().numpy().tolist()
    assert drawn_anew().numpy().tolist() != drawn_anew().numpy().tolist()


# --- variables ------------------------------------------------------------------------


def test_a_variable_is_captured_by_reference(printed: Printed) -> None:
    rate = tf.Variable(2)

    @tf.function
    def scaled(x: Any) -> Any:
        return rate * x

    print("Before:", scaled(tf.constant(5)))
    rate.assign(30)
    print("After:", scaled(tf.constant(5)))

    assert printed() == [
        "Before: tf.Tensor(10, shape=(), dtype=int32)",
        "After: tf.Tensor(150, shape=(), dtype=int32)",
    ]
    assert scaled.experimental_get_tracing_count() == 1


def test_a_function_changes_a_variable_at_each_call() -> None:
    count = tf.Variable(0)

    @tf.function
    def numbered(x: Any) -> Any:
        count.assign_add(1)
        return x + tf.cast(count, tf.float32)

    results = []
    for _ in range(2):
        results += [int(count), numbered(0.5).numpy()]

    assert results == [0, 1.5, 1, 2.5]
    assert int(count) == 2


def test_variables_of_objects_may_change() -> None:
    class Line:
        def __init__(self) -> None:
            self.slope = tf.Variable(3.0)
            self.height = tf.Variable(0.0)

    @tf.function
    def height_at(line: Line, x: Any) -> Any:
        return line.slope * x + line.height

    line, x = Line(), tf.constant(4.0)

    assert height_at(line, x).numpy() == 12.0
    line.height.assign_sub(2.0)
    line.slope.assign(0.5)
    assert height_at(line, x).numpy() == 0.0
    assert height_at.experimental_get_tracing_count() == 1
    assert height_at(Line(), x).numpy() == 12.0
    assert height_at.experimental_get_tracing_count() == 2


class SteepLine(tf.Module):
    """Its numbers are no variables."""

    def __init__(self) -> None:
        self.slope = 3.0
        self.height = 0.0


def height_at(line: SteepLine, x: Any) -> Any:
    return line.slope * x + line.height


def test_a_changed_python_attribute_is_seen() -> None:
    height = tf.function(height_at)
    line, x = SteepLine(), tf.constant(4.0)

    assert height(line, x).numpy() == 12.0
    line.height += 5.0
    # TensorFlow's answer is the old one.
    assert height(line, x).numpy() == 17.0
    line.height -= 5.0
    assert height(line, x).numpy() == 12.0
    assert height.experimental_get_tracing_count() == 2


def test_a_concrete_function_is_of_the_attributes_that_it_was_made_with() -> None:
    line, x = SteepLine(), tf.constant(4.0)

    before = tf.function(height_at).get_concrete_function(line, x)
    line.height += 5.0
    after = tf.function(height_at).get_concrete_function(line, x)

    # The object is baked in: the tensor is all that is left to give.
    assert (before(x).numpy(), after(x).numpy()) == (12.0, 17.0)


def test_a_variable_is_not_created_at_each_call() -> None:
    @tf.function
    def fresh(x: Any) -> Any:
        return tf.Variable(1.0) + x

    message = (
        "creates the variable 'Variable:0' .*tf.function only supports singleton "
        "tf.Variables created on the first call"
    )
    with pytest.raises(ValueError, match=message):
        fresh(1.0)


def test_a_variable_may_be_created_at_the_first_call(printed: Printed) -> None:
    class Counter(tf.Module):
        def __init__(self) -> None:
            self.total = None

        @tf.function
        def __call__(self) -> Any:
            if self.total is None:
                self.total = tf.Variable(100)
            return self.total.assign_add(1)

    counter, other = Counter(), Counter()
    print(counter())
    print(counter())
    print(other())

    assert printed() == [
        "tf.Tensor(101, shape=(), dtype=int32)",
        "tf.Tensor(102, shape=(), dtype=int32)",
        "tf.Tensor(101, shape=(), dtype=int32)",
    ]


# --- methods --------------------------------------------------------------------------


class Dense:
    """A layer with weights of its own."""

    def __init__(self, seed: int) -> None:
        numbers = np.random.default_rng(seed).standard_normal([3, 3])
        self.weights = tf.Variable(tf.constant(numbers, tf.float32))
        self.bias = tf.Variable(tf.zeros(3))

    @tf.function
    def compute(self, x: Any) -> Any:
        return tf.matmul(x, self.weights) + self.bias

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def norm(self, x: Any) -> Any:
        return tf.reduce_sum(x * x)


def test_methods_use_the_variables_of_their_object() -> None:
    one, other = Dense(1), Dense(2)
    x = tf.eye(3)

    assert (one.compute(x).numpy() == one.weights.numpy()).all()
    assert (other.compute(x).numpy() == other.weights.numpy()).all()
    assert not (one.compute(x).numpy() == other.compute(x).numpy()).any()
    one.bias.assign([1.0, 1.0, 1.0])
    assert (one.compute(x).numpy() == one.weights.numpy() + 1).all()
    assert one.compute.experimental_get_tracing_count() == 1


def test_a_method_has_an_input_signature_without_its_object(printed: Printed) -> None:
    dense = Dense(1)

    assert dense.norm([3.0, 4.0]).numpy() == 25.0
    assert dense.norm(tf.ones(7)).numpy() == 7.0
    print(dense.norm.get_concrete_function())
    assert printed() == [
        "ConcreteFunction norm(x)",
        "  Args:",
        "    x: float32 Tensor, shape=(None,)",
        "  Returns:",
        "    float32 Tensor, shape=()",
    ]
    with pytest.raises(ValueError, match=r"inputs: \(\n    1.0\)"):
        dense.norm(1.0)


def test_a_flag_of_a_method_is_a_python_argument() -> None:
    class Model(tf.Module):
        @tf.function
        def call(self, inputs: Any, training: bool = True) -> Any:
            if training:
                return tf.nn.dropout(inputs, 0.5)
            else:
                return inputs

    tf.random.set_seed(3)
    model, x = Model(), tf.ones([64])

    kept = model.call(x, training=True).numpy()
    assert set(kept.tolist()) == {0.0, 2.0}
    assert kept.tolist() != model.call(x).numpy().tolist()
    assert model.call(x, training=False).numpy().tolist() == [1.0] * 64
    assert model.call.experimental_get_tracing_count() == 2


# --- leaks ----------------------------------------------------------------------------

leaked: Any = None


@tf.function
def leaking(a: Any) -> Any:
    global leaked
    leaked = a + 1
    return a + 2


def test_a_leaked_tensor_has_no_value(printed: Printed) -> None:
    print(leaking(tf.constant(1)).numpy())

    with pytest.raises(AttributeError) as caught:
        leaked.numpy()

    assert printed() == ["3"]
    assert str(caught.value) == "'Tensor' object has no attribute 'numpy'"


def test_a_leaked_tensor_cannot_be_used_in_another_graph() -> None:
    @tf.function
    def capturing(b: Any) -> Any:
        return b + leaked

    leaking(tf.constant(1))
    with pytest.raises(TypeError) as caught:
        capturing(tf.constant(2))

    message = str(caught.value)
    made = leaking.python_function.__code__.co_firstlineno + 3
    assert re.search(rf"made at .*test_function_limits\.py:{made}", message)
    assert "'leaking'" in message
    assert "'capturing'" in message


class Holder:
    """Something outside that a function might write into."""

    field: Any = None


def test_objects_and_lists_carry_no_tensors_out() -> None:
    kept: list[Any] = []
    holder = Holder()

    @tf.function
    def keeping() -> None:
        a = tf.constant(1) * 2
        kept.append(a)
        holder.field = a

    keeping()
    for tensor in (kept[0], holder.field):
        with pytest.raises(TypeError, match="out of scope"):
            tf.add(tensor, 1)
        with pytest.raises(TypeError, match="out of scope"):
            int(tensor)


# --- recursion ------------------------------------------------------------------------


def test_recursion_over_a_tensor_is_a_graph_that_calls_itself(printed: Printed) -> None:
    @tf.function
    def recursive_fn(n: Any) -> Any:
        if n > 0:
            return recursive_fn(n - 1)
        else:
            return 1

    print(recursive_fn(tf.constant(5)))

    assert printed() == ["tf.Tensor(1, shape=(), dtype=int32)"]
    assert tf.executing_eagerly()
    assert recursive_fn(0).numpy() == 1


def test_a_program_may_raise_a_recursion_error_of_its_own() -> None:
    @tf.function
    def limited(depth: Any) -> Any:
        if depth > 3:
            raise RecursionError("the nesting is too deep")
        return depth

    assert limited(tf.constant(3)).numpy() == 3
    with pytest.raises(RecursionError, match="the nesting is too deep"):
        limited(tf.constant(4))


def test_recursion_over_a_python_number_is_traced_at_each_level(
    printed: Printed,
) -> None:
    @tf.function
    def down(n: Any) -> Any:
        if n > 0:
            print("tracing", n)
            return down(n - 1)
        else:
            return 1

    print(repr(down(3)))

    assert printed() == [
        "tracing 3",
        "tracing 2",
        "tracing 1",
        "<tf.Tensor: shape=(), dtype=int32, numpy=1>",
    ]


# --- globals --------------------------------------------------------------------------

offset: Any = None


@tf.function
def moved_by_the_global() -> Any:
    return 1 + offset


@tf.function
def moved_by(offset: Any) -> Any:
    return 1 + offset


def test_globals_arguments_and_variables_are_never_stale(printed: Printed) -> None:
    global offset
    offset = 1
    print("Global:", moved_by_the_global())
    print("Argument:", moved_by(offset))
    offset = 100
    # TensorFlow's answer for the global is the old one.
    print("Global:", moved_by_the_global())
    print("Argument:", moved_by(offset))
    offset = tf.Variable(1)
    print("Variable:", moved_by_the_global())
    offset.assign(100)
    print("Variable:", moved_by_the_global())

    assert printed() == [
        "Global: tf.Tensor(2, shape=(), dtype=int32)",
        "Argument: tf.Tensor(2, shape=(), dtype=int32)",
        "Global: tf.Tensor(101, shape=(), dtype=int32)",
        "Argument: tf.Tensor(101, shape=(), dtype=int32)",
        "Variable: tf.Tensor(2, shape=(), dtype=int32)",
        "Variable: tf.Tensor(101, shape=(), dtype=int32)",
    ]


def test_one_concrete_function_for_each_optimizer() -> None:
    class Descent:
        def __init__(self, rate: float) -> None:
            self.rate = rate

        def apply(self, gradient: Any, w: tf.Variable) -> None:
            w.assign_sub(self.rate * gradient)

    def step(w: tf.Variable, x: Any, y: Any, optimizer: Descent) -> None:
        optimizer.apply(tf.reduce_sum(2.0 * x * (w * x - y)), w)

    w, x, y = tf.Variable(2.0), tf.constant([-1.0]), tf.constant([2.0])
    rates = (0.01, 0.001)
    steps = [
        tf.function(step).get_concrete_function(w, x, y, Descent(rate))
        for rate in rates
    ]
    expected = 2.0
    for i in range(10):
        steps[i % 2](w, x, y)
        expected -= rates[i % 2] * 2 * (expected + 2)

    assert w.numpy() == pytest.approx(expected, rel=1e-5)
