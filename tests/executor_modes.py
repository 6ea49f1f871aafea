"""The programs of the corpora on an executor: equal to NumPy's, refused, or different.

A program is staged twice on the same arguments, for the executors ``numpy`` and ``xla``
or ``native``. Equal are results as Python values (floats to single precision) with what
was printed, or errors with their types, messages and the last lines of their
tracebacks. XLA may refuse a program by an UnimplementedError with the user's line. All
else is different.

    python -m tests.executor_modes                     # on XLA: all corpora, the shares
    python -m tests.executor_modes --executor native textbook --show
    python -m tests.executor_modes --name bisection
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import io
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import runtime as tf
from runtime.engines import interpreter
from tests import corpus_loader, modes, support, textbook_modes

__all__ = ["Case", "Verdict", "cases", "compare"]


class Case(NamedTuple):
    """A call of a program, with tensors among the arguments."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Verdict(NamedTuple):
    """``equal``, ``refused``, ``different``, ``interpreted`` or ``slow``, and why."""

    kind: str
    text: str = ""
    #: How it ran: ``native``, ``partly`` or ``numpy``; nothing on XLA.
    how: str = ""
    #: Why not all is native.
    reasons: tuple[str, ...] = ()


def cases(corpus: str) -> Iterator[Case]:
    """The calls of a corpus: ``corpus``, ``constructs`` or ``textbook``."""
    if corpus == "textbook":
        for program in textbook_modes.programs():
            for mode in ("numbers", "arrays"):
                given = copy.deepcopy(program.calls[0])
                with contextlib.suppress(Exception):
                    tensors = [textbook_modes._as_tensors(g, mode) for g in given]
                    yield Case(f"{program.name}:{mode}", program.function, (*tensors,))
        return
    programs: Iterator[Any]
    programs = support.programs() if corpus == "constructs" else corpus_loader.entries()
    for one in programs:
        own = getattr(one, "name", f"{getattr(one, 'chapter', '')}.")
        name = own if not own.endswith(".") else own + one.function.__name__
        for number, arguments in enumerate(one.cases):
            try:
                given = tuple(map(modes.as_tensors, copy.deepcopy(arguments)))
            except (ValueError, tf.errors.OpError):
                continue  # lists of several lengths
            yield Case(f"{name}:{number}", one.function, given)


def compare(case: Case, executor: str = "xla") -> Verdict:
    """What a call gives on an executor, beside what it gives by NumPy."""
    expected = _outcome(case, "numpy")
    if isinstance(expected.error, textbook_modes._TooLong):
        return Verdict("slow")
    found = _outcome(case, executor)
    return _verdict(found, expected)._replace(how=found.how, reasons=found.reasons)


def _verdict(found: _Outcome, expected: _Outcome) -> Verdict:
    if isinstance(found.error, tf.errors.UnimplementedError) and type(
        expected.error
    ) is not type(found.error):
        return Verdict("refused", str(found.error))
    if found.shown() != expected.shown() or not modes.same(found.value, expected.value):
        return Verdict("different", f"{found.told()}\n    and not {expected.told()}")
    if found.error is None and found.interpreted:
        return Verdict("interpreted", "a check failed and there is no error")
    return Verdict("equal")


class _Outcome(NamedTuple):
    value: Any
    error: BaseException | None
    printed: str
    #: Whether the interpreter ran the program in the end.
    interpreted: bool
    how: str
    reasons: tuple[str, ...]

    def shown(self) -> Any:
        """What has to be equal to the letter."""
        if self.error is None:
            return self.printed
        last = traceback.extract_tb(self.error.__traceback__)[-1]
        place = (last.filename, last.lineno) if "runtime/" not in last.filename else ""
        text = re.sub("0x[0-9a-f]+", "0x", str(self.error))
        return self.printed, type(self.error), text, place

    def told(self) -> str:
        """For people."""
        return repr(self.value if self.error is None else self.shown())


def _outcome(case: Case, executor: str) -> _Outcome:
    printed = io.StringIO()
    value = error = None
    arguments = copy.deepcopy(case.arguments)
    with (
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(),
        _watched(executor) as (runs, made),
    ):
        warnings.simplefilter("ignore")
        try:
            with textbook_modes._limited():
                function = tf.function(case.function, executor=executor)
                value = textbook_modes._plain(function(*arguments))
        except (textbook_modes._TooLong, Exception) as failure:
            error = failure
    how, reasons = _coverage(made)
    return _Outcome(value, error, printed.getvalue(), bool(runs), how, reasons)


@contextlib.contextmanager
def _watched(executor: str) -> Iterator[tuple[list[Any], list[Any]]]:
    """The runs of the interpreter in the block, and the native executables made."""
    runs: list[Any] = []
    made: list[Any] = []
    if executor == "numpy":
        yield runs, made
        return

    def counted(*given: Any) -> Any:
        runs.append(given)
        return interpreter.run(*given)

    stand_in = mock.Mock(run=counted)
    with mock.patch(f"runtime.engines.{executor}.executable.interpreter", stand_in):
        if executor != "native":
            yield runs, made
            return
        from runtime.engines.native import compilation
        from runtime.engines.native.background import Background

        compile_graph = compilation.compile_graph

        def noted(*given: Any) -> Any:
            made.append(compile_graph(*given))
            return made[-1]

        with (
            mock.patch.object(compilation, "compile_graph", noted),
            mock.patch.object(Background, "is_enabled", False),
        ):
            yield runs, made


def _coverage(made: list[Any]) -> tuple[str, tuple[str, ...]]:
    """How much of some executables is native, and why the rest is not."""
    if not made:
        return "", ()
    kinds = {one.native.coverage for one in made}
    reasons = [reason for one in made for reason in one.native.refusals]
    how = kinds.pop() if len(kinds) == 1 else "partly"
    return how, tuple(dict.fromkeys(f"{r.node.op}: {r.reason}" for r in reasons))


def main() -> None:
    """Compare, and print the shares."""
    parser = argparse.ArgumentParser(prog="python -m tests.executor_modes")
    parser.add_argument("--executor", choices=("xla", "native"), default="xla")
    parser.add_argument("corpora", nargs="*")
    parser.add_argument("--name", default="", help="a part of the names")
    parser.add_argument("--show", action="store_true", help="say what is not equal")
    parser.add_argument("--reasons", help="a file for why programs are not native")
    options = parser.parse_args()
    reasons: dict[str, list[str]] = collections.defaultdict(list)
    for corpus in options.corpora or ("corpus", "constructs", "textbook"):
        kinds: collections.Counter[str] = collections.Counter()
        for case in list(cases(corpus)):
            if options.name not in case.name:
                continue
            verdict = compare(case, options.executor)
            kinds[verdict.kind] += 1
            kinds[verdict.how] += bool(verdict.how)
            for reason in verdict.reasons:
                reasons[reason].append(case.name)
            if options.show and verdict.kind not in ("equal", "slow"):
                print(f"{case.name} {verdict.kind}: {verdict.text}", flush=True)
        print(corpus, dict(+kinds), flush=True)
        if options.reasons:
            _write(Path(options.reasons), reasons)


def _write(path: Path, reasons: dict[str, list[str]]) -> None:
    """The reasons, the most frequent first, each with programs that have it."""
    order = sorted(reasons.items(), key=lambda item: -len(item[1]))
    lines = [f"{len(names):5} {why}    {', '.join(names[:3])}" for why, names in order]
    path.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
