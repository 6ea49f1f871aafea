"""What is measured: one line here, and one file with its programs for each library.

A file has `SIZES`, the arguments of `inputs` by the name of a size;
`inputs(random, …)`, which gives arrays, and Python ints that a library may see before
it compiles; and for each library a function of its name that takes the library and
gives the program. The one of `tensorflow` is ours too.

A program that is trained also gets what `weights(random, …)` draws, when it is made. It
keeps its weights between calls. `COMPILED` names the programs that call the compiler of
their library themselves; these have no eager form.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

__all__ = ["WORKLOADS", "Workload", "chosen"]


@dataclass(frozen=True)
class Workload:
    """Something to be measured, and how large the ratio to TensorFlow's graph may be.

    >>> Workload("gelu", "GELU of 1,000,000 floats", target=0.25).module
    'gelu'
    """

    name: str
    title: str
    target: float = 1.0
    #: The file with the programs: by default the one of the same name.
    module: str = ""
    #: "call": calls of what is compiled. "first": the first call of a function that the
    #: process has not seen. "fresh": the first of a process that has done the imports.
    #: "import": the import. "size": what is installed.
    measure: str = "call"
    #: The times are for each of so many things.
    per: int = 1
    #: The key of `SIZES`.
    size: str = "full"
    #: How far results may be from NumPy's, and which share of them may be further off.
    tolerance: float = 1e-4
    may_differ: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "module", self.module or self.name)

    @property
    def xla_target(self) -> float:
        """How large the ratio of ours on XLA to JAX may be."""
        return 1.15 if self.measure == "call" and self.name != "tiny_op" else 1.5

    @property
    def native_target(self) -> float:
        """How large the ratio of our native code to the fastest compiler may be."""
        if self.measure != "call":
            return 1.0
        return 0.15 if self.is_scalar else 0.7 if self.name == "lstm_step" else 0.8

    @property
    def is_scalar(self) -> bool:
        """Whether it is a loop of numbers."""
        return self.name in ("collatz", "fizzbuzz")

    def programs(self) -> ModuleType:
        """The file with the programs."""
        return importlib.import_module(f"benchmarks.workloads.{self.module}")


WORKLOADS = [
    Workload("tiny_op", "x + 1 on three floats", target=0.03),
    Workload("matrix_power", "10×10 int32 to the power of 100", target=0.6),
    Workload("collatz", "Collatz length of 77031: 350 steps", target=0.25),
    Workload("tanh_loop", "tanh until the sum is small", target=0.4),
    Workload("fizzbuzz", "fizzbuzz to 1000, counted"),
    Workload("rnn", "RNN, batch 32, 100 steps, 64 wide", target=0.4),
    Workload("linear_regression", "linear regression step", target=0.5),
    Workload("linear_step", "linear regression step, with tape", target=0.5),
    Workload("mlp_step", "MLP step, 784-256-10, batch 64, Adam"),
    Workload("cnn_step", "CNN step, 32 images of 28×28"),
    Workload("lstm_step", "LSTM step, batch 32, 32 steps, 64 wide"),
    Workload("keras_fit", "Keras fit, an epoch of 1,797 digits"),
    Workload("cnn", "CNN forward, 32 images of 28×28"),
    Workload("matmul", "1000×1000 matmul, 200 times"),
    Workload("conv2d", "Conv2D(100, 3) on 1×200×200×100", tolerance=1e-3),
    Workload("gelu", "GELU of 1,000,000 floats", target=0.25),
    Workload("softmax", "softmax of 1024×1024"),
    Workload("layer_norm", "layer norm of 1024×1024"),
    # A pixel at the border may escape a step earlier where rounding differs.
    Workload("mandelbrot", "mandelbrot, 256×256, 50 steps", may_differ=0.01),
    Workload("kmeans", "k-means step, 5,000 points, 10 centres"),
    Workload("loop100", "loop of 100 steps"),
    Workload("loop100_gradient", "gradient of a loop of 100 steps"),
    # The sum of 100,000 numbers depends on their order.
    Workload(
        "pipeline", "map, shuffle, batch: each element", per=100_000, tolerance=1e-3
    ),
    Workload("chain", "trace 2,000 nodes: each", measure="first", per=2000),
    Workload(
        "chain_20000",
        "trace 20,000 nodes: each",
        module="chain",
        measure="first",
        per=20000,
        size="long",
    ),
    Workload(
        "gradient_chain",
        "trace 2,000 nodes and their gradient: each",
        0.3,
        measure="first",
        per=2000,
    ),
    Workload(
        "gradient_loop",
        "trace a loop and its gradient",
        0.3,
        "loop100_gradient",
        "first",
    ),
    Workload("lstm_trace", "trace the LSTM step", 0.3, "lstm_step", "first"),
    Workload("first_call", "first call, collatz", 0.3, "collatz", "fresh"),
    Workload("second_function", "first call of another", 0.3, "fizzbuzz", "first"),
    Workload("import", "import", measure="import"),
    Workload("size", "installed, with what it needs", measure="size"),
]


def chosen(names: list[str]) -> list[Workload]:
    """Those of these names, or all if there are none; ValueError names an unknown one.

    >>> [workload.name for workload in chosen(["rnn"])]
    ['rnn']
    """
    unknown = sorted(set(names) - {workload.name for workload in WORKLOADS})
    if unknown:
        raise ValueError(
            f"no workload is called {unknown[0]!r}; --list shows those there are"
        )
    return [work for work in WORKLOADS if not names or work.name in names]
