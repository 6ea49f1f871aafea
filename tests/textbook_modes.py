"""The programs of ``tests/textbook`` on tensors, and how many give Python's result.

``tests/textbook`` holds 300 programs as textbooks write them; the 60 in ``unseen`` were
written by people who had not seen this project's code. None is edited to fit. Their
docstring examples are the calls that are compared, in five modes:

``converted``: converted code on Python values.
``eager``: converted code outside of graphs, with tensors for the numbers among the
arguments and for whole lists of numbers.
``numbers``: staged, with tensors for the numbers among the arguments.
``items``: staged, with tensors for the numbers in lists, tuples and dicts, too.
``arrays``: as ``items``, but a list of numbers is one tensor.

Integers become int64 and floats float64, which is what Python computes with. Each call
is ``equal`` to the plain one (a raised error is equal by its type), ``different``,
``slow``, refused with a code (``AG210``), or ends in another ``error``. What each call
gave when it was last recorded is in ``results.json``.

    python -m tests.textbook_modes               # compare all, print the shares
    python -m tests.textbook_modes games finance --mode arrays --show
    python -m tests.textbook_modes --record      # write results.json
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import copy
import doctest
import importlib.util
import io
import json
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import autograph
import runtime as tf
from tests.modes import as_python, same

__all__ = ["MODES", "Program", "Verdict", "compare", "programs", "recorded"]

ROOT = Path(__file__).parent / "textbook"
RESULTS = ROOT / "results.json"
MODES = ("converted", "eager", "numbers", "items", "arrays")
#: A call takes a fraction of a second; this is too long.
_SECONDS = 30


class Program(NamedTuple):
    """A function with the arguments of its examples: ``unseen/games.bowling_score``."""

    name: str
    function: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...]


class Verdict(NamedTuple):
    """What a call gave, beside Python: ``equal``, ``AG210``, …, and why."""

    kind: str
    text: str = ""


class _TooLong(BaseException):
    """A call takes longer than it may."""


# --- the programs ---------------------------------------------------------------------


def programs(*subjects: str) -> Iterator[Program]:
    """The programs of all subjects, or of those that are named, in order."""
    for path in sorted(ROOT.rglob("*.py")):
        if subjects and path.stem not in subjects:
            continue
        prefix = path.relative_to(ROOT).with_suffix("").as_posix()
        module = _load(path, "textbook." + prefix.replace("/", "."))
        for name, function in list(vars(module).items()):
            if _is_program(function, name, module.__name__):
                yield Program(f"{prefix}.{name}", function, _calls(function))


def _load(path: Path, name: str) -> Any:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _is_program(value: Any, name: str, module: str) -> bool:
    is_own = getattr(value, "__module__", None) == module
    is_function = callable(value) and not isinstance(value, type)
    return is_own and is_function and not name.startswith("_")


def _calls(function: Any) -> tuple[tuple[Any, ...], ...]:
    """The arguments of the examples that call a function with values alone."""
    found = []
    for example in doctest.DocTestParser().get_examples(function.__doc__):
        for node in ast.walk(ast.parse(example.source)):
            if not isinstance(node, ast.Call) or node.keywords:
                continue
            if getattr(node.func, "id", None) != function.__name__:
                continue
            with contextlib.suppress(NameError):  # a variable of the example
                text = ast.unparse(ast.Tuple(node.args, ast.Load()))
                found.append(eval(text, dict(vars(sys.modules[function.__module__]))))
    return tuple(found)


# --- the modes ------------------------------------------------------------------------


def compare(program: Program, case: int, mode: str) -> Verdict:
    """What a call of a program gives in a mode, beside what it gives in Python."""
    arguments = program.calls[case]
    expected = _result(lambda: program.function(*copy.deepcopy(arguments)))
    if mode == "converted":
        given = copy.deepcopy(arguments)
    else:
        given = tuple(_as_tensors(argument, mode) for argument in arguments)
    converts = autograph.convert if mode in ("converted", "eager") else tf.function
    found = _result(lambda: converts(program.function)(*given))
    return _verdict(expected, found)


def _as_tensors(value: Any, mode: str) -> Any:
    if isinstance(value, bool):
        return tf.constant(value)
    if isinstance(value, (int, float)):
        return tf.constant(value, tf.int64 if isinstance(value, int) else tf.float64)
    if mode == "numbers":
        return value
    if isinstance(value, list) and mode in ("arrays", "eager"):
        with contextlib.suppress(ValueError):  # lists of several lengths
            array = np.array(value)
            if array.size and array.dtype.kind in "bif":
                return tf.constant(array)
    if isinstance(value, (list, tuple)):
        return type(value)(_as_tensors(item, mode) for item in value)
    if isinstance(value, dict):
        return {key: _as_tensors(item, mode) for key, item in value.items()}
    return value


def _result(call: Callable[[], Any]) -> Any:
    """The result of a call as Python values, or the error that it raised."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with _limited():
                return _plain(call())
        except (_TooLong, Exception) as error:
            return error


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooLong(f"takes more than {_SECONDS} seconds")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    # Again each second, since callbacks may swallow it.
    signal.setitimer(signal.ITIMER_REAL, _SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _plain(value: Any) -> Any:
    """A value without tensors; tuples are lists, sets are sorted."""
    value = as_python(value)
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value), key=repr)
    if isinstance(value, (list, tuple)):
        return list(map(_plain, value))
    if isinstance(value, dict):
        return {repr(_plain(key)): _plain(item) for key, item in value.items()}
    return value


