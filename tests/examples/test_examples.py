"""Every example, in every way that it says it can be run, with equal results."""

from __future__ import annotations

import importlib
import io
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import examples
import runtime as tf
from autograph import convert
from examples import demo
from examples.ways import WAYS, Example, as_tensors
from runtime.core.types import nest

ROOT = Path(__file__).parents[2]
#: Modules that are no examples themselves.
SUPPORT = {"demo", "ways"}
MODULES = {
    name: importlib.import_module(f"examples.{name}")
    for _, name, _ in pkgutil.iter_modules(examples.__path__)
    if name not in SUPPORT
}
EXAMPLES = {
    f"{name}-{number}": example
    for name, module in MODULES.items()
    for number, example in enumerate(module.EXAMPLES)
}
RUNS = [(name, way) for name, example in EXAMPLES.items() for way in example.ways]
#: The control flow of the graphs: what is not here was not staged.
STAGED = {
    "bisection": ("While", "If"),
    "collatz": ("While", "If"),
    "fizzbuzz": ("While", "If", "PrintV2"),
    "life": ("While", "If"),
    "mandelbrot": ("While", "If"),
    "matrix_power": ("While", "If"),
    "newton": ("While", "If"),
    "primes": ("While", "If", "ListAppend"),
    "rnn": ("While",),
}


def values(result: Any) -> list[Any]:
    """The numbers of a result, from tensors and Python values alike."""
    return [
        leaf.numpy() if isinstance(leaf, tf.Tensor) else leaf
        for leaf in nest.flatten(result)
    ]


def assert_same(got: Any, expected: Any) -> None:
    nest.assert_same_structure(got, expected)
    for one, other in zip(values(got), values(expected), strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            # Python's floats have twice the figures of a float32 tensor.
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "way"), RUNS)
def test_result(name: str, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All ways give what the plain program, or its NumPy twin, gives and prints."""
    example = EXAMPLES[name]
    expected = example.run("plain")
    printed = capsys.readouterr()

    assert_same(example.run(way), expected)
    assert capsys.readouterr() == printed
    if example.same_as is not None:
        assert_same(expected, example.same_as(*example.arguments))


@pytest.mark.parametrize("name", MODULES)
def test_module(name: str) -> None:
    """An example says what it shows, lists what can be run, and has a program."""
    module = MODULES[name]

    assert module.__doc__
    assert module.EXAMPLES
    assert all(isinstance(example, Example) for example in module.EXAMPLES)
    for example in module.EXAMPLES:
        assert set(example.ways) <= set(WAYS)
        assert example.function.__module__ == module.__name__
        assert example.function.__doc__


@pytest.mark.parametrize("name", MODULES)
def test_program(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    MODULES[name].main()
    out, err = capsys.readouterr()

    assert len(out.splitlines()) > 1
    assert max(map(len, out.splitlines())) <= 88
    assert err == ""


@pytest.mark.parametrize("name", [name for name in MODULES if name != "word_count"])
def test_control_flow_is_in_the_graph(name: str) -> None:
    """Control flow that tensors steer becomes nodes, and is not left to Python."""
    [example, *_] = MODULES[name].EXAMPLES
    tensors = as_tensors(example.arguments)
    graph = tf.function(example.function).get_concrete_function(*tensors).graph

    for op in STAGED[name]:
        assert f" {op}(" in str(graph)


def test_the_readme_lists_all() -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")

    assert [name for name in (*MODULES, "demo") if f"({name}.py)" not in text] == []


def test_examples_run_as_programs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.fizzbuzz"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    lines = done.stdout.splitlines()
    assert lines[:5] == ["1", "2", "Fizz", "4", "Buzz"]
    assert lines[14] == "FizzBuzz"
    assert done.stderr == ""


def test_as_tensors_keeps_what_is_no_number() -> None:
    number, text, function = as_tensors((1, "one", abs))

    assert isinstance(number, tf.Tensor)
    assert (text, function) == ("one", abs)


# --- single examples ------------------------------------------------------------------


def module(name: str) -> ModuleType:
    return MODULES[name]


def test_fizzbuzz_prints(capsys: pytest.CaptureFixture[str]) -> None:
    for way in WAYS.values():
        way(module("fizzbuzz").fizzbuzz, 15)
        words = "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz"
        assert capsys.readouterr().out.split() == words.split()


def test_collatz_is_traced_once() -> None:
    staged = tf.function(module("collatz").collatz)

    assert [int(staged(tf.constant(n))) for n in (6, 27, 97)] == [8, 111, 118]
    assert staged.experimental_get_tracing_count() == 1


def test_rnn_serves_all_lengths_with_two_traces() -> None:
    rnn = module("rnn")
    staged = tf.function(rnn.rnn, reduce_retracing=True)
    for time in (4, 6, 9, 13):
        arguments = rnn.arguments(time, batch=2)
        assert_same(staged(*as_tensors(arguments)), rnn.rnn_in_numpy(*arguments))

    assert staged.experimental_get_tracing_count() == 2


def test_life_stops_when_nothing_changes() -> None:
    life = module("life")
    board, generation = tf.function(life.life)(tf.constant(life.BLOCK), tf.constant(99))

    assert (board.numpy() == life.BLOCK).all()
    assert int(generation) == 0


def test_newton_converts_the_functions_it_is_given() -> None:
    newton = module("newton")
    root, iteration = convert(newton.newton)(newton.kink, newton.kink_slope, 5.0, 9)

    assert (root, iteration) == (3.0, 1)


# --- the demonstration ----------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_demo_shows_all_stages() -> None:
    out = io.StringIO()
    assert demo.main(out) == 0
    text = out.getvalue()

    for part in (
        "while n != 1:",  # the source
        "ag.while_loop(lambda: n != 1",  # converted
        "= While(",  # the graph
        "import numpy as np",  # what runs it
        "path.append(x)",  # a list that grows
        "1.4142 in 16 steps, the mean 1.5329",
        "tape.gradient(mean, rate) = -0.8060",
        "AG206: the value chosen here for 'found'",  # a refusal
        "|     if x > 0:\n",
        # Python 3.10 does not tell columns.
        *(["|        ^^^^^\n"] if sys.version_info >= (3, 11) else []),
        *(f"{way:<15}  111" for way in WAYS),
        "All are equal.",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 88
    assert "\x1b" not in text


@pytest.mark.parametrize("installed", [True, False])
def test_demo_shows_native_code(
    installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if installed:
        pytest.importorskip("llvmlite")
    else:
        monkeypatch.setattr(demo, "find_spec", lambda name: None)
    out = io.StringIO()
    demo.main(out)
    text = out.getvalue()

    assert ("i32 @run(" in text) == installed
    assert (" µs, native " in text) == installed
    assert ("-m pip install llvmlite" in text) != installed


def test_make_demo_installs_what_the_packages_need_and_no_more() -> None:
    """The Makefile names the packages, as building the tree would take longer."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [names] = re.findall(r"^NEEDED := (.*)$", makefile, re.MULTILINE)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [needed] = re.findall(r"^dependencies = \[(.*)\]$", project, re.MULTILINE)

    assert names.replace("'", '"').split() == needed.replace(",", "").split()


def test_demo_colours_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    demo.main(out)
    assert "\x1b[1m1. An ordinary Python function\x1b[0m\n" in out.getvalue()

    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    demo.main(out)
    assert "\x1b" not in out.getvalue()


def test_demo_fails_where_results_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WAYS, "compiled", lambda function, n: 110)
    out = io.StringIO()

    assert demo.main(out) == 1
    assert "They differ!" in out.getvalue()
