"""Each rewrite alone: the graphs of small functions before and after it.

The first line of a case names the pass (and passes that go before it); the graphs are
shown without their lines.
"""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import runtime as tf
from runtime.core.graph import Graph
from runtime.passes.optimize import PASSES, optimize
from runtime.passes.optimize.verify import verify
from tests import golden

FILE = Path(__file__).parent / "golden" / "passes.test"

SPECS = {
    "n": tf.TensorSpec([], tf.int32),
    "p": tf.TensorSpec([], tf.bool),
    "x": tf.TensorSpec([], tf.float32),
    "m": tf.TensorSpec([2, 3], tf.float32),
    "v": tf.TensorSpec([None], tf.float32),
    "images": tf.TensorSpec([None, 4, 5, 2], tf.float32),
    "filters": tf.TensorSpec([3, 3, 2, 6], tf.float32),
    "bias": tf.TensorSpec([6], tf.float32),
}


def traced(case: golden.Case) -> Graph:
    """The graph of a case; its lines tell the names of variables."""
    filename = f"{case.name}.py"
    lines = case.source.splitlines(keepends=True)
    linecache.cache[filename] = len(case.source), None, lines, filename
    namespace: dict[str, Any] = {"tf": tf}
    exec(compile(case.source, filename, "exec"), namespace)
    fn = namespace["f"]
    arguments = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    function = tf.function(fn)
    return function.get_concrete_function(*(SPECS[name] for name in arguments)).graph


def names(case: golden.Case) -> list[str]:
    return case.source.partition("\n")[0].removeprefix("# ").split()


def shown(graph: Graph) -> str:
    return re.sub(r"  # .*", "", str(graph))


@golden.parametrize(FILE)
def test_graphs_before_and_after(case: golden.Case, update_golden: bool) -> None:
    tf.random.set_seed(None)  # some graphs show it
    graph = traced(case)
    before = str(graph)
    known = {item.name: item for item in PASSES}
    chosen = [known[name] for name in names(case)]

    after = optimize(graph, chosen, lambda _, found: verify(found))

    case.check(update_golden, graph=shown(graph), out=shown(after))
    assert str(graph) == before


def test_every_pass_has_cases() -> None:
    assert {item.name for item in PASSES} == {names(c)[-1] for c in golden.cases(FILE)}
