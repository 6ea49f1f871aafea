"""What an error code means, offline: the sections of ``docs/errors.md``.

The page is a part of the package, so that ``autograph explain AG101`` needs no network.
"""

from __future__ import annotations

import difflib
import functools
import re
from importlib import resources
from typing import NamedTuple

from .diagnostics import Diagnostic
from .errors import TargetError

__all__ = ["Explanation", "explanation", "explanations"]

_HEADING = re.compile(r"^### (?P<code>AG\d{3}) (?P<title>.+)$", re.MULTILINE)


class Explanation(NamedTuple):
    """An error code, what it says in short, and what is to be done about it."""

    code: str
    title: str
    text: str


@functools.cache
def explanations() -> dict[str, Explanation]:
    """All explanations by their codes, in order.

    >>> list(explanations())[:2]
    ['AG100', 'AG101']
    """
    page = resources.files(__package__).joinpath("errors.md").read_text("utf-8")
    headings = list(_HEADING.finditer(page))
    ends = [*(heading.start() for heading in headings[1:]), len(page)]
    found = {}
    for heading, end in zip(headings, ends, strict=True):
        # A section ends where the next one begins, or the next group of them.
        text = page[heading.end() : end].partition("\n## ")[0].strip()
        code, title = heading["code"], heading["title"]
        found[code] = Explanation(code, title, text)
    return dict(sorted(found.items()))


def explanation(code: str) -> Explanation:
    """What is known about a code, in upper or lower case.

    Raises:
        TargetError: AG407, there is no such code.

    >>> explanation("ag101").title
    'nothing to convert'
    """
    known = explanations()
    wanted = code.upper()
    found = known.get(wanted)
    if found is None and re.fullmatch(r"AG\d{3}", wanted):
        # Codes that differ in their names alone share a section.
        found = next((one for one in known.values() if wanted in one.text), None)
    if found is None:
        near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.6)
        fix = f"perhaps {' or '.join(near)}" if near else ""
        fix = fix or "`autograph explain` without a code lists all of them"
        why = f"no error has the code `{code}`"
        raise TargetError(Diagnostic("AG407", "no such error code", why, fix=fix))
    return found
