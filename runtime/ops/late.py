"""The public functions of all ops, each found by its name when it is first used.

An op's decomposition and its gradient stand beside the op, and apply ops of families
that import this one. They name these ops as programs do::

    from runtime.ops import late as tf

    @decomposes("Relu6")
    def _relu6_decomposed(x: Any) -> Any:
        return tf.where(x > 6, 6, tf.where(x < 0, 0, x))

A function is looked up when the rule runs, so modules of ops may name each other.

>>> from runtime.ops import late as tf
>>> print(tf.square(3))
tf.Tensor(9, shape=(), dtype=int32)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The modules that are searched; no two of them define the same name.
_MODULES = (
    "arrays.creation",
    "arrays.gather",
    "arrays.joining",
    "arrays.rearrange",
    "arrays.scatter",
    "arrays.sequences",
    "arrays.shape",
    "arrays.sorting",
    "checks.assertions",
    "elementwise.arithmetic",
    "elementwise.complex_numbers",
    "elementwise.functions",
    "elementwise.logical",
    "elementwise.special",
    "linalg.factorizations",
    "linalg.matrices",
    "linalg.products",
    "nn.activations",
    "reduce.places",
    "reduce.reductions",
    "reduce.scans",
    "reduce.segments",
    "reduce.statistics",
    "variables.indexed_slices",
)


def __getattr__(name: str) -> Any:
    for path in _MODULES:
        module = import_module(f"runtime.ops.{path}")
        found = vars(module).get(name)
        if getattr(found, "__module__", None) == module.__name__:
            globals()[name] = found
            return found
    raise AttributeError(f"no family of ops has the function {name!r}")
