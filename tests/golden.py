"""Golden files: small sources with the text that is expected for each.

A ``.test`` file is a list of cases; what stands before the first one is a comment:

    [case break_leaves_the_loop]
    def f(xs):
        ...
    [out]
    L2 for x in xs
      live_out: ...

``[case name since 3.12]`` is skipped by older Pythons. A test compares all sections:

    @golden.parametrize(Path(__file__).parent / "golden" / "liveness.test")
    def test_liveness(case: golden.Case, update_golden: bool) -> None:
        case.check(update_golden, out=liveness_of(case.source))

``pytest --update-golden`` writes what the tests got into the files instead.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_CASE = re.compile(r"\[case (?P<name>\w+)(?: since (?P<since>\d+\.\d+))?\]")
_SECTION = re.compile(r"\[(?P<name>[a-z_]+)\]")


@dataclass(frozen=True)
class Case:
    """One case: the source, and the expected text of each section."""

    path: Path
    line: int
    name: str
    since: tuple[int, ...]
    source: str
    expected: dict[str, str]

    def check(self, update: bool, **actual: str) -> None:
        """Compare the sections with what there is, or write that into the file."""
        got = {name: _clean(text) for name, text in actual.items()}
        if update:
            self._write(got)
            return

        assert got == self.expected, f"{self.path.name}:{self.line} {self.name}"

    def _write(self, sections: dict[str, str]) -> None:
        text = self.path.read_text(encoding="utf-8")
        parts = re.split(r"^(?=\[case )", text, flags=re.MULTILINE)
        for number, part in enumerate(parts):
            header = _CASE.match(part)
            if header and header["name"] == self.name:
                body = "".join(f"[{key}]\n{sections[key]}\n" for key in sections)
                parts[number] = f"{header[0]}\n{self.source}\n{body}\n"
        new = "".join(parts).rstrip("\n") + "\n"
        if new != text:
            self.path.write_text(new, encoding="utf-8")


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file, in order."""
    header: re.Match[str] | None = None
    line, section, sections = 0, "", {"": [""]}

    def case() -> Iterator[Case]:
        if header:
            texts = {name: _clean("\n".join(rows)) for name, rows in sections.items()}
            since = tuple(map(int, (header["since"] or "3").split(".")))
            yield Case(path, line, header["name"], since, texts.pop(""), texts)

    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if found := _CASE.fullmatch(row):
            yield from case()
            header, line, section, sections = found, number, "", {"": []}
        elif found := _SECTION.fullmatch(row):
            section = found["name"]
            sections[section] = []
        else:
            sections[section].append(row)
    yield from case()


def _clean(text: str) -> str:
    return "\n".join(row.rstrip() for row in text.strip("\n").splitlines())


def parametrize(path: Path) -> pytest.MarkDecorator:
    """Run a test on each case of a file, as its argument ``case``."""
    found = list(cases(path))
    names = [case.name for case in found]
    assert len(set(names)) == len(names) > 0, f"{path}: no cases, or a name twice"
    params = [
        pytest.param(
            case,
            id=case.name,
            marks=pytest.mark.skipif(
                sys.version_info < case.since, reason="syntax of a later Python"
            ),
        )
        for case in found
    ]
    return pytest.mark.parametrize("case", params)
