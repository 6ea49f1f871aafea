"""Two real processes with four devices each, which meet on this machine."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("safetensors")
pytest.importorskip("sklearn")
ROOT = Path(__file__).parents[4]
LIMIT = 120


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port: int = found.getsockname()[1]
    return port


def start(folder: Path, steps: int, dies_after: int = 0) -> list[Any]:
    """Two workers that train together."""
    hosts = [f"localhost:{free_port()}", "localhost:0"]
    workers = []
    for index in range(2):
        task = {"type": "worker", "index": index}
        config = json.dumps({"cluster": {"worker": hosts}, "task": task})
        workers.append(
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.runtime.training.distribute.worker"),
                    *(str(folder), str(steps), str(dies_after)),
                ],
                cwd=ROOT,
                env={
                    **os.environ,
                    "TF_CONFIG": config,
                    "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    return workers


def ended(workers: list[Any]) -> list[str]:
    """What workers printed; they are ended here if they do not end by themselves."""
    try:
        return [worker.communicate(timeout=LIMIT)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()


def losses(folder: Path, first: int) -> Any:
    found = [
        json.loads((folder / f"losses-{first}-{index}.json").read_text())
        for index in range(2)
    ]
    assert found[0] == found[1]
    return found[0]


@pytest.mark.slow
def test_two_processes_train_as_one_and_resume(tmp_path: Path) -> None:
    import runtime as tf
    from tests.runtime.training.distribute import digits, networks

    plain = digits.train(tf.distribute.get_strategy(), steps=12)

    # The second process dies after step 6; the last checkpoint is that of step 4.
    workers = start(tmp_path, steps=12, dies_after=6)
    workers[1].wait(LIMIT)
    died = time.monotonic()
    survivor, _ = ended(workers)
    assert time.monotonic() - died < 30
    assert workers[0].returncode != 0
    # Whoever hears of it first: the collective, or the service of JAX.
    assert re.search("another process of the program is gone|heartbeats?", survivor)

    workers = start(tmp_path, steps=12)
    texts = ended(workers)
    assert [worker.returncode for worker in workers] == [0, 0], "\n".join(texts)
    np.testing.assert_allclose(losses(tmp_path, 4), plain[4:], rtol=1e-6)

    if importlib.util.find_spec("keras"):
        one, two = [
            json.loads((tmp_path / f"fitted-{index}.json").read_text())
            for index in range(2)
        ]
        assert one == two
        for name, numbers in one.items():
            expected = networks.fitted(tf.distribute.get_strategy(), name)
            np.testing.assert_allclose(numbers, expected, rtol=2e-4, err_msg=name)

    # One process with one device reads what two have written in parts.
    table = tf.Variable(tf.zeros([16, 3]))
    latest = tf.train.latest_checkpoint(tmp_path)
    assert str(latest).endswith("-12")
    checkpoint = tf.train.Checkpoint(table=table)
    checkpoint.restore(latest).expect_partial()
    np.testing.assert_array_equal(table.numpy(), np.full([16, 3], 12.0))
    assert len(list(tmp_path.glob("*-part"))) == 4  # two processes, two checkpoints
    next(tmp_path.glob("ckpt-12.*-part")).unlink()
    with pytest.raises(tf.errors.DataLossError, match="a part of"):
        checkpoint.restore(latest)
