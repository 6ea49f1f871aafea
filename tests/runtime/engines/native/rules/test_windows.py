"""Convolutions and pools as native code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runtime as tf
from runtime.engines.native.rules import windows as rules
from runtime.ops.kernels.image_blocks import Axis
from tests.runtime.engines.native.sweep import compare
from tests.runtime.engines.xla.rules import test_windows
from tests.runtime.ops.comparison import Case
from tests.runtime.ops.reduce.test_decompositions import drawn
from tests.runtime.sweep import Run


def is_unusual(run: Run, why: str) -> bool:
    """Whether a case may be refused: for its dtype or shapes, or since it fails."""
    return any(text in why for text in ("has no native code", "not fit", "not known"))


#: Images, filters, strides, dilations, and padding: on both sides of tiles.
CONVOLUTIONS: tuple[Any, ...] = (
    ((2, 7, 9, 3), (3, 3, 3, 20), 1, 1, "SAME"),
    ((1, 8, 21, 16), (3, 3, 16, 32), 1, 1, "VALID"),
    ((2, 9, 8, 5), (3, 2, 5, 7), [2, 3], 1, "SAME"),
    ((1, 11, 10, 2), (3, 3, 2, 40), 1, [2, 3], "SAME"),
    ((3, 5, 4, 4), (1, 1, 4, 33), 1, 1, "VALID"),
    ((1, 10, 9, 3), (2, 2, 3, 4), [3, 4], 1, "VALID"),
    ((1, 6, 6, 1), (3, 3, 1, 1), [2, 2], [2, 1], [[0, 0], [3, 1], [0, 4], [0, 0]]),
    ((0, 6, 6, 1), (3, 3, 1, 2), 1, 1, "SAME"),
    # Groups of channels: of one, with one filter for each or several, and of several.
    ((2, 7, 9, 40), (3, 3, 1, 40), 1, 1, "SAME"),
    ((9, 40, 40, 24), (3, 3, 1, 24), 2, 1, "SAME"),
    ((2, 7, 9, 9), (3, 2, 1, 18), [2, 3], 1, "SAME"),
    ((1, 9, 6, 3), (3, 3, 1, 6), 1, [2, 1], "VALID"),
    ((2, 7, 9, 12), (3, 2, 4, 60), [2, 1], [1, 2], "SAME"),
    ((3, 5, 4, 4), (1, 1, 2, 6), [2, 2], 1, "VALID"),
)  # fmt: skip


def of_convolutions() -> Iterator[Case]:
    for number, (images, filters, strides, dilations, padding) in enumerate(
        CONVOLUTIONS
    ):
        dtype = (np.float32, np.float64)[number % 3 == 1]

        def trained(
            x: Any,
            w: Any,
            a: Any = (strides, padding, dilations),
            shapes: Any = (images, filters),
        ) -> Any:
            # In one case only the rank of a constant's neighbour is known.
            x, w = (tf.ensure_shape(v, shape) for v, shape in zip((x, w), shapes))
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                y = tf.nn.conv2d(x, w, a[0], a[1], dilations=a[2])
                loss = tf.reduce_sum(y * y)
            return [y, *tape.gradient(loss, [x, w])]

        inputs = drawn(*images, dtype=dtype), drawn(*filters, dtype=dtype, seed=1)
        yield Case("Conv2D", trained, inputs, 400, True, ("full",))


def of_channels() -> Iterator[Case]:
    for channels, times in ((1, 1), (9, 2), (40, 1)):
        x, w = drawn(2, 6, 5, channels), drawn(2, 3, channels, times, seed=1)

        def by_depth(x: Any, w: Any) -> Any:
            return tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME")

        yield Case("DepthwiseConv2dNative", by_depth, (x, w), 64, True, ("full",))
        for pool in (tf.nn.max_pool2d, tf.nn.avg_pool2d):

            def pooled(x: Any, pool: Any = pool) -> Any:
                return pool(x, 3, 2, "SAME")

            yield Case("Pool", pooled, (x,), 8, True, ("full",))


@pytest.mark.parametrize(
    "cases",
    [
        test_windows.of_doubles,
        test_windows.of_dtypes,
        test_windows.of_pools,
        pytest.param(of_convolutions, marks=pytest.mark.slow),
        of_channels,
    ],
)
def test_windows_of_images(cases: Any) -> None:
    compare(cases(), is_unusual)


def test_the_number_of_images_may_be_unknown() -> None:
    specs = [tf.TensorSpec([None, 8, 9, 3]), tf.TensorSpec([3, 2, 3, 5])]

    def trained(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.max_pool2d(tf.nn.conv2d(x, w, 2, "SAME"), 2, 1, "VALID")
            loss = tf.reduce_sum(y * y)
        return [y, *tape.gradient(loss, [x, w])]

    native = tf.function(trained, input_signature=specs, executor="native")
    assert native.get_concrete_function().executor == "native"
    for count in (0, 1, 3):
        inputs = tf.constant(drawn(count, 8, 9, 3)), tf.constant(drawn(3, 2, 3, 5))
        for found, expected in zip(native(*inputs), trained(*inputs)):
            np.testing.assert_allclose(
                found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-2
            )


@given(
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 4),
    st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
def test_each_element_is_summed_where_a_window_has_it(
    length: int, size: int, apart: int, stride: int, pads: tuple[int, int]
) -> None:
    count = (length + sum(pads) - (size - 1) * apart - 1) // stride + 1
    axis = Axis(length, size, apart, stride, max(count, 0), pads)

    terms = {gives: set(terms_of(axis, gives)) for gives in "ywx"}

    expected = {
        (window, tap, window * stride + tap * apart - pads[0])
        for window, tap in product(range(axis.windows), range(size))
    }
    assert terms["y"] == expected
    assert {(window, tap, at) for tap, window, at in terms["w"]} == expected
    inside = {each for each in expected if 0 <= each[2] < length}
    found = {(window, tap, at) for at, tap, window in terms["x"]}
    assert {each for each in found if 0 <= each[0] < axis.windows} == inside


def terms_of(axis: Axis, gives: str) -> Iterator[tuple[int, int, int]]:
    """Each sum, with its terms and the elements that they are."""
    (line,) = rules._lines([axis], gives)
    for sums, terms, element, moves in rules._phases(line):
        for (i, s), (j, t) in product(enumerate(sums), enumerate(terms)):
            yield s, t, element + i * moves[0] + j * moves[1]
