"""The share of a replica in the loss of a batch."""

from __future__ import annotations

from typing import Any

from runtime.ops.arrays.shape import shape
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.reduce.reductions import reduce_sum


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
    losses = convert_to_tensor(per_example_loss)
    if sample_weight is not None:
        losses = losses * convert_to_tensor(sample_weight, losses.dtype)
    if global_batch_size is None:
        global_batch_size = shape(losses)[0] * _replicas()
    else:
        _replicas()
    return reduce_sum(losses) / cast(global_batch_size, losses.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The share of a replica in a loss that all replicas have.

    Raises RuntimeError as `compute_average_loss`.

    >>> import runtime as tf
    >>> scale_regularization_loss(tf.constant([1.0, 3.0])).numpy()
    np.float32(4.0)
    """
    loss = reduce_sum(regularization_loss)
    return loss / cast(_replicas(), loss.dtype)


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
