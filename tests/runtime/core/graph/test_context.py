"""The state of the moment: graphs being built, name scopes, switches."""

from __future__ import annotations

import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import autograph
import runtime as tf
from autograph.operators import staging
from runtime.core import config
from runtime.core.graph import Graph, context
from runtime.ops.convert import constant
from runtime.ops.variables import Variable
from tests.idle import idle


def test_graphs_nest_and_unwind() -> None:
    outer, inner = Graph("outer"), Graph("inner")

    assert context.executing_eagerly()
    with context.building(outer):
        assert context.current_graph() is outer
        assert context.inside_function()
        with context.building(inner):
            assert context.current_graph() is inner
            with context.init_scope():
                assert context.executing_eagerly()
            assert context.current_graph() is inner
        assert context.current_graph() is outer
    assert context.current_graph() is None


def test_unwinds_after_an_error() -> None:
    with pytest.raises(KeyError), context.building(Graph("g")), context.name_scope("s"):
        raise KeyError
    assert context.current_graph() is None
    assert context.scoped_name("x") == "x"


def test_threads_and_tasks_do_not_see_the_graph() -> None:
    seen = []
    with context.building(Graph("g")):
        thread = threading.Thread(target=lambda: seen.append(context.current_graph()))
        thread.start()
        thread.join()
        contextvars.Context().run(lambda: seen.append(context.current_graph()))
    assert seen == [None, None]


def clamped(x: Any) -> Any:
    if x > 10:
        return x - x + 10
    return x


def test_what_is_converted_is_staged_in_a_body_that_is_entered_by_hand() -> None:
    function = autograph.convert(clamped)
    body = Graph("body", parent=Graph("g"))
    x = body.add_input(tf.TensorSpec((), tf.int32), "x")

    with idle():
        with body.as_default():
            function(x)
        assert staging.idle

    assert [node.op for node in body.nodes][-1] == "If"


def test_name_scopes() -> None:
    graph = Graph("g")
    with context.building(graph):
        with context.name_scope("layer") as first:
            with context.name_scope("inner"):
                deep = constant(1, name="c")
            flat = constant(1, name="c")
        with context.name_scope("layer") as second:
            again = constant(1, name="c")
        with context.name_scope(first):
            entered = constant(1, name="c")
        with context.name_scope("layer"), context.name_scope(""):
            top = constant(1, name="c")

    assert (first, second) == ("layer/", "layer_1/")
    assert [t.name for t in (deep, flat, again, entered, top)] == [
        "layer/inner/c:0",
        "layer/c:0",
        "layer_1/c:0",
        "layer/c_1:0",
        "c:0",
    ]


def test_a_graph_starts_without_a_scope() -> None:
    with context.name_scope("outer"), context.building(Graph("g")):
        assert constant(1).name == "Const:0"


def test_eager_name_scope_names_variables() -> None:
    with context.name_scope("a"), context.name_scope("b"):
        assert Variable(1, name="v").name == "a/b/v:0"


def test_name_scopes_are_objects() -> None:
    scope = context.name_scope("a")
    with scope as outer, scope as inner:
        assert (outer, inner, scope.name) == ("a/", "a/a/", "a")
    assert context.get_current_name_scope() == ""
    with pytest.raises(ValueError, match="name of a name_scope is a string, not 3"):
        context.name_scope(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("scope", [tf.name_scope("a"), tf.device("/cpu:0")])
def test_threads_share_scopes(scope: Any) -> None:
    inside, left = threading.Barrier(2, timeout=10), threading.Barrier(2, timeout=10)

    def enter(is_first: bool) -> str:
        with scope:
            inside.wait()
            if not is_first:
                left.wait()
        if is_first:
            left.wait()
        return context.get_current_name_scope() + context.current_device()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(enter, [True, False])) == ["", ""]


def test_run_functions_eagerly_is_in_config() -> None:
    assert not config.functions_run_eagerly()
    config.run_functions_eagerly(True)
    try:
        assert config.functions_run_eagerly()
    finally:
        config.run_functions_eagerly(False)
    assert not context.functions_run_eagerly()


def test_devices() -> None:
    assert [d.device_type for d in config.list_physical_devices()] == ["CPU"]
    assert config.list_physical_devices("GPU") == []
    assert config.experimental.list_physical_devices("GPU") == []


def test_watching_variables() -> None:
    made: list[Variable] = []
    with context.watch_variables(made.append):
        variable = Variable(1.0)
    Variable(2.0)
    assert [v is variable for v in made] == [True]


def test_a_watcher_can_forbid() -> None:
    def forbid(variable: Variable) -> None:
        raise ValueError(f"no more variables: {variable.name}")

    with (
        context.watch_variables(forbid),
        pytest.raises(ValueError, match="no more variables: Variable:0"),
    ):
        Variable(1.0)
