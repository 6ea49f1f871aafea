"""Random programs in every mode: plain, converted, as a module, eager, idle, staged.

Each program is converted once and traced once; the graph then runs on several inputs,
by the interpreter and as NumPy source. ``python -m tests.modes_fuzz FIRST COUNT`` tries
programs by number, prints the first difference of each, and counts refusals.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import linecache
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import autograph
import runtime as tf
from autograph.operators import staging
from autograph.pipeline import convert_module
from autograph.source.text import Source
from runtime.engines.numpy_source.executable import Interpreted
from tests.idle import idle
from tests.modes import Result, as_python, as_tensors, same
from tests.tensor_programs import random_tensor_program

__all__ = ["Difference", "Tally", "check"]

FILENAME = "<tensor program>"
_LISTS: tuple[list[list[int]], ...] = (
    [[2, 0, 5], [1, 1, 3], [-1, 4, 2], [0, 0, 0]],
    [[3], [0], [-2], [1]],
    [[4, 1], [0, 2], [5, 5], [-3, 1]],
    [[1, 2, 3, 4, 0], [0, 1, 0, 5, 2], [6, 2, 2, -1, 3], [2, 0, 0, 1, 4]],
)
_NUMBERS = ((3, 2, 0.5), (0, 1, -1.5), (7, -2, 3.0), (-3, 4, 0.0))
#: Their messages are those of the program, so they are the same in all modes.
_TOLD = ("ValueError", "AssertionError", "RuntimeError", "KeyError")
#: A graph does not compute what nobody uses, so it does not fail to either; what it
#: goes on with may fail later.
_UNUSED = ("UnboundLocalError", "NameError", "TypeError")


#: A program takes a fraction of a second; this is too long.
_SECONDS = 60


class Difference(AssertionError):
    """A mode gave something else than Python."""


class _TooLong(BaseException):
    """A program takes longer than it may."""


@dataclass
class Tally:
    """How many programs ran, and what became of them."""

    programs: int = 0
    staged: int = 0
    failing: int = 0
    unused: int = 0
    refused: collections.Counter[str] = field(default_factory=collections.Counter)

    def __str__(self) -> str:
        refusals = ", ".join(f"{c} {n}" for c, n in self.refused.most_common())
        return (
            f"{self.programs} programs, {self.staged} staged without a refusal, "
            f"{self.failing} raise for some input, {self.unused} times a failure was "
            f"of no use; refused: {refusals or 'none'}"
        )


def check(text: str, tally: Tally | None = None) -> None:
    """Run a program in all modes; `Difference` if one of them is not like Python."""
    tally = tally or Tally()
    tally.programs += 1
    inputs = _inputs(text)
    code = _compiled(text, FILENAME)
    plain = [_result(lambda a=a: _loaded(code)(*a)) for a in inputs]
    tally.failing += any(result.error for result in plain)
    converted = _converted_module(text)
    modes: dict[str, Callable[[Any], Any]] = {
        "converted": lambda a: autograph.convert(_loaded(code))(*a),
        "module": lambda a: _loaded(converted)(*a),
        "eager": lambda a: autograph.convert(_loaded(code))(*_tensors(a)),
        "idle": _idle(lambda a: _loaded(converted)(*a)),
        "eager idle": _idle(lambda a: _loaded(converted)(*_tensors(a))),
    }
    refusals: set[str] = set()
    for mode, call in modes.items():
        for arguments, expected in zip(inputs, plain, strict=True):
            result = _result(lambda a=arguments, call=call: call(a))
            if mode.startswith("eager") and _refused(result, expected):
                continue
            _compare(mode, arguments, expected, result)
    for mode, arguments, result in _staged(code, inputs):
        expected = plain[inputs.index(arguments)]
        if mode == "traced" and expected.error is not None:
            continue  # Python fails while tracing, the graph would have failed before
        if expected.error in _UNUSED and result.error != expected.error:
            tally.unused += 1
        elif _refused(result, expected):
            refusals.add(str(result.code))
        else:
            _compare(mode, arguments, expected, result)
    tally.staged += not refusals
    tally.refused.update(refusals)


def _idle(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The call as it runs while nothing is being staged."""

    def run(arguments: Any) -> Any:
        with idle():
            return call(arguments)

    return run


