"""Ends processes in the middle of saving: ``python killing.py WHAT FOLDER SEED COUNT``.

Each process saves checkpoints or models in one folder until it is killed at a random
moment. Then the last one has to be there, whole, with the same number in all its parts.
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


class Checkpoints:
    """Checkpoints of two variables, by a manager."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.big, self.small = tf.Variable(tf.zeros(SIZE)), tf.Variable(0.0)
        self.manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(big=self.big, small=self.small), folder, max_to_keep=2
        )

    def begin(self) -> None:
        self.manager.restore_or_initialize()

    def save(self) -> None:
        self.manager.save()

    def check(self) -> float:
        """The number of the last one."""
        folder = self.folder
        reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
        small = reader.get_tensor("small/.ATTRIBUTES/VARIABLE_VALUE")
        big = reader.get_tensor("big/.ATTRIBUTES/VARIABLE_VALUE")
        assert big.min() == big.max() == small
        for path in tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths:
            tf.train.load_checkpoint(path)
        return float(small)


class Models:
    """A model with two variables, a function and a file, in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.model = tf.Module()
        self.big, self.small = tf.Variable(tf.zeros(SIZE)), tf.Variable(0.0)
        self.model.variables_ = [self.big, self.small]
        self.model.double = tf.function(
            lambda x: x * 2 * self.small, input_signature=[tf.TensorSpec([])]
        )

    def begin(self) -> None:
        if tf.saved_model.contains_saved_model(self.folder):
            self.small.assign(tf.saved_model.load(self.folder).variables_[1])

    def save(self) -> None:
        path = Path(f"{self.folder}.{os.getpid()}.txt")
        path.write_text(str(float(self.small)))
        self.model.asset = tf.saved_model.Asset(str(path))
        tf.saved_model.save(self.model, self.folder)

    def check(self) -> float:
        """The number of the one that is there."""
        loaded = tf.saved_model.load(self.folder)
        big, small = loaded.variables_
        number = float(small)
        assert (big.numpy() == number).all()
        assert float(loaded.double(1.0)) == number * 2
        path = Path(loaded.asset.asset_path.numpy().decode())
        assert float(path.read_text()) == number
        return number


def save_for_ever(target: Checkpoints | Models, ready: int) -> None:
    target.begin()
    while True:
        target.small.assign_add(1.0)
        target.big.assign(tf.fill([SIZE], target.small.read_value()))
        target.save()
        if ready:
            os.write(ready, b".")
            ready = 0


def main(what: str, folder: str, seed: int, count: int) -> None:
    random, last, parts = Random(seed), 0.0, 0
    make = {"checkpoints": Checkpoints, "models": Models}[what]
    for _ in range(count):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            save_for_ever(make(folder), write)
        os.read(read, 1)
        os.close(read)
        os.close(write)
        time.sleep(random.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        parts += len(list(Path(folder).glob(".*.part")))
        saved = make(folder).check()
        assert saved > last
        last = saved
    print(parts)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
