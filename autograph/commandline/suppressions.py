r"""Comments that take findings off a line: ``# autograph: ignore[AG106]``.

>>> found = suppressions("x = 1\ny = f()  # autograph: ignore[AG106, AG105]\n")
>>> sorted(found[2])
['AG105', 'AG106']
>>> suppressions("x = 1  # autograph: ignore\n")
{1: frozenset({'AG'})}
"""

from __future__ import annotations

import io
import re
import tokenize

from ..diagnostics import Diagnostic

_COMMENT = re.compile(r"#\s*autograph:\s*ignore\b(?:\[(?P<codes>[^\]]*)\])?")


def suppressions(text: str) -> dict[int, frozenset[str]]:
    """The codes that are ignored on each line; ``AG`` stands for all of them."""
    if _COMMENT.search(text) is None:
        return {}
    found: dict[int, frozenset[str]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        match = _COMMENT.search(token.string)
        if match is not None:
            codes = (match["codes"] or "").upper().replace(",", " ").split()
            found[token.start[0]] = frozenset(codes or ["AG"])
    return found


def is_suppressed(diagnostic: Diagnostic, found: dict[int, frozenset[str]]) -> bool:
    """Whether a comment on one of the lines that a finding marks takes it off."""
    location = diagnostic.location
    if location is None or not found:
        return False
    lines = range(location.lineno, (location.end_lineno or location.lineno) + 1)
    return any(
        diagnostic.code in found[n] or "AG" in found[n] for n in lines if n in found
    )
