"""Derivatives of a program: eagerly, and traced for shapes that are known or open.

The eager tape is what is meant. A traced program must give the same for arguments of
known shapes, of known ranks, and of any rank, in the interpreter and in each executor.
A refusal of XLA is a difference, unless it is the one that is named.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

import runtime as tf
from runtime.core.errors import UnimplementedError
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.engines.door import compiled
from tests.gradient_programs import inputs, random_gradient_program
from tests.runtime.autodiff.checks import derivatives, gradients_of, vectors

__all__ = ["EXECUTORS", "KINDS", "differences", "try_program"]

KINDS = ("static", "open length", "open rank")
EXECUTORS = ("interpreter", "numpy", "native", "xla")

_LIBRARIES = {"native": "llvmlite", "xla": "jax"}


def differences(
    f: Callable[..., Any],
    x: Sequence[Any],
    kinds: Sequence[str] = KINDS,
    executors: Sequence[str] = EXECUTORS,
    order: int = 1,
    tolerance: float = 1e-9,
    refusal: str = "",
) -> Iterator[str]:
    """Where the derivatives of a function of float tensors are others than eagerly.

    `refusal`: what stands in the message by which XLA refuses the program; empty: it
    must not.
    """
    count = len(x)
    directions = vectors(x)

    def all_at_once(*given: Any) -> Any:
        x, directions = given[:count], given[count:]
        first = derivatives(f, x, directions, order=1)
        return first if order == 1 else (first, _curvature(f, x, directions))

    given = [*x, *directions]
    expected = [t.numpy() for t in nest.flatten(all_at_once(*given))]
    arrays = [tensor.numpy() for tensor in given]
    for kind in kinds:
        specs = [_spec(tensor, kind) for tensor in given]
        traced = tf.function(all_at_once, input_signature=specs)
        graph = traced.get_concrete_function().graph
        for executor in executors:
            if find_spec(_LIBRARIES.get(executor, "numpy")) is None:
                continue
            try:
                found = _run(graph, arrays, executor)
            except UnimplementedError as error:
                if executor != "xla":
                    raise
                if not refusal or refusal not in str(error):
                    yield f"{kind}, {executor}: {error}"
                continue
            if refusal and executor == "xla":
                yield f"{kind}, {executor}: not refused"
            for place, (one, other) in enumerate(zip(found, expected, strict=True)):
                text = _difference(np.asarray(one), other, tolerance)
                if text:
                    yield f"{kind}, {executor}, result {place}: {text}"


def _curvature(f: Callable[..., Any], x: Sequence[Any], along: Sequence[Any]) -> Any:
    """How the gradients change along some directions, by two tapes."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, gradients = gradients_of(f, x)
        slope = [tf.reduce_sum(g * d) for g, d in zip(gradients, along)]
    return tape.gradient(slope, list(x), unconnected_gradients="zero")


def _spec(tensor: Any, kind: str) -> tf.TensorSpec:
    if kind == "static":
        return tf.TensorSpec(tensor.shape, tensor.dtype)
    dims = [None] * len(tensor.shape) if kind == "open length" else None
    return tf.TensorSpec(dims, tensor.dtype)


def _run(graph: Any, arrays: Sequence[Any], executor: str) -> Sequence[Any]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if executor == "interpreter":
            return interpreter.run(graph, arrays)
        graph.executor = executor
        executable = compiled(graph)
        tensors = [tf.constant(array) for array in arrays]
        results = executable(executable.inputs(tensors))
        return [executable.tensor(result).numpy() for result in results]


def _difference(one: Any, other: Any, tolerance: float) -> str:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f"{one.dtype}{one.shape}, not {other.dtype}{other.shape}"
    if np.allclose(one, other, tolerance, tolerance, True):
        return ""
    return f"{one.tolist()}, not {other.tolist()}"


def try_program(seed: int, executors: Sequence[str] = EXECUTORS) -> None:
    """Run random program number `seed`; AssertionError if a derivative is wrong."""
    single, order = seed % 4 == 3, 2 if seed % 6 == 5 else 1
    *x, n = inputs(seed, tf.float32 if single else tf.float64)
    program, tolerance = random_gradient_program(seed), 3e-3 if single else 1e-8
    found = differences(
        lambda *x: program(*x, n), x, KINDS, executors, order, tolerance
    )
    for text in found:
        # What XLA does not know of lists, random programs meet in many ways.
        if "XLA needs to know" not in text:
            raise AssertionError(text)
