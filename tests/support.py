"""The support matrix: what each construct of Python does in each mode.

``tests/constructs`` holds small programs, by construct. Each runs in all modes of
`tests.modes` on its arguments, and `matrix` says how the answers compare with those of
the plain function:

- ``yes``: the same value, or the same exception;
- ``AG201``: refused with this code;
- anything else is a mistake of ours, which the test of the matrix does not let pass.

``docs/support.md`` is made from it: ``pytest tests/test_support.py --update-golden``.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from autograph.commandline.explain import explanation
from tests import modes
from tests.textbook_modes import MODES

__all__ = ["Program", "answer", "construct", "matrix", "programs", "refusals"]

#: What the programs do under JAX, as tests/test_support_jax.py recorded it.
UNDER_JAX = Path(__file__).parent / "constructs" / "under_jax.json"
#: What they do with PyTorch, as tests/test_support_torch.py recorded it.
UNDER_TORCH = Path(__file__).parent / "constructs" / "under_torch.json"
ROOT = Path(__file__).parent / "constructs"
CODE = re.compile(r"AG[23]\d\d")
TENSOR_MODES = ("eager", "staged", "interpreted")
_F = TypeVar("_F", bound=Callable[..., Any])


class Program(NamedTuple):
    """A function of a construct, and the arguments for it.

    ``chapter`` is the name of its file.
    """

    chapter: str
    construct: str
    function: Callable[..., Any]
    cases: tuple[tuple[Any, ...], ...]


def construct(name: str, *cases: tuple[Any, ...]) -> Callable[[_F], _F]:
    """Mark a program with the construct that it shows, and its arguments."""

    def mark(function: _F) -> _F:
        function.construct = name, cases  # type: ignore[attr-defined]
        return function

    return mark


def programs() -> Iterator[Program]:
    """All programs, in the order of their files and lines."""
    for path in sorted(ROOT.glob("*.py")):
        name = f"constructs.{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # where dataclasses look it up
        spec.loader.exec_module(module)
        for function in vars(module).values():
            marked = getattr(function, "construct", None)
            if marked is not None and function.__module__ == module.__name__:
                yield Program(path.stem, marked[0], function, marked[1])


def name_of(program: Program) -> str:
    """The name of a program, by its chapter."""
    return f"{program.chapter}.{program.function.__name__}"


def under_jax() -> dict[str, str]:
    """The recorded answers under JAX, by the names of the programs."""
    return recorded(UNDER_JAX)


def recorded(path: Path) -> dict[str, str]:
    """The recorded answers of a library, by the names of the programs."""
    if not path.exists():
        return {}
    answers: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return answers


def answer(program: Program, mode: str) -> str:
    """How a program does in a mode, over all its arguments."""
    answers = [_answer(program.function, case, mode) for case in program.cases]
    return next((text for text in answers if text != "yes"), "yes")


def _answer(function: Callable[..., Any], case: tuple[Any, ...], mode: str) -> str:
    expected = modes.run(function, case, "plain")
    found = modes.run(function, case, mode)
    if found.code is not None:
        return found.code
    if found.error != expected.error:
        return f"{found.error}: {found.message}" if found.error else "no error"
    if expected.error is not None:
        return "yes" if found.message == expected.message else found.message
    if not modes.same(found.value, expected.value):
        return f"{found.value!r} instead of {expected.value!r}"
    return "yes"


def matrix(found: Sequence[tuple[Program, dict[str, str]]]) -> str:
    """The page: a table for each chapter, a row for each construct."""
    jax = under_jax()
    counts = Counter(jax.values())
    lines = [
        HEADER.format(
            equal=counts["yes"], programs=counts.total(), errors=counts["error"]
        )
    ]
    chapters: dict[str, dict[str, list[dict[str, str]]]] = {}
    for program, answers in found:
        rows = chapters.setdefault(program.chapter, {})
        answers = {**answers, "jax": jax[name_of(program)]}
        rows.setdefault(program.construct, []).append(answers)
    for chapter, rows in chapters.items():
        lines += ["", *_heading(chapter), ""]
        columns = "on Python values | on tensors | staged | under JAX"
        lines += [f"| construct | programs | {columns} |", "|---|---|---|---|---|---|"]
        for name, several in rows.items():
            cells = [
                _cell(several, ("converted",)),
                _cell(several, ("eager",)),
                _cell(several, ("staged", "interpreted")),
                _cell(several, ("jax",)),
            ]
            lines.append(f"| {name} | {len(several)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _heading(chapter: str) -> list[str]:
    """The heading of a chapter, and a link to the file with its programs."""
    file = f"tests/constructs/{chapter}.py"
    title = chapter.replace("_", " ").capitalize()
    return [f"## {title}", "", f"The programs: [{file}](../{file})."]


def backends(found: Sequence[tuple[Program, dict[str, str]]]) -> str:
    """The page about libraries: a row for each construct, by chapters."""
    others = {"jax": recorded(UNDER_JAX), "torch": recorded(UNDER_TORCH)}
    counts = {name: Counter(answers.values()) for name, answers in others.items()}
    counts["staged"] = Counter(answers["staged"] for _, answers in found)
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    for program, answers in found:
        named = {name: x[name_of(program)] for name, x in others.items()}
        row = rows.setdefault((program.chapter, program.construct), [])
        row.append({"staged": answers["staged"], **named})
    lines = [BACKENDS.format(programs=len(found))]
    modes_ = ("staged", "jax", "torch")
    for kind in ("yes", "error"):
        cells = " | ".join(str(counts[mode][kind]) for mode in modes_)
        lines.append(f"| {kind} | {cells} |")
    codes = (counts[m].total() - counts[m]["yes"] - counts[m]["error"] for m in modes_)
    lines.append(f"| a code | {' | '.join(map(str, codes))} |")
    last = ""
    for (chapter, name), several in rows.items():
        if chapter != last:
            lines += ["", *_heading(chapter), ""]
            lines += ["| construct | runtime | JAX | PyTorch |", "|---|---|---|---|"]
        last = chapter
        cells = " | ".join(_cell(several, (mode,)) for mode in modes_)
        cells = re.sub(r"\[(AG\d+)\]\([^)]*\)", r"\1", cells)  # a small page
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines) + "\n"


def refusals(results: dict[str, dict[str, list[str]]]) -> str:
    """The last chapter: what the calls of the textbook programs give, by code.

    ``results`` is the record of `tests.textbook_modes`.
    """
    counts = [Counter(k for row in results.values() for k in row[m]) for m in MODES]
    total = sum(counts, Counter[str]())
    codes = sorted(
        (k for k in total if CODE.fullmatch(k)), key=lambda k: (-total[k], k)
    )
    titles = {
        "equal": "Python's result",
        **{code: f"{_link(code)} {explanation(code).title}" for code in codes},
        "error": "another error",
        "different": "another result",
        "slow": "no result in time",
    }
    assert set(total) <= set(titles), "a kind of result that has no row"
    lines = [TEXTBOOKS.format(programs=len(results), calls=counts[0].total())]
    lines += ["", f"| what a call gives | {' | '.join(MODES)} |"]
    lines += ["|---" * (len(MODES) + 1) + "|"]
    for kind, title in titles.items():
        cells = [str(count[kind] or "") for count in counts]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(several: list[dict[str, str]], of: tuple[str, ...]) -> str:
    given = [answers[mode] for answers in several for mode in of]
    refusals = sorted({text for text in given if text != "yes"})
    if not refusals:
        return "yes"
    links = (text if text == "error" else _link(text) for text in refusals)
    return ("partly: " if "yes" in given else "") + ", ".join(links)


def _link(code: str) -> str:
    """A link to where the page of errors explains a code: its heading."""
    heading = f"{code} {explanation(code).title}".lower()
    anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
    return f"[{code}](errors.md#{anchor})"


HEADER = """\
# What is supported

