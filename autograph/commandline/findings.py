"""The findings of ``autograph check`` in the forms that other programs read."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from .._version import __version__
from ..diagnostics import Diagnostic, source_line
from .explain import explanations
from .output import as_finding

#: What is no fault: the text of a finding says so.
NOTES = frozenset({"AG106"})


def as_json(findings: Sequence[Diagnostic], files: int) -> str:
    """An object: how many files were checked, and the findings as `show` gives them."""
    return json.dumps(
        {"files": files, "findings": [as_finding(finding) for finding in findings]},
        indent=2,
    )


def as_github(findings: Sequence[Diagnostic]) -> str:
    """Workflow commands, which GitHub shows at the lines of a pull request.

    Their form: docs.github.com, "Workflow commands for GitHub Actions".
    """
    return "".join(f"{_command(finding)}\n" for finding in findings)


def _command(finding: Diagnostic) -> str:
    kind = "notice" if finding.code in NOTES else "error"
    properties = {"title": f"{finding.code} {finding.title}"}
    location = finding.location
    if location is not None:
        first, last = columns(finding)
        properties |= {
            "file": os.path.relpath(_file(location.filename)),
            "line": str(location.lineno),
            "endLine": str(location.end_lineno or location.lineno),
        }
        if location.end_lineno in (None, location.lineno):
            properties |= {"col": str(first), "endColumn": str(last)}
    named = ",".join(f"{name}={_escaped(v, ':,')}" for name, v in properties.items())
    return f"::{kind} {named}::{_escaped(text_of(finding))}"


def _escaped(text: str, also: str = "") -> str:
    for character in f"%\r\n{also}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def text_of(finding: Diagnostic) -> str:
    """Cause and way out, in a text."""
    return "\n".join(filter(None, [finding.message or finding.title, finding.fix]))


def _file(filename: str) -> str:
    """The file itself: of a cell of a notebook, the notebook."""
    head, bracket, _ = filename.rpartition(".ipynb[")
    return f"{head}.ipynb" if bracket else filename


def columns(finding: Diagnostic) -> tuple[int, int]:
    """The first column and the one behind the last, in characters, from 1."""
    location = finding.location
    assert location is not None
    data = (source_line(finding) or "").encode()
    first = len(data[: location.col].decode(errors="ignore")) + 1
    if location.end_col is None or location.end_lineno not in (None, location.lineno):
        return first, first + 1
    return first, len(data[: location.end_col].decode(errors="ignore")) + 1


def as_sarif(findings: Sequence[Diagnostic]) -> str:
    """A log of the format SARIF 2.1.0 (OASIS standard), as code scanning takes it."""
    codes = sorted({finding.code for finding in findings})
    driver = {
        "name": "autograph",
        "semanticVersion": __version__,
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes) for finding in findings],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str) -> dict[str, Any]:
    known = explanations()[code]
    return {
        "id": code,
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": known.text},
        "help": {"text": known.text, "markdown": known.text},
        "defaultConfiguration": {"level": _level(code)},
    }


def _level(code: str) -> str:
    return "note" if code in NOTES else "error"


def _result(finding: Diagnostic, codes: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _level(finding.code),
        "message": {"text": text_of(finding)},
    }
    location = finding.location
    if location is not None:
        first, last = columns(finding)
        end = location.end_lineno or location.lineno
        region = {"startLine": location.lineno, "startColumn": first, "endLine": end}
        if end == location.lineno:
            region["endColumn"] = last
        path = PurePath(os.path.relpath(_file(location.filename))).as_posix()
        place = {"artifactLocation": {"uri": quote(path)}, "region": region}
        result["locations"] = [{"physicalLocation": place}]
    return result


def as_statistics(findings: Sequence[Diagnostic]) -> str:
    """How often each code was found, the most frequent first."""
    counts = Counter(finding.code for finding in findings)
    titles = {code: entry.title for code, entry in explanations().items()}
    return "".join(
        f"{count:6}  {code}  {titles[code]}\n" for code, count in counts.most_common()
    )
