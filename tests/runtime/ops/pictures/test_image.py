"""``tf.image`` in graphs, with gradients, by chance; what it does not take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import InvalidArgumentError
from tests.runtime.ops.pictures import record
from tests.runtime.ops.pictures.record import BYTES, ONE, PIXELS, Case
from tests.runtime.ops.pictures.test_recorded import CASES, RECORDED, check_equal

#: A case of each function, and of each method of `resize`.
FIRST: dict[str, Case] = {}
for _case in CASES.values():
    FIRST.setdefault(f"{_case.function} {_case.kwargs.get('method', '')}", _case)


def traced(case: Case, unknown: bool, **options: Any) -> np.ndarray[Any, Any]:
    """The result of a graph whose input is the image, of a known or unknown size."""
    image = tf.constant(case.args[0])
    shape = [*[None] * (image.shape.rank - 1), image.shape[-1]]
    spec = tf.TensorSpec(shape if unknown else image.shape, image.dtype)

    @tf.function(input_signature=[spec], **options)
    def function(image: Any) -> Any:
        found = getattr(tf.image, case.function)(image, *rest, **case.kwargs)
        return tf.stack(found) if type(found) is tuple else found

    rest = [tf.constant(x) if isinstance(x, np.ndarray) else x for x in case.args[1:]]
    return function(image).numpy()


# --- graphs ---------------------------------------------------------------------------


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("name", FIRST)
def test_graphs_compute_the_same(name: str, unknown: bool) -> None:
    check_equal(traced(FIRST[name], unknown), RECORDED[FIRST[name].name])


@pytest.mark.parametrize("name", FIRST)
def test_native_code_computes_the_same(name: str) -> None:
    pytest.importorskip("llvmlite")
    before = tf.config.get_executor()
    tf.config.set_executor("native")
    try:
        check_equal(traced(FIRST[name], True), RECORDED[FIRST[name].name])
    finally:
        tf.config.set_executor(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST)
def test_xla_computes_the_same(name: str) -> None:
    pytest.importorskip("jax")
    if FIRST[name].function == "non_max_suppression":
        pytest.skip("the length of its result is no part of a program of XLA")
    found = traced(FIRST[name], False, jit_compile=True)
    check_equal(found, RECORDED[FIRST[name].name])


def test_known_sizes_give_known_shapes() -> None:
    @tf.function
    def function(x: Any) -> Any:
        assert tf.image.resize(x, [3, 4]).shape == [2, 3, 4, 3]
        ratio = tf.image.resize(x, [14, 90], preserve_aspect_ratio=True)
        assert ratio.shape == [2, 14, 10, 3]
        assert tf.image.resize_with_pad(x, 9, 4).shape == [2, 9, 4, 3]
        assert tf.image.resize_with_crop_or_pad(x, 9, 4).shape == [2, 9, 4, 3]
        assert tf.image.central_crop(x, 0.5).shape == [2, 5, 3, 3]
        assert tf.image.rot90(x).shape == [2, 5, 7, 3]
        assert tf.image.random_flip_up_down(x).shape == x.shape
        assert tf.image.random_crop(x, [2, 3, 3, 3]).shape == [2, 3, 3, 3]
        windows = [1, 3, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"
        assert tf.image.extract_patches(x, *windows).shape == [2, 7, 5, 18]
        return x

    function(PIXELS)


@pytest.mark.parametrize("method", record.METHODS)
def test_sizes_and_turns_may_be_tensors(method: str) -> None:
    scalar, vector = tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.int32)

    @tf.function(input_signature=[tf.TensorSpec(PIXELS.shape), vector, scalar])
    def function(x: Any, size: Any, k: Any) -> Any:
        turned = tf.image.rot90(x, k)
        return tf.image.resize(turned, size, method, preserve_aspect_ratio=True)

    for k in (0, 1, 2, 3, -1):
        for size in ([4, 9], [30, 20]):
            expected = tf.image.resize(
                tf.image.rot90(PIXELS, k), size, method, preserve_aspect_ratio=True
            )
            check_equal(function(PIXELS, size, k).numpy(), expected.numpy())


def test_lengths_of_tensors_are_checked_when_they_are_there() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None, 3])])
    def function(x: Any) -> Any:
        return tf.image.crop_to_bounding_box(x, 1, 1, 3, 3)

    assert np.array_equal(function(ONE), ONE[1:4, 1:4])
    with pytest.raises(InvalidArgumentError):
        function(ONE[:3])


# --- gradients ------------------------------------------------------------------------

DIFFERENTIABLE = [
    ("resize", ([5, 8],), {}),
    ("resize", ([5, 8], "lanczos3"), {"antialias": True}),
    ("resize_with_pad", (9, 4), {}),
    ("central_crop", (0.5,), {}),
    ("adjust_hue", (0.2,), {}),
    ("adjust_saturation", (0.7,), {}),
    ("adjust_contrast", (1.5,), {}),
    ("per_image_standardization", (), {}),
    ("rgb_to_hsv", (), {}),
    ("sobel_edges", (), {}),
    ("total_variation", (), {}),
    ("extract_patches", ([1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"), {}),
    ("crop_and_resize", (record.BOXES, [0, 1, 0, 1], [3, 4]), {}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), DIFFERENTIABLE)
def test_gradients_are_those_of_small_steps(
    function: str, args: Any, kwargs: Any
) -> None:
    def total(x: Any) -> Any:
        found = getattr(tf.image, function)(x, *args, **kwargs)
        weights = tf.sin(tf.range(tf.size(found), dtype=tf.float32))
        return tf.reduce_sum(found * tf.reshape(weights, tf.shape(found)))

    x, direction = tf.constant(PIXELS), tf.constant(record._draw(2, 7, 5, 3, seed=9))
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = total(x)
    gradient = tape.gradient(result, x)

    step = 1e-3
    expected = (total(x + step * direction) - total(x - step * direction)) / (2 * step)
    slope = tf.reduce_sum(gradient * direction)
    assert abs(float(slope - expected)) < 2e-2 * max(1, abs(float(expected)))


@pytest.mark.parametrize("function", ["rgb_to_hsv", "adjust_hue", "adjust_saturation"])
@pytest.mark.parametrize("gray", [0.0, 0.5])
def test_gradients_at_grays_are_numbers(function: str, gray: float) -> None:
    x = tf.fill([2, 2, 3], gray)
    args = () if function == "rgb_to_hsv" else (0.3,)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = getattr(tf.image, function)(x, *args)
    assert np.isfinite(tape.gradient(found, x)).all()


# --- chance ---------------------------------------------------------------------------

RANDOM = {
    "brightness": (0.3,),
    "contrast": (0.5, 1.5),
    "hue": (0.3,),
    "saturation": (0.5, 1.5),
    "flip_left_right": (),
    "flip_up_down": (),
    "crop": ([2, 3, 3, 3],),
}


@pytest.mark.parametrize("kind", RANDOM)
def test_changes_by_chance(kind: str) -> None:
    by_stream = getattr(tf.image, f"random_{kind}")
    by_seed = getattr(tf.image, f"stateless_random_{kind}")

    tf.random.set_seed(1)
    drawn = {by_stream(PIXELS, *RANDOM[kind]).numpy().tobytes() for _ in range(12)}
    assert len(drawn) > 2
    seeded = [by_seed(PIXELS, *RANDOM[kind], seed=[n, 7]).numpy() for n in range(12)]
    assert len({found.tobytes() for found in seeded}) > 2
    again = by_seed(PIXELS, *RANDOM[kind], seed=[3, 7]).numpy()
    assert np.array_equal(again, seeded[3])


def test_each_image_is_flipped_by_itself() -> None:
    images = np.repeat(ONE[None], 64, 0)
    found = tf.image.stateless_random_flip_left_right(images, [1, 2]).numpy()
    flipped = [np.array_equal(image, ONE[:, ::-1]) for image in found]
    kept = [np.array_equal(image, ONE) for image in found]
    assert 20 < sum(flipped) < 44
    assert sum(flipped) + sum(kept) == 64


def test_random_crops_are_from_everywhere() -> None:
    x = np.arange(6).reshape(6, 1, 1)
    crops = [tf.image.stateless_random_crop(x, [3, 1, 1], [n, 0]) for n in range(60)]
    assert {int(crop[0, 0, 0]) for crop in crops} == {0, 1, 2, 3}
    assert all(np.array_equal(np.diff(crop, axis=0), [[[1]]] * 2) for crop in crops)
    with pytest.raises(InvalidArgumentError):
        tf.image.random_crop(x, [7, 1, 1])


# --- what TensorFlow's results do not tell --------------------------------------------


def test_dtypes() -> None:
    assert tf.image.resize(BYTES, [2, 2]).dtype == tf.float32
    assert tf.image.resize(BYTES, [2, 2], "nearest").dtype == tf.uint8
    assert tf.image.adjust_hue(BYTES, 0.1).dtype == tf.uint8
    assert tf.image.flip_up_down(BYTES).dtype == tf.uint8
    half = tf.constant(PIXELS, tf.float16)
    assert tf.image.adjust_contrast(half, 0.5).dtype == tf.float16


def test_equal_images() -> None:
    assert np.isposinf(tf.image.psnr(PIXELS, PIXELS, 1.0)).all()
    assert np.allclose(tf.image.ssim(PIXELS, PIXELS, 1.0, 5), 1)


def test_no_images_and_no_boxes() -> None:
    assert tf.image.resize(PIXELS[:0], [2, 2]).shape == [0, 2, 2, 3]
    assert tf.image.non_max_suppression(np.zeros((0, 4)), [], 3).shape == [0]
    crops = tf.image.crop_and_resize(PIXELS, np.zeros((0, 4)), [], [2, 2])
    assert crops.shape == [0, 2, 2, 3]
    boxes = np.zeros((2, 0, 4), np.float32)
    assert np.array_equal(tf.image.draw_bounding_boxes(PIXELS, boxes, None), PIXELS)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: tf.image.resize(PIXELS[0, 0], [2, 2]),
        InvalidArgumentError,
        "images must",
    ),
    (lambda: tf.image.resize(PIXELS, [2, 2], "cubic"), ValueError, "ResizeMethod"),
    (lambda: tf.image.resize(PIXELS, [2]), ValueError, "a height and a width"),
    (lambda: tf.image.resize(PIXELS, [0, 2]), InvalidArgumentError, "must be positive"),
    (lambda: tf.image.resize(PIXELS[:, :0], [2, 2]), InvalidArgumentError, "positive"),
    (lambda: tf.image.resize_with_crop_or_pad(ONE, 3, -1), InvalidArgumentError, "pos"),
    (lambda: tf.image.central_crop(ONE, 0.0), ValueError, r"within \(0, 1\]"),
    (
        lambda: tf.image.crop_to_bounding_box(ONE, 5, 0, 3, 3),
        ValueError,
        r"3 x 3 pixels at \(5, 0\) are not within 7 x 5",
    ),
    (
        lambda: tf.image.pad_to_bounding_box(ONE, 0, 0, 6, 9),
        ValueError,
        r"7 x 5 pixels at \(0, 0\) are not within 6 x 9",
    ),
    (lambda: tf.image.rgb_to_hsv(ONE[..., :2]), InvalidArgumentError, "3 channels"),
    (lambda: tf.image.grayscale_to_rgb(ONE), InvalidArgumentError, "1 channels"),
    (lambda: tf.image.random_hue(ONE, 0.6), ValueError, "0 to 0.5"),
    (lambda: tf.image.random_contrast(ONE, 2, 1), ValueError, "more than lower"),
    (lambda: tf.image.adjust_gamma(ONE, -1), ValueError, "not be negative"),
    (lambda: tf.image.sobel_edges(ONE), ValueError, "a batch of images"),
    (
        lambda: tf.image.extract_patches(
            PIXELS, [1, 2, 2, 2], [1] * 4, [1] * 4, "SAME"
        ),
        ValueError,
        r"\[1, rows, columns, 1\]",
    ),
    (
        lambda: tf.image.crop_and_resize(PIXELS, record.BOXES, [0] * 4, [2, 2], "area"),
        ValueError,
        "'bilinear' or 'nearest'",
    ),
    (
        lambda: tf.image.crop_and_resize(PIXELS, record.BOXES, [0, 0, 0, 2], [2, 2]),
        InvalidArgumentError,
        r"indices\[3\] = 2 is not in",
    ),
    (
        lambda: tf.image.non_max_suppression(np.zeros((3, 2)), [0.0] * 3, 2),
        InvalidArgumentError,
        r"boxes must be \(box, 4\)",
    ),
    (
        lambda: tf.image.non_max_suppression(record.BOXES, [0.0] * 3, 2),
        InvalidArgumentError,
        r"a vector with one of each, not of the shapes \(4, 4\) and \(3,\)",
    ),
    (
        lambda: tf.image.non_max_suppression(record.BOXES, [0.0] * 4, 2, 1.5),
        InvalidArgumentError,
        r"iou_threshold be within \[0, 1\], not 2 and 1.5",
    ),
    (
        lambda: tf.image.draw_bounding_boxes(PIXELS, record.BOXES, None),
        InvalidArgumentError,
        r"boxes be \(number, box, 4\)",
    ),
]


@pytest.mark.parametrize(("use", "kind", "text"), REFUSED)
def test_refusals(use: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        use()


def test_boxes_read_no_pixel_without_a_share() -> None:
    image = np.ones((1, 8, 8, 1), "f")
    image[0, 0, 0] = np.inf
    crop = tf.image.crop_and_resize(image, [[0.5, 0.5, 1.0, 1.0]], [0], [4, 4])
    whole = tf.image.crop_and_resize(image, [[0.0, 0.0, 1.0, 1.0]], [0], [8, 8])

    assert crop.numpy().tolist() == np.ones((1, 4, 4, 1)).tolist()
    assert np.array_equal(whole, image)


def test_a_box_that_is_upside_down_is_not_drawn() -> None:
    image = np.zeros((1, 6, 6, 3), "f")
    drawn = tf.image.draw_bounding_boxes(image, [[[0.8, 0.2, 0.2, 0.8]]], [[1.0] * 3])

    assert np.array_equal(drawn, image)


def test_arguments_that_tensorflow_refuses() -> None:
    image = np.ones((4, 4, 3), "f")
    with pytest.raises(ValueError, match="lower must not be negative"):
        tf.image.random_contrast(image, -2.0, -1.0)
    with pytest.raises(ValueError, match="differ"):
        tf.image.psnr(image, image[..., :1], 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="gamma must not be"):
        tf.image.adjust_gamma(image, tf.constant(-1.0))
