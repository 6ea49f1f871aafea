"""``tf.distribute``: many devices and many machines. See docs/scaling.md."""

from enum import Enum as _Enum

from runtime.core.missing import Space as _Space
from runtime.core.types.options import unused as _unused
from runtime.training.distribute.replicas import (
    PerReplica as _PerReplica,
    ReduceOp as ReduceOp,
)
from runtime.training.distribute.strategy import (
    CentralStorageStrategy as _CentralStorageStrategy,
    DistributedDataset as DistributedDataset,
    InputContext as InputContext,
    MirroredStrategy as MirroredStrategy,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
    OneDeviceStrategy as OneDeviceStrategy,
    ReplicaContext as ReplicaContext,
    Strategy as Strategy,
    ValueContext as _ValueContext,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)

DistributedValues = _PerReplica
HierarchicalCopyAllReduce = _unused("HierarchicalCopyAllReduce")
NcclAllReduce = _unused("NcclAllReduce")
ReductionToOneDevice = _unused("ReductionToOneDevice")
InputOptions = _unused("InputOptions")
RunOptions = _unused("RunOptions")


class experimental(metaclass=_Space):  # noqa: N801
    """Strategies under their older names, and options that choose nothing."""

    _space = "tf.distribute.experimental"

    CentralStorageStrategy = _CentralStorageStrategy
    MultiWorkerMirroredStrategy = MultiWorkerMirroredStrategy
    ValueContext = _ValueContext
    CommunicationOptions = _unused("CommunicationOptions")
    CommunicationImplementation = _Enum(
        "CommunicationImplementation", ["AUTO", "RING", "NCCL"]
    )
