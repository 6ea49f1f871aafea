"""What nests compute once, and where they store it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import compilation
from runtime.engines.native.builder import Builder


@pytest.fixture(autouse=True)
def native_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is left to NumPy, and no access is out of bounds."""
    monkeypatch.delattr(compilation, "refusals_of")
    monkeypatch.setattr(Builder, "checks_accesses", True)


def draw(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def check(function: Callable[..., Any], *arrays: Any, specs: Any = None) -> str:
    """Native code gives what NumPy does; the text that was written for it."""
    given = [tf.constant(array) for array in arrays]
    native = tf.function(function, specs, executor="native")
    other = tf.function(function, specs, executor="numpy")
    found, expected = tf.nest.flatten(native(*given)), tf.nest.flatten(other(*given))
    for one, two in zip(found, expected, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_allclose(one.numpy(), two.numpy(), 2e-5, 1e-6)
    text: str = native.get_concrete_function(*given).llvm_ir(optimized=False)
    return text


def roots(text: str) -> int:
    """How many expensive values are computed, of those that `dear` gives."""
    return text.count('= call float @"llvm.sqrt.f32"') // 4


def loops(text: str) -> int:
    return text.count("= phi  i64 [0,")


def dear(x: Any) -> Any:
    return tf.sqrt(tf.sqrt(tf.sqrt(tf.sqrt(tf.abs(x)))))


# --- read in several nests ------------------------------------------------------------


def test_what_is_read_in_several_nests_is_computed_once() -> None:
    def run(x: Any, y: Any) -> Any:
        e = dear(x)
        return e, tf.reduce_sum(e), tf.reduce_sum(e, 0), tf.matmul(e, y), e[1:] - e[0]

    assert roots(check(run, draw(5, 4), draw(4, 3))) == 1


def test_what_is_cheap_is_computed_where_it_is_read() -> None:
    def run(x: Any) -> Any:
        e = tf.sqrt(x * x)
        return e, tf.reduce_sum(e)

    text = check(run, draw(30))
    assert text.count('= call float @"llvm.sqrt.f32"') == 2


def test_slices() -> None:
    def overlapping(x: Any) -> Any:
        e = dear(x)
        return e[1:] - e[:-1]

    def few(x: Any) -> Any:
        e = dear(x)
        return e[0] + e[-1]

    assert roots(check(overlapping, draw(30))) == 1
    assert loops(check(few, draw(30))) == 0


def test_transposed_beside_as_it_is() -> None:
    def run(x: Any) -> Any:
        e = dear(x)
        return tf.transpose(e) + e, tf.reduce_max(e)

    assert roots(check(run, draw(6, 6))) == 1


def test_in_branches() -> None:
    def run(x: Any, go: Any) -> Any:
        e = dear(x)
        if go:
            y = tf.reduce_sum(e, 0) + e
        else:
            y = e * 2.0
        return y, e, tf.reduce_sum(e)

    for go in (True, False):
        check(run, draw(3, 4), go)


def test_in_loops() -> None:
    """A loop that begins with a value does not write to it."""

    def run(x: Any, n: Any) -> Any:
        e = dear(x)
        y, z = e, e
        for _ in tf.range(n):
            total = dear(tf.reduce_sum(y * e, 1))
            y, z = y + e * total[:, None], z - tf.reduce_max(y, 1, keepdims=True)
        return y, z, e, tf.reduce_sum(e, 1)

    for n in range(4):
        check(run, draw(3, 4), n)


# --- read for many elements -----------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "count"), [((1, 7), 3), ((5, 1), 2), ((7,), 3), ((1, 1), 2)]
)
def test_what_is_broadcast_is_computed_before(
    shape: tuple[int, ...], count: int
) -> None:
    text = check(lambda x, y: x * dear(y), draw(5, 7), draw(*shape))
    assert (roots(text), loops(text)) == (1, count)
    inmost = text.rpartition("phi  i64")[2]
    assert "sqrt" not in inmost.partition("icmp")[0]


# --- rows -----------------------------------------------------------------------------


def layer_norm(x: Any) -> Any:
    centred = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), -1, keepdims=True)
    return centred * tf.math.rsqrt(variance + 1e-5)


@pytest.mark.parametrize("function", [tf.nn.softmax, tf.nn.log_softmax, layer_norm])
def test_a_chain_of_a_row_is_in_one_loop(function: Any) -> None:
    """Nothing of the whole array is stored but the result."""
    text = check(lambda x: function(x), draw(6, 20))
    assert loops(text) == 4
    assert "alloca [20 x float]" in text or function is not tf.nn.softmax
    assert "getelementptr i8" not in text


