"""``autograph explain``: what an error code means, or what becomes of a function."""

from __future__ import annotations

import argparse
import difflib
import functools
import json
import re
from importlib import resources
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic
from ..errors import TargetError
from .output import Reporter

_DESCRIPTION = """\
Explain an error CODE (AG101, ag101 or 101); without one, list all codes. Or show how
each statement of a TARGET is converted:

  file.py::function               from the source alone; nothing runs
  'file.py::function(int32[5])'   from a trace, too: the module is imported
"""
#: A group of codes: ``AG1``.
_BEGINNING = re.compile(r"ag\d?\d?", re.IGNORECASE)
_HEADING = re.compile(r"^### (?P<code>AG\d{3}) (?P<title>.+)$", re.MULTILINE)


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``explain`` and its options to the commands."""
    explain: argparse.ArgumentParser = commands.add_parser(
        "explain",
        help="explain an error code, or how a function is converted",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    explain.set_defaults(command=_explain)
    explain.add_argument(
        "words", metavar="CODE|TARGET", nargs="*", help="AG101, or file.py::function"
    )
    explain.add_argument("--json", action="store_true", help="print it as JSON")
    return explain


def _explain(arguments: argparse.Namespace, reporter: Reporter) -> int:
    words = arguments.words or ["AG"]
    targets = list(filter(_is_target, words))
    if targets:
        if targets != words:
            why = "explain codes and targets in two commands"
            raise TargetError(Diagnostic("AG404", "codes and targets are mixed", why))
        return _explain_targets(targets, arguments.json, reporter)
    listed = [entry for word in words for entry in _explanations_of(word)]
    if arguments.json:
        reporter.result(json.dumps([entry._asdict() for entry in listed], indent=2))
    elif not any(map(_BEGINNING.fullmatch, words)):
        texts = [f"{entry.code} {entry.title}\n\n{entry.text}" for entry in listed]
        reporter.result("\n\n\n".join(texts))
    else:
        reporter.result("\n".join(f"{entry.code}  {entry.title}" for entry in listed))
    return 0


def _explanations_of(word: str) -> list[Explanation]:
    """That of a code, or those of all codes that begin so."""
    if not _BEGINNING.fullmatch(word):
        return [explanation(word)]
    known = explanations().items()
    return [entry for code, entry in known if code.startswith(word.upper())]


def _is_target(word: str) -> bool:
    return ":" in word or "." in word


def _explain_targets(targets: list[str], as_json: bool, reporter: Reporter) -> int:
    from .imports import imported, is_call, library_specs, split_call
    from .statements import explained
    from .targets import parse_target

    records, status = [], 0
    for target in targets:
        traced = ""
        name = parse_target(target)
        if is_call(target):
            name, arguments = split_call(target)
            library, specs = library_specs(arguments)
            function = imported(name)
            try:
                traced = library.explain(function, *specs)
            except (
                Exception,
                SystemExit,
            ) as error:  # a refusal, or what the function itself raises
                traced, status = f"{type(error).__name__}: {error}", 1
        lines = explained(name)
        statements = [line.record() for line in lines]
        records.append({"target": target, "statements": statements, "trace": traced})
        if not as_json:
            reporter.result("\n".join(map(str, lines)))
            reporter.result(f"\n{traced}" if traced else "")
    if as_json:
        reporter.result(json.dumps(records, indent=2))
    return status


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
        near = difflib.get_close_matches(wanted, by_code, n=5, cutoff=0.6)
        fix = f"did you mean {' or '.join(near)}?" if near else ""
        fix = fix or "`autograph explain` without a code lists all codes"
        title = f"there is no error code `{code}`"
        raise TargetError(Diagnostic("AG407", title, fix=fix))
    return entry
