"""Threads that share loops: all is done once, and the same by any number of them."""

import ctypes
import os
import threading

import llvmlite.ir as ir
import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import shared, threads
from runtime.engines.native.builder import Builder
from runtime.engines.native.library import load
from runtime.engines.native.types import number
from runtime.engines.native.values import Index

pytestmark = pytest.mark.skipif(
    not threads.is_available(), reason="no threads of POSIX"
)

#: Elements of arrays that are worth sharing, and that are not.
MANY, FEW = 20_000, 200


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(shared, "CHUNK_WORK", 100)
    monkeypatch.setattr(shared, "SHARED_WORK", 500)
    yield
    tf.config.threading.set_intra_op_parallelism_threads(0)


def executable(python_function, *arrays):
    function = tf.function(python_function, executor="native")
    specs = [tf.TensorSpec(a.shape, a.dtype) for a in arrays]
    return function.get_concrete_function(*specs).executable


def by_threads(run, arrays):
    """The results of 1, 2 and 3 threads, and how many loops were shared by 2."""
    found, counts = [], []
    for count in (1, 2, 3):
        tf.config.threading.set_intra_op_parallelism_threads(count)
        before = threads.shared_loops()
        found.append(run(list(arrays)))
        counts.append(threads.shared_loops() - before)
    assert counts[0] == 0
    assert counts[1] == counts[2]
    return found, counts[1]


# --- the pool -------------------------------------------------------------------------

BODY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def share(body, count, chunk):
    """What `native_share` does with a function of Python."""
    load()
    run = ctypes.CFUNCTYPE(
        ctypes.c_int32, BODY, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
    )(threads._compiled().address("native_share"))
    return run(BODY(lambda context, begin, end: body(begin, end) or 0), 0, count, chunk)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 100])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_each_part_runs_once(count, number):
    tf.config.threading.set_intra_op_parallelism_threads(number)
    ranges = []

    assert share(lambda *each: ranges.append(each), count, 8) == 0

    expected = [(at, min(at + 8, count)) for at in range(0, count, 8)]
    assert sorted(ranges) == expected


def test_a_worker_helps():
    tf.config.threading.set_intra_op_parallelism_threads(2)
    # Each waits for the other: one thread alone would wait for ever.
    meet = threading.Barrier(2, timeout=20)
    seen = set()

    def body(begin, end):
        meet.wait()
        seen.add(threading.get_ident())

    share(body, 2, 1)

    assert len(seen) == 2
    assert threads.worker_count() >= 1


def test_no_more_threads_help_than_are_allowed():
    tf.config.threading.set_intra_op_parallelism_threads(3)
    share(lambda begin, end: None, 30, 1)
    assert threads.worker_count() >= 2
    tf.config.threading.set_intra_op_parallelism_threads(2)
    seen = set()

    for _ in range(20):
        seen = set()
        share(lambda begin, end: seen.add(threading.get_ident()), 30, 1)
        assert len(seen) <= 2


def test_one_that_asks_meanwhile_runs_alone():
    tf.config.threading.set_intra_op_parallelism_threads(2)
    has_all, ended = threading.Event(), threading.Event()

    def body(begin, end):
        has_all.set()
        ended.wait(20)

    first = threading.Thread(target=share, args=(body, 2, 1))
    first.start()
    has_all.wait(20)
    seen = []
    share(lambda begin, end: seen.append(threading.get_ident()), 50, 1)
    ended.set()
    first.join()

    assert seen == [threading.get_ident()] * 50


def test_a_loop_in_a_loop_runs_alone():
    tf.config.threading.set_intra_op_parallelism_threads(2)
    inner = []

    share(lambda begin, end: share(lambda *each: inner.append(each), 9, 1), 3, 1)

    assert sorted(inner) == sorted([(at, at + 1) for at in range(9)] * 3)


@pytest.mark.parametrize("number", [1, 2])
def test_a_part_that_fails_ends_all(number):
    tf.config.threading.set_intra_op_parallelism_threads(number)
    seen = []

    def body(begin, end):
        seen.append(begin)
        return 5 if begin == 10 else 0

    assert share(body, 1000, 1) == 5
    assert len(seen) < 1000
    assert share(lambda begin, end: 0, 1000, 1) == 0


# --- loops ----------------------------------------------------------------------------


def polynomial(x):
    y = x
    for _ in range(5):
        y = y * x * 0.5 + 0.25
    return y


def several(x, y):
    total = x + y[:, None]
    return total > 1.0, tf.cast(total * 3.0, tf.int32), tf.sqrt(tf.abs(total)), x


