"""The command line: ``autograph show TARGET``, ``autograph explain CODE``.

Thin over the library. `main` returns the exit status: 0 for success, 1 for findings
(code that was refused or is not valid Python), 2 for a wrong command or target.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from .._version import __version__
from ..diagnostics import Diagnostic
from ..errors import AutographError, SourceError, TargetError
from ..interpreter import no_collection
from ..loading.build import write_module
from ..options import ConversionOptions, patterns
from .notebooks import Cell
from .report import Reporter, as_record, side_by_side, unified_diff
from .targets import (
    TargetName,
    excerpt,
    files_in,
    parse_target,
    read_notebook,
    read_target,
    spans,
)

if TYPE_CHECKING:
    from ..source.text import Source

_DESCRIPTION = "Convert Python control flow to functional operators, readably."
_SHOW = """\
Print what each TARGET becomes. It is not executed. A TARGET is one of

  file.py                   a file
  notebook.ipynb            the code cells of a notebook
  folder                    all Python files in it
  file.py::function         one function of it
  file.py::Class.method     one method
  package.module            an importable module
  package.module:function   one function of it
  -                         standard input
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    >>> main(["show", "statistics:no_such_function"])
    2
    """
    try:
        arguments = _parser().parse_args(
            _spaced(sys.argv[1:] if argv is None else argv)
        )
    except SystemExit as stop:  # --help, --version, or a wrong usage, already printed
        return stop.code if isinstance(stop.code, int) else 2
    reporter = Reporter(sys.stdout, sys.stderr, arguments.color)
    try:
        status = _run(arguments, reporter)
        reporter.flush()
    except BrokenPipeError:
        # The reader has seen enough, as in `| head`. Python would complain once more
        # when it flushes at exit: give it nothing to flush to.
        _detach_stdout()
        return 1
    except OSError as error:  # a full disk behind `>`, say
        _detach_stdout()
        reporter.note(f"autograph: cannot write the output: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        reporter.note("interrupted")
        return 128 + signal.SIGINT
    return status


def _spaced(argv: Sequence[str]) -> list[str]:
    """The arguments, with a space before ``-::name``: argparse would see options."""
    return [f" {word}" if word.startswith("-::") else word for word in argv]


def _unspaced(word: str) -> str:
    return word[1:] if word.startswith(" -::") else word


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="autograph", description=_DESCRIPTION)
    parser.add_argument(
        "--version", action="version", version=f"autograph {__version__}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    show = _add_show(commands)
    explain = commands.add_parser(
        "explain",
        help="say what an error code means and what to do about it",
        description="Say what an error code means; without a code, list all of them.",
    )
    explain.set_defaults(command=_explain)
    explain.add_argument(
        "codes", metavar="CODE", nargs="*", help="such as AG101, ag101 or 101"
    )
    explain.add_argument("--json", action="store_true", help="the same as JSON")
    for command in (show, explain):
        command.add_argument(
            "--color",
            choices=["auto", "always", "never"],
            default="auto",
            help="auto: on a terminal, unless NO_COLOR is set",
        )
    return parser


def _add_show(commands: Any) -> argparse.ArgumentParser:
    """The command ``show`` with its options, which it adds to the commands."""
    show: argparse.ArgumentParser = commands.add_parser(
        "show",
        help="print the converted code of a file, function or module",
        description=_SHOW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    show.set_defaults(command=_show)
    show.add_argument("targets", metavar="TARGET", nargs="+", type=_unspaced)
    views = show.add_mutually_exclusive_group()
    views.add_argument(
        "--side-by-side", action="store_true", help="original left, converted right"
    )
    views.add_argument("--diff", action="store_true", help="a unified diff")
    views.add_argument("--json", action="store_true", help="code and findings as JSON")
    show.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the converted module to FILE, several to a folder; - is standard "
        "output",
    )
    for name, what in (("include", "convert"), ("exclude", "do not convert")):
        show.add_argument(
            f"--{name}",
            metavar="PATTERN",
            action="append",
            default=[],
            help=f"{what} what it calls of these modules, such as 'pkg.*'",
        )
    return show


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    try:
        status: int = arguments.command(arguments, reporter)
    except OSError:
        raise  # our own output; files that were asked for have their own errors
    except Exception as error:
        status, diagnostics = _failure(error)
        if getattr(arguments, "json", False):
            record = as_record("", "", None, diagnostics)
            reporter.result(json.dumps(record, indent=2))
        else:
            reporter.diagnostics(diagnostics)
    return status


def _failure(error: Exception) -> tuple[int, Sequence[Diagnostic]]:
    """The exit status after an error, and the diagnostics to print."""
    if isinstance(error, AutographError):
        return 2 if isinstance(error, TargetError) else 1, error.diagnostics
    return 1, [_internal_error(error)]


class _Shown(NamedTuple):
    """A module, or the part of it that a target names, before and after."""

    source: Source
    qualname: str
    before: str
    after: str
    diagnostics: list[Diagnostic]
    notes: list[Diagnostic]


@no_collection()
def _show(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Show each target; the status is the worst of theirs."""
    options, output = _options(arguments), arguments.output
    several = len(arguments.targets) > 1 or os.path.isdir(arguments.targets[0])
    status, records, written = 0, [], set[str]()
    for target, place in _expanded(arguments.targets):
        try:
            shown = _converted(target, options)
            if output not in (None, "", "-"):
                place = place or os.path.basename(shown.source.filename)
                path = os.path.join(output, place) if several else output
                _write(shown, path, several, written)
        except OSError:
            raise  # our own output
        except Exception as error:
            of_target, diagnostics = _failure(error)
            status = max(status, of_target)
            records.append(as_record(target, "", None, diagnostics))
        else:
            diagnostics = shown.diagnostics
            status = max(status, 1 if diagnostics else 0)
            filename = shown.source.filename
            records.append(
                as_record(target, filename, shown.after, diagnostics, shown.notes)
            )
            _view(shown, arguments, reporter, several)
            if not arguments.json:
                reporter.remarks(shown.notes)
        if not arguments.json:
            reporter.diagnostics(diagnostics)
    if arguments.json:
        found = records if several else records[0]
        reporter.result(json.dumps(found, indent=2))
    return status


