"""How training scales over devices: weak scaling here, and a calculation for GPUs.

    python -m benchmarks.scaling_devices [--devices 1 2 4 8] [--rounds N] [--json]

Each number of devices runs in a process of its own, whose CPU is divided into that many
devices. They share the cores of this machine. So on c cores the best that n devices can
do is to take n / c times as long as c do; what is above that is the price of replicas.
`step_time` calculates a step on GPUs, which are not here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measures import Measure, as_json, finish, table

__all__ = ["Machine", "Model", "main", "ring_bytes", "step_time"]

#: The network of the measurement: rows of a replica, and the sizes of its layers.
ROWS, LAYERS = 256, (64, 1024, 1024, 10)
#: The bytes of the array that is reduced alone.
REDUCED = 16 << 20


# --- the calculation ------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """GPUs in nodes, with the figures that their vendor publishes.

    The defaults are an NVIDIA DGX H100: 989 TFLOP/s in bfloat16 without sparsity and
    NVLink with 450 GB/s in each direction (data sheet of the H100 SXM), and one
    ConnectX-7 port of 400 Gbit/s for each GPU (data sheet of the DGX H100). How much of
    that a program gets (`utilization`), and what a message takes to arrive (`latency`,
    in seconds), are assumptions.
    """

    flops: float = 989e12
    gpus_per_node: int = 8
    inside: float = 450e9
    between: float = 50e9
    latency: float = 10e-6
    utilization: float = 0.4


@dataclass(frozen=True)
class Model:
    """What is trained: numbers, bytes of a gradient, and tokens of each GPU's batch."""

    parameters: float = 7e9
    bytes_each: int = 2
    tokens: int = 8192


def ring_bytes(size: float, devices: int) -> float:
    """What each device sends in an all-reduce of `size` bytes over a ring.

    Every part of size / n goes round twice: once to be added up, once to be known.
    """
    return 2 * (devices - 1) / devices * size


def step_time(
    devices: int, model: Model | None = None, machine: Machine | None = None
) -> dict[str, float]:
    """The seconds of a step of data-parallel training, and what becomes of them.

    Gradients are added in a node, then in rings between the nodes, one for each GPU of
    a node, which has its share of them. ``efficiency`` is the share of the computation
    where nothing overlaps; ``overlapped`` where the reduction runs during the backward
    pass, two thirds of the computation.
    """
    model, machine = model or Model(), machine or Machine()
    compute = 6 * model.parameters * model.tokens
    compute /= machine.flops * machine.utilization
    local = min(devices, machine.gpus_per_node)
    nodes = -(-devices // machine.gpus_per_node)
    size = model.parameters * model.bytes_each
    inside = ring_bytes(size, local) / machine.inside
    between = ring_bytes(size / local, nodes) / machine.between
    between += 2 * (nodes - 1) * machine.latency
    reduce = inside + between
    hidden = max(0.0, reduce - compute * 2 / 3)
    return {
        "compute": compute,
        "all-reduce": reduce,
        "efficiency": compute / (compute + reduce),
        "overlapped": compute / (compute + hidden),
    }


# --- the measurement ------------------------------------------------------------------


def measure_here(rounds: int) -> dict[str, Any]:
    """The times of a step and of an all-reduce on the devices of this process."""
    import runtime as tf

    strategy = tf.distribute.MirroredStrategy()
    count = strategy.num_replicas_in_sync
    draw = np.random.RandomState(0)
    with strategy.scope():
        weights = [
            tf.Variable(0.05 * draw.randn(*shape).astype(np.float32))
            for shape in pairwise(LAYERS)
        ]

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = x
            for weight in weights:
                y = tf.nn.relu(tf.matmul(y, weight))
            loss = tf.reduce_mean(tf.square(y)) / count
        gradients = tape.gradient(loss, weights)
        context = tf.distribute.get_replica_context()
        for weight, gradient in zip(weights, context.all_reduce("SUM", gradients)):
            weight.assign_sub(0.01 * gradient)
        return loss

    def reduce(x: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce("SUM", x)

    train = tf.function(lambda x: strategy.reduce("SUM", strategy.run(step, (x,))))
    rows = draw.randn(ROWS * count, LAYERS[0]).astype(np.float32)
    (x,) = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensors(rows))
    (large,) = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensors(np.ones([count, REDUCED // 4], np.float32))
    )
    run = tf.function(lambda x: strategy.run(reduce, (x,)))

    def total() -> None:
        run(large).stacked.held.block_until_ready()

    return {
        "gradients": sum(weight.numpy().nbytes for weight in weights),
        "step": _times(lambda: float(train(x)), rounds),
        "all-reduce": _times(
            lambda: run(large).stacked.held.block_until_ready(), rounds
        ),
    }


def _times(run: Any, rounds: int) -> list[float]:
    """Seconds, without those of the first two runs."""
    found = []
    for _ in range(rounds + 2):
        start = perf_counter()
        run()
        found.append(perf_counter() - start)
    return found[2:]


def measures(devices: Sequence[int], rounds: int) -> Iterator[Measure]:
    """The measures for each number of devices, and the calculation for GPUs."""
    for count in devices:
        found = _in_process(count, rounds)
        name = f"{count} devices"
        yield Measure.of(f"{name}: step", [1e3 * t for t in found["step"]], "ms")
        sent = ring_bytes(found["gradients"], count) / 1e6
        yield Measure(f"{name}: sent by each for gradients", sent, "MB")
        times = [1e3 * t for t in found["all-reduce"]]
        yield Measure.of(f"{name}: all-reduce of {REDUCED >> 20} MiB", times, "ms")
    for count in (8, 256, 10_000):
        found = step_time(count)
        for what in ("compute", "all-reduce"):
            yield Measure(f"{count} GPUs, calculated: {what}", 1e3 * found[what], "ms")
        for what in ("efficiency", "overlapped"):
            yield Measure(f"{count} GPUs, calculated: {what}", 100 * found[what], "%")


def _in_process(count: int, rounds: int) -> Any:
    code = (
        "import json; from benchmarks.scaling_devices import measure_here; "
        f"print(json.dumps(measure_here({rounds})))"
    )
    flags = f"--xla_force_host_platform_device_count={count}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "XLA_FLAGS": flags},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling_devices")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found = list(measures(options.devices, options.rounds))
    print(as_json(found) if options.json else table(found))
    return finish(found)


if __name__ == "__main__":
    sys.exit(main())