def numbers(count, dtype=np.float32):
    return np.asarray(np.random.default_rng(0).normal(size=count), dtype)


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (polynomial, [numbers(MANY)]),
        (polynomial, [numbers(MANY + 13, np.float64)]),
        (polynomial, [numbers((200, 101))]),
        (several, [numbers((200, 101)), numbers(200)]),
        (several, [numbers((3, 10_000)), numbers(3)]),
        (lambda x: tf.transpose(x) + 1.0, [numbers((101, 200))]),
        (lambda x: tf.reduce_max(x, axis=1), [numbers((200, 101))]),
        (lambda x: tf.reduce_max(x, axis=[0, 2]), [numbers((3, 20, 400))]),
        (lambda x: tf.reduce_max(x, axis=0), [numbers((4, 10_000))]),
        (lambda x: tf.reduce_max(x, axis=1), [numbers((1, 4, 10_000))]),
        (lambda x: tf.argmax(x, axis=1), [numbers((200, 101))]),
        (lambda x: tf.searchsorted(tf.sort(x), x), [numbers(2000)]),
        (lambda x: x // 3, [np.arange(-MANY, MANY)]),
        (lambda x: x % 7 == 3, [np.arange(-MANY, MANY)]),
    ],
)
def test_shared_loops_give_the_same(function, arrays):
    found, count = by_threads(executable(function, *arrays), arrays)

    assert count >= 1
    expected = executable_of_numpy(function, arrays)
    for results in found:
        for one, other in zip(results, expected):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


def executable_of_numpy(function, arrays):
    results = tf.function(function, executor="numpy")(*map(tf.constant, arrays))
    return [each.numpy() for each in tf.nest.flatten(results)]


