"""How fast this machine could be: its arithmetic and its memory, as NumPy reaches them.

The time of a program cannot be less than that of its arithmetic, nor than that of the
bytes it has to read and write (Williams, Waterman and Patterson, "Roofline", 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.workloads import Workload

__all__ = ["Machine", "least_time", "measured"]

#: Large enough that neither fits a cache, in numbers along a side, and in bytes.
SIDE, BYTES = 1536, 1 << 27
ROUNDS = 5


@dataclass(frozen=True)
class Machine:
    """Operations on float32 in a second, and bytes moved in a second.

    >>> Machine(1e11, 1e10).time(1e9, 1e9)
    0.1
    """

    operations: float
    bandwidth: float

    def time(self, operations: float, moved: float) -> float:
        """The least seconds that so many operations and bytes may take."""
        return max(operations / self.operations, moved / self.bandwidth)


def measured() -> Machine:
    """What this machine does at best in a few rounds: half a second."""
    x = np.ones((SIDE, SIDE), np.float32)
    product = np.empty_like(x)
    source, target = np.ones(BYTES, np.uint8), np.empty(BYTES, np.uint8)
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        start = perf_counter()
        np.matmul(x, x, out=product)
        middle = perf_counter()
        np.copyto(target, source)
        times.append((middle - start, perf_counter() - middle))
    products, copies = (min(each) for each in zip(*times))
    return Machine(2 * SIDE**3 / products, 2 * BYTES / copies)


def least_time(workload: Workload, size: str, machine: Machine) -> float | None:
    """The least seconds of a call; None if the workload does not say what it does."""
    if workload.measure != "call":
        return None
    module: Any = workload.programs()
    if not hasattr(module, "work"):
        return None
    return machine.time(*module.work(*module.SIZES.get(size, module.SIZES["full"])))
