"""What TensorFlow's guides show of functions and graphs, in programs of our own."""

from __future__ import annotations

import numpy as np
import pytest

import runtime as tf


def test_a_python_function_and_its_graph_compute_the_same():
    def affine(x, w, b):
        x = tf.matmul(x, w)
        x = x + b
        return x

    x, w, b = tf.constant([[1.0, 2.0]]), tf.constant([[2.0], [3.0]]), tf.constant(4.0)

    assert tf.function(affine)(x, w, b).numpy() == affine(x, w, b).numpy() == [[12.0]]


def test_called_functions_become_part_of_the_graph():
    def inner(x, w, b):
        return tf.matmul(x, w) + b

    @tf.function
    def outer(x):
        return inner(x, tf.constant([[2.0], [3.0]]), tf.constant(4.0))

    assert repr(outer(tf.constant([[1.0, 2.0]])).numpy()) == (
        "array([[12.]], dtype=float32)"
    )


def test_functions_within_functions():
    @tf.function
    def add(a, b):
        return a + b

    @tf.function
    def dense(x, w, b):
        return add(tf.matmul(x, w), b)

    result = dense(tf.ones([3, 2]), tf.ones([2, 2]), tf.ones([2]))
    assert result.numpy().tolist() == [[3.0, 3.0]] * 3


def test_branches_on_tensors():
    @tf.function
    def relu(x):
        if tf.greater(x, 0):
            return x
        else:
            return 0

    assert [relu(tf.constant(x)).numpy() for x in (1, -1)] == [1, 0]
    assert relu.experimental_get_tracing_count() == 1


def test_one_function_many_graphs():
    @tf.function
    def relu(x):
        return tf.maximum(0.0, x)

    printed = [
        str(relu(x)) for x in (tf.constant(5.5), [1, -1], tf.constant([3.0, -3.0]))
    ]
    assert printed == [
        "tf.Tensor(5.5, shape=(), dtype=float32)",
        "tf.Tensor([1. 0.], shape=(2,), dtype=float32)",
        "tf.Tensor([3. 0.], shape=(2,), dtype=float32)",
    ]
    relu(tf.constant(-2.5))
    relu(tf.constant([-1.0, 1.0]))
    assert relu.experimental_get_tracing_count() == 3


def test_python_prints_while_tracing_only(capsys):
    @tf.function
    def mean_squared_error(y_true, y_pred):
        print("Calculating!")
        return tf.reduce_mean(tf.pow(y_true - y_pred, 2))

    y_true, y_pred = tf.constant([1, 0, 4, 4, 7]), tf.constant([3, 6, 3, 0, 6])
    assert repr(mean_squared_error(y_true, y_pred)) == (
        "<tf.Tensor: shape=(), dtype=int32, numpy=11>"
    )
    mean_squared_error(y_true, y_pred)
    assert capsys.readouterr().out == "Calculating!\n"
    tf.config.run_functions_eagerly(True)
    try:
        for _ in range(3):
            mean_squared_error(y_true, y_pred)
    finally:
        tf.config.run_functions_eagerly(False)
    assert capsys.readouterr().out == "Calculating!\n" * 3


def test_unused_operations_raise_nothing():
    def first(x):
        tf.gather(x, [1])
        return x

    with pytest.raises(tf.errors.InvalidArgumentError):
        first(tf.constant([0.0]))
    assert str(tf.function(first)(tf.constant([0.0]))) == (
        "tf.Tensor([0.], shape=(1,), dtype=float32)"
    )


def test_python_loops_are_unrolled():
    x = tf.constant([[1, 1], [1, 0]])

    def power(x, y):
        result = tf.eye(2, dtype=tf.dtypes.int32)
        for _ in range(y):
            result = tf.matmul(x, result)
        return result

    staged = tf.function(power)
    assert staged(x, 10).numpy().tolist() == power(x, 10).numpy().tolist()
    graph = staged.get_concrete_function(x, 10).graph
    assert [node.op for node in graph.nodes].count("MatMul") == 10


def test_tracing_shows_the_kinds_of_arguments(capsys):
    @tf.function
    def double(a):
        print("Tracing with", a)
        return a + a

    for value in (1, 1.1, "a", "b"):
        print(double(tf.constant(value)))
    assert capsys.readouterr().out.splitlines() == [
        'Tracing with Tensor("a:0", shape=(), dtype=int32)',
        "tf.Tensor(2, shape=(), dtype=int32)",
        'Tracing with Tensor("a:0", shape=(), dtype=float32)',
        "tf.Tensor(2.2, shape=(), dtype=float32)",
        'Tracing with Tensor("a:0", shape=(), dtype=string)',
        "tf.Tensor(b'aa', shape=(), dtype=string)",
        "tf.Tensor(b'bb', shape=(), dtype=string)",
    ]


