"""Drawings of graphs: SVG and text for Graphviz."""

from __future__ import annotations

import linecache
import re
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import runtime as tf
from runtime.export.drawing import picture
from tests import golden
from tests.runtime.export.programs import graph_of

FOLDER = Path(__file__).parent / "golden"
ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"


@golden.parametrize(FOLDER / "dot.test")
def test_dot(case: golden.Case, update_golden: bool) -> None:
    case.check(update_golden, out=graph_of(case).to_dot())


def train(x: Any, n: Any) -> Any:
    total = tf.zeros_like(x)
    for i in tf.range(n):
        if tf.reduce_sum(x) > 3.0:
            tf.print("big", i, x)
        else:
            total = total + x
        x = tf.tanh(x)
    return tf.reduce_sum(tf.square(total - x)), total


def concrete_graph(fn: Any, *args: Any) -> Any:
    return tf.function(fn).get_concrete_function(*args).graph


@pytest.fixture(scope="module")
def graph() -> Any:
    specs = tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([], tf.int32)
    return concrete_graph(train, *specs)


Rectangle = tuple[float, float, float, float]


def rectangles(svg: str) -> list[Rectangle]:
    """All boxes and parts: left, top, right, bottom."""
    found = []
    for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        if rect.get("class") != "page":
            x, y, w, h = (
                float(rect.get(key, "")) for key in ("x", "y", "width", "height")
            )
            found.append((x, y, x + w, y + h))
    return found


def contains(outer: Rectangle, inner: Rectangle) -> bool:
    return (
        outer[0] < inner[0]
        and outer[1] < inner[1]
        and inner[2] < outer[2]
        and inner[3] < outer[3]
    )


def test_boxes_lie_apart_or_in_each_other(graph: Any) -> None:
    found = rectangles(graph.to_svg())

    assert len(found) > 40
    for one, other in combinations(found, 2):
        apart = (
            one[2] <= other[0]
            or other[2] <= one[0]
            or one[3] <= other[1]
            or other[3] <= one[1]
        )
        assert apart or contains(one, other) or contains(other, one)


def test_all_lies_on_the_page(graph: Any) -> None:
    root = ElementTree.fromstring(graph.to_svg())
    width, height = float(root.get("width", "")), float(root.get("height", ""))

    assert root.get("viewBox") == f"0 0 {width:.0f} {height:.0f}"
    page = 0.0, 0.0, width, height
    assert all(contains(page, found) for found in rectangles(graph.to_svg()))
    for path in root.iter(f"{SVG}path"):
        if path.get("class", "").startswith("edge"):
            numbers = list(map(float, re.findall(r"-?\d+\.\d+", path.get("d", ""))))
            assert all(0 <= x <= width for x in numbers[::2])
            assert all(0 <= y <= height for y in numbers[1::2])


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_what_the_drawing_says(graph: Any) -> None:
    found = texts(graph.to_svg())

    assert found[0] == "train"
    assert {"x", "n", "total", "float32[?,3]", "While", "do", "then", "else"} <= {
        *found
    }
    assert {"result 0", "result 1", "3.0", "PrintV2"} <= {*found}
    assert "test_drawings.py:" in graph.to_svg()  # Where nodes were written.


def test_the_same_graph_gives_the_same_text(graph: Any) -> None:
    specs = tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([], tf.int32)
    again = concrete_graph(train, *specs)

    assert graph.to_svg() == again.to_svg() == graph._repr_svg_()
    assert graph.to_dot() == again.to_dot()


def test_effects_are_drawn_in_their_order() -> None:
    def f(x: Any) -> Any:
        tf.print("one")
        tf.print("two")
        return x

    svg = concrete_graph(f, tf.TensorSpec([], tf.int32)).to_svg()

    assert svg.count('class="box effect"') == 2
    assert svg.count('class="edge order"') == 1


def test_effects_say_what_they_are_about() -> None:
    v = tf.Variable(1, name="total")

    def f(x: Any) -> Any:
        tf.print("x is", x)
        v.assign(x)
        tf.debugging.assert_greater(x, 0)
        tf.py_function(print, [x], [])
        if x > 50:
            raise ValueError("large")
        return x

    found = texts(concrete_graph(f, tf.TensorSpec([], tf.int32)).to_svg())
    assert {"'x is {}'", "total", "x > y", "print", "ValueError"} <= {*found}


@pytest.mark.parametrize(
    "name", ["a<b & c>", 'say "hi"', "back\\slash", "a\x00b\x1b", "日本"]
)
def test_names_are_escaped(name: str) -> None:
    graph = concrete_graph(lambda x: x, tf.TensorSpec([], tf.int32, name=name))
    graph.name = name

    assert len(texts(graph.to_svg())) == 5
    clean = name.replace("\x00", "�").replace("\x1b", "�")
    assert texts(graph.to_svg())[0] == clean
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    assert f'digraph "{quoted}" {{' in graph.to_dot()


def test_long_names_are_shortened() -> None:
    graph = concrete_graph(lambda x: x, tf.TensorSpec([], tf.int32, name="x" * 90))

    assert "x" * 25 + "…" in texts(graph.to_svg())


def test_large_graphs_say_what_is_left_out() -> None:
    def f(x: Any) -> Any:
        for _ in range(100):
            x = tf.sin(x) + x
        return x

    graph = concrete_graph(f, tf.TensorSpec([], tf.float32))

    assert "1 of 201 nodes are left out" in texts(graph.to_svg())
    assert "191 of 201 nodes are left out" in texts(graph.to_svg(limit=10))
    assert "191 of 201 nodes are left out" in graph.to_dot(limit=10)
    assert not any("left out" in text for text in texts(graph.to_svg(limit=201)))


def test_the_limit_counts_what_is_inside_of_loops(graph: Any) -> None:
    found = texts(graph.to_svg(limit=12))

    assert any("left out" in text for text in found)
    assert "While" in found


def test_a_function_that_calls_itself_is_drawn_once() -> None:
    @tf.function
    def steps(n: Any) -> Any:
        if n > 0:
            return 1 + steps(n - 1)
        return 0

    graph = steps.get_concrete_function(tf.TensorSpec([], tf.int32)).graph

    assert "calls steps" in texts(graph.to_svg())
    assert "calls steps" in graph.to_dot()


def test_a_graph_of_nothing() -> None:
    graph = concrete_graph(lambda: None)

    assert texts(graph.to_svg()) == ["<lambda>"]
    assert picture(graph).boxes == []
    assert "->" not in graph.to_dot()


def test_the_drawing_in_the_readme(update_golden: bool) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r'```python title="(collatz.py)"\n(.*?)```', readme, re.DOTALL)
    assert found is not None
    namespace: dict[str, Any] = {}
    linecache.cache[found[1]] = len(found[2]), None, found[2].splitlines(True), found[1]
    exec(compile(found[2], found[1], "exec"), namespace)
    graph = concrete_graph(namespace["collatz"], tf.TensorSpec([], tf.int32))

    drawing = ROOT / "docs" / "collatz.svg"
    if update_golden:
        drawing.write_text(graph.to_svg(), encoding="utf-8")
    assert drawing.read_text(encoding="utf-8") == graph.to_svg()
