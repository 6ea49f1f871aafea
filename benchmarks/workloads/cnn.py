"""The forward pass of a small network for images: no gradients are measured yet."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (32, 28, 16), "tiny": (2, 6, 3)}


def inputs(random, batch, side, width):
    def draw(*shape):
        return random.standard_normal(shape, np.float32) / np.float32(3)

    images = draw(batch, side, side, 1)
    filters = draw(3, 3, 1, width), draw(3, 3, width, width)
    return images, *filters, draw(width, 10), draw(10)


def numpy(np):
    def layer(x, filters):
        parts = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
        rows = parts.transpose(0, 1, 2, 4, 5, 3).reshape(-1, filters[..., 0].size)
        found = rows @ filters.reshape(rows.shape[1], -1)
        return np.maximum(found, 0).reshape(*parts.shape[:3], -1)

    def run(x, first, second, w, b):
        return layer(layer(x, first), second).mean((1, 2)) @ w + b

    return run


def tensorflow(tf):
    def layer(x, filters):
        return tf.nn.relu(tf.nn.conv2d(x, filters, 1, "VALID"))

    def run(x, first, second, w, b):
        x = layer(layer(x, first), second)
        return tf.matmul(tf.reduce_mean(x, [1, 2]), w) + b

    return run


def jax(jax):
    def layer(x, filters):
        order = "NHWC", "HWIO", "NHWC"
        found = jax.lax.conv_general_dilated(
            x, filters, (1, 1), "VALID", dimension_numbers=order
        )
        return jax.nn.relu(found)

    def run(x, first, second, w, b):
        return layer(layer(x, first), second).mean((1, 2)) @ w + b

    return run


def torch(torch):
    def layer(x, filters):
        found = torch.conv2d(x, filters.permute(3, 2, 0, 1))
        return torch.relu(found)

    def run(x, first, second, w, b):
        x = x.permute(0, 3, 1, 2)
        return layer(layer(x, first), second).mean((2, 3)) @ w + b

    return run


def work(batch, side, width):
    """The arithmetic, and the bytes that are read and written."""
    first, second = (side - 2) ** 2, (side - 4) ** 2
    flops = 18 * batch * width * (first + second * width)
    return flops, 4 * batch * (side**2 + first * width)
