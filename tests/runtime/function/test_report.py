"""What reports and notebooks show of functions and graphs."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import runtime as tf
from runtime.function.report import report


def halved(x: Any) -> Any:
    while x > 1.0:
        x = x / 2.0
    return x


def concrete() -> Any:
    return tf.function(halved).get_concrete_function(tf.TensorSpec([]))


def line_of(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.strip() == text)


def placed(record: Any, title: str) -> dict[str, set[int]]:
    """The lines of this file that those of a stage belong to."""
    lines = dict(record["stages"])[title]
    places = record["places"]
    return {text.strip(): {places[each][1] for each in own} for text, own in lines}


def test_lines_of_a_stage_know_those_of_the_program() -> None:
    record = report(concrete())
    half = line_of("x = x / 2.0")

    assert {file for file, _ in record["places"]} == {__file__}
    numpy = placed(record, "NumPy source")
    assert numpy["x = x * 0.5"] == {half}
    assert record["times"] is None
    assert f"{Path(__file__).name}:{half}</title>" in record["drawing"]


def test_lines_of_native_code_know_those_of_the_program() -> None:
    pytest.importorskip("llvmlite")
    record = report(concrete())
    loop, half = line_of("while x > 1.0:"), line_of("x = x / 2.0")

    loops = placed(record, "Native loops")
    assert [own for text, own in loops.items() if text.startswith("while ")] == [{loop}]
    assert [own for text, own in loops.items() if "* 0.5" in text] == [{half}]
    assert {half} in placed(record, "LLVM").values()


def test_the_text_of_loops_is_that_of_the_report() -> None:
    pytest.importorskip("llvmlite")
    found = concrete()
    lines = dict(report(found)["stages"])["Native loops"]

    assert "\n".join(text for text, _ in lines) == found.loops()


def test_what_has_no_native_code_says_so() -> None:
    pytest.importorskip("llvmlite")
    found = tf.function(lambda x: tf.print(x)).get_concrete_function(
        tf.TensorSpec([], tf.string)
    )
    record = report(found)
    ((text, own),) = dict(record["stages"])["Native loops"]

    assert "is native code" in text
    assert own == []
    assert len(record["stages"]) == 2


def test_times_are_those_of_a_call() -> None:
    record = report(concrete(), call=([8.0], {}))
    found = {
        record["places"][place][1]: runs for place, _, runs in record["times"]["lines"]
    }

    assert found[line_of("x = x / 2.0")] == 3


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_notebooks_show_graphs_with_their_source() -> None:
    f = tf.function(halved)
    assert f._repr_html_() == "<code>&lt;tf.function halved&gt;, not traced</code>"
    f(tf.constant(8.0))
    found = concrete()

    for shown in (f._repr_html_(), found._repr_html_()):
        elements = Elements(shown)
        assert {"svg", "details", "pre"} <= elements.found
        assert any("x = x * 0.5" in text for text in elements.texts)
    assert "graph halved(" in found.graph._repr_html_()


def test_texts_of_the_program_are_no_markup() -> None:
    hostile = "</svg></pre><img src=x onerror=alert(1)>"

    @tf.function
    def f(x: Any) -> Any:
        tf.print(hostile, x)
        return x

    found = f.get_concrete_function(tf.TensorSpec([]))
    for shown in (f._repr_html_(), found._repr_html_(), found.graph._repr_html_()):
        elements = Elements(shown)
        assert "img" not in elements.found
        assert any("onerror" in text for text in elements.texts)