def test_rows_that_are_long_lie_in_the_arena() -> None:
    def run(x: Any) -> Any:
        return tf.nn.softmax(x)

    assert "alloca [8192 x float]" in check(run, draw(2, 8192))
    assert "alloca [" not in check(run, draw(2, 8193))


def test_few_rows_lie_on_the_stack() -> None:
    def run(x: Any) -> Any:
        return [tf.nn.softmax(x * float(i)) for i in range(6)]

    text = check(run, draw(2, 8192))
    assert text.count("alloca [8192 x float]") == 4


def test_rows_of_lengths_that_the_program_knows() -> None:
    for shape in ([None, 9], [None, None]):
        specs = [tf.TensorSpec(shape, tf.float32)]
        for function in (tf.nn.softmax, layer_norm):
            check(lambda x: function(x), draw(6, 9), specs=specs)
    specs = [tf.TensorSpec([None, None], tf.float32)]
    check(lambda x: tf.reduce_sum(tf.nn.softmax(x), 0), draw(0, 9), specs=specs)


def test_a_part_of_rows_beside_what_is_stored_before() -> None:
    def run(x: Any, y: Any) -> Any:
        e = dear(y)
        s = tf.nn.softmax(x)[1:] * (e[1:] - e[:-1])
        return s, s[:1], tf.reduce_sum(x, 1)[::-1, None] + e[:1]

    shapes = (1, 6), (2, 6), (5, 6)
    specs = [tf.TensorSpec([None, None], tf.float32)] * 2
    for shape in shapes:
        check(run, draw(*shape), draw(shape[0], 1), specs=specs)
        check(run, draw(*shape), draw(shape[0], 1))


def test_a_row_that_others_read_is_stored_whole() -> None:
    def run(x: Any) -> Any:
        e = dear(x)
        s = tf.reduce_sum(e, 1)
        return e / s[:, None], s, tf.transpose(e), tf.reduce_max(s)

    assert roots(check(run, draw(6, 9))) == 1


def entropy(x: Any, y: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.softmax_cross_entropy_with_logits(y, x)
        total = tf.reduce_mean(loss)
    return total, loss, tape.gradient(total, x)


FUNCTIONS: list[tuple[Callable[..., Any], list[tuple[int, ...]]]] = [
    (lambda x: tf.math.reduce_variance(x), [(3, 4, 5)]),
    (lambda x: tf.math.reduce_variance(x, [1, 2], keepdims=True) * x, [(3, 4, 5)]),
    (lambda x: tf.math.reduce_std(x, [0, 2]), [(3, 4, 5)]),
    (lambda x: tf.reduce_sum(tf.nn.softmax(x), [0, 2], keepdims=True), [(3, 4, 5)]),
    (lambda x: tf.reduce_sum(tf.nn.softmax(x, 1), [1, 3]), [(3, 4, 5, 2)]),
    (lambda x: tf.reduce_sum(tf.nn.softmax(x)[:2, ::-1] * x[1:], 2), [(3, 4, 5)]),
    (lambda x: tf.nn.softmax(tf.transpose(x)) + x, [(5, 5)]),
    (lambda x: tf.concat([tf.nn.softmax(x), x], 1), [(4, 5)]),
    (lambda x: tf.pad(tf.nn.softmax(x), [[1, 0], [2, 1]]), [(4, 5)]),
    (lambda x: tf.cumsum(tf.nn.softmax(x), 1), [(4, 5)]),
    (lambda x: tf.argmax(tf.nn.softmax(x), 1), [(4, 5)]),
    (lambda x: tf.gather(tf.nn.softmax(x), [1, 0, 1], axis=1), [(4, 5)]),
    (lambda x: tf.reshape(tf.nn.softmax(x), [2, 10]) * 2.0, [(4, 5)]),
    (lambda x: tf.expand_dims(tf.reduce_sum(x, 1), 1) * x, [(4, 5)]),
    (lambda x: tf.reduce_max(x - tf.reduce_sum(x, 0, keepdims=True), 1), [(4, 5)]),
    (lambda x: tf.reduce_sum(x[:, None] - x[None], 2) * dear(x[:, :1]), [(4, 5)]),
    (lambda x, y: tf.nn.softmax(x @ y / 8.0) @ y, [(2, 3, 4), (2, 4, 4)]),
    (lambda x: tf.nn.softmax(x), [(4, 0)]),
    (lambda x: tf.nn.softmax(x), [(0, 4)]),
    (lambda x: tf.reduce_sum(dear(x), 1, keepdims=True) * dear(x), [(4, 1)]),
    (lambda x: (dear(x) > 0.9) & tf.reduce_any(x > 1.0, 1, keepdims=True), [(4, 5)]),
    (entropy, [(4, 5), (4, 5)]),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_results_of_rows(number: int) -> None:
    function, shapes = FUNCTIONS[number]
    check(function, *[draw(*shape) for shape in shapes])


def test_in_place_after_rows_were_read() -> None:
    """Arrays that are not stored yet have the old elements of what is written to."""

    def run(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, 3, element_shape=[4]).unstack(x)
        before = rows.stack()
        sums = tf.reduce_sum(dear(before), 1)
        first = rows.read(0) + sums[0]
        rows = rows.write(0, rows.read(1) * 2.0)
        rows = rows.write(1, rows.read(0) + first)
        return sums, dear(before), rows.stack()

    check(run, draw(3, 4))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 19])
