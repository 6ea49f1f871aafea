"""``autograph report``: what is on the page, and that it is text alone."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from autograph.commandline.main import main
from autograph.commandline.report import report_page

pytest.importorskip("runtime", exc_type=ImportError)  # WebAssembly has no NumPy

Captured = pytest.CaptureFixture[str]

PROGRAM = """\
import runtime as tf


def scaled(x, k):
    return tf.sin(x) * k


def total(xs):
    result = 0.0
    for x in xs:
        if x > 0:
            result += scaled(
                x, 2.0)
    return result


def clip(x):
    if x > 10:
        x = 10.0
    return x


class Shop:
    def price(self, x):
        return x * 2


price = tf.function(lambda x: Shop().price(x) + 1)


def fails(x):
    tf.debugging.assert_less(x, -1000, message="<b>too large</b>")
    return x


def refused(x):
    return tf.reshape(x, [7, 7])
"""
#: The end of an element, an element with a script, and what begins a comment.
HOSTILE = "</script><img src=x onerror=document.title='gone'><!-- {{style}} ]]>&amp;"


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with functions, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "shop.py"
    path.write_text(PROGRAM)
    return path


def data_of(page: str) -> Any:
    match = re.search(r'id="report">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def pane(data: Any, title: str) -> Any:
    return next(each for each in data["panes"] if each["title"] == title)


def linked(data: Any, title: str, text: str) -> set[int]:
    """The statements that the line with a text in it is linked with."""
    rows = [own for _, line, own in pane(data, title)["lines"] if text in line]
    assert len(rows) == 1
    return set(rows[0])


def test_lines_are_linked_from_the_source_to_what_runs() -> None:
    data = data_of(report_page("shop.py::total(float32[9])"))

    add = linked(data, "Source", "result += scaled(")
    sin = linked(data, "Source", "tf.sin")
    assert len(add) == len(sin) == 1
    assert add == linked(data, "Source", "  x, 2.0)")
    assert add == linked(data, "Converted", "result += scaled(")
    assert add | sin <= linked(data, "NumPy source", "np.sin")
    nodes = nodes_of(pane(data, "Graph")["drawing"])
    assert {"AddV2"} <= nodes[next(iter(add))]
    assert nodes[next(iter(sin))] >= {"Sin", "Mul"}


def nodes_of(element: Any) -> dict[int, set[str]]:
    """The ops of the drawing by statements."""
    found: dict[int, set[str]] = {}
    _, attributes, *inside = element
    if "data-link" in attributes:
        title = next(e[2] for e in inside if e[0] == "text")
        found.setdefault(int(attributes["data-link"]), set()).add(title)
    for each in inside:
        if isinstance(each, list):
            for link, ops in nodes_of(each).items():
                found.setdefault(link, set()).update(ops)
    return found


def test_a_statement_that_became_an_expression_is_linked() -> None:
    data = data_of(report_page("shop.py::clip(float32[])"))
    test, body = (
        linked(data, "Source", "if x > 10:"),
        linked(data, "Source", "x = 10.0"),
    )

    assert test | body == linked(data, "Converted", "x = ag.cond(x > 10")


def test_native_code_is_linked() -> None:
    pytest.importorskip("llvmlite")
    data = data_of(report_page("shop.py::total(float32[9])"))

    sin = linked(data, "Source", "tf.sin")
    assert sin <= linked(data, "Native loops", "sinf(")
    assert any(sin <= set(own) for _, _, own in pane(data, "LLVM")["lines"])


def test_only_what_is_installed_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    library = importlib.import_module("runtime.function.report")
    monkeypatch.setattr(library, "find_spec", lambda name: None)
    data = data_of(report_page("shop.py::total(float32[9])"))

    titles = [each["title"] for each in data["panes"]]
    assert titles == ["Source", "Converted", "Graph", "NumPy source"]


def test_shapes_and_dtypes_stand_at_their_lines() -> None:
    data = data_of(report_page("shop.py::total(float32[9])"))

    (loop,) = linked(data, "Source", "for x in xs")
    (add,) = linked(data, "Source", "result += scaled(")
    (sin,) = linked(data, "Source", "tf.sin")
    assert data["values"][str(loop)] == ["x: float32[]"]
    assert "result: float32[]" in data["values"][str(add)]
    assert data["values"][str(sin)] == ["float32[]"]
    assert "xs: float32 Tensor, shape=(9,)" in data["signature"]


def test_definitions_that_are_not_used_are_left_out() -> None:
    data = data_of(report_page("shop.py::total(float32[9])"))
    texts = [text for _, text, _ in pane(data, "Source")["lines"]]

    assert "def total(xs):" in texts
    assert not [text for text in texts if "Shop" in text or "fails" in text]


def test_what_is_in_no_function_shows_the_module() -> None:
    data = data_of(report_page("shop.py::price(float32[2])"))

    (method,) = linked(data, "Source", "return x * 2")
    assert method in linked(data, "NumPy source", "* 2.0")
    assert linked(data, "Source", "price = tf.function(lambda x")


# --- times ----------------------------------------------------------------------------


def test_times_of_lines() -> None:
    data = data_of(report_page("shop.py::total(float32[9])", profile=True))

    (add,) = linked(data, "Source", "result += scaled(")
    seconds, runs = data["times"][str(add)]
    assert seconds > 0
    assert 0 < runs <= 9
    assert "NumPy source" in data["how"]
    assert data_of(report_page("shop.py::total(float32[9])"))["times"] == {}


def test_why_there_are_no_times() -> None:
    data = data_of(report_page("shop.py::fails(int32[3])", profile=True))

    assert data["times"] == {}
    assert data["how"].startswith("No times: InvalidArgumentError: ")
    assert "<b>too large</b>" in data["how"]


# --- markup ---------------------------------------------------------------------------


class Tags(HTMLParser):
    """The elements of a page, as a browser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.comments = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found[tag] += 1

    def handle_comment(self, data: str) -> None:
        self.comments += 1


