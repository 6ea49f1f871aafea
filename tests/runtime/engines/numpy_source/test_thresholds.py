"""Sizes at which executors compute in another way: the same bits on both sides of each.

Every size constant of `engines.numpy_source` and `ops/kernels` is here: with a program
that passes it, or among those that no result depends on.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
import runtime.engines.numpy_source
import runtime.ops.kernels
from tests.runtime.engines.numpy_source import agreement

#: Constants that only choose names, lines, memory or threads, or that bound a cache.
ELSEWHERE = {
    "executable.WIDTH",
    *("buffers.CONSTANTS", "buffers.LIMIT", "buffers.LINE", "buffers.SPARE"),
    # Kernels that generated code and the interpreter call alike; tests of the ops pass
    # these.
    *("accumulate.BLOCK", "convolve.BLOCK", "convolve.DEPTHWISE_BLOCK", "convolve.FEW"),
    *("convolve.DEPTHWISE_MANY", "convolve.LARGE_BLOCK", "convolve.MANY"),
}


def constant(name: str) -> int:
    module, _, name = name.rpartition(".")
    for package in (runtime.engines.numpy_source, runtime.ops.kernels):
        if module in {found.name for found in pkgutil.iter_modules(package.__path__)}:
            return getattr(
                importlib.import_module(f"{package.__name__}.{module}"), name
            )
    raise LookupError(name)


def run(function: Callable[..., Any], *arrays: Any, known: bool = True) -> None:
    specs = [
        tf.TensorSpec(a.shape if known else [None] * a.ndim, a.dtype)
        for a in map(np.asarray, arrays)
    ]
    graph = tf.function(function).get_concrete_function(*specs).graph
    agreement.check(graph, arrays, patched=False)


def numbers(*shape: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * 2).astype(np.float32)


# --- numbers of elements --------------------------------------------------------------

#: How many elements of float32 each is.
ELEMENTS = {
    "blocks.LARGE": 1,
    "blocks.BLOCK": 4,
    "statements.LARGE": 1,
    "loop_arrays.WIDE": 1,
    "text.FEW": 1,
    "select.FEW": 1,
    "select.BLOCK": 1,
    "extremes.FEW": 1,
    "extremes.BLOCK": 1,
    "special.BLOCK": 1,
    "special.ERF_BLOCK": 1,
    "buffers.LARGE": 4,
    "buffers.SCRATCH": 4,
    "program.SHORT_ARRAY": 1,
}


def chain(x: Any, y: Any) -> Any:
    a = tf.nn.relu(x) * 0.5 + tf.math.erf(y)
    b = tf.where(a > y, a - y, tf.maximum(x, 0.25))
    return a, b, tf.sigmoid(b) * a


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", ELEMENTS)
def test_elementwise_chains(name: str, known: bool) -> None:
    limit = constant(name) // ELEMENTS[name]
    for size in (limit - 1, limit, limit + 1):
        run(chain, numbers(size), numbers(size, seed=1), known=known)


@pytest.mark.parametrize("count", [0, 1, 7, "tensor"])
@pytest.mark.parametrize("name", ELEMENTS)
def test_loops(name: str, count: Any) -> None:
    limit = constant(name) // ELEMENTS[name]

    def loop(x: Any, row: Any, n: Any) -> Any:
        steps = n if count == "tensor" else count
        for _ in tf.range(steps):
            x = x * 0.5 + row
        return x

    rows = numbers(2, seed=1)
    for size in (limit // 2 - 1, limit // 2, limit // 2 + 1):
        for n in (0, 3) if count == "tensor" else (0,):
            run(loop, numbers(size, 2), rows, np.int32(n))


def adds(values: Any) -> Callable[[Any], Any]:
    return lambda x: (x + values, tf.constant(values))


def test_constants_that_are_written_out_and_those_that_are_not() -> None:
    limit = constant("program.SHORT_ARRAY")
    for size in (0, 1, limit - 1, limit, limit + 1):
        values = numbers(size)

        run(adds(values), np.float32(2))


def repeated(count: int) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        for _ in range(count):
            x = tf.tanh(x)
        return x

    return program


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_few_statements_and_many(known: bool) -> None:
    limit, size = constant("blocks.MANY"), constant("blocks.LARGE")
    for count in range(1, limit + 2):
        run(repeated(count), numbers(size), known=known)


# --- others ---------------------------------------------------------------------------


def chooses(count: int) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        y = x
        if x > 0:
            for _ in range(count):
                y = y * 3 + 1
        return y - 1

    return program


def test_short_branches_and_long_ones() -> None:
    for count in range(constant("nested.SMALL") + 3):
        for value in (2, -2):
            run(chooses(count), np.int32(value))


def sums(count: int) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        y = x
        for _ in range(count):
            y = y + x
        return y

    return program


def test_short_expressions_and_long_ones() -> None:
    limit = constant("statements.LONG")
    for count in range(1, limit // 4, 3):
        run(sums(count), np.float32(1.5))


PRODUCTS = {
    "small_products.FEWEST": lambda n: (n, 128, n),
    "small_products.LEAST": lambda n: (n, 128, 40),
    "small_products.NARROW": lambda n: (40, 128, n // 4),
    "small_products.SMALL": lambda n: (n // (128 * 64), 128, 64),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    rows, depth, columns = PRODUCTS[name](constant(name))
    for more in (-1, 0, 1):
        grown = [
            size + more if size != 128 else size for size in (rows, depth, columns)
        ]
        left, right = numbers(grown[0], grown[1]), numbers(grown[1], grown[2], seed=1)
        run(lambda x, y: tf.matmul(x, y) + 1.0, left, right)
        run(transposed_in_a_loop, left, right.T.copy())


def transposed_in_a_loop(x: Any, y: Any) -> Any:
    total = tf.matmul(x, y, transpose_b=True)
    for _ in tf.range(2):
        total = tf.matmul(x, y, transpose_b=True) * 0.5 - total
    return total


def test_every_size_has_a_program() -> None:
    found = set()
    for package in (runtime.engines.numpy_source, runtime.ops.kernels):
        for path in Path(*package.__path__).glob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.Assign) and isinstance(
                    node.targets[0], ast.Name
                ):
                    name = node.targets[0].id
                    if name.isupper() and name[0] != "_":
                        value = constant(f"{path.stem}.{name}")
                        if isinstance(value, int) and not isinstance(value, bool):
                            found.add(f"{path.stem}.{name}")
    found -= {name for name in found if name.startswith(("precedence.", "threads."))}
    tested = {*ELEMENTS, *PRODUCTS, "blocks.MANY", "nested.SMALL", "statements.LONG"}

    assert found == tested | ELSEWHERE
