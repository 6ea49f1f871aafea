"""Boxes in images: cut out, drawn, and thinned out.

A box is (top, left, bottom, right), in fractions of the height and width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument, ints_argument
from runtime.ops.convert import as_tensor, cast, constant, convert_to_tensor
from runtime.ops.derivatives import without_gradient
from runtime.ops.operands import define, run
from runtime.ops.pictures.layout import Batch, as_float, check_positive
from runtime.ops.shapes import spec

Array = np.ndarray[Any, Any]


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Any:
    """The boxes of a batch, each of the image that `box_indices` says, in one size.

    Where they reach beyond the image there is `extrapolation_value`.
    """
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"method must be 'bilinear' or 'nearest', not {method!r}")
    batch, corners = Batch(image), convert_to_tensor(boxes, dtypes.float32)
    size = ints_argument(crop_size, "crop_size")
    check_positive(batch.height, batch.width, size[0], size[1])

    def places(axis: int, old: Any) -> tuple[Any, Any]:
        """Where the rows of each box lie along an axis, and which are in the image."""
        start, stop = corners[:, axis : axis + 1], corners[:, axis + 2 : axis + 3]
        last, count = as_float(old) - 1, as_float(size[axis])
        step = (stop - start) * last / tf.maximum(count - 1, 1)
        steps = start * last + as_float(tf.range(size[axis]))[None, :] * step
        found = tf.where(count > 1, steps, 0.5 * (start + stop) * last)
        inside = (found >= 0) & (found <= last)
        found = tf.floor(found + 0.5) if method == "nearest" else found
        return tf.minimum(tf.maximum(found, 0), last), inside

    rows, has_rows = places(0, batch.height)
    columns, has_columns = places(1, batch.width)
    x = as_float(tf.gather(batch.images, convert_to_tensor(box_indices, dtypes.int32)))
    x = _between(x, rows, 1, batch.height)
    x = _between(x, columns, 2, batch.width)
    inside = has_rows[:, :, None, None] & has_columns[:, None, :, None]
    return tf.where(inside, x, float(extrapolation_value), name=name)


def _between(x: Any, places: Any, axis: int, length: Any) -> Any:
    """Of each image in a batch the rows at places, between two rows where these lie so.

    A row without a share is not read: it may have numbers without end.
    """
    low = tf.floor(places)
    first = cast(low, dtypes.int32)
    second = tf.minimum(first + 1, length - 1)
    one, other = (tf.gather(x, i, axis=axis, batch_dims=1) for i in (first, second))
    share = (places - low)[:, :, None, None]
    share = share if axis == 1 else tf.transpose(share, [0, 2, 1, 3])
    return tf.where(share > 0, one * (1 - share) + other * share, one)


#: The colours that boxes have in turn: yellow, blue, red, lime, purple, olive, maroon,
#: navy, aqua and fuchsia.
_COLORS = (
    *((1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1)),
    *((0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1)),
)


def draw_bounding_boxes(
    images: Any, boxes: Any, colors: Any, name: str | None = None
) -> Any:
    """A batch with the edges of boxes drawn, one pixel wide, later ones over earlier.

    `boxes` are (number, box, 4); `colors` are rows of channels, which boxes take in
    turn, and without any there are ten of them.
    """
    batch, x = Batch(images), as_tensor(images)
    corners = convert_to_tensor(boxes, dtypes.float32)
    channels = x.shape[3]
    if channels not in (1, 3, 4) or corners.shape.rank != 3:
        raise InvalidArgumentError(
            "images must have 1, 3 or 4 channels, and boxes be (number, box, 4), not "
            f"of the shapes {x.shape} and {corners.shape}"
        )
    table = constant(_COLORS if colors is None else colors, dtypes.float32)
    table = tf.ones_like(table) if channels == 1 else table
    down = tf.range(batch.height)[None, None, :, None]
    right = tf.range(batch.width)[None, None, None, :]

    def place(corner: int, length: Any) -> Any:
        exact = corners[:, :, corner] * (as_float(length) - 1)
        return cast(exact, dtypes.int32)[:, :, None, None]

    top, bottom = place(0, batch.height), place(2, batch.height)
    left, right_end = place(1, batch.width), place(3, batch.width)
    on_rows = (
        ((down == top) | (down == bottom)) & (right >= left) & (right <= right_end)
    ) & (bottom >= top)
    on_columns = ((right == left) | (right == right_end)) & (down >= top)
    edges = on_rows | (on_columns & (down <= bottom))
    numbers = tf.range(tf.shape(corners)[1])[None, :, None, None] + 1
    drawn = tf.reduce_max(tf.where(edges, numbers, 0), 1)  # 0: of no box
    paint = tf.gather(
        table[:, :channels], tf.maximum(drawn - 1, 0) % tf.shape(table)[0]
    )
    return tf.where((drawn > 0)[..., None], cast(paint, x.dtype), x, name=name)


# --- the best boxes -------------------------------------------------------------------


def _infer_best(boxes: TensorSpec, scores: TensorSpec, **attrs: Any) -> TensorSpec:
    count = scores.shape[0] if scores.shape.rank else None
    for found, dims in ((boxes, (count, 4)), (scores, (None,))):
        if not found.shape.is_compatible_with(dims):
            raise InvalidArgumentError(
                "boxes must be (box, 4) and scores a vector with one of each, not of "
                f"the shapes {boxes.shape} and {scores.shape}"
            )
    return spec((None,), dtypes.int32)


def _best(
    boxes: Array,
    scores: Array,
    *,
    max_output_size: int,
    iou_threshold: float,
    score_threshold: float,
) -> Array:
    _infer_best(*(TensorSpec(x.shape, dtypes.float32) for x in (boxes, scores)))
    if max_output_size < 0 or not 0 <= iou_threshold <= 1:
        raise InvalidArgumentError(
            "max_output_size must not be negative, and iou_threshold be within [0, 1], "
            f"not {max_output_size} and {iou_threshold}"
        )
    first, second = boxes[:, :2], boxes[:, 2:]
    low, high = np.minimum(first, second), np.maximum(first, second)
    areas = np.prod(high - low, 1)
    left = np.argsort(-scores, kind="stable")
    left = left[scores[left] > score_threshold]
    chosen: list[int] = []
    while len(left) and len(chosen) < max_output_size:
        best, left = left[0], left[1:]
        chosen.append(best)
        sides = np.minimum(high[best], high[left]) - np.maximum(low[best], low[left])
        shared = np.prod(np.maximum(sides, 0), 1)
        is_box = (areas[best] > 0) & (areas[left] > 0)
        union = np.where(is_box, areas[best] + areas[left] - shared, 1)
        left = left[np.where(is_box, shared / union, 0) <= np.float32(iou_threshold)]
    return np.array(chosen, np.int32)


define("NonMaxSuppressionV3", _best, _infer_best, family="order", is_host=True)
without_gradient("NonMaxSuppressionV3")


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Any:
    """The numbers of the boxes with the best scores that overlap no better one much.

    >>> boxes = [[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 2, 1, 3]]
    >>> non_max_suppression(boxes, [0.5, 0.9, 0.4], 3).numpy().tolist()
    [1, 2]
    """
    return run(
        "NonMaxSuppressionV3",
        convert_to_tensor(boxes, dtypes.float32),
        convert_to_tensor(scores, dtypes.float32),
        max_output_size=int_argument(max_output_size, "max_output_size"),
        iou_threshold=iou_threshold,
        score_threshold=score_threshold,
        name=name,
    )
