"""``autograph explain CODE``: what the page of error codes says about a code."""

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
from .report import Reporter

_HEADING = re.compile(r"^### (?P<code>AG\d{3}) (?P<title>.+)$", re.MULTILINE)


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``explain`` and its options to the commands."""
    explain: argparse.ArgumentParser = commands.add_parser(
        "explain",
        help="say what an error code means and what to do about it",
        description="Say what an error code means; without a code, list all of them.",
    )
    explain.set_defaults(command=_explain)
    explain.add_argument(
        "codes", metavar="CODE", nargs="*", help="such as AG101, ag101 or 101"
    )
    explain.add_argument("--json", action="store_true", help="the same as JSON")
    return explain


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