def test_rows_that_are_added_at_once(count: int) -> None:
    def run(x: Any) -> Any:
        e = dear(x)
        sums = tf.reduce_sum(x, 0), tf.reduce_prod(x * 2.0, 0), tf.argmax(x, 0)
        return sums, tf.reduce_sum(x, [0, 2]), tf.reduce_max(e, 0), e

    text = check(run, draw(count, 3, 5))
    assert roots(text) == 1
    check(lambda x: tf.reduce_sum(x, 1, keepdims=True), draw(2, count, 5))
    check(lambda x: tf.reduce_all(x > -0.5, 0), draw(count, 50))


# --- transposed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "order", "is_large"),
    [
        ((64, 64), (1, 0), True),
        ((63, 65), (1, 0), False),
        ((601, 7), (1, 0), False),
        ((9, 601), (1, 0), True),
        ((3, 40, 50), (0, 2, 1), True),
        ((3, 20, 50), (0, 2, 1), False),
        ((10, 40, 50), (1, 2, 0), True),
        ((10, 5, 100), (2, 0, 1), True),
        ((2, 9, 10, 33), (0, 3, 1, 2), True),
        ((20, 40, 50), (1, 0, 2), False),
        ((20, 40, 50), (2, 1, 0), False),
        ((4, 0, 5000), (0, 2, 1), False),
    ],
)
def test_transposed(shape: Any, order: Any, is_large: bool) -> None:
    for dtype in (np.float32, np.int8):
        x = (draw(*shape) * 100).astype(dtype)
        text = check(lambda x: tf.transpose(x + x, order), x)
        assert ("shufflevector" in text) == is_large


def test_arrays_of_several_dtypes_are_in_one_nest() -> None:
    def run(x: Any) -> Any:
        return x + 1.0, x > 0.0, tf.cast(x, tf.int64), tf.cast(x, tf.float64)

    assert loops(check(run, draw(5, 7))) == 1


# --- vectors --------------------------------------------------------------------------


@pytest.mark.parametrize("width", [2, 8, 9, 33])
def test_short_rows(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Vectors are parts of rows, but of very short ones."""
    loop, rows = Builder.loop, []

    def noted(self: Any, *given: Any, **named: Any) -> Any:
        rows.append(named.get("is_row"))
        return loop(self, *given, **named)

    monkeypatch.setattr(Builder, "loop", noted)
    check(lambda x, b: x * b, draw(50, width), draw(width))
    assert (True in rows) == (width > 8)
    check(lambda x, b: tf.reduce_max(x * b, 1), draw(50, width), draw(width))


@pytest.mark.parametrize("shape", [(7,), (5, 6)])
def test_places_of_extremes(shape: tuple[int, ...]) -> None:
    """The first one of several, or of what is not a number."""
    random = np.random.default_rng(0)
    floats = random.integers(0, 4, shape).astype(np.float32)
    floats[random.random(shape) < 0.2] = -0.0
    holes = np.where(random.random(shape) < 0.2, np.nan, floats)
    endless = np.where(random.random(shape) < 0.5, np.inf, -np.inf)

    def run(*arrays: Any) -> Any:
        axes = range(len(shape))
        least = [tf.argmin(x, axis) for x in arrays for axis in axes]
        return least, [tf.argmax(x, axis, tf.int32) for x in arrays for axis in axes]

    check(run, holes, endless)