Each row is a construct of Python, with the number of programs that test it (they are in
`tests/constructs`). *On Python values*: the converted function does what the original
does. *On tensors*: the converted function, called with tensors outside of a graph.
*Staged*: the same under `tf.function`, run as NumPy source and by the interpreter.
*Under JAX*: the same under `jax.jit`, by `autograph.backends.jax`, with the exceptions
of the program as checks of JAX's `checkify`. A code says how a construct is refused;
`error` is an error of JAX's own, or of Python's. Under JAX {equal} of the {programs}
programs are equal, {errors} gives such an error (it returns a text), and the others a
code. [jax.md](jax.md) says what to expect.

This page is written by the tests that compare all of these with plain Python. They run
on Python 3.10, 3.11, 3.12 and 3.13.

On Python 3.14 the compiler's own tests run, in a build of Python as WebAssembly
(`make wasm`). That build has no NumPy: the runtime is not tested there. What is new in
Python 3.14 is converted, too: template strings, `except A, B:`, and annotations that
are evaluated when somebody asks."""

BACKENDS = """\
# Which library stages what

The {programs} programs of [support.md](support.md) where numbers, and lists of numbers,
are tensors, in three libraries: the *runtime* under `tf.function`, *JAX* by `jax.jit`
with `checkify` ([extending.md](extending.md#a-library-of-functions-of-arrays-jax)), and
*PyTorch* exported by `autograph.backends.torch.export` ([torch.md](torch.md)). `yes`:
the same as plain Python. A [code](errors.md) says how a construct is refused; `error`
is an error of the library's own, or of Python's. The page is made by the tests.

| programs | runtime | JAX | PyTorch |
|---|---|---|---|"""

TEXTBOOKS = """
## Programs of textbooks

What the {calls} calls in the examples of {programs} programs (`tests/textbook`) gave in
each mode when they were last recorded: *converted* on Python values; *eager* outside of
graphs; staged with tensors for *numbers*, for the *items* of lists as well, and for
whole lists (*arrays*). A refusal is counted by its code."""
