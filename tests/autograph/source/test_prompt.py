"""Functions typed at a prompt: their text is in the history of the terminal."""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import pytest

import autograph
from autograph.errors import SourceError
from autograph.source.text import source_of

SIGN = """\
def sign(x):
    if x > 0:
        return 1
    return -1
"""
DECORATED = """\
@(lambda f: f)
def sign(x):
    return 1 if x > 0 else -1
"""


class Prompt:
    """Compiles as Python's prompt did before 3.13, and keeps readline's history."""

    def __init__(self, *history: str) -> None:
        self.history = list(history)
        self.namespace: dict[str, Any] = {"__name__": "__main__"}

    def type(self, text: str) -> None:
        self.history += [line for line in text.split("\n") if line]
        exec(compile(text, "<stdin>", "single"), self.namespace)

    def get_current_history_length(self) -> int:
        return len(self.history)

    def get_history_item(self, index: int) -> str | None:
        return self.history[index - 1] if 0 < index <= len(self.history) else None


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> Prompt:
    prompt = Prompt("def sign(x):", "    retrun 1", "@sign", "x = (", "")
    monkeypatch.setitem(sys.modules, "readline", prompt)
    return prompt


@pytest.mark.parametrize("text", [SIGN, DECORATED])
def test_a_function(prompt: Prompt, text: str) -> None:
    prompt.type("a = 1\n")
    prompt.type(text)
    prompt.type("b = 2\n")
    source = source_of(prompt.namespace["sign"])

    assert source.text == text
    assert source.filename.startswith("<stdin>-")
    assert source_of(prompt.namespace["sign"]) is source


def test_a_branch_that_does_not_hold_the_function_is_not_needed(prompt: Prompt) -> None:
    branch = "if True:\n    def half(x): return x and 1\n"
    prompt.type(f"{branch}else:\n    half = None\n")

    assert source_of(prompt.namespace["half"]).text == branch


def test_functions_inside_a_statement(prompt: Prompt) -> None:
    prompt.type("def outer(k):\n    return (lambda x: x or k)\n")
    prompt.type("class A:\n    b = 3\n    def m(self): return self or 1\n")
    inner, a_class = prompt.namespace["outer"](3), prompt.namespace["A"]

    assert autograph.convert(inner)(0) == 3
    assert "ag.or_(x, lambda: k)" in autograph.to_code(inner)
    assert "ag.or_(self, 1)" in autograph.to_code(a_class)
    assert "def outer" in autograph.to_code(prompt.namespace["outer"])


def test_the_statement_that_is_running(prompt: Prompt) -> None:
    prompt.namespace["convert"] = autograph.convert
    prompt.type(f"@convert\n{SIGN}")

    assert prompt.namespace["sign"](3) == 1


def test_a_name_that_is_defined_again(prompt: Prompt) -> None:
    prompt.type(SIGN)
    first = prompt.namespace["sign"]
    prompt.type(SIGN.replace("-1", "-2"))

    assert source_of(first).text == SIGN
    assert "-2" in source_of(prompt.namespace["sign"]).text


def test_a_history_that_lacks_the_statement(prompt: Prompt) -> None:
    prompt.type("def lost(x):\n    return -1\n")
    prompt.history = [line.replace("-1", "-2") for line in prompt.history]

    with pytest.raises(SourceError, match=r"nor does a terminal.s history"):
        source_of(prompt.namespace["lost"])


def test_no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = Prompt()
    monkeypatch.setitem(sys.modules, "readline", types.ModuleType("other"))
    monkeypatch.delitem(sys.modules, "readline")
    prompt.type("def missing(x): return x\n")

    with pytest.raises(SourceError, match=r"nor does a terminal.s history"):
        source_of(prompt.namespace["missing"])


def test_a_real_prompt() -> None:
    """What people see who type a function into Python in a terminal."""
    pty = pytest.importorskip("pty")
    pytest.importorskip("readline")
    child, terminal = pty.fork()
    if child == 0:
        environment = {**os.environ, "TERM": "dumb", "PYTHONPATH": os.getcwd()}
        os.execve(sys.executable, [sys.executable, "-q"], environment)
    typed = ["import autograph", *SIGN.split("\n"), "autograph.convert(sign)(3) + 41"]
    os.write(terminal, "\n".join([*typed, "exit()", ""]).encode())
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
    except OSError:  # how Linux ends what a terminal sends
        pass
    os.waitpid(child, 0)
    os.close(terminal)

    assert b"42" in shown
