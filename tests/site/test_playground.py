"""What the playground says of programs; test_browser.py is about its page."""

from __future__ import annotations

import doctest
import re
from xml.etree import ElementTree

import pytest

from tests.site.test_pages import SITE, load

playground = load(SITE / "playground" / "playground.py")
HOSTILE = "<img src=x onerror=alert(1)>"


def test_doctests() -> None:
    assert doctest.testmod(playground).failed == 0


@pytest.fixture(scope="module")
def examples() -> dict[str, dict[str, object]]:
    return {one["name"]: one for one in playground.examples()}


def test_each_example_is_converted_and_drawn(examples: dict) -> None:
    assert len(examples) == 8
    for name, one in examples.items():
        assert "ag." in one["converted"]["code"], name
        assert one["called"]["svg"].startswith("<svg"), name
    results = {name: one["called"]["result"] for name, one in examples.items()}
    assert "numpy=111>" in results["collatz"]
    assert results["assert"] == "AssertionError: -1.0 is negative"


def test_marks_are_at_their_lines(examples: dict) -> None:
    (of_yield,) = examples["yield"]["converted"]["marks"]
    (of_assert,) = examples["assert"]["called"]["marks"]

    assert (of_yield["severity"], of_yield["line"]) == ("info", 2)
    assert of_yield["text"].startswith("AG106 left unconverted\n")
    assert (of_assert["severity"], of_assert["line"]) == ("error", 4)


def test_a_program_that_is_not_valid() -> None:
    answer = playground.converted("x = (\n")

    assert answer["code"] is None
    assert answer["marks"][0]["text"].startswith("AG100 the source is not valid")
    assert playground.called("x = (\n", "x()")["marks"][0]["line"] == 1


def test_a_refusal_names_its_line_and_no_folder() -> None:
    text = "def f(x):\n    return 'a' if x > 0 else 1\n"
    answer = playground.called(text, "f(1)")

    assert answer["marks"][0]["line"] == 2
    assert "program.py:2: AG206" in answer["result"]
    assert "/program.py" not in answer["result"] + answer["marks"][0]["text"]


def test_what_a_program_prints_comes_first() -> None:
    text = "def f(x):\n    print('traced')\n    return x\n"

    assert playground.called(text, "f(2)")["result"].startswith("traced\n<tf.Tensor")


@pytest.mark.parametrize("call", ["", "g(1)", "f", "1 / 0", "exit()"])
def test_a_call_that_is_none(call: str) -> None:
    assert playground.called("def f(x): return x\n", call)["result"]


def test_drawings_escape_the_texts_of_programs() -> None:
    text = f'def f(x, note="{HOSTILE}"):\n    return note + x\n'
    answer = playground.called(text, f"f('{HOSTILE}')")

    tags = {element.tag for element in ElementTree.fromstring(answer["svg"]).iter()}
    assert HOSTILE in answer["result"]
    assert "&lt;img" in answer["svg"]
    assert all(tag.startswith("{http://www.w3.org/2000/svg}") for tag in tags)
    assert not [tag for tag in tags if tag.endswith(("}img", "}image", "}script"))]


def test_the_policy_of_the_page_is_strict() -> None:
    text = (SITE / "playground" / "index.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)

    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy.replace("wasm-unsafe-eval", "")
    assert not re.search(r"https?:|\*|data:", policy)
    assert not re.search(r"<script>|\son\w+=|style=", text)


@pytest.mark.parametrize("call", ["", "collatz(27)"])
def test_a_call_of_another_program_names_one_of_this(call: str) -> None:
    answer = playground.called("def total(prices, limit):\n    return limit\n", call)

    expected = "write a call of your function above, such as total(prices, limit)"
    assert answer["result"] == f"NameError: {expected}"
