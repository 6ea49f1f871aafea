"""Regions in blocks: to the last bit what the operations give one by one."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.numpy_source import blocks
from runtime.engines.numpy_source.executable import compile_graph
from runtime.ops.kernels import threads


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Small arrays count as large, blocks have few numbers, and two threads work."""
    monkeypatch.setattr(blocks, "LARGE", 1)
    monkeypatch.setattr(blocks, "BLOCK", 32)
    monkeypatch.setattr(threads, "CORES", 2)


def traced(function, *values):
    return tf.function(function).get_concrete_function(*values).graph


def bits(value):
    """The bits of the elements; all NaNs are one."""
    array = np.array(value)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.tobytes()


def check(function, *values, blocks=1):
    """The graph in so many functions of blocks against the interpreter.

    Gives the source.
    """
    graph = traced(function, *values)
    executable = compile_graph(graph)
    assert executable.source.count("@in_blocks") == blocks, executable.source
    arrays = [np.asarray(value) for value in values]
    found, expected = executable(arrays), interpreter.run(graph, arrays)
    for one, other in zip(found, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert bits(one) == bits(other), executable.source
    return executable.source


def numbers(*shape, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    values = (rng.standard_normal(shape) * 3).astype(dtype)
    flat = values.reshape(-1)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 30000.0, 1.0]
    flat[: len(special)] = special[: flat.size]
    rng.shuffle(flat)
    return values


# --- one operation --------------------------------------------------------------------

UNARY = [
    *(tf.abs, tf.negative, tf.sign, tf.square, tf.sqrt, tf.exp, tf.math.log),
    *(tf.math.expm1, tf.math.log1p, tf.sin, tf.cos, tf.tan, tf.sinh, tf.cosh, tf.tanh),
    *(tf.asin, tf.acos, tf.atan, tf.asinh, tf.acosh, tf.atanh, tf.floor),
    *(tf.math.ceil, tf.math.rint, tf.round, tf.math.erf, tf.sigmoid, tf.nn.elu),
    *(tf.nn.leaky_relu, tf.nn.relu, tf.nn.relu6, tf.math.softplus, tf.nn.softsign),
    *(tf.math.rsqrt, tf.math.reciprocal),
]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.__name__)
def test_functions_of_one_operand(op, dtype):
    x = numbers(9, 7, dtype=dtype)
    check(lambda x: op(x) * 1.5, tf.constant(x))
    check(lambda x: op(x * 1.5), tf.constant(x))


