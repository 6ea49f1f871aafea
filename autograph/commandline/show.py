"""``autograph show TARGET``: what code becomes. None of it is executed."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics import Diagnostic
from ..errors import SourceError, TargetError
from ..interpreter import no_collection
from ..loading.build import write_module
from ..options import ConversionOptions, patterns
from .failures import failure
from .notebooks import Cell
from .output import Reporter, as_record, side_by_side, unified_diff
from .targets import (
    TargetName,
    excerpt,
    files_in,
    is_within,
    parse_target,
    read_notebook,
    read_target,
    spans,
)

if TYPE_CHECKING:
    from ..source.text import Source

_DESCRIPTION = """\
Print the converted code of each TARGET, without running it. A TARGET is one of

  file.py                   a file
  notebook.ipynb            the code cells of a notebook
  folder                    all Python files in it
  file.py::function         one function of it
  file.py::Class.method     one method
  package.module            an importable module
  package.module:function   one function of it
  -                         standard input
"""


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``show`` and its options to the commands."""
    show: argparse.ArgumentParser = commands.add_parser(
        "show",
        help="print the converted code of files, functions or modules",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    show.set_defaults(command=_run)
    show.add_argument("targets", metavar="TARGET", nargs="+")
    views = show.add_mutually_exclusive_group()
    views.add_argument(
        "--side-by-side",
        action="store_true",
        help="original on the left, converted on the right",
    )
    views.add_argument("--diff", action="store_true", help="a unified diff")
    views.add_argument("--json", action="store_true", help="code and findings as JSON")
    show.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the converted module to FILE (several modules: to a folder); - is "
        "standard output",
    )
    add_choice_of_modules(show)
    return show


class _Shown(NamedTuple):
    """A module, or the part of it that a target names, before and after."""

    source: Source
    qualname: str
    before: str
    after: str
    diagnostics: list[Diagnostic]
    notes: list[Diagnostic]


@no_collection()
def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Show each target; the status is the worst of theirs."""
    options, output = options_of(arguments), arguments.output
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
            of_target, diagnostics = failure(error)
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
        diagnostics = [d for d in diagnostics if is_within(d, wanted)]
        notes = [note for note in notes if is_within(note, wanted)]
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
        diagnostics = [d for d in diagnostics if is_within(d, wanted)]
        notes = [note for note in notes if is_within(note, wanted)]
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


def add_choice_of_modules(command: argparse.ArgumentParser) -> None:
    """Add ``--include`` and ``--exclude`` to a command."""
    for name, what in (("include", "convert"), ("exclude", "do not convert")):
        command.add_argument(
            f"--{name}",
            metavar="PATTERN",
            action="append",
            default=[],
            help=f"{what} functions of these modules where they are called; such as "
            "'pkg.*'",
        )


def options_of(arguments: argparse.Namespace) -> ConversionOptions:
    """What ``--include`` and ``--exclude`` say."""
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
