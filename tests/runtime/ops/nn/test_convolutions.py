"""Convolutions and pooling against the definition, in plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runtime as tf
from runtime.ops.kernels import convolve, small_products
from runtime.ops.nn import pooling

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)


def batch(*shape: int, dtype: str = "float32") -> Array:
    return RANDOM.normal(size=shape).astype(dtype)


def windows(
    x: Array, sizes: Any, strides: Any, padding: Any, dilations: Any, fill: float = 0
) -> Array:
    """All windows: (number, space..., window..., channels)."""
    spans = [(n - 1) * d + 1 for n, d in zip(sizes, dilations)]
    if padding == "SAME":
        missing = [
            max((-(-length // step) - 1) * step + span - length, 0)
            for length, step, span in zip(x.shape[1:-1], strides, spans)
        ]
        padding = [(n // 2, n - n // 2) for n in missing]
    elif padding == "VALID":
        padding = [(0, 0)] * len(sizes)
    x = np.pad(x, [(0, 0), *padding, (0, 0)], constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(
        x, spans, tuple(range(1, x.ndim - 1))
    )
    views = np.moveaxis(views, len(sizes) + 1, -1)
    steps = tuple(slice(None, None, step) for step in strides)
    inner = tuple(slice(None, None, apart) for apart in dilations)
    return views[(slice(None), *steps, *inner)]


def convolved(x: Array, w: Array, strides: Any, padding: Any, dilations: Any) -> Array:
    space = w.ndim - 2
    found = windows(x.astype("float64"), w.shape[:-2], strides, padding, dilations)
    groups = x.shape[-1] // w.shape[-2]
    parts = zip(np.split(found, groups, -1), np.split(w, groups, -1))
    axes = range(-space - 1, 0), range(space + 1)
    return np.concatenate(
        [np.tensordot(f, v, axes) for f, v in parts],
        -1,
    )


SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=60)
@given(
    lengths=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    sizes=SIZES,
    strides=SIZES,
    dilations=SIZES,
    padding=st.sampled_from(["SAME", "VALID", [(0, 2), (1, 0)]]),
    channels=st.sampled_from([(1, 1, 2), (3, 1, 6), (12, 1, 3), (16, 2, 4)]),
    block=st.sampled_from([1, 2000, 1 << 20]),
    small=st.sampled_from([1, 300, 1 << 20]),
)
def test_conv2d(
    lengths: Any,
    sizes: Any,
    strides: Any,
    dilations: Any,
    padding: Any,
    channels: Any,
    block: int,
    small: int,
) -> None:
    inside, groups, outside = channels
    x = batch(3, *lengths, inside)
    w = batch(*sizes, inside // groups, outside)
    spans = [(n - 1) * d + 1 for n, d in zip(sizes, dilations)]
    if padding != "SAME" and any(a > b for a, b in zip(spans, lengths)):
        return
    around = padding if isinstance(padding, str) else [(0, 0), *padding, (0, 0)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolve, "BLOCK", block)
        patch.setattr(convolve, "LARGE_BLOCK", block)
        patch.setattr(convolve, "MANY", 1)
        patch.setattr(small_products, "SMALL", small)
        patch.setattr(small_products, "LEAST", 8)
        found = tf.nn.conv2d(x, w, strides, around, dilations=dilations).numpy()

    expected = convolved(x, w, strides, padding, dilations)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels", [(1, 16), (16, 16), (40, 5)])
def test_threads_change_no_bit(monkeypatch: Any, channels: Any) -> None:
    x, w = batch(5, 9, 8, channels[0]), batch(3, 3, *channels)
    monkeypatch.setattr(convolve, "BLOCK", 4000)
    found = []
    for many in (1, 1 << 30):
        monkeypatch.setattr(convolve, "MANY", many)
        found.append(tf.nn.conv2d(x, w, 1, "SAME").numpy())

    np.testing.assert_array_equal(*found)


def test_images_that_lie_apart() -> None:
    x, w = batch(3, 12, 10, 8), batch(3, 3, 4, 6)
    parts = x[:, ::2, :, 2:6]

    found = tf.nn.conv2d(tf.constant(x)[:, ::2, :, 2:6], w, 1, "VALID").numpy()

    expected = tf.nn.conv2d(np.ascontiguousarray(parts), w, 1, "VALID").numpy()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes(agree: Any, dtype: str) -> None:
    x, w = batch(2, 5, 6, 4, dtype=dtype), batch(3, 3, 4, 8, dtype=dtype)

    (found,) = agree(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), x, w)

    expected = convolved(x, w.astype("float64"), (1, 1), "SAME", (1, 1))
    tolerance = 1e-2 if dtype == "float16" else 1e-4
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    assert found.dtype == dtype


def test_rows_and_volumes(agree: Any) -> None:
    row, w = batch(2, 9, 3), batch(3, 3, 5)
    (found,) = agree(lambda x, w: tf.nn.conv1d(x, w, 2, "SAME", dilations=2), row, w)
    np.testing.assert_allclose(
        found, convolved(row, w, (2,), "SAME", (2,)), rtol=1e-4, atol=1e-5
    )
    volume, w = batch(2, 4, 5, 4, 3), batch(2, 3, 2, 3, 5)
    (found,) = agree(lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1], "SAME"), volume, w)
    expected = convolved(volume, w, (1, 2, 1), "SAME", (1, 1, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    same = tf.nn.convolution(volume, w, [1, 2, 1], "SAME")
    np.testing.assert_array_equal(same, found)


def test_channels_first() -> None:
    x, w = batch(2, 5, 6, 3), batch(3, 2, 3, 4)
    first = x.transpose(0, 3, 1, 2)
    paddings = [(0, 0), (1, 2), (0, 1), (0, 0)]

    found = tf.nn.conv2d(
        first,
        w,
        [1, 1, 2, 1],
        [(0, 0), *paddings[:3]][:1] + [(0, 0), (1, 2), (0, 1)],
        "NCHW",
    )

    expected = tf.nn.conv2d(x, w, [2, 1], paddings).numpy()
    np.testing.assert_array_equal(found.numpy().transpose(0, 2, 3, 1), expected)
    pooled = tf.nn.max_pool2d(first, [1, 1, 2, 3], 2, "SAME", "NCHW").numpy()
    expected = tf.nn.max_pool2d(x, [2, 3], 2, "SAME").numpy()
    np.testing.assert_array_equal(pooled.transpose(0, 2, 3, 1), expected)


@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_depthwise(
    agree: Any, monkeypatch: Any, strides: Any, times: int, block: int
) -> None:
    monkeypatch.setattr(convolve, "DEPTHWISE_BLOCK", block)
    monkeypatch.setattr(convolve, "DEPTHWISE_MANY", block)
    x, w = batch(2, 7, 6, 3), batch(3, 2, 3, times)

    (found,) = agree(
        lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, *strides, 1], "SAME"), x, w
    )

    each = [
        convolved(x[..., c : c + 1], w[:, :, c : c + 1], strides, "SAME", (1, 1))
        for c in range(3)
    ]
    np.testing.assert_allclose(found, np.concatenate(each, -1), rtol=1e-4, atol=1e-5)


def test_separable() -> None:
    x, w, points = batch(2, 7, 6, 3), batch(3, 2, 3, 2), batch(1, 1, 6, 4)

    found = tf.nn.separable_conv2d(x, w, points, [1, 1, 1, 1], "VALID")

    channels = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID").numpy()
    np.testing.assert_allclose(found.numpy(), channels @ points[0, 0], rtol=1e-4)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(0, 0), (1, 0), (0, 2), (0, 0)]])
def test_a_transposed_convolution_is_the_adjoint(agree: Any, padding: Any) -> None:
    x, w = batch(2, 6, 7, 3, dtype="float64"), batch(3, 2, 3, 4, dtype="float64")
    options: Any = {"strides": [2, 1], "padding": padding, "dilations": [1, 2]}
    y = tf.nn.conv2d(x, w, **options)
    g = batch(*y.shape, dtype="float64")

    (back,) = agree(
        lambda g, w: tf.nn.conv2d_transpose(g, w, [2, 6, 7, 3], **options), g, w
    )

    np.testing.assert_allclose(np.vdot(y, g), np.vdot(x, back))


@pytest.mark.parametrize("dilations", [[1, 1], [2, 1]])
@pytest.mark.parametrize(
    "padding",
    [
        "SAME",
        "VALID",
        [(0, 0), (1, 0), (0, 2), (0, 0)],
        [(0, 0)] * 2 + [(3, 0), (0, 0)],
    ],
)
def test_a_transposed_convolution_without_strides(padding: Any, dilations: Any) -> None:
    x, w = batch(2, 6, 7, 3, dtype="float64"), batch(3, 2, 3, 4, dtype="float64")
    y = tf.nn.conv2d(x, w, 1, padding, dilations=dilations)
    g = batch(*y.shape, dtype="float64")

    back = tf.nn.conv2d_transpose(g, w, x.shape, 1, padding, dilations=dilations)

    np.testing.assert_allclose(np.vdot(y, g), np.vdot(x, back))


def test_transposed_rows_and_volumes() -> None:
    x, w = batch(2, 7, 3, dtype="float64"), batch(3, 3, 4, dtype="float64")
    y = tf.nn.conv1d(x, w, 2, "SAME").numpy()
    back = tf.nn.conv1d_transpose(y, w, [2, 7, 3], 2)
    np.testing.assert_allclose(np.vdot(y, y), np.vdot(x, back))
    x, w = batch(2, 4, 5, 4, 3, dtype="float64"), batch(2, 3, 2, 3, 5, dtype="float64")
    y = tf.nn.conv3d(x, w, 2, "SAME").numpy()
    back = tf.nn.conv3d_transpose(y, w, x.shape, 2)
    np.testing.assert_allclose(np.vdot(y, y), np.vdot(x, back))


@pytest.mark.parametrize("channels", [(1, 4), (3, 4), (5, 16)])
@pytest.mark.parametrize("padding", ["SAME", [(0, 0), (1, 0), (0, 2), (0, 0)]])
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_the_gradient_of_filters_is_the_adjoint(
    monkeypatch: Any, channels: Any, padding: Any, dtype: str
) -> None:
    x, w = batch(5, 6, 7, channels[0], dtype=dtype), batch(3, 2, *channels, dtype=dtype)
    options: Any = {"strides": [2, 1], "padding": padding, "dilations": [1, 2]}
    y = tf.nn.conv2d(x, w, **options).numpy().astype("f8")
    g = batch(*y.shape, dtype=dtype)
    tolerance = 1e-9 if dtype == "float64" else 0.05
    for block, small, many in ((1, 1, 1), (3000, 900, 1), (1 << 20, 1 << 20, 1 << 30)):
        monkeypatch.setattr(convolve, "BLOCK", block)
        monkeypatch.setattr(convolve, "MANY", many)
        monkeypatch.setattr(small_products, "SMALL", small)
        monkeypatch.setattr(small_products, "LEAST", 2)

        v = tf.constant(w)
        with tf.GradientTape() as tape:
            tape.watch(v)
            y_again = tf.nn.conv2d(x, v, **options)
        back = tape.gradient(y_again, v, g).numpy()

        assert back.dtype == dtype
        wanted = np.vdot(w.astype("f8"), back.astype("f8"))
        np.testing.assert_allclose(
            wanted, np.vdot(y, g.astype("f8")), tolerance, 20 * tolerance
        )


def test_gradients_for_images_of_any_size() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 2], "float64")])
    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, [2, 1], "SAME")
        return tape.gradient(y, [x, w])

    w = tf.constant(batch(3, 3, 2, 4, dtype="float64"))
    x = batch(2, 5, 4, 2, dtype="float64")
    total = np.sum(tf.nn.conv2d(x, w, [2, 1], "SAME"))
    by_x, by_w = gradients(x)
    np.testing.assert_allclose([np.vdot(by_x, x), np.vdot(by_w, w)], [total, total])
    assert not gradients(x[:0])[1].numpy().any()


def test_the_transpose_for_a_shape_that_is_known_later(agree: Any) -> None:
    y, w = batch(2, 3, 3, 4), batch(3, 3, 2, 4)

    agree(
        lambda y, w: tf.nn.conv2d_transpose(y, w, [tf.shape(y)[0], 6, 6, 2], 2),
        y,
        w,
    )


# --- pooling --------------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("size", "stride"), [((2, 2), (2, 2)), ((3, 1), (1, 2)), ((4, 5), (3, 1))]
)
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_pooling(
    agree: Any, monkeypatch: Any, padding: str, size: Any, stride: Any, block: int
) -> None:
    monkeypatch.setattr(pooling, "BLOCK", block)
    monkeypatch.setattr(pooling, "MANY", 1)
    x = batch(2, 5, 7, 3)

    largest, mean = agree(
        lambda x: [
            tf.nn.max_pool2d(x, size, stride, padding),
            tf.nn.avg_pool(x, size, stride, padding)
            if x.shape.rank
            else tf.nn.avg_pool2d(x, size, stride, padding),
        ],
        x,
    )

    filled = windows(x, size, stride, padding, (1, 1), fill=np.nan)
    np.testing.assert_array_equal(largest, np.nanmax(filled, (3, 4)))
    np.testing.assert_allclose(mean, np.nanmean(filled, (3, 4)), rtol=1e-5, atol=1e-6)


def test_other_pools() -> None:
    row, volume = batch(2, 8, 3), batch(1, 4, 4, 4, 2)
    apart = windows(row, (2,), (1,), "VALID", (3,))
    found = tf.nn.pool(row, [2], "MAX", dilations=[3])
    np.testing.assert_array_equal(found, apart.max(2))
    np.testing.assert_array_equal(
        tf.nn.max_pool1d(row, 2, 2, "VALID"), tf.nn.max_pool(row, 2, 2, "VALID")
    )
    np.testing.assert_allclose(
        tf.nn.avg_pool1d(row, 8, 1, "VALID").numpy()[:, 0], row.mean(1), rtol=1e-5
    )
    np.testing.assert_array_equal(
        tf.nn.max_pool3d(volume, 4, 1, "VALID").numpy().ravel(),
        volume.max((1, 2, 3)).ravel(),
    )
    np.testing.assert_allclose(
        tf.nn.avg_pool3d(volume, 4, 1, "VALID").numpy().ravel(),
        volume.mean((1, 2, 3)).ravel(),
        rtol=1e-4,
    )
    integers = np.array([[[3], [-7], [-5]]], np.int32)
    found = tf.nn.max_pool1d(integers, 2, 1, "SAME").numpy().ravel()
    assert found.tolist() == [3, -5, -5]
    # More elements in a window than a byte can count.
    many = tf.nn.max_pool2d(np.full((1, 20, 20, 1), 7, np.uint8), 20, 1, "VALID")
    assert many.numpy().tolist() == [[[[7]]]]
    padded = [(0, 0), (1, 0), (0, 0)]
    found = tf.nn.max_pool1d(integers, 2, 2, padded).numpy().ravel()
    assert found.tolist() == [3, -5]


@pytest.mark.parametrize("block", [1, 4 * 5 * 2 * 4, 1 << 20])  # 4 rows: an image
def test_windows_in_wide_paddings(monkeypatch: Any, block: int) -> None:
    monkeypatch.setattr(pooling, "BLOCK", block)
    x = batch(3, 4, 5, 2)
    around = [(0, 0), (5, 7), (0, 6), (0, 0)]
    for size, stride in ((1, 1), (2, 1), (3, 2), (1, 3)):
        found = tf.nn.max_pool2d(x, size, stride, around).numpy()
        steps = (stride, stride)
        filled = windows(x, (size, size), steps, around[1:3], (1, 1), fill=-np.inf)
        np.testing.assert_array_equal(found, filled.max((3, 4)))


@pytest.mark.parametrize("inside", [1, 16])
def test_a_nan_reaches_the_windows_that_have_it(inside: int) -> None:
    x = np.zeros((2, 6, 7, inside), "float32")
    x[0, 5, 6] = x[1, 0, 0] = np.nan

    found = tf.nn.conv2d(x, np.ones((3, 3, inside, 1), "float32"), 1, "SAME").numpy()

    expected = np.zeros((2, 6, 7), bool)
    expected[0, 4:, 5:] = expected[1, :2, :2] = True
    np.testing.assert_array_equal(np.isnan(found[..., 0]), expected)


def test_no_images() -> None:
    found = tf.nn.conv2d(tf.zeros([0, 5, 5, 1]), tf.zeros([3, 3, 1, 2]), 1, "VALID")
    assert found.shape == [0, 3, 3, 2]
    assert tf.nn.max_pool2d(tf.zeros([0, 4, 4, 1]), 2, 2, "VALID").shape == [0, 2, 2, 1]


# --- what does not fit ----------------------------------------------------------------

X, W = np.zeros((1, 4, 4, 6), "float32"), np.zeros((3, 3, 6, 8), "float32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, w: tf.nn.conv2d(x, w[:, :, :4], 1, "SAME"), "6 channels, and the"),
        (lambda x, w: tf.nn.conv2d(x, w[:, :, :4, :3], 1, "SAME"), "6 channels"),
        (lambda x, w: tf.nn.conv2d(x[:, :2], w, 1, "VALID"), "a window of 3 elements"),
        (lambda x, w: tf.nn.conv2d(x[0], w, 1, "VALID"), "the input must have 4 axes"),
        (lambda x, w: tf.nn.conv2d(x, w[0], 1, "VALID"), "the filters must have 4"),
        (
            lambda x, w: tf.nn.depthwise_conv2d(x, w[:, :, :5], [1, 1, 1, 1], "SAME"),
            "6 channels, and the filters",
        ),
        (
            lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 8, 8, 6], 2),
            "6 channels, and the filters .* are for 8",
        ),
        (
            lambda x, w: tf.nn.conv2d_transpose(x, w[..., :6], [1, 9, 8, 6], 2),
            "does not give the shape of the input",
        ),
        (lambda x, w: tf.nn.max_pool2d(x, 5, 1, "VALID"), "does not fit into the 4"),
    ],
)
def test_shapes_that_do_not_fit(call: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call(tf.constant(X), tf.constant(W))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(call).get_concrete_function(X, W)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.nn.conv2d(X, W, 1, "FULL"), "padding must be 'SAME'"),
        (
            lambda: tf.nn.conv2d(X, W, [2, 1, 1, 1], "SAME"),
            "strides .* be 1 along",
        ),
        (lambda: tf.nn.conv2d(X, W, [1, 2, 3], "SAME"), "must be an int or have 1, 2"),
        (lambda: tf.nn.conv2d(X, W, 0, "SAME"), "strides must be positive"),
        (lambda: tf.nn.conv2d(X, W, 1, [(1, 1)]), "padding must have 4 pairs"),
        (lambda: tf.nn.conv2d(X, W, 1, [(1, 1)] * 4), "be 0 along the batch"),
        (lambda: tf.nn.conv2d(X, W, 1, "SAME", "CHWN"), "data_format must be 'NHWC'"),
        (lambda: tf.nn.pool(X, 2, "MIN"), "pooling_type must be"),
        (lambda: tf.nn.avg_pool2d(X, 2, 1, [(0, 0)] * 4), "'SAME' or 'VALID'"),
        (lambda: tf.nn.max_pool(X[0, 0], 2, 1, "SAME"), "3, 4 or 5 axes"),
        (lambda: tf.nn.convolution(X, W[0, 0]), "3, 4 or 5 axes"),
    ],
)
def test_arguments_that_are_wrong(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_names_in_a_graph() -> None:
    @tf.function
    def network(x: Any) -> Any:
        x = tf.nn.conv2d(x, W, 1, [(0, 0), (1, 1), (0, 2), (0, 0)])
        return tf.nn.avg_pool2d(x, 2, 2, "SAME")

    graph = network.get_concrete_function(tf.TensorSpec([None, 4, 4, 6])).graph
    nodes = {node.op: node for node in graph.as_graph_def().node}

    conv, pool = nodes["Conv2D"].attr, nodes["AvgPool"].attr
    assert [part.i for part in conv["strides"].list] == [1, 1, 1, 1]
    assert [part.i for part in conv["explicit_paddings"].list] == [
        0,
        0,
        1,
        1,
        0,
        2,
        0,
        0,
    ]
    assert [part.i for part in pool["ksize"].list] == [1, 2, 2, 1]
    assert graph.outputs[0].shape.as_list() == [None, 2, 2, 8]
