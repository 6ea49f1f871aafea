"""What `Function.explain` says of the statements of a trace."""

from __future__ import annotations

import json
import linecache
from pathlib import Path
from typing import Any

import runtime as tf
from runtime.function.function import Function
from tests import golden

FILE = Path(__file__).parent / "golden" / "explain.test"
INPUTS = {"n": tf.TensorSpec([], tf.int32), "xs": tf.TensorSpec([None], tf.int32)}


def function(case: golden.Case) -> Function:
    filename = f"{case.name}.py"
    lines = case.source.splitlines(keepends=True)
    linecache.cache[filename] = len(case.source), None, lines, filename
    names: dict[str, Any] = {}
    exec(compile(case.source, filename, "exec"), names)
    return tf.function(names["f"])


@golden.parametrize(FILE)
def test_statements_and_their_state(case: golden.Case, update_golden: bool) -> None:
    f = function(case)
    f.get_concrete_function(*(INPUTS[name] for name in f.function_signature.parameters))

    case.check(update_golden, out=str(f.explain().statements))


def test_a_record_for_programs() -> None:
    (case,) = (c for c in golden.cases(FILE) if c.name == "a_method_of_another_object")
    f = function(case)
    assert str(f.explain()) == "no tensor has decided about a statement"

    f(tf.constant([3, 1]))
    f(tf.constant([3.0, 1.0]))  # another trace of the same statements

    inner, loop, branch = json.loads(f.explain().to_json())["statements"]
    assert [found["name"] for found in inner["found"]] == []
    assert (loop["kind"], loop["state"]) == ("for", ["counter"])
    (found,) = branch["found"]
    assert found == {
        "name": "counter.count",
        "is_contents": False,
        "lines": [
            {"function": "Counter.add", "filename": f"{case.name}.py", "line": line}
            for line in (7, 9)
        ],
    }


def test_statements_of_a_method_and_of_functions_that_it_traces() -> None:
    class Model:
        def __init__(self) -> None:
            self.scale = 1

        @tf.function
        def call(self, x: Any) -> Any:
            return clip(x) if x > 1 else x

    @tf.function
    def clip(x: Any) -> Any:
        if x > 3:
            x = x * 0 + 3
        return x

    model = Model()
    model.call(tf.constant(5))

    kinds = [(statement.kind, statement.state) for statement in model.call.explain()]
    assert kinds == [("if", ()), ("if", ())]
    assert list(clip.explain()) == []


def test_what_a_trace_has_read_and_become() -> None:
    rate = 2

    @tf.function
    def many(x: Any) -> Any:
        for _ in range(60):
            x = x * rate
        return x + 0.5

    assert many.explain().traces == ()
    many(tf.constant([1.0]))
    (trace,) = many.explain().traces

    assert trace.signature == "many(x: float32[1])"
    assert trace.nodes > 60
    assert [text.partition(" (read")[0] for text in trace.guards] == [
        "captured variable `rate` is 2"
    ]
    ((filename, line, nodes),) = trace.unrolled
    assert filename == __file__
    assert linecache.getline(filename, line).strip() == "x = x * rate"
    assert nodes >= 60
    assert trace.executor == "numpy"
    assert f"{filename}:{line} became {nodes} operations" in str(many.explain())


def test_where_dtypes_are_promoted() -> None:
    @tf.function(jit_compile=False)
    def mean(n: Any, x: Any) -> Any:
        total = x
        if n > 0:
            total = n
        return total

    mean(tf.constant(3), tf.constant(1.0))
    (trace,) = mean.explain().traces
    assert {one[2:] for one in trace.promotions} == {("int32", "float32")}
