"""``tf.nn``: activations, convolutions, pooling, losses, what networks are made of."""

from __future__ import annotations

from typing import Any

from runtime.ops.arrays.shape import shape as _shape
from runtime.ops.arrays.sorting import in_top_k, top_k
from runtime.ops.convert import cast as _cast
from runtime.ops.convert import convert_to_tensor as _tensor
from runtime.ops.elementwise.functions import log_sigmoid, sigmoid, softplus, softsign
from runtime.ops.nn.activations import (
    batch_normalization,
    bias_add,
    crelu,
    dropout,
    elu,
    embedding_lookup,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    silu,
    swish,
    tanh,
)
from runtime.ops.nn.convolutions import (
    atrous_conv2d,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    convolution,
    depthwise_conv2d,
    separable_conv2d,
)
from runtime.ops.nn.losses import (
    l2_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from runtime.ops.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pool,
)
from runtime.ops.nn.softmax import log_softmax, softmax
from runtime.ops.reduce.reductions import reduce_sum as _sum
from runtime.ops.reduce.statistics import l2_normalize, moments, zero_fraction

__all__ = [
    "atrous_conv2d",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_normalization",
    "bias_add",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "crelu",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "gelu",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "moments",
    "pool",
    "relu",
    "relu6",
    "scale_regularization_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy_with_logits",
    "swish",
    "tanh",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "zero_fraction",
]


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """The share that the examples of a replica have in the mean loss of a batch.

    `per_example_loss` has an axis of examples, and perhaps others; `sample_weight` is
    multiplied with it. The sum of that is divided by `global_batch_size`, or by the
    examples of all replicas. Raises RuntimeError in the scope of a strategy of
    `tf.distribute` outside of what its ``run`` runs.

    >>> import runtime as tf
    >>> compute_average_loss(tf.constant([1.0, 3.0]), global_batch_size=4).numpy()
    np.float32(1.0)
    """
    losses = _tensor(per_example_loss)
    if sample_weight is not None:
        losses = losses * _tensor(sample_weight, losses.dtype)
    if global_batch_size is None:
        global_batch_size = _shape(losses)[0] * _replicas()
    else:
        _replicas()
    return _sum(losses) / _cast(global_batch_size, losses.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The share of a replica in a loss that all replicas have.

    Raises RuntimeError as `compute_average_loss`.

    >>> import runtime as tf
    >>> scale_regularization_loss(tf.constant([1.0, 3.0])).numpy()
    np.float32(4.0)
    """
    loss = _sum(regularization_loss)
    return loss / _cast(_replicas(), loss.dtype)


def _replicas() -> int:
    from runtime.training.distribute.strategy import (
        get_replica_context,  # which most programs never need
    )

    context = get_replica_context()
    if context is None:
        raise RuntimeError(
            "losses are for the function of a replica: compute them in strategy.run"
        )
    return context.num_replicas_in_sync
