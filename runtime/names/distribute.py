"""``tf.distribute``: many devices and many machines. See docs/scaling.md."""

from runtime.training.distribute.replicas import (
    PerReplica as _PerReplica,
    ReduceOp as ReduceOp,
)
from runtime.training.distribute.strategy import (
    DistributedDataset as DistributedDataset,
    InputContext as InputContext,
    MirroredStrategy as MirroredStrategy,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
    ReplicaContext as ReplicaContext,
    Strategy as Strategy,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)

DistributedValues = _PerReplica
