"""How ``tf.image`` takes images: a batch of them, or one without that axis.

A batch is (number, height, width, channels). Lengths are ints where they are known and
else scalars of int32.
"""

from __future__ import annotations

from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arrays.dimensions import length
from runtime.ops.convert import as_tensor, cast


class Batch:
    """One image or several, as a batch."""

    def __init__(self, images: Any) -> None:
        given = as_tensor(images)
        if given.shape.rank is None:
            raise InvalidArgumentError(
                "whether this is an image or a batch is not known here: use "
                "tf.ensure_shape(x, [None, None, 3]), say, or decode_image with "
                "expand_animations=False"
            )
        if given.shape.rank not in (3, 4):
            raise InvalidArgumentError(
                "images must be (height, width, channels) or (number, height, width, "
                f"channels), not of shape {given.shape}"
            )
        self.is_single = given.shape.rank == 3
        self.images: Any = tf.expand_dims(given, 0) if self.is_single else given
        self.height, self.width = (as_int32(length(self.images, a)) for a in (1, 2))

    def back(self, result: Any) -> Any:
        """The result in the form of the argument."""
        return tf.squeeze(result, [0]) if self.is_single else result


def check_positive(*lengths: Any) -> None:
    """Raise InvalidArgumentError for a length that is known and not positive."""
    if any(isinstance(length, int) and length < 1 for length in lengths):
        raise InvalidArgumentError(f"heights and widths must be positive: {lengths}")


def as_int32(value: Any) -> Any:
    """A length for arithmetic: an int, or a scalar of int32."""
    return value if isinstance(value, int) else cast(value, dtypes.int32)


def as_float(value: Any) -> Any:
    """A tensor of float32, in which TensorFlow computes places and weights."""
    return cast(value, dtypes.float32)
