"""``autograph check PATH``: what of it can be staged, and what cannot. Nothing of it is
executed, and nothing is written.
"""

from __future__ import annotations

import argparse
import functools
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic, Location
from ..errors import TargetError
from .configuration import Configuration, nearest_configuration
from .explain import explanation, explanations
from .failures import failure
from .findings import as_github, as_json, as_sarif, as_statistics
from .output import Reporter
from .progress import progress
from .suppressions import is_suppressed, suppressions
from .targets import (
    files_in,
    folders_of,
    is_within,
    parse_target,
    read_notebook,
    read_target,
    spans,
)

#: Fewer files are checked in this process: others would take longer to begin.
_FEW_FILES = 16
_DESCRIPTION = """\
Find code that cannot be staged, without running it. Each finding has a line and a fix.
The exit status is 1 if there is a finding. A PATH is a file, a notebook, a folder, an
importable module, or - for standard input. The default is the current folder.

  # autograph: ignore[AG106]    in a comment hides findings of that line
  [tool.autograph]              in pyproject.toml sets `select`, `ignore` and `skip`
"""
#: Said once, and not guessed.
_NOT_CHECKED = (
    "Dtypes, shapes and values are not checked. `autograph verify` checks a call."
)


class _Checked(NamedTuple):
    """What was found in a file, and the exit status that it is worth."""

    findings: list[Diagnostic]
    status: int


class Codes(NamedTuple):
    """Which codes are reported: those that begin like one of these, but not those."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]

    def has(self, code: str) -> bool:
        """Whether a code is reported."""
        wanted = not self.select or code.startswith(self.select)
        return wanted and not (self.ignore and code.startswith(self.ignore))


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``check`` and its options to the commands."""
    check: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="find code that cannot be staged, in files and packages",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.set_defaults(command=_run)
    check.add_argument("targets", metavar="PATH", nargs="*", default=["."])
    forms = check.add_mutually_exclusive_group()
    forms.add_argument(
        "--format",
        choices=["text", "json", "github", "sarif"],
        default="text",
        help="text for people, json for programs, github for pull requests, sarif for "
        "code scanning",
    )
    forms.add_argument("--json", action="store_true", help="the same as --format json")
    forms.add_argument(
        "--statistics",
        action="store_true",
        help="print only how often each code was found",
    )
    for name, what in (("select", "report only"), ("ignore", "do not report")):
        check.add_argument(
            f"--{name}",
            metavar="CODES",
            action="append",
            help=f"{what} these codes or prefixes: AG106,AG2",
        )
    check.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="number of processes (default: one per core)",
    )
    return check


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Check all files and print the findings; the status is the worst of theirs."""
    jobs = _jobs(arguments.jobs)
    for given in (arguments.select, arguments.ignore):
        _valid_codes(given)  # also where there is no file to check
    work = list(_work(arguments))
    findings: list[Diagnostic] = []
    status = 0
    form = "json" if arguments.json else arguments.format
    as_text = form == "text" and not arguments.statistics
    with progress("checking", len(work), sys.stderr) as advance:
        for checked in _all_checked(work, jobs):
            advance()
            status = max(status, checked.status)
            findings += checked.findings
    if as_text:
        reporter.findings(findings)
        reporter.result(_summary(findings, len(work)))
    elif form == "text":
        reporter.result(as_statistics(findings))
    elif form == "json":
        reporter.result(as_json(findings, len(work)))
    else:
        written = as_github if form == "github" else as_sarif
        reporter.result(written(findings))
    return status


def _jobs(given: int | None) -> int:
    if given is not None and given < 1:
        why = f"--jobs {given}: the number must be positive"
        raise TargetError(Diagnostic("AG404", "invalid option", why))
    if given is None and hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return given or os.cpu_count() or 1


def _valid_codes(given: Sequence[str] | None) -> tuple[str, ...]:
    """The codes of an option or a configuration.

    Raises:
        TargetError: AG407, no code begins so.
    """
    codes = [code.strip().upper() for text in given or () for code in text.split(",")]
    for code in filter(None, codes):
        if not any(known.startswith(code) for known in explanations()):
            explanation(code)  # which has the nearest ones
    return tuple(filter(None, codes))


def _work(arguments: argparse.Namespace) -> Iterator[tuple[str, Codes]]:
    """The files to check, each with the codes that are reported of it."""

    @functools.cache
    def configuration(folder: str) -> Configuration:
        return nearest_configuration(folder)

    seen = set[str]()
    for target in arguments.targets:
        folders = folders_of(target)
        inside = [file for f in folders for file in files_in(f, (".py", ".ipynb"))]
        for file in inside if folders else [target]:
            settings = configuration(os.path.dirname(os.path.abspath(file)))
            if os.path.abspath(file) in seen or (folders and settings.skips(file)):
                continue
            seen.add(os.path.abspath(file))
            yield file, codes_for(settings, arguments.select, arguments.ignore)


def codes_for(
    settings: Configuration,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
) -> Codes:
    """The codes that are reported under a configuration and the options of a command.

    Raises:
        TargetError: AG407, there is no such code.
    """
    ignored = [*(ignore or ()), *settings.ignore]
    return Codes(_valid_codes(select or settings.select), _valid_codes(ignored))


def _all_checked(work: list[tuple[str, Codes]], jobs: int) -> Iterator[_Checked]:
    if jobs == 1 or len(work) < _FEW_FILES:
        yield from map(_checked, work)
        return
    from concurrent.futures import ProcessPoolExecutor  # not at once: it takes 8 ms

    with ProcessPoolExecutor(min(jobs, len(work)), initializer=_deaf) as pool:
        try:
            # In small chunks, as one file may take as long as many others.
            yield from pool.map(_checked, work, chunksize=4)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _deaf() -> None:
    """Leave Ctrl-C to the process that waits for this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _checked(work: tuple[str, Codes]) -> _Checked:
    target, codes = work
    try:
        found = [one for one in findings_in(target) if codes.has(one.code)]
    except Exception as error:
        status, diagnostics = failure(error)
        found = [one for one in diagnostics if codes.has(one.code) or status > 1]
        return _Checked(found, status if found else 0)
    return _Checked(found, 1 if found else 0)


