"""The processes of a program that runs on many machines: `jax.distributed`."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.core.errors import FailedPreconditionError
from runtime.engines.xla.library import load
from runtime.files.saving.parts import Alone, set_processes

#: Seconds without a sign of life after which a process counts as dead.
HEARTBEAT = 20


@dataclass(frozen=True)
class Cluster:
    """Where the processes of a program meet, how many they are, and which is this."""

    coordinator: str
    count: int
    index: int

    @classmethod
    def from_environment(cls) -> Cluster | None:
        """What the environment says; None where it says nothing.

        ``DTENSOR_JOBS`` lists ``host:port`` of all processes, and
        ``DTENSOR_CLIENT_ID`` is the place of this one in it. ``TF_CONFIG`` says both in
        JSON. ``JAX_COORDINATOR_ADDRESS``, ``JAX_NUM_PROCESSES`` and ``JAX_PROCESS_ID``
        are JAX's own. Raises ValueError where they make no sense.
        """
        env = os.environ
        if env.get("DTENSOR_JOBS"):
            jobs = env["DTENSOR_JOBS"].split(",")
            found = cls(jobs[0], len(jobs), int(env.get("DTENSOR_CLIENT_ID", "0")))
        elif env.get("TF_CONFIG"):
            found = _of_tf_config(env["TF_CONFIG"])
        elif env.get("JAX_COORDINATOR_ADDRESS"):
            count, index = env.get("JAX_NUM_PROCESSES"), env.get("JAX_PROCESS_ID")
            if count is None or index is None:
                raise ValueError(
                    "beside JAX_COORDINATOR_ADDRESS the environment has to have "
                    "JAX_NUM_PROCESSES and JAX_PROCESS_ID"
                )
            found = cls(env["JAX_COORDINATOR_ADDRESS"], int(count), int(index))
        else:
            return None
        if not 0 <= found.index < found.count:
            raise ValueError(
                f"this process has the number {found.index}, of {found.count} processes"
            )
        return found


def _of_tf_config(text: str) -> Cluster:
    try:
        config = json.loads(text)
        jobs, task = config["cluster"], config["task"]
        hosts = [*jobs.get("chief", ()), *jobs["worker"]]
        before = len(jobs.get("chief", ())) if task["type"] == "worker" else 0
        index = before + int(task["index"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"TF_CONFIG cannot be read: {error!r} in {text!r}") from None
    others = sorted(jobs.keys() - {"chief", "worker"})
    if others or task["type"] not in jobs:
        raise ValueError(
            f"TF_CONFIG has the jobs {sorted(jobs)} and the task {task}: there are "
            "workers, and perhaps a chief; no parameter servers and no evaluators"
        )
    return Cluster(hosts[0], len(hosts), index)


class _Others(Alone):
    """The processes, for who writes files."""

    def __init__(self, cluster: Cluster) -> None:
        self.index, self.count = cluster.index, cluster.count

    def wait(self) -> None:
        from jax.experimental.multihost_utils import sync_global_devices

        sync_global_devices("files")

    def token(self) -> str:
        from jax.experimental.multihost_utils import broadcast_one_to_all

        drawn = np.frombuffer(os.urandom(8), np.uint8)
        found: np.ndarray[Any, Any] = np.asarray(broadcast_one_to_all(drawn))
        return found.tobytes().hex()


def of_first_process(value: Any) -> Any:
    """The value that the first process has, which all processes ask for."""
    from jax.experimental.multihost_utils import broadcast_one_to_all

    own = np.frombuffer(pickle.dumps(value), np.uint8)
    room = np.zeros(int(broadcast_one_to_all(np.asarray(len(own)))), np.uint8)
    room[: len(own)] = own[: len(room)]
    return pickle.loads(np.asarray(broadcast_one_to_all(room)).tobytes())


_connected: Cluster | None = None


def connect(cluster: Cluster | None, heartbeat: int = HEARTBEAT) -> None:
    """Meet the other processes; again: nothing, if it is the same cluster.

    A process that gives no sign of life for `heartbeat` seconds ends the others, with
    an error that says so. To be called before anything is computed by JAX. Raises
    FailedPreconditionError for a second cluster, or where it is too late.
    """
    global _connected
    if cluster is None or cluster == _connected:
        return
    if _connected is not None:
        raise FailedPreconditionError(
            f"this process is one of {_connected} and cannot be one of {cluster}"
        )
    jax = load()
    # The collectives between CPUs; those of GPUs are NCCL's.
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        jax.distributed.initialize(
            coordinator_address=cluster.coordinator,
            num_processes=cluster.count,
            process_id=cluster.index,
            heartbeat_timeout_seconds=heartbeat,
        )
    except RuntimeError as error:
        raise FailedPreconditionError(
            f"process {cluster.index} of {cluster.count} cannot meet the others at "
            f"{cluster.coordinator}: {error}"
        ) from error
    _connected = cluster
    set_processes(_Others(cluster))


def client_id() -> int:
    """The number of this process."""
    return int(load().process_index())


def num_clients() -> int:
    """How many processes there are."""
    return int(load().process_count())


def devices_of(device_type: str | None, local: bool) -> list[Any]:
    """The devices of JAX of a type, or of the best type that there is."""
    jax = load()
    platform = None if device_type is None else device_type.lower()
    try:
        if local:
            return list(jax.local_devices(backend=platform))
        return list(jax.devices(platform))
    except RuntimeError as error:
        raise FailedPreconditionError(
            f"there are no devices of type {device_type!r}: {error}"
        ) from None
