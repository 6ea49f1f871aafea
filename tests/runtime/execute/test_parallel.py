"""Heavy operations at once: the same results, and the errors of the program's order."""

import numpy as np
import pytest

import runtime as tf
from runtime.execute import interpreter, parallel
from runtime.execute.numpy_source import compile_graph
from runtime.ops.kernels import threads


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Small arrays count as large, and two threads work."""
    monkeypatch.setattr(parallel, "LONG", 20)
    monkeypatch.setattr(threads, "CORES", 2)


def compiled(function, *arrays):
    values = [tf.constant(array) for array in arrays]
    graph = tf.function(function).get_concrete_function(*values).graph
    return compile_graph(graph), graph


def check(function, *arrays, groups=1):
    run, graph = compiled(function, *arrays)
    assert run.source.count(" at_once(") == groups, run.source
    found, expected = run(arrays), interpreter.run(graph, arrays)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    return run.source


X = np.random.default_rng(0).standard_normal(40).astype(np.float32)
Y = X[::-1].copy()


def test_two_that_do_not_depend_on_each_other():
    source = check(lambda x, y: tf.sort(x) + tf.sort(y), X, Y)
    assert "from runtime.ops.kernels.threads import at_once" in source


def test_light_operations_between_them_and_several_results():
    def program(x, y):
        values, places = tf.math.top_k(x, 3)
        shifted = y * 2.0 + 1.0
        return values, places, tf.cumsum(shifted), tf.sort(y)

    check(program, X, Y)


def test_not_where_one_needs_the_other():
    check(lambda x: tf.cumsum(tf.sort(x)), X, groups=0)
    check(lambda x: tf.cumsum(tf.sort(x) * 2.0), X, groups=0)


def test_effects_stay_between_them():
    v = tf.Variable(Y)

    def program(x):
        first = tf.sort(x)
        v.assign_add(x)
        return first + tf.cumsum(x)

    run, _ = compiled(program, X)
    assert "at_once(" not in run.source


def test_the_first_error_of_the_program_is_raised():
    def program(x, places, y, more):
        return tf.gather(x, places), tf.gather(y, more)

    good, bad = np.zeros(40, np.int32), np.full(40, 99, np.int32)
    run, _ = compiled(program, X, good, Y, good)
    assert "at_once(" in run.source
    for places, more in ((bad, good), (good, bad), (bad, bad)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            run([X, places, Y, more])
        name = "GatherV2" if places is bad else "GatherV2_1"
        assert caught.value.node_def.name == name


def test_loops_and_branches():
    def program(x, y):
        for _ in tf.range(3):
            x, y = tf.sort(y * 0.5), tf.cumsum(x)
        return x, y

    check(program, X, Y)
