"""The printed graphs of small functions, and the source that runs them."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import runtime as tf
from runtime.engines.numpy_source.executable import compile_graph
from tests import golden

FILE = Path(__file__).parent / "golden" / "source.test"

SPECS = {
    "x": tf.TensorSpec([], tf.int32),
    "y": tf.TensorSpec([], tf.int32),
    "m": tf.TensorSpec([None, 2], tf.float32),
}


def concrete(case: golden.Case) -> Any:
    """The function of a case, traced; its lines tell the names of variables."""
    filename = f"{case.name}.py"
    lines = case.source.splitlines(keepends=True)
    linecache.cache[filename] = len(case.source), None, lines, filename
    namespace: dict[str, Any] = {"tf": tf}
    exec(compile(case.source, filename, "exec"), namespace)
    fn = namespace["f"]
    arguments = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    function = tf.function(fn, autograph=False)
    return function.get_concrete_function(*(SPECS[name] for name in arguments))


@golden.parametrize(FILE)
def test_graphs_and_sources(case: golden.Case, update_golden: bool) -> None:
    traced = concrete(case)

    case.check(
        update_golden, graph=str(traced.graph), out=compile_graph(traced.graph).source
    )
