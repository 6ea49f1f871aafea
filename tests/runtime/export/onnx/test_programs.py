"""Programs exported to ONNX give in onnxruntime what they give here."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.export.onnx.models import run_model

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

_RANDOM = np.random.default_rng(7)


def _floats(*shape: int) -> Any:
    return _RANDOM.normal(size=shape).astype(np.float32)


def _ints(*values: int, dtype: str = "int32") -> Any:
    return np.array(values, dtype)


_WEIGHTS = _floats(3, 4), _floats(4), _floats(4, 2)
_STEP = _floats(5, 8)
_FILTERS = _floats(3, 3, 2, 4)


def functions(x: Any) -> Any:
    y = tf.abs(x) + 0.5
    return (
        tf.exp(x) + tf.math.log(y) * tf.sqrt(y) - tf.math.rsqrt(y),
        tf.sin(x) + tf.cos(x) - tf.tanh(x) / y,
        tf.math.expm1(x) + tf.math.log1p(y) + tf.math.rint(x * 3.0),
        tf.floor(x) + tf.math.ceil(x) + tf.sign(x) + tf.maximum(x, 0.1),
        tf.math.erf(x) + tf.math.softplus(x) + tf.math.sigmoid(x),
    )


_COUNT = tf.Variable([2.0, 3.0])


def angles(x: Any) -> Any:
    y = tf.clip_by_value(x, -0.9, 0.9)
    return (
        tf.acos(y) + tf.asin(y) * tf.atan(x) - tf.atanh(y),
        tf.acosh(tf.abs(x) + 1.0) + tf.asinh(x) + tf.sinh(y) * tf.cosh(y) + tf.tan(y),
        tf.minimum(x, 0.5),
        (x <= 0.0) | (x > 1.0),
        tf.stop_gradient(tf.identity(tf.debugging.check_numerics(x, "wrong"))),
    )


def stored(x: Any, i: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=2, clear_after_read=False)
    for k in tf.range(2):
        rows = rows.write(k, x * tf.cast(k, tf.float32) + _COUNT)
    least = tf.tensor_scatter_nd_min(x, i, [-0.5])
    return rows.read(i[0, 0]), rows.stack(), least


def small_numbers(x: Any) -> Any:
    return tf.math.expm1(x), tf.math.log1p(x)


def float_division(x: Any, y: Any) -> Any:
    return x // y, x % y, x / y, tf.truncatemod(x, y)


def int_division(x: Any, y: Any) -> Any:
    return x // y, x % y, tf.truncatediv(x, y), tf.truncatemod(x, y), x / y


def bits(x: Any, y: Any) -> Any:
    return x & y, x | y, x ^ y, ~x, (x > y) & (x != y), (x >= y) ^ (x < 2)


def narrow(x: Any, y: Any) -> Any:
    return x + y, x * y, tf.maximum(x, y), tf.reduce_sum(x), tf.where(x > y, x, y)


def casts(x: Any) -> Any:
    return (
        tf.cast(x, tf.int32),
        tf.cast(x, tf.bool),
        tf.cast(tf.cast(x, tf.int8), tf.float64),
    )


def not_numbers(x: Any) -> Any:
    return (
        tf.reduce_max(x, 1),
        tf.reduce_min(x),
        tf.argmax(x, 1),
        tf.math.is_finite(x),
        tf.maximum(x, 0.0),
    )


def powers(x: Any, n: Any) -> Any:
    return x**2.0, x**0.5, n**3, n**0, n**13


def batches_of_matrices(x: Any) -> Any:
    x.set_shape([2, 3, 4])
    return tf.matmul(x, x, transpose_b=True), tf.matmul(x, x, transpose_a=True)


def matrices(x: Any) -> Any:
    y = tf.matmul(x, x, transpose_b=True)
    return y, tf.transpose(y), tf.linalg.matmul(y, x), tf.einsum("ij,kj->ik", x, x)


def network(x: Any) -> Any:
    w, b, v = _WEIGHTS
    return tf.nn.softmax(tf.nn.relu(x @ w + b) @ v)


def layers(x: Any) -> Any:
    mean, variance = tf.nn.moments(x, axes=[1], keepdims=True)
    y = (x - mean) / tf.sqrt(variance + 1e-5)
    return tf.nn.gelu(y), tf.nn.log_softmax(y), tf.nn.l2_normalize(x, 1)


def images(x: Any) -> Any:
    y = tf.nn.conv2d(x, _FILTERS, [1, 2, 2, 1], "SAME")
    y = tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "VALID")
    return y, tf.nn.avg_pool2d(x, 3, 2, "SAME"), tf.nn.conv2d(x, _FILTERS, 1, "VALID")


def channelwise(x: Any) -> Any:
    return tf.nn.depthwise_conv2d(x, _FILTERS[..., :2], [1, 1, 1, 1], "SAME")


_IN_GROUPS = _floats(2, 3, 2, 6)
_BACK, _POINTS = _floats(3, 2, 5, 4), _floats(1, 1, 8, 3)


def grouped(x: Any) -> Any:
    steps = {"strides": 2, "padding": "SAME"}
    apart = {"strides": 1, "padding": "SAME", "dilations": [2, 1]}
    volumes = tf.reshape(x, [-1, 3, 3, 2, 4])
    return (
        tf.nn.conv2d(x, _IN_GROUPS, **steps),
        tf.nn.conv2d(x, _IN_GROUPS, **apart),
        tf.nn.depthwise_conv2d(x, _FILTERS[..., :1].repeat(2, 2), [1, 2, 2, 1], "SAME"),
        tf.nn.depthwise_conv2d(
            x, _BACK[:, :, :4, :3], [1, 1, 1, 1], "VALID", dilations=[1, 2]
        ),
        tf.nn.separable_conv2d(x, _BACK[:, :, :4, :2], _POINTS, [1, 1, 1, 1], "SAME"),
        tf.nn.conv2d_transpose(x, _BACK, [tf.shape(x)[0], 11, 3, 5], [2, 1], "SAME"),
        tf.nn.conv3d(volumes, _IN_GROUPS[None], [1, 1, 1, 1, 1], "SAME"),
        tf.nn.pool(x, [2, 2], "AVG", dilations=[2, 1], padding="SAME"),
        tf.nn.pool(x, [2, 2], "MAX", dilations=[2, 1], padding="SAME"),
    )


def reductions(x: Any) -> Any:
    return (
        tf.reduce_sum(x),
        tf.reduce_mean(x, 0),
        tf.reduce_prod(x, [0, 1]),
        tf.reduce_max(x, 1, keepdims=True),
        tf.reduce_any(x > 1.0, 0),
        tf.reduce_all(x > -9.0),
        tf.math.reduce_std(x),
        tf.argmin(x, 1),
    )


def orders(x: Any) -> Any:
    values, places = tf.math.top_k(x, 2)
    found = (
        tf.sort(x),
        tf.argsort(x, direction="DESCENDING"),
        tf.sort(x, 0, "DESCENDING"),
    )
    return *found, values, places, tf.cumsum(x, 1), tf.cumsum(x, exclusive=True)


def ties(x: Any) -> Any:
    return (
        tf.argsort(x),
        tf.argsort(x, direction="DESCENDING"),
        tf.argmax(x),
        tf.where(x),
    )


def picked(x: Any, i: Any) -> Any:
    return (
        tf.gather(x, i),
        tf.gather(x, i, axis=1),
        tf.one_hot(i, 4),
        x[i[0]],
        x[:, i[1]],
    )


def picked_in_batches(x: Any, i: Any) -> Any:
    return tf.gather(x, i, batch_dims=1), tf.gather_nd(x, i)


def scattered(x: Any, i: Any) -> Any:
    rows = tf.ones([2, 3])
    return (
        tf.tensor_scatter_nd_add(x, i, rows),
        tf.tensor_scatter_nd_update(x, i, rows),
        tf.tensor_scatter_nd_max(x, i, rows),
        tf.scatter_nd(i, rows, [5, 3]),
        tf.math.unsorted_segment_sum(x, tf.constant([0, 1, 0, 2]), 3),
    )


def sliced(x: Any, n: Any) -> Any:
    return x[1:], x[::-1], x[:, None, -1], x[..., 0], x[n:, :n], x[-1], x[5:0:-2, 1]


def joined(x: Any) -> Any:
    a, b = tf.split(x, 2, axis=1)
    parts = tf.concat([a, b, a], 0), tf.stack([a, b]), tf.tile(x, [2, 1])
    return (
        *parts,
        tf.pad(x, [[1, 0], [0, 2]]),
        tf.repeat(x, 2, 1),
        tf.repeat(x, 3),
        tf.reverse(x, [1]),
        tf.unstack(x, axis=1),
    )


def any_batch(x: Any) -> Any:
    flat = tf.reshape(x, [tf.shape(x)[0], -1])
    return (
        flat,
        tf.reduce_mean(x),
        tf.shape(x),
        x + tf.zeros_like(x),
        tf.fill([tf.size(x)], 7),
    )


def ranges(n: Any) -> Any:
    return tf.range(n), tf.range(1, n, 2), tf.linspace(0.0, 1.0, 5), tf.eye(3)


def branch(x: Any) -> Any:
    if tf.reduce_sum(x) > 0.0:
        y = tf.sin(x) @ tf.transpose(x)
        name = 1
    else:
        y = x @ tf.transpose(x)
        name = 2
    return y, name


def branches(n: Any, x: Any) -> Any:
    return tf.switch_case(n, [lambda: x @ x, lambda: tf.exp(x @ x), lambda: x @ x @ x])


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def early_exit(xs: Any) -> Any:
    total, index = 0.0, 0
    for x in xs:
        if x < 0.0:
            continue
        if x > 10.0:
            break
        total += x
        index += 1
    else:
        index = -1
    return total, index


def early_return(n: Any) -> Any:
    for i in tf.range(2, n):
        if n % i == 0:
            return i
    return n


def nested_loops(n: Any) -> Any:
    total = 0
    for i in tf.range(n):
        for j in tf.range(i):
            if (i + j) % 3 == 0:
                total += i * j
    return total


def lstm(xs: Any, h: Any, c: Any) -> Any:
    for x in xs:
        gates = tf.concat([x, h], 1) @ _STEP
        i, f, o, g = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
    return h, c


def recorded(xs: Any) -> Any:
    states, h = [], tf.zeros([2])
    for x in xs:
        h = tf.tanh(h + x)
        states.append(h)
    return tf.stack(states), len(states), states[-1]


def trajectory(n: Any) -> Any:
    path = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        path.append(n)
    path[0] = -1
    path.pop(2)
    path.insert(1, 5)
    return tf.stack(path), path[-2]


def written(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
    for i in tf.range(tf.shape(x)[0]):
        rows = rows.write(i, x[i] * 2.0)
    grown = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(3):
        grown = grown.write(i, tf.cast(i, tf.float32))
    return rows.stack(), grown.stack()


def newton(x: Any) -> Any:
    root = x
    while tf.abs(root * root - x) > 1e-12 * x:
        root = (root + x / root) / 2.0
    return {"root": root, "error": root * root - x}


def helper(x: Any) -> Any:
    inner = tf.function(lambda y: tf.where(y > 0.0, y, -y))
    return inner(x) + inner(-x)


def counted(xs: Any) -> Any:
    return sum(1 for x in xs if x > 0.0), tf.stack([x * 2.0 for x in xs if x < 3.0])


def strings(x: Any) -> Any:
    assert x[0] > 0.0, f"{x[0]} is not positive"
    if x[1] > 5.0:
        raise ValueError(f"{x[1]} is too much")
    return x


_NAN = np.array([[1.0, np.nan, 3.0], [0.0, np.inf, -2.0]])
_TIED = _ints(2, 0, 2, 1, 0, 2)
#: Programs, what they are given, and shapes with unknown axes to export them with
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (functions, (_floats(3, 4),), [None, 4]),
    (batches_of_matrices, (_floats(2, 3, 4),), [None, None, None]),
    (angles, (_floats(3, 4),), [None, 4]),
    (stored, (_floats(2), np.int32([[1]])), 0),
    (small_numbers, (np.float64([1e-12, -3e-5, 0.0, 0.4, 60.0, -0.9]),), [None]),
    (
        float_division,
        (np.float64([7, -7, 7.5, -1, 6]), np.float64([2, 2, -2, 3, 0.1])),
        0,
    ),
    (int_division, (_ints(7, -7, 7, -8, 0), _ints(2, 2, -3, -1, 5)), [None]),
    (int_division, (np.uint8([7, 200]), np.uint8([2, 9])), 0),
    (bits, (_ints(5, -6, 9), _ints(3, 12, 9)), [None]),
    (narrow, (np.int8([100, -3]), np.int8([100, 5])), [None]),
    (narrow, (np.int16([100, -3]), np.int16([1000, 5])), [None]),
    (casts, (np.float32([1.9, -1.9, 0.0, 100.5]),), 0),
    (not_numbers, (_NAN,), [None, None]),
    (powers, (np.float32([1.5, 2.0]), _ints(3, -2, dtype="int64")), [None]),
    (matrices, (_floats(3, 4),), [None, 4]),
    (network, (_floats(5, 3),), [None, 3]),
    (layers, (_floats(2, 6),), [None, 6]),
    (images, (_floats(2, 9, 8, 2),), [None, 9, 8, 2]),
    (channelwise, (_floats(1, 5, 5, 2),), 0),
    (grouped, (_floats(2, 6, 3, 4),), [None, 6, 3, 4]),
    (reductions, (np.float64(_floats(3, 4)),), [None, None]),
    (orders, (_floats(4, 5),), [None, 5]),
    (ties, (_TIED,), [None]),
    (picked, (_floats(3, 4), _ints(2, 0)), 0),
    (picked_in_batches, (_floats(2, 3), np.int64([[1, 2], [0, 0]])), 0),
    (scattered, (_floats(4, 3), np.int32([[1], [3]])), 0),
    (sliced, (_floats(6, 4), np.int32(2)), 0),
    (joined, (_floats(3, 4),), [None, 4]),
    (any_batch, (_floats(3, 2, 2),), [None, 2, 2]),
    (ranges, (np.int32(6),), 0),
    (branch, (_floats(2, 2),), 0),
    (branch, (-np.abs(_floats(2, 2)),), 0),
    (branches, (np.int32(1), _floats(2, 2)), 0),
    (branches, (np.int32(-4), _floats(2, 2)), 0),
    (collatz, (np.int32(27),), 0),
    (collatz, (np.int64(97),), 0),
    (early_exit, (np.float32([1, -2, 3, 11, 5]),), [None]),
    (early_exit, (np.float64([1, -2, 3]),), 0),
    (early_return, (np.int32(35),), 0),
    (early_return, (np.int32(13),), 0),
    (nested_loops, (np.int32(7),), 0),
    (lstm, (_floats(6, 1, 3), _floats(1, 2), _floats(1, 2)), 0),
    (recorded, (_floats(4, 2),), [None, 2]),
    (trajectory, (np.int32(6),), 0),
    (written, (_floats(3, 2),), [None, 2]),
    (newton, (np.float64(2.0),), 0),
    (helper, (_floats(3),), [None]),
    (counted, (np.float32([1, -2, 3]),), [None]),
    (strings, (np.float32([1, 2]),), [None]),
]


@pytest.mark.parametrize(
    ("program", "inputs", "shape"),
    PROGRAMS,
    ids=[f"{program.__name__}-{i}" for i, (program, *_) in enumerate(PROGRAMS)],
)
def test_onnxruntime_agrees(
    program: Callable[..., Any], inputs: tuple[Any, ...], shape: Any
) -> None:
    specs = [
        tf.TensorSpec(shape if shape else value.shape, value.dtype) for value in inputs
    ]
    concrete = tf.function(program).get_concrete_function(*specs)
    expected = tf.nest.flatten(concrete(*map(tf.constant, inputs)))

    results = run_model(concrete.export_onnx(), inputs)
    assert not results.pop("failed", False)
    assert len(results) == len(expected)
    for result, tensor in zip(results.values(), expected):
        wanted = np.asarray(tensor)
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        accuracy = 2e-6 if wanted.dtype == np.float32 else 1e-14
        np.testing.assert_allclose(result, wanted, rtol=accuracy, atol=accuracy)


#: Not importorskip: that would import Keras with a backend of its own.
needs_keras = pytest.mark.skipif(find_spec("keras") is None, reason="needs Keras")


@needs_keras
def test_keras_models_with_convolutions_of_each_channel() -> None:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((16, 16, 3)),
            layers.Conv2D(8, 3, strides=2, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(6.0),
            layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2),
            layers.SeparableConv2D(6, 3, strides=2, padding="same"),
            layers.Conv2D(9, 2, groups=3, dilation_rate=2),
            layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(5, activation="softmax"),
        ]
    )
    _compare_model(model, _floats(2, 16, 16, 3))


def _compare_model(model: Any, x: Any) -> None:
    """A model gives for a batch of any size what it gives here, and needs no flag."""
    signature = [tf.TensorSpec([None, *x.shape[1:]], tf.float32)]
    step = tf.function(lambda x: model(x, training=False), input_signature=signature)
    results = run_model(step.get_concrete_function().export_onnx(), [x])
    (found,) = results.values()
    np.testing.assert_allclose(found, model(x, training=False), rtol=1e-4, atol=1e-5)


@needs_keras
def test_a_whole_network() -> None:
    network = tf.keras.applications.MobileNetV2
    model = network((32, 32, 3), alpha=0.35, weights=None, classes=4)
    _compare_model(model, _floats(1, 32, 32, 3))