BINARY = {
    "f": [tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.pow]
    + [tf.math.floordiv, tf.math.floormod, tf.math.squared_difference, tf.atan2]
    + [tf.math.divide_no_nan, tf.math.multiply_no_nan],
    "i": [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum]
    + [tf.bitwise.bitwise_and, tf.bitwise.bitwise_or, tf.bitwise.bitwise_xor],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_functions_of_two_operands(dtype):
    x, y = numbers(9, 7, dtype=dtype), numbers(9, 7, dtype=dtype, seed=1)
    for op in BINARY[np.dtype(dtype).kind.replace("u", "i")]:
        if op is not tf.pow:  # an exponent of 0.5 is computed apart
            check(lambda x, y: op(op(x, y), x), tf.constant(x), tf.constant(y))
        check(lambda x: op(op(x, 3), 2), tf.constant(x))


def test_integers_wrap_and_are_divided_by_known_numbers():
    x = tf.constant(numbers(40, dtype=np.int8))
    source = check(lambda x: (x * x + 100) // 7 % 5 + x**3, x)
    assert "np.floor_divide" in source


def test_choices_comparisons_and_casts():
    x, y = tf.constant(numbers(9, 7)), tf.constant(numbers(9, 7, seed=1))

    def choose(x, y):
        inside = tf.logical_and(x > y, tf.logical_not(x != x))
        return tf.where(inside, x, y + 1.0), tf.cast(inside, tf.int32) * 3

    check(choose, x, y)
    check(lambda x, y: tf.where(x > 0.0, tf.where(y > 0.0, x, 0.5), -y), x, y)
    check(lambda x: tf.clip_by_value(tf.cast(x, tf.float64) * 2, -1.0, 1.0), x)


# --- shapes ---------------------------------------------------------------------------


def test_rows_columns_and_scalars():
    x, row = tf.constant(numbers(5, 30)), tf.constant(numbers(30, seed=1))
    column, scalar = tf.constant(numbers(5, 1, seed=2)), tf.constant(np.float32(0.3))
    source = check(
        lambda x, r, c, s: tf.tanh(x * r + r) - c * x + s, x, row, column, scalar
    )
    assert source.count('"broadcast"') == 3
    # Rows that are longer than a block.
    wide = tf.constant(numbers(3, 100))
    check(lambda x, r: tf.exp(x + r) * r, wide, tf.constant(numbers(100)))


@pytest.mark.parametrize("dims", [(12, 9), (3, 4, 9), (1, 40), (30, 2), (3, 700)])
def test_reductions_of_rows_stand_between_blocks(dims):
    x = tf.constant(numbers(*dims, seed=3))
    scale = tf.constant(numbers(dims[-1]))

    def layer_norm(x, scale):
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        centred = x - mean
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        return centred * tf.math.rsqrt(variance + 1e-5) * scale

    def softmax(x):
        powers = tf.exp(x - tf.reduce_max(x, axis=-1, keepdims=True))
        return powers / tf.reduce_sum(powers, axis=-1, keepdims=True)

    check(layer_norm, x, scale, blocks=3)
    check(softmax, x)
    check(lambda x: tf.reduce_sum(tf.square(x) + 1.0, axis=-1), x)
    check(lambda x: tf.reduce_min(tf.cast(x > 0, tf.int32) * 7, axis=-1), x)


@pytest.mark.parametrize("dims", [(300,), (13, 40), (7,), (1000,)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_totals(dims, dtype):
    rng = np.random.default_rng(1)
    x, y = (tf.constant(rng.standard_normal(dims).astype(dtype)) for _ in range(2))
    check(lambda x, y: tf.reduce_mean(tf.square(x - y)), x, y)
    check(lambda x, y: (tf.reduce_sum(tf.exp(x) * y), tf.reduce_max(x * y)), x, y)
    check(lambda x: tf.reduce_min(tf.cast(x * 3.0, tf.float64) + 1), x)
    check(lambda x: tf.reduce_sum(tf.cast(x > 0.0, tf.int32) * 2), x)
    check(lambda x: tf.sigmoid(x) + tf.reduce_sum(tf.tanh(x) - 1.0), x)


def test_a_square_array_is_not_mixed_up_with_its_reduced_rows():
    x = tf.constant(numbers(6, 6))
    check(lambda x: tf.square(x) + tf.reduce_sum(tf.exp(x) * 2.0, axis=-1), x)


def test_several_results_and_values_that_are_used_again():
    def both(x, y):
        a = x * y + x
        b = tf.tanh(a) - y
        return a, b, b * b + a

    check(both, tf.constant(numbers(50)), tf.constant(numbers(50, seed=1)))


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 64, 65])
def test_any_size(size):
    check(lambda x: tf.tanh(x) * x + tf.exp(-x), tf.constant(numbers(size)))


# --- unknown shapes, and arrays that do not fit ---------------------------------------


def unknown(function, *specs):
    return tf.function(function, input_signature=specs).get_concrete_function()


def test_sizes_that_are_known_when_it_runs():
    spec = tf.TensorSpec([None])
    concrete = unknown(lambda x, y: tf.exp(x * y) - x * 2.0, spec, spec)
    source = concrete.to_source()
    assert "if x.size >= 1 else None" in source
    for x, y in ((numbers(20), numbers(20)), (numbers(1), numbers(20))):
        expected = interpreter.run(concrete.graph, [x, y])[0]
        np.testing.assert_array_equal(concrete(x, y).numpy(), expected)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Mul"):
        concrete(numbers(3), numbers(20))


def test_arrays_of_the_same_rank_that_are_broadcast():
    spec = tf.TensorSpec([None, None])

    def program(x, y):
        u = tf.exp(y) * y
        w = x * 2.0
        return w, w + u

    concrete = unknown(program, spec, spec)
    assert "@in_blocks" in concrete.to_source()
    for dims in ((9, 1), (1, 3), (1, 1)):
        x, y = numbers(*dims), numbers(9, 3)
        expected = interpreter.run(concrete.graph, [x, y])
        for one, other in zip(compile_graph(concrete.graph)([x, y]), expected):
            assert one.shape == other.shape
            assert bits(one) == bits(other)


def test_strided_and_empty_arrays():
    concrete = unknown(
        lambda x: tf.exp(x) * x + 1.0 - tf.tanh(x), tf.TensorSpec([None, None])
    )
    run = compile_graph(concrete.graph)
    for array in (numbers(8, 9).T, numbers(8, 9)[:, ::2], np.zeros((0, 3), np.float32)):
        (expected,) = interpreter.run(concrete.graph, [array])
        np.testing.assert_array_equal(run([array])[0], expected)


# --- order and effects ----------------------------------------------------------------


def test_an_integer_that_may_be_zero_is_divided_outside():
    x = tf.constant([1, 2, 0])
    graph = traced(lambda x, y: (x + 1) // y * 2 + x - 1, x, x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        compile_graph(graph)([np.array([1, 2, 3]), np.array([1, 0, 1])])


def test_what_reads_a_result_comes_after_it():
    def program(x):
        a = x * 2.0 + 1.0
        total = tf.reduce_sum(a)
        return (a + total) * tf.exp(a)

    check(program, tf.constant(numbers(40)), blocks=2)


def test_assignments_stay_where_they_are():
    v = tf.Variable(np.linspace(1, 2, 20, dtype=np.float32))

    def program(x):
        a = x * v + 1.0
        v.assign(x)
        return a * 2.0 - x * v

    x = np.linspace(-1, 1, 20, dtype=np.float32)
    before = v.numpy()
    result = tf.function(program)(tf.constant(x)).numpy()
    np.testing.assert_array_equal(result, (x * before + 1) * np.float32(2) - x * x)


def test_loops_and_branches():
    def program(x):
        for _ in tf.range(5):
            if tf.reduce_sum(x) > 0.0:
                x = tf.tanh(x) * 2.0 - x
            else:
                x = tf.exp(-x) + x * 0.5
        return x

    x = tf.constant(np.linspace(-1, 2, 40, dtype=np.float32))
    graph = traced(program, x)
    executable = compile_graph(graph)
    assert executable.source.count("@in_blocks") == 2
    (expected,) = interpreter.run(graph, [x.numpy()])
    np.testing.assert_array_equal(executable([x.numpy()])[0], expected)


# --- programs -------------------------------------------------------------------------

STEPS = [
    lambda a, b: a + b,
    lambda a, b: a * 0.5 - b,
    lambda a, b: tf.tanh(a),
    lambda a, b: tf.where(a > b, a, b * 2.0),
    lambda a, b: tf.math.erf(b) + a,
    lambda a, b: a - tf.reduce_max(b, axis=-1, keepdims=True),
    lambda a, b: tf.nn.softmax(a) * b,
    lambda a, b: tf.sigmoid(a) / b,
]


@settings(max_examples=15, deadline=None)
@given(
    choices=st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 9), st.integers(0, 9)),
        min_size=2,
        max_size=9,
    ),
    rows=st.integers(1, 6),
    length=st.integers(2, 20),
    seed=st.integers(0, 99),
)
def test_any_program(choices, rows, length, seed):
    def program(x, row):
        values = [x, x + row]
        for step, one, other in choices:
            values.append(
                STEPS[step](values[one % len(values)], values[other % len(values)])
            )
        return values[2:]

    x, row = numbers(rows, length, seed=seed), numbers(length, seed=seed + 1)
    graph = traced(program, tf.constant(x), tf.constant(row))
    found = compile_graph(graph)([x, row])
    for one, other in zip(found, interpreter.run(graph, [x, row]), strict=True):
        assert bits(one) == bits(other)