def _staged(code: Any, inputs: list[Any]) -> Iterator[tuple[str, Any, Result]]:
    """The results of one trace, run by both executors."""
    function = tf.function(_loaded(code))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            concrete = function.get_concrete_function(*_tensors(inputs[0]))
    except Exception as error:
        # What Python raises while tracing, it raises for these inputs at least.
        if _code(error) is not None:
            yield "staged", inputs[0], _failed(error)
            return
        for arguments in inputs:
            yield "traced", arguments, _failed(error)
        return
    executables: dict[str, Any] = {
        "staged": None,
        "interpreted": Interpreted(concrete.graph),
    }
    for mode, executable in executables.items():
        concrete._executable = executable
        for arguments in inputs:
            tensors = _tensors(arguments)
            yield mode, arguments, _result(lambda t=tensors: concrete(*t))


def _inputs(text: str) -> list[Any]:
    lists = Random(text).choice(_LISTS)
    return [(*n, vs) for n, vs in zip(_NUMBERS, lists, strict=True)]


def _tensors(arguments: Any) -> tuple[Any, ...]:
    return tuple(map(as_tensors, arguments))


def _compiled(text: str, filename: str) -> Any:
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = (len(text), None, lines, filename)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(text, filename, "exec", dont_inherit=True)


def _converted_module(text: str) -> Any:
    conversion = convert_module(Source(text, FILENAME))
    if conversion.diagnostics:
        raise Difference(f"not converted: {conversion.diagnostics}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return conversion.code()


def _loaded(code: Any) -> Any:
    """The ``f`` of the module, run anew."""
    namespace: dict[str, Any] = {"__name__": "tensor_program"}
    exec(code, namespace)
    return namespace["f"]


def _result(call: Callable[[], Any]) -> Result:
    try:
        return Result(as_python(call()))
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> Result:
    message = str(error).partition("\n")[0]
    return Result(error=type(error).__name__, message=message, code=_code(error))


def _code(error: Exception) -> str | None:
    code = getattr(error, "code", None)
    return code if isinstance(code, str) and code[:3] in ("AG2", "AG3") else None


def _refused(result: Result, expected: Result) -> bool:
    """Whether a tensor mode refuses, and does not only fail as Python does."""
    return result.code is not None and result.error != expected.error


def _compare(mode: str, arguments: Any, expected: Result, result: Result) -> None:
    alike = result.error == expected.error and same(result.value, expected.value)
    if expected.error in _TOLD:
        alike = alike and result.message.startswith(expected.message)
    if not alike:
        raise Difference(
            f"{mode} f{arguments}: {_shown(result)}, not {_shown(expected)}"
        )


def _shown(result: Result) -> str:
    if result.error is None:
        return repr(result.value)
    return f"{result.error}({result.code or ''} {result.message})"


def _stop(*_: Any) -> None:
    raise _TooLong(f"more than {_SECONDS} s")


def main() -> int:
    """Try programs by number."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    tally, found = Tally(), 0
    signal.signal(signal.SIGALRM, _stop)
    staging.begin()  # converted code asks each statement, save where it is idle
    # The programs change globals on purpose.
    warnings.simplefilter("ignore", tf.errors.TracingWarning)
    for seed in range(options.first, options.first + options.count):
        text = random_tensor_program(seed)
        signal.alarm(_SECONDS)
        try:
            check(text, tally)
        except (Exception, _TooLong) as error:
            found += 1
            print(f"{seed}: {type(error).__name__} {error}", flush=True)
        signal.alarm(0)
        if tally.programs % 200 == 0:
            print(tally, flush=True)
    print(f"{tally}; {found} differences")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
