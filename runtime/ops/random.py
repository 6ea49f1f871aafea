"""``tf.random``: random tensors, from running streams or as functions of a seed."""

from __future__ import annotations

from runtime.ops.random_generator import (
    Generator,
    get_global_generator,
    set_global_generator,
)
from runtime.ops.random_ops import (
    categorical,
    gamma,
    normal,
    poisson,
    shuffle,
    truncated_normal,
    uniform,
)
from runtime.ops.random_state import set_seed
from runtime.ops.random_stateless import (
    fold_in,
    split,
    stateless_categorical,
    stateless_normal,
    stateless_shuffle,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    "Generator",
    "categorical",
    "fold_in",
    "gamma",
    "get_global_generator",
    "normal",
    "poisson",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "split",
    "stateless_categorical",
    "stateless_normal",
    "stateless_shuffle",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]
