"""Checkpoints against ``numpy.savez``: MB/s of saving and of loading.

``python -m benchmarks.saving [--rounds N] [--megabytes N] [--json]``. The ways take
turns in each round. NumPy does not wait for the disk, as a checkpoint does that must
not be lost: it is timed as it is, and with the wait.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import runtime as tf

__all__ = ["main", "measure", "report"]

Ways = dict[str, Callable[[], Any]]


def ways(folder: Path, arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[Ways, Ways]:
    """What is timed: ways to save the arrays, and to load them."""
    checkpoint = tf.train.Checkpoint(items=[tf.Variable(array) for array in arrays])
    prefix, plain = str(folder / "ckpt"), folder / "plain.npz"
    synced = folder / "synced.npz"

    def savez_synced() -> None:
        with synced.open("wb") as file:
            np.savez(file, *arrays)
            file.flush()
            os.fsync(file.fileno())

    def load() -> list[Any]:
        with np.load(plain) as file:
            return [file[name] for name in file.files]

    saving: Ways = {
        "Checkpoint.write": lambda: checkpoint.write(prefix),
        "numpy.savez": lambda: np.savez(plain, *arrays),
        "numpy.savez, on the disk": savez_synced,
    }
    loading: Ways = {
        "Checkpoint.read": lambda: checkpoint.read(prefix).assert_consumed(),
        "numpy.load": load,
    }
    return saving, loading


def measure(megabytes: float, count: int, rounds: int) -> dict[str, list[float]]:
    """The MB/s of each way, round by round, for so many arrays of one size."""
    size = max(1, int(megabytes * 1e6 / 4 / count))
    random = np.random.default_rng(0)
    arrays = [random.random(size, np.float32) for _ in range(count)]
    total = sum(array.nbytes for array in arrays) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        saving, loading = ways(Path(folder), arrays)
        for way in (*saving.values(), *loading.values()):
            way()
        rates: dict[str, list[float]] = {name: [] for name in (*saving, *loading)}
        for _ in range(rounds):
            for name, way in (*saving.items(), *loading.items()):
                start = perf_counter()
                way()
                rates[name].append(total / (perf_counter() - start))
    return rates


def report(rates: dict[str, list[float]]) -> str:
    """A line for each way: the median, the slowest and the fastest round."""
    return "\n".join(
        f"  {name:26} {statistics.median(found):8.0f} MB/s"
        f"  ({min(found):.0f} to {max(found):.0f})"
        for name, found in rates.items()
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=float, default=64.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    cases = {
        f"16 arrays of {options.megabytes / 16:g} MB": (options.megabytes, 16),
        "2,000 arrays of 1 kB": (2.0, 2000),
    }
    found = {
        name: measure(megabytes, count, options.rounds)
        for name, (megabytes, count) in cases.items()
    }
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, rates in found.items():
        print(f"{name}\n{report(rates)}")


if __name__ == "__main__":
    main()
