"""Arrays whose shapes only the program knows, and the memory they are in."""

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native.executable import Executable
from runtime.engines.native.library import load
from runtime.engines.native.python_entry import pointer_to
from runtime.passes.lowering.prepare import prepare
from tests.runtime.engines.numpy_source.agreement import bits

LENGTHS = (0, 1, 7, 1000)


def compiled(function, *specs):
    """The native program of a function, for inputs of open shapes."""
    load()
    graph = tf.function(function).get_concrete_function(*specs).graph
    return Executable(graph, prepare(graph, holds_state=True))


def agrees(program, *arrays, interpreted=False):
    """The program gives what the interpreter gives, with no need of it."""
    found = program._program.call(list(arrays))
    assert (found is None) is interpreted
    if interpreted:
        return
    expected = program._interpret(list(arrays))
    expected = [expected] if len(program.graph.outputs) == 1 else expected
    for one, other in zip(found, expected, strict=True):
        other = np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert bits(one) == bits(other)


def vector(length, dtype=np.float32):
    return np.arange(length).astype(dtype)


OPEN = tf.TensorSpec([None], tf.float32)
ROWS = tf.TensorSpec([None, 3], tf.float32)
NUMBER = tf.TensorSpec([], tf.int32)


def test_one_program_runs_for_all_lengths():
    program = compiled(lambda x: 2.0 * x + 1.0, OPEN)
    for length in LENGTHS:
        agrees(program, vector(length))


def test_dims_that_are_the_same_need_no_check():
    program = compiled(lambda x, y: (x * x + x, x + y), OPEN, OPEN)
    for length in LENGTHS:
        agrees(program, vector(length), vector(length))


def test_an_open_dim_that_is_one_is_left_to_the_interpreter():
    program = compiled(lambda x, y: x + y, OPEN, OPEN)
    agrees(program, vector(5), vector(1), interpreted=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        program.run([vector(5), vector(2)])


def test_rows_broadcast():
    program = compiled(lambda x, y: x * y + x[:, :1], ROWS, tf.TensorSpec([3]))
    for length in LENGTHS:
        agrees(program, vector(3 * length).reshape(length, 3), vector(3))


def test_shapes_as_tensors():
    def function(x, y):
        rows = tf.shape(y)[0]
        return (
            tf.reshape(x, [-1]) + 1.0,
            tf.shape(x),
            tf.size(x),
            tf.broadcast_to(y, [2, rows]),
            tf.zeros_like(y),
            tf.ones([rows, 2]) + y[:, None],
            tf.reshape(x, tf.shape(x)),
            tf.reshape(x + x, [3, -1]),
        )

    program = compiled(function, ROWS, OPEN)
    for rows in LENGTHS:
        for length in LENGTHS:
            agrees(program, vector(3 * rows).reshape(rows, 3), vector(length))


def test_reshape_by_operands():
    def function(x, n):
        return tf.reshape(x, [n, -1]), tf.reshape(x * 2.0, [-1, n, 3])

    program = compiled(function, ROWS, NUMBER)
    for rows in (1, 2, 8, 10):
        x = vector(3 * rows).reshape(rows, 3)
        agrees(program, x, np.int32(rows))
        agrees(program, x, np.int32(1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        program.run([x, np.int32(7)])


def test_more_is_stored_than_the_stack_has_at_first():
    def function(n):
        x = tf.zeros([n, n])
        return tf.transpose(x) + tf.reduce_sum(x, 0)

    program = compiled(function, NUMBER)
    for n in (3, 300, 5):
        agrees(program, np.int32(n))


def test_a_variable_of_any_length():
    v = tf.Variable(vector(3), shape=[None])

    @tf.function(executor="native")
    def grow(x):
        v.assign(x * 2.0)
        return v + 1.0

    for length in LENGTHS:
        x = vector(length)
        np.testing.assert_array_equal(grow(tf.constant(x)), 2 * x + 1)
        np.testing.assert_array_equal(v, 2 * x)


def test_a_rank_that_is_unknown_is_refused():
    graph = (
        tf.function(lambda x: x + 1.0)
        .get_concrete_function(tf.TensorSpec(None, tf.float32))
        .graph
    )
    with pytest.raises(Exception, match="any rank"):
        Executable(graph, prepare(graph, holds_state=True))


def test_arrays_of_any_layout_for_a_program_of_open_shapes():
    program = compiled(lambda x: 2.0 * x + 1.0, OPEN)
    base = vector(12)
    unaligned = np.frombuffer(b"0" + base.tobytes(), np.uint8)[1:].view(np.float32)
    constant = base.copy()
    constant.flags.writeable = False
    for array in (base[::2], base[::-1], unaligned, constant, base[:0], base[3:]):
        assert pointer_to(array) == array.ctypes.data
        agrees(program, array)
        agrees(program, array.astype(">f4"))
