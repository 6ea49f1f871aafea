"""Eager execution, the interpreter and NumPy source agree on everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph.prune import find_live
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.function.concrete import ConcreteFunction
from runtime.passes.optimize.verify import verify
from tests.runtime.engines.numpy_source.agreement import ways
from tests.runtime.engines.numpy_source.programs import PROGRAMS, Program

RUNS = [
    pytest.param(program, run, id=f"{program.fn.__name__}-{number}")
    for program in PROGRAMS
    for number, run in enumerate(program.runs)
]


class Outcome(NamedTuple):
    """What can be observed of a run."""

    #: Dtype, shape and elements of each, as text: NaN equals nothing.
    results: list[tuple[str, tuple[int, ...], str]]
    printed: str
    error: tuple[type, str] | None


def observe(run: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> Outcome:
    capsys.readouterr()
    try:
        arrays = [_array(leaf) for leaf in nest.flatten(run()) if leaf is not None]
        error = None
    except Exception as raised:
        arrays, error = [], (type(raised), str(raised))
    results = [
        (array.dtype.name, array.shape, repr(array.tolist())) for array in arrays
    ]
    return Outcome(results, capsys.readouterr().err, error)


def _array(leaf: Any) -> np.ndarray[Any, Any]:
    if isinstance(leaf, bytes):
        return np.array(leaf, dtype=object)
    return np.asarray(tf.convert_to_tensor(leaf) if isinstance(leaf, int) else leaf)


def traced(program: Program, args: list[Any]) -> ConcreteFunction:
    function = tf.function(program.fn, autograph=False)
    concrete = function.get_concrete_function(*args)
    verify(concrete.graph)
    return concrete


@pytest.mark.parametrize(("program", "run"), RUNS)
def test_the_executors_agree(
    program: Program, run: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    args = [tf.constant(value) for value in run]
    concrete = traced(program, args)
    arrays = [arg._array for arg in args]
    interpreted = observe(lambda: interpreter.run(concrete.graph, arrays), capsys)
    for way, run_graph in ways(concrete.graph):
        found = observe(lambda run=run_graph: run(arrays), capsys)
        assert found == interpreted, (way, concrete.to_source())
    called = observe(lambda: concrete.executable(arrays), capsys)
    assert called == interpreted, concrete.to_source()


@pytest.mark.parametrize(
    ("program", "run"), [run for run in RUNS if not run.values[0].staged_only]
)
def test_eager_execution_agrees(
    program: Program, run: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    args = [tf.constant(value) for value in run]
    eager = observe(lambda: program.fn(*args), capsys)
    concrete = traced(program, args)
    staged = observe(lambda: concrete(*args), capsys)

    if staged.error is None and eager.error is not None:
        # A graph leaves out what nobody needs, and its errors.
        ops = [node.op for node in concrete.graph.nodes]
        assert len(find_live(concrete.graph).nodes) < len(ops)
    elif staged.error is not None and eager.error is not None:
        assert staged.error[0] is eager.error[0]
        assert staged.error[1].startswith(eager.error[1])
    else:
        assert staged == eager


def test_programs_are_told_apart() -> None:
    names = [program.fn.__name__ for program in PROGRAMS]

    assert len(set(names)) == len(names) > 35
