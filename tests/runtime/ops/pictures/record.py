"""Results of TensorFlow that the tests of pictures compare with.

``python tests/runtime/ops/pictures/record.py``, run by a Python that has TensorFlow
2.21, writes `RECORDED` anew. `cases` and `files` are what both libraries are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RECORDED = Path(__file__).with_name("recorded.npz")


class Case(NamedTuple):
    """A call of a function of ``tf.image``."""

    name: str
    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = {}


def _draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random(shape, np.float32)


PIXELS = _draw(2, 7, 5, 3)
BYTES = (PIXELS * 255.99).astype(np.uint8)
WORDS = (PIXELS * 65535).astype(np.uint16)
ONE, GRAY = PIXELS[0], PIXELS[..., :1]
#: Places along it are rounded in float32, which tells how they are computed.
ROW = _draw(1, 1317, 1, seed=4)
WIDE = _draw(1, 16, 17, 2, seed=1)

METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5")
METHODS += ("gaussian", "mitchellcubic")
SIZES = ((3, 9), (7, 5), (11, 4), (1, 1), (14, 15))


def _resizes() -> Iterator[Case]:
    for method in METHODS:
        for size in SIZES:
            for antialias in (False, True):
                name = f"resize {method} {size} {antialias}"
                options = {"method": method, "antialias": antialias}
                yield Case(name, "resize", (PIXELS, size), options)
            name = f"resize {method} row {antialias}"
            yield Case(name, "resize", (ROW, (1, 401)), options)
        yield Case(f"resize {method} bytes", "resize", (BYTES, (4, 9), method))
        options = {"method": method, "preserve_aspect_ratio": True}
        yield Case(f"resize {method} ratio", "resize", (ONE, (20, 9)), options)
        for size in ((9, 4), (3, 8)):
            args = (PIXELS, *size, method)
            yield Case(f"resize_with_pad {method} {size}", "resize_with_pad", args)


def _geometry() -> Iterator[Case]:
    for height in (3, 4, 7, 10, 11):
        args = (PIXELS, height, 14 - height)
        yield Case(f"crop_or_pad {height}", "resize_with_crop_or_pad", args)
    for fraction in (0.3, 0.5, 0.75, 1.0):
        yield Case(f"central_crop {fraction}", "central_crop", (PIXELS, fraction))
    yield Case("crop", "crop_to_bounding_box", (ONE, 1, 2, 4, 3))
    yield Case("pad", "pad_to_bounding_box", (ONE, 1, 2, 9, 9))
    for function in ("flip_left_right", "flip_up_down", "transpose"):
        yield Case(f"{function} one", function, (ONE,))
        yield Case(f"{function} two", function, (PIXELS,))
    for k in range(-1, 5):
        yield Case(f"rot90 {k}", "rot90", (PIXELS, k))
    for padding in ("SAME", "VALID"):
        for size, stride, rate in ((3, 1, 1), (2, 2, 1), (3, 3, 2), (2, 5, 1)):
            windows = ([1, size, 2, 1], [1, stride, 1, 1], [1, rate, rate, 1])
            name = f"extract_patches {padding} {size} {stride} {rate}"
            yield Case(name, "extract_patches", (PIXELS, *windows, padding))


DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "float16", "float32", "float64")
VALUES = {
    "floats": np.array([0, 0.1, 0.25, 0.5, 0.999, 1], np.float32),
    "bytes": np.array([0, 1, 127, 128, 255], np.uint8),
    "words": np.array([0, 1, 255, 256, 40000, 65535], np.uint16),
    "signed": np.array([0, 1, 255, 32767], np.int16),
}


def _colors() -> Iterator[Case]:
    for name, values in VALUES.items():
        for dtype in DTYPES:
            yield Case(
                f"convert {name} {dtype}", "convert_image_dtype", (values, dtype)
            )
    beyond = np.array([-2, 0.5, 3], np.float32)
    yield Case("saturate", "convert_image_dtype", (beyond, "uint8", True))
    for note, image in (("floats", PIXELS), ("bytes", BYTES), ("words", WORDS)):
        for delta in (-0.3, 0.2):
            yield Case(
                f"brightness {note} {delta}", "adjust_brightness", (image, delta)
            )
            yield Case(f"hue {note} {delta}", "adjust_hue", (image, delta))
        for factor in (0.4, 1.8):
            yield Case(f"contrast {note} {factor}", "adjust_contrast", (image, factor))
            args = (image, factor)
            yield Case(f"saturation {note} {factor}", "adjust_saturation", args)
            yield Case(f"gamma {note} {factor}", "adjust_gamma", (image, factor, 1.1))
        yield Case(f"grayscale {note}", "rgb_to_grayscale", (image,))
        yield Case(f"standard {note}", "per_image_standardization", (image,))
    yield Case("standard flat", "per_image_standardization", (ONE * 0 + 3,))
    yield Case("grayscale_to_rgb", "grayscale_to_rgb", (GRAY,))
    grays = np.array([[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.2], [1, 0, 1]], np.float32)
    for function in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb"):
        yield Case(function, function, (PIXELS,))
        yield Case(f"{function} grays", function, (grays,))
    for function in ("rgb_to_yiq", "yiq_to_rgb"):
        yield Case(function, function, (PIXELS,))
    yield Case("hue below 0", "adjust_hue", (PIXELS * 2 - 1, 0.4))


BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], [-0.2, 0.3, 1.3, 0.5], [0.8, 0.9, 0.1, 0.2]],
    np.float32,
)


def _scored() -> Iterator[Case]:
    corners = _draw(30, 2, seed=5)
    boxes = np.concatenate([corners, corners + 0.3 * _draw(30, 2, seed=6)], 1)
    scores = np.round(_draw(30, seed=7), 1)
    for overlap in (0.0, 0.2, 0.5):
        for least in (-np.inf, 0.35):
            args = (boxes, scores, 12, overlap, least)
            yield Case(f"best {overlap} {least}", "non_max_suppression", args)


def _others() -> Iterator[Case]:
    for note, image in (("floats", PIXELS), ("one", ONE)):
        yield Case(f"variation {note}", "total_variation", (image,))
    yield Case("sobel", "sobel_edges", (PIXELS,))
    yield Case("gradients", "image_gradients", (PIXELS,))
    other = np.clip(PIXELS + 0.1 * _draw(2, 7, 5, 3, seed=2), 0, 1)
    yield Case("psnr", "psnr", (PIXELS, other, 1.0))
    yield Case("psnr bytes", "psnr", (BYTES, (other * 255).astype(np.uint8), 255))
    noisy = np.clip(WIDE + 0.2 * _draw(1, 16, 17, 2, seed=3), 0, 1)
    yield Case("ssim", "ssim", (WIDE, noisy, 1.0))
    yield Case("ssim map", "ssim", (WIDE, noisy, 1.0, 5), {"return_index_map": True})
    for method in ("bilinear", "nearest"):
        for size in ((3, 4), (1, 6)):
            args = (PIXELS, BOXES, [0, 1, 0, 1], size, method, 0.5)
            yield Case(f"crop_and_resize {method} {size}", "crop_and_resize", args)
    colors = np.array([[0.1, 0.2, 0.3], [1, 0.5, 0]], np.float32)
    boxes = np.stack([BOXES, BOXES[::-1]])
    for note, table in (("ten", None), ("two", colors)):
        yield Case(f"draw {note}", "draw_bounding_boxes", (PIXELS, boxes, table))
    yield Case("draw gray", "draw_bounding_boxes", (GRAY, boxes, None))
    yield from _scored()


def cases() -> list[Case]:
    """What is computed from numbers."""
    return [*_resizes(), *_geometry(), *_colors(), *_others()]


def files(tf: Any) -> dict[str, bytes]:
    """Files of pictures that the library `tf` writes."""
    image = (np.add.outer(np.arange(12) * 7, np.arange(10) * 9)).astype(np.uint8)
    image = image[..., None] + np.array([0, 40, 90, 130], np.uint8)
    found = {f"png {n}": tf.io.encode_png(image[..., :n]) for n in (1, 2, 3, 4)}
    found["png 16"] = tf.io.encode_png(image[..., :1].astype(np.uint16) * 200 + 7)
    found["jpeg 1"] = tf.io.encode_jpeg(image[..., :1])
    found["jpeg 3"] = tf.io.encode_jpeg(image[..., :3])
    found["jpeg fine"] = tf.io.encode_jpeg(image[..., :3], chroma_downsampling=False)
    return {name: data.numpy() for name, data in found.items()}


def decoded(tf: Any, files: dict[str, bytes]) -> dict[str, Any]:
    """What the library `tf` reads from these files."""
    found = {}
    for name, data in files.items():
        if name.startswith("jpeg"):
            for channels in (0, 1, 3):
                found[f"{name} as {channels}"] = tf.io.decode_jpeg(
                    data, channels, dct_method="INTEGER_ACCURATE"
                )
            continue
        for channels in (0, 1, 3, 4):
            found[f"{name} as {channels}"] = tf.io.decode_png(data, channels)
        for dtype in ("uint16", "float32"):
            found[f"{name} as {dtype}"] = tf.io.decode_image(data, dtype=dtype)
    return {name: tensor.numpy() for name, tensor in found.items()}


def results(tf: Any, case: Case) -> Any:
    """What the library `tf` computes, as one array."""
    args = [tf.constant(x) if isinstance(x, np.ndarray) else x for x in case.args]
    found = getattr(tf.image, case.function)(*args, **case.kwargs)
    return (
        np.stack([x.numpy() for x in found]) if type(found) is tuple else found.numpy()
    )


def _record() -> None:
    import tensorflow as tf

    written = files(tf)
    arrays = {case.name: results(tf, case) for case in cases()}
    arrays |= decoded(tf, written)
    arrays |= {f"file {k}": np.frombuffer(v, np.uint8) for k, v in written.items()}
    np.savez_compressed(RECORDED, **arrays)
    print(f"{len(arrays)} results of TensorFlow {tf.__version__}")


if __name__ == "__main__":
    _record()