def test_python_arguments_retrace_and_tensors_do_not(capsys):
    @tf.function
    def train(num_steps):
        print("Tracing with num_steps = ", num_steps)
        tf.print("Executing with num_steps = ", num_steps)
        for _ in tf.range(num_steps):
            pass

    train(num_steps=10)
    train(num_steps=20)
    train(num_steps=tf.constant(10))
    train(num_steps=tf.constant(20))
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "Tracing with num_steps =  10",
        "Tracing with num_steps =  20",
        'Tracing with num_steps =  Tensor("num_steps:0", shape=(), dtype=int32)',
    ]
    assert (
        captured.err.splitlines()
        == [
            "Executing with num_steps =  10",
            "Executing with num_steps =  20",
        ]
        * 2
    )


def test_new_functions_are_traced_anew(capsys):
    def f():
        print("Tracing!")
        tf.print("Executing")

    tf.function(f)()
    tf.function(f)()
    captured = capsys.readouterr()
    assert captured.out == "Tracing!\n" * 2
    assert captured.err == "Executing\n" * 2


def test_a_while_loop_on_a_tensor(capsys):
    @tf.function
    def shrink(x):
        while tf.reduce_sum(x) > 1:
            tf.print(x)
            x = tf.tanh(x)
        return x

    x = np.array([1.0, 2.0, 3.0], np.float32)
    lines = 0
    result = shrink(tf.constant(x))
    while x.sum() > 1:
        x, lines = np.tanh(x), lines + 1
    np.testing.assert_allclose(result.numpy(), x, rtol=1e-6)
    assert len(capsys.readouterr().err.splitlines()) == lines


def test_fizzbuzz_traces_each_branch_once(capsys):
    @tf.function
    def fizzbuzz(n):
        for i in tf.range(1, n + 1):
            print("Tracing the loop")
            if i % 15 == 0:
                print("Tracing fizzbuzz")
                tf.print("fizzbuzz")
            elif i % 3 == 0:
                print("Tracing fizz")
                tf.print("fizz")
            elif i % 5 == 0:
                print("Tracing buzz")
                tf.print("buzz")
            else:
                print("Tracing the rest")
                tf.print(i)

    fizzbuzz(tf.constant(5))
    fizzbuzz(tf.constant(15))
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "Tracing the loop", "Tracing fizzbuzz", "Tracing fizz", "Tracing buzz",
        "Tracing the rest",
    ]  # fmt: skip
    assert (
        captured.err.split()
        == (
            "1 2 fizz 4 buzz 1 2 fizz 4 buzz fizz 7 8 fizz buzz 11 fizz 13 14 fizzbuzz"
        ).split()
    )


def test_collecting_values_in_a_loop():
    @tf.function
    def dynamic_rnn(step, inputs, initial_state):
        inputs = tf.transpose(inputs, [1, 0, 2])
        length = inputs.shape[0]
        states = tf.TensorArray(tf.float32, size=length)
        state = initial_state
        for i in tf.range(length):
            state = step(inputs[i], state)
            states = states.write(i, state)
        return tf.transpose(states.stack(), [1, 0, 2])

    inputs = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    result = dynamic_rnn(lambda x, s: x + s, tf.constant(inputs), tf.zeros([2, 4]))
    assert result.numpy().tolist() == np.cumsum(inputs, axis=1).tolist()


def test_python_side_effects_happen_once():
    seen = []

    @tf.function
    def f(x):
        seen.append(x)

    for _ in range(3):
        f(1)
    assert seen == [1]


def test_python_iterators_advance_while_tracing(capsys):
    @tf.function
    def consume(iterator):
        tf.print("Value:", next(iterator))

    iterator = iter([1, 2, 3])
    for _ in range(3):
        consume(iterator)
    assert capsys.readouterr().err == "Value: 1\n" * 3


class Model(tf.Module):
    def __init__(self):
        self.v = tf.Variable(0)
        self.counter = 0

    @tf.function
    def buggy(self):
        if self.counter == 0:
            self.counter += 1
            self.v.assign_add(1)
        return self.v

    @tf.function
    def lifted(self):
        if self.counter == 0:
            with tf.init_scope():
                self.counter += 1
                self.v.assign_add(1)
        return self.v


