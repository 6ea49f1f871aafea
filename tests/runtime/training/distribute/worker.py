"""One of several processes that train together: started by `test_processes`.

    python -m tests.runtime.training.distribute.worker FOLDER STEPS FIRST_TO_DIE

It goes on from the last checkpoint in the folder and writes its losses as JSON, and
those of models that Keras trains, where that is installed. The second process kills
itself after the step `FIRST_TO_DIE`, if that is not 0.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import runtime as tf
from runtime.training.distribute.processes import Cluster, connect
from tests.runtime.training.distribute import digits, networks


def main(folder: str, steps: int, dies_after: int) -> None:
    connect(Cluster.from_environment(), heartbeat=4)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 8
    dtensor = tf.experimental.dtensor
    mesh = dtensor.create_distributed_mesh([("rows", 8)])
    layout = dtensor.Layout.batch_sharded(mesh, "rows", 2)
    # A parameter of which each device has a part: it counts the steps.
    table = dtensor.DVariable(tf.zeros([16, 3]), layout=layout)
    count = tf.function(lambda: table.assign_add(tf.ones([16, 3])), executor="xla")
    managers = []

    def prepared(trained: list[Any]) -> None:
        checkpoint = tf.train.Checkpoint(weights=trained, table=table)
        managers.append(tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2))
        managers[0].restore_or_initialize()

    def after(step: int) -> None:
        count()
        assert [part.numpy().max() for part in dtensor.unpack(table)] == [step] * 4
        if step % 4 == 0:
            managers[0].save(step)
        if step == dies_after and dtensor.client_id() == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    latest = tf.train.latest_checkpoint(folder)
    first = 0 if latest is None else int(latest.rpartition("-")[2])
    losses = digits.train(strategy, steps, first, prepared, after)
    name = f"losses-{first}-{dtensor.client_id()}.json"
    Path(folder, name).write_text(json.dumps(losses))
    if importlib.util.find_spec("keras"):
        # The first process decides about the order of the data.
        seed = 99 if dtensor.client_id() else None
        found = {n: networks.fitted(strategy, n, seed) for n in networks.SIZES}
        name = f"fitted-{dtensor.client_id()}.json"
        Path(folder, name).write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