def _verdict(expected: Any, found: Any) -> Verdict:
    if isinstance(found, _TooLong):
        return Verdict("slow", str(found))
    if isinstance(found, Exception):
        code = str(getattr(found, "code", None))
        if code.startswith("AG"):
            return Verdict(code, str(found))
        if type(found) is type(expected):
            return Verdict("equal")
        return Verdict("error", f"{type(found).__name__}: {found}")
    if isinstance(expected, Exception) or not same(expected, found):
        return Verdict("different", f"{found!r} and not {expected!r}")
    return Verdict("equal")


# --- the record -----------------------------------------------------------------------


def recorded() -> dict[str, dict[str, list[str]]]:
    """The kinds of all verdicts, by program and mode, as they were last recorded."""
    found: dict[str, dict[str, list[str]]] = json.loads(RESULTS.read_text())
    return found


def shares(results: dict[str, dict[str, list[str]]]) -> str:
    """A table: how many calls are equal, refused, or something else, by mode."""
    lines = []
    for title, keep in (
        ("240 programs", lambda name: not name.startswith("unseen")),
        ("60 unseen programs", lambda name: name.startswith("unseen")),
    ):
        rows = [modes for name, modes in results.items() if keep(name)]
        lines.append(title)
        for mode in MODES:
            kinds = collections.Counter(k for row in rows for k in row.get(mode, ()))
            total = kinds.total() or 1
            refused = sum(n for kind, n in kinds.items() if kind.startswith("AG"))
            others = total - kinds["equal"] - refused
            often = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
            lines.append(
                f"  {mode:9} equal {kinds['equal'] / total:6.1%}  refused "
                f"{refused / total:6.1%}  other {others / total:5.1%}   ({often})"
            )
    return "\n".join(lines)


def main() -> None:
    """Compare programs, print the shares, and record the results if told to."""
    parser = argparse.ArgumentParser(prog="python -m tests.textbook_modes")
    parser.add_argument("subjects", nargs="*", help="games, finance, … (default: all)")
    parser.add_argument("--mode", choices=MODES, action="append")
    parser.add_argument("--program", help="a part of the names of programs to compare")
    parser.add_argument("--show", action="store_true", help="say what is not equal")
    parser.add_argument("--record", action="store_true", help="write results.json")
    parser.add_argument("--pairs", help="compare first calls: NAME:MODE,…; print JSON")
    options = parser.parse_args()
    if options.pairs:
        named = {program.name: program for program in programs()}
        pairs = [pair.split(":") for pair in options.pairs.split(",")]
        print(json.dumps([compare(named[name], 0, mode) for name, mode in pairs]))
        return
    results: dict[str, dict[str, list[str]]] = {}
    for program in programs(*options.subjects):
        if options.program and options.program not in program.name:
            continue
        row = results[program.name] = {}
        for mode in options.mode or MODES:
            cases = range(len(program.calls))
            verdicts = list(map(partial(_said, program, mode, options.show), cases))
            row[mode] = [verdict.kind for verdict in verdicts]
    if options.record:
        lines = (f"{json.dumps(n)}: {json.dumps(row)}" for n, row in results.items())
        RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(shares(results))


def _said(program: Program, mode: str, show: bool, case: int) -> Verdict:
    verdict = compare(program, case, mode)
    if show and verdict.kind != "equal":
        print(f"{program.name} {case} {mode}: {verdict.kind}\n    {verdict.text}")
    return verdict


if __name__ == "__main__":
    main()