def test_python_state_decides_while_tracing():
    model = Model()
    assert [model.buggy().numpy() for _ in range(3)] == [1, 2, 3]
    model = Model()
    assert [model.lifted().numpy() for _ in range(3)] == [1, 1, 1]


def test_variables_stand_for_values_that_change():
    foo = tf.Variable(1)

    @tf.function
    def variable_add():
        return 1 + foo

    assert variable_add().numpy() == 2
    foo.assign(100)
    assert variable_add().numpy() == 101


def test_objects_with_variables():
    class Better:
        def __init__(self):
            self.bias = tf.Variable(0.0)
            self.weight = tf.Variable(2.0)

    @tf.function
    def evaluate(model, x):
        return model.weight * x + model.bias

    model, x = Better(), tf.constant(10.0)
    assert evaluate(model, x).numpy() == 20.0
    model.bias.assign_add(5.0)
    assert evaluate(model, x).numpy() == 25.0


def test_concrete_functions_of_changed_objects():
    class Simple(tf.Module):
        def __init__(self):
            self.bias, self.weight = 0.0, 2.0

    def evaluate(model, x):
        return model.weight * x + model.bias

    model, x = Simple(), tf.constant(10.0)
    without = tf.function(evaluate).get_concrete_function(model, x)
    model.bias += 5.0
    with_bias = tf.function(evaluate).get_concrete_function(model, x)
    assert (without(x).numpy(), with_bias(x).numpy()) == (20.0, 25.0)


def test_one_concrete_function_for_each_optimizer():
    class Optimizer:
        def __init__(self, rate):
            self.rate = rate

        def apply(self, gradient, w):
            w.assign_sub(self.rate * gradient)

    def train_step(w, x, y, optimizer):
        optimizer.apply(tf.reduce_sum(2.0 * x * (w * x - y)), w)

    w, x, y = tf.Variable(2.0), tf.constant([-1.0]), tf.constant([2.0])
    steps = [
        tf.function(train_step).get_concrete_function(w, x, y, Optimizer(rate))
        for rate in (0.01, 0.001)
    ]
    expected = 2.0
    for i in range(10):
        steps[i % 2](w, x, y)
        expected -= (0.01, 0.001)[i % 2] * 2 * (expected + 2)
    assert w.numpy() == pytest.approx(expected, rel=1e-5)


def test_recursion_over_python_values_traces_each_level(capsys):
    @tf.function
    def recursive(n):
        if n > 0:
            print("tracing")
            return recursive(n - 1)
        else:
            return 1

    assert repr(recursive(5)) == "<tf.Tensor: shape=(), dtype=int32, numpy=1>"
    assert capsys.readouterr().out == "tracing\n" * 5


def test_recursion_over_tensors_is_refused():
    @tf.function
    def recursive(n):
        if n > 0:
            return recursive(n - 1)
        else:
            return 1

    with pytest.raises(RecursionError, match="write a loop"):
        recursive(tf.constant(5))


def test_numpy_calls_are_constants():
    generator = np.random.default_rng(0)

    def add_noise():
        return tf.eye(2) + generator.standard_normal((2, 2)).astype(np.float32)

    traced = tf.function(add_noise)
    assert (traced().numpy() == traced().numpy()).all()
    assert (add_noise().numpy() != add_noise().numpy()).any()


def test_methods_use_the_variables_of_their_object():
    class Dense:
        def __init__(self, scale):
            self.w = tf.Variable(tf.eye(2) * scale)
            self.b = tf.Variable(tf.zeros(2))

        @tf.function
        def compute(self, x):
            return tf.matmul(x, self.w) + self.b

    x = tf.ones([1, 2])
    one, two = Dense(1.0), Dense(2.0)
    assert one.compute(x).numpy().tolist() == [[1.0, 1.0]]
    assert two.compute(x).numpy().tolist() == [[2.0, 2.0]]


def test_training_is_a_python_argument():
    @tf.function
    def call(x, training=True):
        if training:
            return x * 2
        else:
            return x

    x = tf.constant(3)
    assert [call(x).numpy(), call(x, training=False).numpy()] == [6, 3]
    assert call(x, training=True).numpy() == 6
    assert call.experimental_get_tracing_count() == 2
