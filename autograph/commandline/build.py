"""``autograph build SRC -o OUT``: packages as converted code that runs by itself.

Each Python file of SRC is converted into the same place under OUT, with a map of its
lines beside it, and other files are copied. A record in OUT says what each file was
made of, so that only what changed is made again.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic
from ..errors import TargetError
from ..loading.build import encode_module, write_atomically
from ..loading.disk_cache import compiler_digest
from ..options import ConversionOptions
from .failures import failure
from .output import Reporter
from .progress import progress
from .show import add_choice_of_modules, options_of
from .targets import TargetName, folders_of, read_target

RECORD = ".autograph-build.json"
_MAP = ".map"
_DESCRIPTION = """\
Convert the package or file SRC into the folder OUT. It is imported from there under its
own name, and needs only `autograph.operators`. Files that are up to date are kept.
"""


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``build`` and its options to the commands."""
    build: argparse.ArgumentParser = commands.add_parser(
        "build",
        help="write a package as converted code",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    build.set_defaults(command=_run)
    build.add_argument("source", metavar="SRC", help="a folder or a Python file")
    build.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="the folder to write to"
    )
    build.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 if OUT is out of date",
    )
    add_choice_of_modules(build)
    return build


class _Plan(NamedTuple):
    """The files of a build: where each comes from, by its place in OUT."""

    output: str
    files: dict[str, str]
    record: dict[str, Any]
    #: What the results depend on beside the files.
    key: str


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    options = options_of(arguments)
    source = next(iter(folders_of(arguments.source)), arguments.source)
    plan = _planned(source, arguments.output, options)
    stale = [place for place in plan.files if not _is_fresh(plan, place)]
    gone = sorted(plan.record["files"].keys() - plan.files.keys())
    if arguments.check:
        for place in stale:
            reporter.result(f"out of date: {place}")
        for place in gone:
            reporter.result(f"source is gone: {place}")
        return 1 if stale or gone else 0
    status = 0
    try:
        for place in gone:
            _remove(plan, place)
        with progress("building", len(stale), sys.stderr) as advance:
            for place in stale:
                status = max(status, _made(plan, place, options, reporter))
                advance()
    finally:  # also when it is interrupted: what is made need not be made again
        text = json.dumps(plan.record, indent=1, sort_keys=True)
        _written(os.path.join(plan.output, RECORD), text.encode())
    kept = len(plan.files) - len(stale)
    reporter.note(f"{len(stale)} written, {kept} kept, {len(gone)} removed")
    return status


def _planned(source: str, output: str, options: ConversionOptions) -> _Plan:
    """What is to be in OUT, and what the last build has left there."""
    if not os.path.exists(source):
        why = "there is no such file or folder"
        raise TargetError(Diagnostic("AG401", f"cannot read `{source}`", why))
    inside = os.path.realpath(output) + os.sep
    if (os.path.realpath(source) + os.sep).startswith(inside):
        raise _refused(output, "it contains the source")
    if os.path.isdir(source):
        around = os.path.dirname(os.path.abspath(source))
        paths = [
            p for p in _files(source) if not os.path.realpath(p).startswith(inside)
        ]
        files = {os.path.relpath(path, around): path for path in paths}
    else:
        files = {os.path.basename(source): source}
    record: dict[str, Any] = {"files": {}}
    path = os.path.join(output, RECORD)
    if os.path.exists(path):
        try:
            with open(path, encoding="utf-8") as file:
                record = json.load(file)
            _check_record(record)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise _refused(path, f"it is not the record of a build: {error}") from error
    elif os.path.exists(output) and (not os.path.isdir(output) or os.listdir(output)):
        why = "the folder is not empty, and no build has made it"
        raise _refused(output, why, "choose a new or an empty folder")
    name = os.path.basename(os.path.abspath(source))
    if record.setdefault("source", name) != name:
        why = f"it has a build of `{record['source']}`"
        raise _refused(output, why, "choose another folder")
    key = f"{sys.version_info[:2]} {compiler_digest(options)}"
    return _Plan(output, files, record, key)


def _check_record(record: Any) -> None:
    """Raise ValueError for what no build has written: places lie within OUT."""
    for place, entry in record["files"].items():
        outside = os.path.isabs(place) or ".." in place.split(os.sep)
        if outside or entry.keys() != {"key", "made", "source", "status"}:
            raise ValueError(place)


def _files(folder: str) -> Iterator[str]:
    """All files to build or copy, in order, but hidden and compiled ones."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name != "__pycache__" and name[0] != "."
        )
        for name in sorted(files):
            if name[0] != "." and not name.endswith((".pyc", ".pyo")):
                yield os.path.join(path, name)


def _is_fresh(plan: _Plan, place: str) -> bool:
    """Whether a file in OUT is what a build would make there now."""
    entry = plan.record["files"].get(place)
    if entry is None or entry["status"] or entry["key"] != plan.key:
        return False  # what has findings is made again, so that they are told again
    made = os.path.join(plan.output, place)
    return bool(
        entry["source"] == _digest_of(plan.files[place])
        and entry["made"] == _digest_of(made)
        and (not place.endswith(".py") or os.path.exists(made + _MAP))
    )


def _made(
    plan: _Plan, place: str, options: ConversionOptions, reporter: Reporter
) -> int:
    """Make one file, and note it; the exit status."""
    path, made = plan.files[place], os.path.join(plan.output, place)
    try:
        with open(path, "rb") as file:
            data = result = file.read()
    except OSError as error:
        why = error.strerror or str(error)
        reporter.diagnostics([Diagnostic("AG401", f"cannot read `{path}`", why)])
        _remove(plan, place)  # what an earlier build made is not left beside this one
        return 2
    status = 0
    if place.endswith(".py"):
        try:
            result, lines, diagnostics = _converted(path, options)
        except Exception as error:
            status, found = failure(error)
            reporter.diagnostics(found)
            _remove(plan, place)
            return status
        reporter.diagnostics(diagnostics)
        status = 1 if diagnostics else 0
        source = os.path.relpath(path, os.path.dirname(made))
        record_of_lines = {"version": 1, "source": source, "lines": lines}
        _written(made + _MAP, json.dumps(record_of_lines).encode())
    _written(made, result)
    plan.record["files"][place] = {
        "source": _digest(data),
        "made": _digest(result),
        "key": plan.key,
        "status": status,
    }
    return status


def _converted(
    path: str, options: ConversionOptions
) -> tuple[bytes, list[tuple[int, int]], tuple[Diagnostic, ...]]:
    from ..pipeline import convert_module
    from ..printing.line_map import line_map

    source = read_target(TargetName("file", path))
    conversion = convert_module(source, options)
    text = conversion.text
    lines = line_map(conversion.tree, text)
    return encode_module(text, source.line_end), lines, conversion.diagnostics


def _written(path: str, data: bytes) -> None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_atomically(path, data)
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error


def _remove(plan: _Plan, place: str) -> None:
    """Remove what an earlier build made of a file, if it did."""
    for path in (place, place + _MAP):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(plan.output, path))
    plan.record["files"].pop(place, None)


def _digest_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return _digest(file.read())
    except OSError:
        return ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _refused(path: str, why: str, fix: str = "") -> TargetError:
    return TargetError(Diagnostic("AG404", f"cannot write `{path}`", why, fix=fix))
