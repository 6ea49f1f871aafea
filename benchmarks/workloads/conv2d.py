"""One large convolution: 100 channels in and out."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (200, 100), "tiny": (5, 2)}


def inputs(random, side, channels):
    x = random.standard_normal((1, side, side, channels), np.float32)
    return x, random.standard_normal((3, 3, channels, channels), np.float32)


def numpy(np):
    def conv2d(x, filters):
        height, width = x.shape[1] - 2, x.shape[2] - 2
        result = np.zeros((1, height, width, filters.shape[3]), np.float32)
        for i in range(3):
            for j in range(3):
                result += x[:, i : i + height, j : j + width] @ filters[i, j]
        return result

    return conv2d


def tensorflow(tf):
    return lambda x, filters: tf.nn.conv2d(x, filters, 1, "VALID")


def jax(jax):
    def conv2d(x, filters):
        order = "NHWC", "HWIO", "NHWC"
        return jax.lax.conv_general_dilated(
            x, filters, (1, 1), "VALID", dimension_numbers=order
        )

    return conv2d


def torch(torch):
    def conv2d(x, filters):
        found = torch.conv2d(x.permute(0, 3, 1, 2), filters.permute(3, 2, 0, 1))
        return found.permute(0, 2, 3, 1)

    return conv2d


def work(side, channels):
    """The arithmetic, and the bytes that are read and written."""
    pixels = (side - 2) ** 2
    return 18 * pixels * channels**2, 4 * channels * (side**2 + pixels)
