"""Small programs of golden files, traced."""

from __future__ import annotations

import linecache
from typing import Any

import runtime as tf
from runtime.core.graph import Graph
from tests import golden

SPECS = {
    "x": tf.TensorSpec([], tf.int32),
    "n": tf.TensorSpec([], tf.int32),
    "m": tf.TensorSpec([None, 2], tf.float32),
    "anything": tf.TensorSpec(None, tf.float32),
}


def graph_of(case: golden.Case) -> Graph:
    """The graph of the function ``f`` of a case."""
    filename = f"{case.name}.py"
    lines = case.source.splitlines(keepends=True)
    linecache.cache[filename] = len(case.source), None, lines, filename
    namespace: dict[str, Any] = {"tf": tf}
    exec(compile(case.source, filename, "exec"), namespace)
    fn = namespace["f"]
    arguments = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    function = tf.function(fn)
    specs = (SPECS[name] for name in arguments)
    return function.get_concrete_function(*specs).graph
