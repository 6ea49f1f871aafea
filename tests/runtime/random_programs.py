"""Random programs, and what an executor gives otherwise than NumPy.

Integers and bools are the same. Floats may differ in their last digits: XLA computes
``x * y + z`` with one rounding, takes denormal numbers for 0, and knows that 1 * x is x
also of infinite complex numbers. It may refuse programs by name.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

import runtime as tf
from runtime.core.errors import UnimplementedError
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.passes.lowering.prepare import prepare
from tests.edge_programs import random_edge_program
from tests.number_programs import random_number_program
from tests.tensor_programs import random_tensor_program
from tests.turns import EVERYTHING

__all__ = ["MAKERS", "SEEDS", "Program", "differences"]

SEEDS = range(400) if EVERYTHING else range(3)
NUMBERS = (0, 1, 3)

#: What makes a function, with globals of its own, and the inputs of its runs.
Program = tuple[Callable[[], Callable[..., Any]], list[tuple[Any, ...]]]


def defined(text: str, name: str) -> Callable[[], Callable[..., Any]]:
    filename = f"<{name}>"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename

    def define() -> Callable[..., Any]:
        namespace: dict[str, Any] = {"tf": tf}
        exec(compile(text, filename, "exec"), namespace)
        function: Callable[..., Any] = namespace["f"]
        return function

    return define


def edges(seed: int) -> Program:
    text, values = random_edge_program(seed)
    inputs = [(*values, tf.constant(n)) for n in NUMBERS]
    return defined(text, f"edge program {seed}"), inputs


def numbers(seed: int) -> Program:
    random = Random(seed)
    dtype = random.choice([tf.int8, tf.int64, tf.uint16, tf.float32, tf.float64])
    x = tf.constant(random.choice([1, 2, 5]), dtype)
    lines = random_number_program(seed).splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("note("))
    text += "\n\ng = f\n\ndef f(n, x):\n    return g(n, x, None)\n"
    return defined(text, f"number program {seed}"), [
        (tf.constant(n), x) for n in NUMBERS
    ]


def tensors(seed: int) -> Program:
    rows = [(n, 4 - n, n / 2, [1, n, 2]) for n in NUMBERS]
    define = defined(random_tensor_program(seed), f"tensor program {seed}")
    return define, [tuple(map(tf.constant, row)) for row in rows]


def outcome(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = nest.flatten(function(*inputs))
            return [np.asarray(getattr(x, "_array", x)) for x in found]
        except Exception as error:
            return error


def differences(program: Program, executor: str) -> Iterator[str]:
    """What an executor gives otherwise."""
    define, runs = program
    plain, compiled = (
        tf.function(define(), executor=each, reduce_retracing=True)
        for each in ("numpy", executor)
    )
    for inputs in runs:
        expected, found = outcome(plain, inputs), outcome(compiled, inputs)
        if type(expected) is not type(found):
            expected = outcome(interpreted(plain, inputs, found), inputs)
        if not isinstance(found, UnimplementedError) and not same(found, expected):
            given = [x.numpy() for x in inputs]
            yield f"{found!r}, not {expected!r}, of {given}"


def interpreted(function: Any, inputs: Sequence[Any], found: Any) -> Any:
    """What is meant, where NumPy source and an executor do not fail in one way.

    What fails may be of no use: nobody computes it for its shape alone. NumPy source
    has Python's ints, which may be wide for a while.
    """
    graph = function.get_concrete_function(*inputs).graph
    if not isinstance(found, Exception):
        graph = prepare(graph, holds_state=True)
    return lambda *given: interpreter.run(graph, [x._array for x in given])


def same(found: Any, expected: Any) -> bool:
    if isinstance(found, Exception) or isinstance(expected, Exception):
        # Of several errors another may come first.
        return type(found) is type(expected)
    return all(map(near, found, expected))


def near(one: Any, other: Any) -> bool:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if one.dtype.kind not in "fc":
        return bool((one == other).all())
    if one.dtype.kind == "c":
        finite = np.isfinite(other)
        one, other = one[finite], other[finite]
        # The last bits of NumPy's products depend on where the factors lie.
        return np.allclose(one, other, 1e-4, 1e-4)
    size = max(float(np.finfo(one.dtype).eps) * 64, 1e-12)
    return np.allclose(one.astype(float), other.astype(float), size, size, True)


MAKERS = (edges, numbers, tensors)
