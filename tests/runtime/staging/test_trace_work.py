"""What a trace looks at: what its code can name, and nothing of the data around it."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograph.operators.state import snapshot

# The calls are in the module itself: its variables are those of a running function.
PROGRAM = """
import runtime as tf

DATA = [{{"number": i}} for i in range({size})]
KEPT = []


def keep(items):
    KEPT.append(items)


@tf.function
def swap(values, i, j):
    items = list(values)
    keep(items)
    items[i], items[j] = items[j], items[i]
    return [item + 0 for item in KEPT.pop()]


@tf.function
def anneal(x, n):
    temperature = 1.0
    best = x
    history = []
    for _ in range(n):
        candidate = x + tf.sin(x) * temperature
        if candidate < best:
            best = candidate
            history.append(best)
        elif temperature > 0.5:
            x = candidate
        temperature = temperature * 0.9
        if temperature < 0.01:
            break
    return best, len(history)


SWAPPED = [int(v) for v in swap(tf.constant([1, 2, 3]), tf.constant(0), tf.constant(2))]
ANNEALED = [float(v) for v in anneal(tf.constant(4.0), tf.constant(3))]
"""


class Work:
    """How often something is asked while programs are traced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.count: Counter[str] = Counter()
        self._folder = folder
        walk = snapshot.walk

        def counted_walk(*arguments: Any) -> Iterator[Any]:
            for seen in walk(*arguments):
                self.count["objects"] += 1
                yield seen

        monkeypatch.setattr(snapshot, "walk", counted_walk)
        monkeypatch.syspath_prepend(str(folder))

    def of(self, size: int) -> tuple[Counter[str], Any]:
        """What it takes to trace the programs beside some data, and the module."""
        name = f"programs_beside_{size}"
        (self._folder / f"{name}.py").write_text(PROGRAM.format(size=size))
        self.count.clear()
        try:
            module = importlib.import_module(name)
        finally:
            sys.modules.pop(name, None)
        return Counter(self.count), module


def test_data_that_a_function_does_not_name_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work = Work(monkeypatch, tmp_path)

    alone, _ = work.of(0)
    beside, module = work.of(3000)

    assert alone == beside
    assert 0 < beside["objects"] < 3000
    assert module.SWAPPED == [3, 2, 1]
    assert module.ANNEALED[1] >= 1