REDUCTIONS = {
    "sum": lambda x: tf.reduce_sum(x * 2.0),
    "sum of broadcast": lambda x: tf.reduce_sum(x[:, None] * x[None, :150]),
    "largest": lambda x: tf.reduce_max(tf.abs(x)),
    "any": lambda x: tf.reduce_any(x > 5.0),
    "integers": lambda x: tf.reduce_sum(tf.cast(x * 100.0, tf.int64)),
    "mean": lambda x: x - tf.reduce_mean(x),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("is_open", [False, True])
def test_shared_reductions_give_the_same(name, is_open):
    x, function = numbers(MANY + 7), REDUCTIONS[name]
    spec = tf.TensorSpec([None] if is_open else x.shape)
    native = tf.function(function, executor="native")
    run = native.get_concrete_function(spec).executable

    found, count = by_threads(run, [x])

    assert count >= 1
    (expected,) = executable_of_numpy(function, [x])
    for result in found:
        np.testing.assert_array_equal(result, found[0])
        np.testing.assert_allclose(result[0], expected, rtol=1e-4, atol=1e-5)


def test_a_reduction_of_nothing():
    native = tf.function(
        REDUCTIONS["sum"], executor="native", input_signature=[tf.TensorSpec([None])]
    )

    assert [native(tf.ones([n])).numpy() for n in (0, 1, 3)] == [0, 2, 6]


def gradient_of_filters(x, filters):
    with tf.GradientTape() as tape:
        tape.watch(filters)
        total = tf.reduce_sum(tf.square(tf.nn.conv2d(x, filters, 1, "SAME")))
    return tape.gradient(total, filters)


PRODUCTS = {
    "batch": (tf.matmul, [(20, 8, 12), (20, 12, 9)]),
    "images": (
        lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"),
        [(6, 9, 8, 3), (3, 3, 3, 10)],
    ),
    "images with borders": (
        lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
        [(6, 9, 8, 3), (3, 3, 3, 10)],
    ),
    "large images with borders": (
        lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
        [(2, 150, 100, 3), (3, 3, 3, 4)],
    ),
    "gradient of filters": (
        gradient_of_filters,
        [(20, 20, 20, 4), (3, 3, 4, 16)],
    ),
    "pools": (lambda x, _: tf.nn.max_pool2d(x, 2, 2, "VALID"), [(9, 24, 24, 40), ()]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_shared_products_give_the_same(name):
    function, shapes = PRODUCTS[name]
    arrays = [numbers(shape) for shape in shapes]

    found, count = by_threads(executable(function, *arrays), arrays)

    assert count >= 1
    (expected,) = executable_of_numpy(function, arrays)
    for results in found:
        np.testing.assert_array_equal(results[0], found[0][0])
        scale = np.abs(expected).max()
        np.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=1e-5 * scale)


def test_short_loops_are_not_shared():
    x = numbers(FEW)

    _, count = by_threads(executable(polynomial, x), [x])

    assert count == 0


def test_what_is_worth_it_is_measured_in_time(monkeypatch):
    monkeypatch.undo()
    found = []
    for count in (5_000, 500_000):
        x = numbers(count)
        source = executable(polynomial, x).source
        found.append("native_share" in source)

    assert found == [False, True]


def test_a_loop_of_unknown_length_is_shared_where_it_is_long():
    function = tf.function(
        polynomial, executor="native", input_signature=[tf.TensorSpec([None])]
    )
    function(tf.zeros([1]))
    counts = []
    for count in (0, 1, FEW, MANY):
        x = numbers(count)
        tf.config.threading.set_intra_op_parallelism_threads(2)
        before = threads.shared_loops()
        found = function(tf.constant(x)).numpy()
        counts.append(threads.shared_loops() - before)
        np.testing.assert_array_equal(found, executable_of_numpy(polynomial, [x])[0])

    assert counts == [0, 0, 0, 1]


def test_a_check_in_a_shared_loop():
    def divide(x, y):
        return x // y

    x, y = np.arange(MANY), np.ones(MANY, int)
    function = tf.function(divide, executor="native")
    for count in (1, 2):
        tf.config.threading.set_intra_op_parallelism_threads(count)
        y[:] = 1
        assert np.array_equal(function(x, y).numpy(), x)
        y[MANY - 5] = 0
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(x, y)


def test_checked_accesses_are_shared(monkeypatch):
    monkeypatch.setattr(Builder, "checks_accesses", True)
    x = numbers((200, 101))

    found, count = by_threads(executable(polynomial, x), [x])

    assert count == 1
    np.testing.assert_array_equal(found[0], found[1])


def test_random_numbers_are_drawn_in_order():
    def draw(x):
        return x + tf.random.stateless_uniform([MANY], seed=[1, 2])

    x = numbers(MANY)

    found, _ = by_threads(executable(draw, x), [x])

    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_loops_in_a_loop_of_the_program_are_shared():
    def repeat(x):
        for _ in tf.range(4):
            x = polynomial(x)
        return x

    x = numbers(MANY)

    found, count = by_threads(executable(repeat, x), [x])

    assert count == 4
    np.testing.assert_array_equal(found[0], found[1])


def test_what_lies_in_work_memory_is_shared():
    def turn(x):
        return tf.transpose(tf.cumsum(polynomial(x), axis=1))

    x = numbers((200, 101))

    found, count = by_threads(executable(turn, x), [x])

    assert count == 2  # the polynomials, and their sums
    np.testing.assert_array_equal(found[0], found[1])


def test_a_loop_that_runs_in_order_is_not_shared():
    module = ir.Module("test")
    builder = Builder(module)
    array = builder.new_buffer((MANY,), tf.float32)

    def body(i, carried):
        at = Index(None, i)
        builder.store(array, at, builder.load(array, at))
        return ()

    for is_parallel in (False, True):
        with builder.sharing.of([array]):
            builder.loop(
                1, lambda i, _: builder.loop(MANY, body, is_parallel=is_parallel)
            )
        assert builder.sharing.is_used is is_parallel


@pytest.mark.parametrize("is_own", [True, False])
def test_memory_of_one_iteration_moves_with_the_loop(is_own):
    builder = Builder(ir.Module("test"))
    array = builder.new_buffer((MANY,), tf.int64)
    cell = builder.cell(ir.IntType(64))
    if not is_own:
        builder.ir.store(number(3), cell)

    def body(i, carried):
        builder.ir.store(i, cell)
        builder.store(array, Index(None, i), builder.ir.load(cell))
        return ()

    with builder.sharing.of([array]):
        builder.loop(MANY, body, is_parallel=True)

    assert builder.sharing.is_used is is_own
    assert (cell.function is builder.function) is not is_own


def test_other_threads_run_while_a_loop_is_shared():
    x = numbers(MANY)

    assert executable(polynomial, x)._program.signature.releases


def test_code_is_shown_with_its_lines():
    x = numbers(MANY)
    function = tf.function(polynomial, executor="native")
    concrete = function.get_concrete_function(tf.TensorSpec(x.shape))

    for text in (concrete.llvm_ir(), concrete.llvm_ir(optimized=False)):
        moved = text[text.index("define internal") :]
        assert "y = y * x * 0.5 + 0.25" in moved
    assert "y = y * x * 0.5 + 0.25" in concrete.asm()


# --- processes and threads of Python --------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes by fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_many_threads_call_and_fork():
    tf.config.threading.set_intra_op_parallelism_threads(3)
    x = numbers(MANY)
    functions = [polynomial, lambda x: x * 2.0 + 1.0, lambda x: tf.abs(x) - x]
    runs = [executable(function, x) for function in functions]
    expected = [executable_of_numpy(function, [x])[0] for function in functions]
    wrong = []

    def call(number):
        for at in range(100):
            which = (number + at * (number % 2)) % 3
            if not np.array_equal(runs[which]([x])[0], expected[which]):
                wrong.append(number)

    def all_call():
        callers = [threading.Thread(target=call, args=(n,)) for n in range(8)]
        for caller in callers:
            caller.start()
        return callers

    callers, statuses = all_call(), []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            asked = threads.worker_count() == 0
            for caller in all_call():
                caller.join()
            helped = threads.worker_count() == 2
            os._exit(0 if asked and helped and not wrong else 1)
        statuses.append(os.waitpid(child, 0)[1])
    for caller in callers:
        caller.join()

    assert wrong == []
    assert statuses == [0, 0, 0]