# --- threads --------------------------------------------------------------------------


def test_one_thread_is_enough(monkeypatch):
    used = set()
    run = blocks.BlockFunction._run

    def noting(self, *args):
        used.add(threading.current_thread())
        return run(self, *args)

    monkeypatch.setattr(blocks.BlockFunction, "_run", noting)
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    try:
        check(lambda x: tf.tanh(x) * 2.0, tf.constant(numbers(5000)))
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)
    assert used == {threading.current_thread()}


# --- one by one -----------------------------------------------------------------------


@pytest.mark.parametrize("size", [8, None, 1 << 14])
def test_large_arrays_are_chosen_and_compared_in_the_fast_way(size, monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 1 << 17)
    spec = tf.TensorSpec([size])
    concrete = unknown(lambda x, y: (tf.where(x > y, x, y), tf.nn.relu(x)), spec, spec)
    source = concrete.to_source()
    assert ("np.where" in source) is (size == 8)
    assert ("select(x > y, x, y)" in source) is (size != 8)
    assert ("extreme(np.maximum, x, 0)" in source) is (size != 8)
    x, y = numbers(size or 20), numbers(size or 20, seed=1)
    found = concrete(x, y)
    for one, other in zip(found, interpreter.run(concrete.graph, [x, y]), strict=True):
        assert bits(one) == bits(other)


def test_operands_keep_their_values_where_a_region_turns_out_to_be_small(monkeypatch):
    """What the function of blocks gave once took the name of an operand."""
    monkeypatch.setattr(blocks, "LARGE", 1 << 17)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def program(x):
        found = tf.concat([x, x], 0)
        return tf.tanh(found * 2.0 + 1.0) * found

    assert "found_1 = " in program.get_concrete_function().to_source()
    x = numbers(3)
    both = np.concatenate([x, x])
    np.testing.assert_array_equal(program(x), np.tanh(both * 2 + 1) * both)
