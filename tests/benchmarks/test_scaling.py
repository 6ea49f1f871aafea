"""The benchmark of growth: its programs run, and growth is told from noise."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import runtime as tf
from benchmarks import scaling


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "NODES", (20, 40))
    monkeypatch.setattr(scaling, "ITERATIONS", (10, 100))
    monkeypatch.setattr(scaling, "GROWTH_OF_NODES", 1000)
    monkeypatch.setattr(scaling, "GROWTH_OF_ITERATIONS", 1000)


@pytest.mark.slow
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert scaling.main(["--rounds", "1", "--json"]) == 0

    measures = json.loads(capsys.readouterr().out)["measures"]
    assert len(measures) == 3 * 6 + 3 * 3
    assert measures[0]["name"] == "straight, 20 nodes: trace each"
    assert measures[-1]["name"] == "decay, largest over smallest"


def test_growth_is_over_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scaling, "_graph_times", lambda run, nodes: (nodes, 1.0))
    monkeypatch.setattr(scaling, "GROWTH_OF_NODES", 1.5)

    assert scaling.main(["--rounds", "1"]) == 1

    assert "over budget: alive: trace" in capsys.readouterr().err


@pytest.mark.parametrize("nodes", [20, 200])
def test_graphs_have_about_so_many_operations(nodes: int) -> None:
    for program in scaling.GRAPHS:
        staged = tf.function(program(nodes))
        graph = staged.get_concrete_function(tf.constant(np.float32(0.5))).graph
        bodies = [body for node in graph.nodes for _, body in node.subgraphs()]
        found = [node.op for body in (graph, *bodies) for node in body.nodes]
        assert 0.5 * nodes <= len(found) - found.count("Const") <= 1.1 * nodes


@pytest.mark.parametrize("program", scaling.LOOPS)
def test_loops_are_staged(program: Any) -> None:
    steps = tf.constant(50, tf.int64)
    staged = tf.function(program)
    assert "While" in {
        node.op for node in staged.get_concrete_function(steps).graph.nodes
    }
    np.testing.assert_allclose(staged(steps), program(steps), rtol=1e-6)