def findings_in(target: str) -> list[Diagnostic]:
    """The findings in a file, module or notebook, in the order of their lines.

    Raises:
        TargetError: it is not there, or cannot be read.
        SourceError: AG100, it is not valid Python.
    """
    name = parse_target(target)
    cells = read_notebook(name)
    if cells is None:
        source = read_target(name)
        found = findings_in_text(source.text, source.filename)
        if not name.qualname:
            return found
        wanted = spans(source, name.qualname)
        return [one for one in found if is_within(one, wanted)]
    found = []
    for cell in cells:
        if not cell.is_foreign:
            try:
                inside = findings_in_text(cell.python, f"{name.name}[{cell.number}]")
            except Exception as error:
                inside = list(failure(error)[1])
            found += [finding._replace(source=cell.text) for finding in inside]
    return found


def findings_in_text(text: str, filename: str) -> list[Diagnostic]:
    r"""The findings in the text of a module, in the order of their lines.

    >>> text = "def f(n):\n    if n > 0:\n        yield n\n"
    >>> [str(finding.location) for finding in findings_in_text(text, "f.py")]
    ['f.py:2:8']
    """
    from ..pipeline import convert_module
    from ..source.text import Source

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        conversion = convert_module(Source(text, filename))
    ignored = suppressions(text)
    found = [*conversion.diagnostics, *conversion.notes]
    found = [one for one in found if not is_suppressed(one, ignored)]
    found += _unknown_codes(ignored, text, filename)
    return sorted(found, key=lambda one: one.location or Location(filename, 0))


def _unknown_codes(
    ignored: dict[int, frozenset[str]], text: str, filename: str
) -> Iterator[Diagnostic]:
    for line, codes in ignored.items():
        for code in sorted(codes - explanations().keys() - {"AG"}):
            why = f"the comment ignores `{code}`"
            location, title = Location(filename, line), explanation("AG407").title
            yield Diagnostic("AG407", title, why, location, source=text)


def _summary(findings: Sequence[Diagnostic], files: int) -> str:
    of_files = f"{files} file{'s' * (files != 1)}"
    if not findings:
        return f"No findings in {of_files}.\n{_NOT_CHECKED}"
    where = {one.location.filename for one in findings if one.location}
    count = len(findings)
    return (
        f"{count} finding{'s' * (count != 1)} in {len(where)} of {of_files}; "
        f"`autograph explain CODE` says more.\n{_NOT_CHECKED}"
    )
