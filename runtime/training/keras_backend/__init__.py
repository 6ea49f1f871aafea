"""A backend of Keras over the public ops of the runtime.

Its modules have the names and the functions that Keras asks every backend for; what
each function does is described by `keras.ops`.
"""

from __future__ import annotations

from runtime.training.keras_backend import core, image, linalg, math, nn, numpy, random
from runtime.training.keras_backend.core import (
    IS_THREAD_SAFE,
    SUPPORTS_COMPLEX_DTYPES,
    SUPPORTS_RAGGED_TENSORS,
    SUPPORTS_SPARSE_TENSORS,
    Variable,
    cast,
    compute_output_spec,
    cond,
    convert_to_numpy,
    convert_to_tensor,
    device_scope,
    is_tensor,
    name_scope,
    random_seed_dtype,
    scatter,
    shape,
    stop_gradient,
    vectorized_map,
)
from runtime.training.keras_backend.rnn import (
    bidirectional_gru,
    bidirectional_lstm,
    cudnn_ok,
    gru,
    lstm,
    rnn,
)

# fmt: off
__all__ = [
    "IS_THREAD_SAFE", "SUPPORTS_COMPLEX_DTYPES", "SUPPORTS_RAGGED_TENSORS",
    "SUPPORTS_SPARSE_TENSORS", "Variable", "bidirectional_gru", "bidirectional_lstm",
    "cast", "compute_output_spec", "cond", "convert_to_numpy", "convert_to_tensor",
    "core", "cudnn_ok", "device_scope", "gru", "image", "is_tensor", "linalg", "lstm",
    "math", "name_scope", "nn", "numpy", "random", "random_seed_dtype", "rnn",
    "scatter", "shape", "stop_gradient", "vectorized_map",
]
# fmt: on
