"""Random numbers: functions of a seed, which generators of Keras count up."""

from __future__ import annotations

from typing import Any

from keras.src.backend.config import floatx
from keras.src.random.seed_generator import (
    SeedGenerator,
    draw_seed,
    make_default_seed,
)

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor, shape

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "draw_seed",
    "dropout",
    "gamma",
    "make_default_seed",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]


def _seed(seed: Any) -> Any:
    return convert_to_tensor(draw_seed(seed), "int64")


def _normal(draw: Any) -> Any:
    def numbers(
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = None,
        seed: Any = None,
    ) -> Any:
        dtype = dtype or floatx()
        unit = draw(shape, _seed(seed), dtype=dtype)
        return unit * tf.cast(stddev, dtype) + tf.cast(mean, dtype)

    return numbers


normal = _normal(tf.random.stateless_normal)
truncated_normal = _normal(tf.random.stateless_truncated_normal)


def uniform(
    shape: Any,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    dtype: Any = None,
    seed: Any = None,
) -> Any:
    dtype = dtype or floatx()
    low, high = tf.cast(minval, dtype), tf.cast(maxval, dtype)
    if shape is None or len(shape) == 0:
        shape = tf.broadcast_static_shape(low.shape, high.shape)
    unit = tf.random.stateless_uniform(shape, _seed(seed), dtype=dtype)
    return unit * (high - low) + low


def randint(
    shape: Any, minval: Any, maxval: Any, dtype: Any = "int32", seed: Any = None
) -> Any:
    wide = "int64" if dtype in ("int64", "uint32", "uint64") else "int32"
    low, high = convert_to_tensor(minval, wide), convert_to_tensor(maxval, wide)
    found = tf.random.stateless_uniform(shape, _seed(seed), low, high, dtype=wide)
    return convert_to_tensor(found, dtype)


def categorical(
    logits: Any, num_samples: int, dtype: Any = "int64", seed: Any = None
) -> Any:
    logits = convert_to_tensor(logits)
    found = tf.random.stateless_categorical(logits, num_samples, _seed(seed))
    return convert_to_tensor(found, dtype)


def dropout(inputs: Any, rate: Any, noise_shape: Any = None, seed: Any = None) -> Any:
    inputs = convert_to_tensor(inputs)
    if isinstance(rate, (int, float)) and rate in (0, 1):
        return tf.zeros_like(inputs) if rate else inputs
    dims = shape(inputs)
    if noise_shape is not None:
        dims = tuple(d if n is None else n for n, d in zip(noise_shape, dims))
    kind = "float64" if inputs.dtype.name == "float64" else "float32"
    draws = tf.random.stateless_uniform(dims, _seed(seed), dtype=kind)
    kept = draws >= tf.cast(rate, kind)
    scaled = inputs / tf.cast(1 - rate, inputs.dtype)
    return tf.where(kept, scaled, tf.zeros_like(inputs))


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
    x = convert_to_tensor(x)
    order = tf.random.stateless_shuffle(tf.range(tf.shape(x)[axis]), _seed(seed))
    return tf.gather(x, order, axis=axis % len(x.shape))


def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Any = None) -> Any:
    dtype = dtype or floatx()
    alpha = convert_to_tensor(alpha, dtype)
    return tf.random.stateless_gamma(shape, _seed(seed), alpha, dtype=dtype)


def binomial(
    shape: Any, counts: Any, probabilities: Any, dtype: Any = None, seed: Any = None
) -> Any:
    dtype = dtype or floatx()
    counts = convert_to_tensor(counts, "float32")
    share = convert_to_tensor(probabilities, "float32")
    found = tf.random.stateless_binomial(
        shape, _seed(seed), counts, share, output_dtype="float32"
    )
    return convert_to_tensor(found, dtype)


def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = None, seed: Any = None) -> Any:
    dtype = dtype or floatx()
    first, second = tf.unstack(tf.random.split(_seed(seed)))
    one, other = (
        tf.random.stateless_gamma(shape, key, convert_to_tensor(a, dtype), dtype=dtype)
        for key, a in ((first, alpha), (second, beta))
    )
    return one / (one + other)
