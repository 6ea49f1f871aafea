"""The optimiser as users meet it: source, errors, options, and the dump of passes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core import config
from runtime.core.config import optimizer
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.optimize import FAST_MATH, PASSES, chosen_passes, optimize
from runtime.passes.optimize.verify import verify

X = tf.TensorSpec([], tf.float32)
N = tf.TensorSpec([], tf.int32)


@contextlib.contextmanager
def options(**chosen: Any) -> Iterator[None]:
    before = optimizer.get_experimental_options()
    config.optimizer.set_experimental_options(chosen)
    try:
        yield
    finally:
        optimizer._options = before


def body(function: Any, *specs: Any) -> str:
    """The source of a function, without its head."""
    source: str = function.get_concrete_function(*specs).to_source()
    return source.partition("):\n")[2]


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


# --- source ---------------------------------------------------------------------------


def test_variables_keep_their_names() -> None:
    @tf.function
    def f(x: Any) -> Any:
        scale = tf.exp(x) * 1.0
        again = tf.exp(x) + 2.0
        shift = tf.identity(again)
        tf.exp(x) * 3.0
        return scale * again * shift

    assert body(f, X) == (
        "    scale = np.exp(x)\n"
        "    again = scale + 2.0\n"
        "    return scale * again * again\n"
    )


def test_a_call_gives_its_name_to_what_it_returns() -> None:
    @tf.function
    def helper(x: Any) -> Any:
        out = tf.exp(x)
        return out

    @tf.function
    def f(x: Any) -> Any:
        call = helper.get_concrete_function(x)
        first = call(x)
        second = call(first)
        return first + second

    assert body(f, X) == (
        "    first = np.exp(x)\n    second = np.exp(first)\n    return first + second\n"
    )


def test_ranges_count() -> None:
    @tf.function
    def f(n: Any) -> Any:
        total = 0
        for i in tf.range(n):
            total += i * i
        return total

    assert "Gather" not in body(f, N)
    assert [f(tf.constant(n)).numpy() for n in (0, 1, 5)] == [0, 0, 30]
    with pytest.raises(tf.errors.InvalidArgumentError, match="start <= limit"):
        f(tf.constant(-2))


# --- meaning --------------------------------------------------------------------------


def test_errors_come_from_the_lines_they_came_from() -> None:
    @tf.function
    def f(x: Any, y: Any) -> Any:
        first = tf.reshape(x + y, [-1]) * 1.0
        second = tf.reshape(x + y, [-1])
        return first, second

    open_spec = tf.TensorSpec([None], tf.float32)
    concrete = f.get_concrete_function(open_spec, open_spec)
    line = f.python_function.__code__.co_firstlineno + 2
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        concrete(tf.ones([2]), tf.ones([3]))

    assert f"{Path(__file__).name}:{line}" in str(caught.value)
    assert "AddV2" in str(caught.value)


def test_a_loop_that_does_not_run_computes_nothing_that_fails() -> None:
    @tf.function
    def f(n: Any, x: Any, y: Any) -> Any:
        total = 0.0
        while n > 0:
            n -= 1
            total += tf.reduce_sum(x + y)
        return total

    open_spec = tf.TensorSpec([None], tf.float32)
    concrete = f.get_concrete_function(N, open_spec, open_spec)
    assert concrete(tf.constant(0), tf.ones([2]), tf.ones([3])).numpy() == 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(tf.constant(1), tf.ones([2]), tf.ones([3]))


@pytest.mark.parametrize(
    "program",
    [
        lambda n: (7 // n) * 0,
        lambda n: 7 // n - 7 // n,
        lambda n: (7 // n) == (7 // n),
        lambda n: tf.logical_and(7 // n > 0, False),
        lambda n: tf.where(True, n, 7 // n),
        lambda n: tf.where(7 // n > 0, n, n),
        lambda n: tf.cond(7 // n > 0, lambda: n, lambda: n),
        lambda n: choose(7 // n, n),
        lambda n: tf.while_loop(lambda m: 7 // m > 9, lambda m: m, [n])[0],
        lambda n: tf.while_loop(
            lambda i, k, m: i < 2,
            lambda i, k, m: (
                i + 1,
                *tf.while_loop(
                    lambda k, m: 7 // m > 9, lambda k, m: (k + 1, m), [k, m]
                ),
            ),
            [0, 0, n],
        )[2],
    ],
)
def test_what_fails_is_not_simplified_away(program: Any) -> None:
    concrete = tf.function(program, autograph=False).get_concrete_function(N)
    assert concrete(tf.constant(7)) is not None
    with pytest.raises(tf.errors.InvalidArgumentError, match="FloorDiv"):
        concrete(tf.constant(0))


def choose(quotient: Any, n: Any) -> Any:
    return tf.cond(tf.constant(True), lambda: n, lambda: quotient)


def test_effects_stay_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    variable = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        before = variable.read_value() * 1.0
        variable.assign_add(x)
        after = variable.read_value() * 1.0
        tf.print("now", after)
        if tf.constant(True):
            tf.print("taken")
        return before, after

    assert [value.numpy() for value in f(tf.constant(2.0))] == [1.0, 3.0]
    assert capsys.readouterr().err == "now 3\ntaken\n"


def test_what_is_checked_is_the_traced_program() -> None:
    @tf.function
    def f(x: Any) -> Any:
        zero = tf.constant(0.0)
        return x + tf.math.log(zero) * 1.0

    f(tf.constant(1.0))
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Log"):
            f(tf.constant(1.0))
    finally:
        tf.debugging.disable_check_numerics()


def test_buffers_are_not_shared() -> None:
    @tf.function
    def f(n: Any) -> Any:
        total = 0.0
        for i in tf.range(n):
            a = tf.TensorArray(tf.float32, size=2)
            b = tf.TensorArray(tf.float32, size=2)
            a = a.write(0, tf.cast(i, tf.float32))
            b = b.write(1, 1.0)
            total += tf.reduce_sum(a.stack()) * 10.0 + tf.reduce_sum(b.stack())
        return total

    assert f(tf.constant(3)).numpy() == 33


def test_recursive_graphs() -> None:
    @tf.function
    def fib(n: Any) -> Any:
        if n * 1 < tf.identity(2):
            return n + 0
        return fib(n - 1) + fib(n - 2)

    assert fib(tf.constant(10)).numpy() == 55
    graph = fib.get_concrete_function(N).graph
    optimised = optimize(graph, watch=lambda _, found: verify(found))
    assert "Identity" not in str(optimised)
    assert compile_graph(optimised)([np.array(7, np.int32)])[0] == 13


def test_large_constants_are_not_made() -> None:
    graph = Graph("large")
    with building(graph):
        graph.outputs = [tf.reduce_sum(tf.zeros([100_000_000]) + 1.0)]

    assert "Zeros" in ops(optimize(graph))


# --- options --------------------------------------------------------------------------


def double(x: Any) -> Any:
    return x * 1.0 + tf.constant(2.0) * 3.0


def test_passes_are_switched() -> None:
    with options(constant_folding=False, arithmetic_optimization=False):
        assert body(tf.function(double), X).count("*") == 2
    assert body(tf.function(double), X) == "    return x + 6.0\n"
    with options(disable_meta_optimizer=True):
        assert chosen_passes() == ()
    with options(loop_optimization=False):
        names = [item.name for item in chosen_passes()]
        assert names.count("dead_code") == 2
        assert "invariant_code" not in names
    assert chosen_passes() == PASSES


def test_fast_math_is_asked_for() -> None:
    def f(x: Any) -> Any:
        return (x + 0.0) / 3.0 + x**3.0 + x**0.5 + (x - -0.0)

    exact = tf.function(f).get_concrete_function(X)
    assert ops(optimize(exact.graph)).count("Pow") == 2
    with options(fast_math=True):
        assert chosen_passes() == (FAST_MATH, *PASSES)
        fast = tf.function(f).get_concrete_function(X)
        found = fast(tf.constant(2.5)).numpy()
        assert not {"/", "Pow", "**"} & set(fast.to_source().split())
    assert found == pytest.approx(exact(tf.constant(2.5)).numpy(), rel=1e-6)


# --- the dump -------------------------------------------------------------------------


def test_the_dump_tells_what_each_pass_did() -> None:
    dump = tf.function(double).get_concrete_function(X).dump_passes()

    assert [change.name for change in dump.passes] == [
        "identities",
        "constant_folding",
        "arithmetic",
        "dead_code",
    ]
    folding = dump.passes[1]
    assert (folding.nodes_before, folding.nodes_after) == (6, 6)
    assert "Mul(%3, %4)" in folding.before
    assert "value=6.0" in folding.after
    assert str(folding) in dump
    assert "\n  -  %5: float32[] = Mul(%3, %4)" in dump


def test_a_dump_of_nothing() -> None:
    concrete = tf.function(lambda x: -x).get_concrete_function(X)
    with options(disable_meta_optimizer=True):
        dump = concrete.dump_passes()

    assert dump == "no pass changed anything"
    assert dump.passes == ()
