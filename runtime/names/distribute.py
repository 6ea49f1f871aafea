"""``tf.distribute``: many devices and many machines. See docs/scaling.md."""

from __future__ import annotations

import sys

from runtime.core.missing import advise
from runtime.training.distribute.replicas import PerReplica as DistributedValues
from runtime.training.distribute.replicas import ReduceOp
from runtime.training.distribute.strategy import (
    DistributedDataset,
    InputContext,
    MirroredStrategy,
    MultiWorkerMirroredStrategy,
    ReplicaContext,
    Strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)

__all__ = [
    "DistributedDataset",
    "DistributedValues",
    "InputContext",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "ReduceOp",
    "ReplicaContext",
    "Strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]

advise(sys.modules[__name__], "tf.distribute")
