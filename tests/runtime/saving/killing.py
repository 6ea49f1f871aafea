"""Ends processes in the middle of saving: ``python killing.py FOLDER SEED COUNT``.

Each process saves checkpoints in one folder until it is killed at a random moment. Then
the last checkpoint has to be there, whole, with the same number in all its tensors.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from random import Random

import runtime as tf

SIZE = 200_000


def save_for_ever(folder: str, ready: int) -> None:
    big, small = tf.Variable(tf.zeros(SIZE)), tf.Variable(0.0)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(big=big, small=small), folder, max_to_keep=2
    )
    manager.restore_or_initialize()
    while True:
        small.assign_add(1.0)
        big.assign(tf.fill([SIZE], small.read_value()))
        manager.save()
        if ready:
            os.write(ready, b".")
            ready = 0


def check(folder: str) -> float:
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
    small = reader.get_tensor("small/.ATTRIBUTES/VARIABLE_VALUE")
    big = reader.get_tensor("big/.ATTRIBUTES/VARIABLE_VALUE")
    assert big.min() == big.max() == small
    for path in tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths:
        tf.train.load_checkpoint(path)
    return float(small)


def main(folder: str, seed: int, count: int) -> None:
    random, last, parts = Random(seed), 0.0, 0
    for _ in range(count):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            save_for_ever(folder, write)
        os.read(read, 1)
        os.close(read)
        os.close(write)
        time.sleep(random.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        parts += len(list(Path(folder).glob(".*.part")))
        saved = check(folder)
        assert saved > last
        last = saved
    print(parts)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