def _expanded(targets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The targets, each file of a folder by itself, with its place in the output."""
    for target in targets:
        if os.path.isdir(target):
            root = os.path.abspath(target)
            above = root if len(targets) == 1 else os.path.dirname(root)
            for file in files_in(target) or [target]:
                yield file, os.path.relpath(file, above)
        else:
            yield target, ""


def _converted(target: str, options: ConversionOptions) -> _Shown:
    from ..pipeline import convert_module

    name = parse_target(target)
    cells = read_notebook(name)
    if cells is not None:
        return _converted_notebook(name, cells, options)
    source = read_target(name)
    conversion = convert_module(source, options)
    before, after = source.text, conversion.text
    diagnostics, notes = list(conversion.diagnostics), list(conversion.notes)
    if name.qualname:
        wanted = spans(source, name.qualname)
        before = excerpt(before, name.qualname)
        after = excerpt(after, name.qualname)
        diagnostics = [d for d in diagnostics if _is_within(d, wanted)]
        notes = [note for note in notes if _is_within(note, wanted)]
    return _Shown(source, name.qualname, before, after, diagnostics, notes)


def _converted_notebook(
    name: TargetName, cells: Sequence[Cell], options: ConversionOptions
) -> _Shown:
    """The code cells, each under a line with its number, or the definitions wanted."""
    from ..source.text import Source

    before, after = "", ""
    diagnostics: list[Diagnostic] = []
    notes: list[Diagnostic] = []
    for cell in cells:
        try:
            shown = _converted_cell(name, cell, options)
        except SourceError as error:
            if name.qualname:  # of another cell
                continue
            shown = cell.text, cell.text, [*error.diagnostics], []
        if shown is not None:
            heading = "" if name.qualname else f"# %% [{cell.number}]\n"
            before += f"{heading}{shown[0]}"
            after += f"{heading}{shown[1]}"
            diagnostics += [d._replace(source=cell.text) for d in shown[2]]
            notes += shown[3]
    if name.qualname and not after:
        title = f"there is no `{name.qualname}` in {name.name}"
        raise TargetError(Diagnostic("AG403", title))
    source = Source(before, name.name)
    return _Shown(source, name.qualname, before, after, diagnostics, notes)


def _converted_cell(
    name: TargetName, cell: Cell, options: ConversionOptions
) -> tuple[str, str, list[Diagnostic], list[Diagnostic]] | None:
    """The text of a cell before and after, and what is to be said of it; None if it
    lacks the definition that is wanted.
    """
    from ..pipeline import convert_module
    from ..source.text import Source

    if cell.is_foreign:
        return None if name.qualname else (cell.text, cell.text, [], [])
    source = Source(cell.python, f"{name.name}[{cell.number}]")
    conversion = convert_module(source, options)
    before, after = cell.text, cell.restored(conversion.text)
    diagnostics, notes = list(conversion.diagnostics), list(conversion.notes)
    if name.qualname:
        try:
            wanted = spans(source, name.qualname)
        except TargetError:
            return None
        before = cell.restored(excerpt(cell.python, name.qualname))
        after = cell.restored(excerpt(conversion.text, name.qualname))
        diagnostics = [d for d in diagnostics if _is_within(d, wanted)]
        notes = [note for note in notes if _is_within(note, wanted)]
    return before, after, diagnostics, notes


def _view(
    shown: _Shown, arguments: argparse.Namespace, reporter: Reporter, several: bool
) -> None:
    if arguments.json:
        return
    if arguments.diff:
        diff = unified_diff(
            shown.before, shown.after, shown.source.filename, reporter.color_out
        )
        reporter.result(diff)
        return
    if arguments.output not in (None, "", "-") and not arguments.side_by_side:
        return
    if several:
        reporter.result(f"# --- {shown.source.filename}")
    if arguments.side_by_side:
        columns = side_by_side(shown.before, shown.after, color=reporter.color_out)
        reporter.result(columns)
    elif shown.qualname:
        reporter.result(shown.after)
    else:
        end = "\n" if several and shown.after[-1:] not in ("", "\n") else ""
        reporter.module(shown.after + end, shown.source.line_end)


def _write(shown: _Shown, path: str, several: bool, written: set[str]) -> None:
    """Write a converted module; ``written`` are the files of this command so far."""
    _check_output(path, shown.qualname, shown.source)
    real = os.path.realpath(path)
    if real in written:
        raise _cannot_write(path, "another target was written there")
    written.add(real)
    try:
        if several:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        write_module(shown.after, path, shown.source.line_end)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _cannot_write(path, why) from error


def _explain(arguments: argparse.Namespace, reporter: Reporter) -> int:
    wanted = arguments.codes
    listed = list(map(explanation, wanted)) or list(explanations().values())
    if arguments.json:
        reporter.result(json.dumps([entry._asdict() for entry in listed], indent=2))
    elif wanted:
        texts = [f"{entry.code} {entry.title}\n\n{entry.text}" for entry in listed]
        reporter.result("\n\n\n".join(texts))
    else:
        reporter.result("\n".join(f"{entry.code}  {entry.title}" for entry in listed))
    return 0


def _options(arguments: argparse.Namespace) -> ConversionOptions:
    return ConversionOptions(
        include=patterns(arguments.include, "--include"),
        exclude=patterns(arguments.exclude, "--exclude"),
    )


def _check_output(output: str, qualname: str, source: Source) -> None:
    if qualname:
        raise _cannot_write(
            output,
            "--output writes a whole module, and the target is a part of one",
            f"leave `{qualname}` out of the target",
        )
    if source.filename.endswith(".ipynb"):
        why = "--output writes a module, and the target is a notebook"
        raise _cannot_write(output, why)
    if os.path.exists(output) and os.path.exists(source.filename):
        if os.path.samefile(output, source.filename):
            raise _cannot_write(
                output, "it is the source itself", "choose another file"
            )


def _cannot_write(path: str, why: str, fix: str = "") -> TargetError:
    return TargetError(Diagnostic("AG404", f"cannot write `{path}`", why, fix=fix))


def _is_within(diagnostic: Diagnostic, spans: Sequence[tuple[int, int]]) -> bool:
    location = diagnostic.location
    return location is None or any(a <= location.lineno <= b for a, b in spans)


def _internal_error(error: Exception) -> Diagnostic:
    if os.environ.get("AUTOGRAPH_DEBUG"):
        traceback.print_exception(error)
    return Diagnostic(
        "AG400",
        "internal error: this is a fault of autograph, not of your code",
        f"{type(error).__name__}: {error}",
        fix="report it with the source; AUTOGRAPH_DEBUG=1 shows the traceback",
    )


def _detach_stdout() -> None:
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return  # not a real file, as in tests
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


# --- autograph explain ----------------------------------------------------------------

_HEADING = re.compile(r"^### (?P<code>AG\d{3}) (?P<title>.+)$", re.MULTILINE)


class Explanation(NamedTuple):
    """An error code, its title, and the text with the ways to fix it."""

    code: str
    title: str
    text: str


@functools.cache
def explanations() -> dict[str, Explanation]:
    """All explanations by their codes, in order.

    >>> list(explanations())[:2]
    ['AG100', 'AG101']
    """
    page = resources.files("autograph").joinpath("errors.md").read_text("utf-8")
    headings = list(_HEADING.finditer(page))
    ends = [*(heading.start() for heading in headings[1:]), len(page)]
    sections = {}
    for heading, end in zip(headings, ends, strict=True):
        # A section ends where the next one begins, or the next group of them.
        text = page[heading.end() : end].partition("\n## ")[0].strip()
        code, title = heading["code"], heading["title"]
        sections[code] = Explanation(code, title, text)
    return dict(sorted(sections.items()))


def explanation(code: str) -> Explanation:
    """What is known about a code, in upper or lower case, or about its number.

    Raises:
        TargetError: AG407, there is no such code.

    >>> explanation("ag101").title, explanation("101").code
    ('nothing to convert', 'AG101')
    """
    by_code = explanations()
    wanted = f"AG{code}" if re.fullmatch(r"\d{3}", code) else code.upper()
    entry = by_code.get(wanted)
    if entry is None and re.fullmatch(r"AG\d{3}", wanted):
        # Codes that differ in their names alone share a section.
        entry = next((e for e in by_code.values() if wanted in e.text), None)
    if entry is None:
        near = difflib.get_close_matches(wanted, by_code, n=3, cutoff=0.6)
        fix = f"perhaps {' or '.join(near)}" if near else ""
        fix = fix or "`autograph explain` without a code lists all of them"
        why = f"no error has the code `{code}`"
        raise TargetError(Diagnostic("AG407", "no such error code", why, fix=fix))
    return entry