def test_texts_of_the_program_are_no_markup(tmp_path: Path) -> None:
    name = "<img onerror=x>&.py"
    (tmp_path / name).write_text(
        "import runtime as tf\n"
        f"v = tf.Variable(1.0, name={HOSTILE!r})\n"
        "def f(x):  # " + HOSTILE + "\n"
        f"    tf.print({HOSTILE!r}, x)\n"
        f"    tf.debugging.assert_less(x, 1000.0, message={HOSTILE!r})\n"
        "    ünsicher = v * x  # \u2028 \u202e\n"
        "    return ünsicher\n",
        encoding="utf-8",
    )
    plain = Tags(report_page("shop.py::total(float32[9])"))
    page = report_page(f"{name}::f(float32[])", profile=True)
    hostile = Tags(page)

    assert hostile.found == plain.found
    assert hostile.comments == plain.comments == 0
    assert page.count("</script>") == 2
    data = data_of(page)
    assert data["title"].startswith(name)
    assert f"def f(x):  # {HOSTILE}" in [t for _, t, _ in data["panes"][0]["lines"]]


def test_nothing_but_its_own_script_and_style_may_run() -> None:
    page = report_page("shop.py::total(float32[9])")
    policy = re.search(r'Policy" content="([^"]*)"', page)
    assert policy is not None

    assert policy[1].startswith("default-src 'none'; ")
    for name in ("style", "script"):
        text = re.search(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]
        # What could parse markup, or evaluate a text.
        assert not re.search(r"(inner|outer)HTML|insertAdjacent|eval\(", text[1])
    assert not re.search(r"""(src|href)=["']|@import|https?://(?!www\.w3\.org)""", page)


# --- the command ----------------------------------------------------------------------


def test_the_page_is_written(tmp_path: Path, capsys: Captured) -> None:
    assert main(["report", "shop.py::total(float32[?])", "-o", "out.html"]) == 0

    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert capsys.readouterr() == ("", "wrote out.html\n")


@pytest.mark.parametrize(
    ("target", "status", "code"),
    [
        ("shop.py::refused(float32[3])", 1, "AG412 cannot stage shop.py::refused"),
        ("shop.py::nothing(float32[3])", 2, "AG403"),
        ("shop.py::total(floaty)", 2, "AG403"),
        ("shop.py::total", 2, "AG403"),
        ("none.py::total()", 2, "AG402"),
    ],
)
def test_what_cannot_be_reported(
    target: str, status: int, code: str, tmp_path: Path, capsys: Captured
) -> None:
    assert main(["report", target, "-o", "out.html"]) == status
    assert capsys.readouterr().err.startswith(code)
    assert not (tmp_path / "out.html").exists()


def test_where_the_page_cannot_be_written(capsys: Captured) -> None:
    command = ["report", "shop.py::price(float32[])", "-o", "none/out.html"]
    assert main(command) == 2
    assert capsys.readouterr().err.startswith("AG404 cannot write `none/out.html`")
