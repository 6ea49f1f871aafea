"""How much longer converted code is than its source, over the corpus of the tests.

    python -m benchmarks.readability [--worst N] [--json]

README.md in this folder says how to read the numbers.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import statistics
import sys
import textwrap
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import autograph
from benchmarks.measures import Measure, as_json, finish, table
from tests import corpus_loader

__all__ = ["Conversion", "conversions", "main", "measures"]

#: The longest line that generated code may have of its own.
WIDTH = 88
#: The smallest corpus that says anything.
FEWEST = 150

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


@dataclass(frozen=True)
class Conversion:
    """A function before and after, without its decorators."""

    name: str
    before: str
    after: str

    @cached_property
    def tokens(self) -> float:
        """Tokens out for each token in; comments and layout do not count."""
        return tokens(self.after) / tokens(self.before)

    @cached_property
    def lines(self) -> float:
        """Lines out for each line in; comments and blank lines count."""
        return len(self.after.splitlines()) / len(self.before.splitlines())

    @cached_property
    def excess(self) -> int:
        """How many columns the longest line is over `WIDTH` and over the source's."""
        return max(0, longest(self.after) - max(WIDTH, longest(self.before)))

    @property
    def rewritten(self) -> bool:
        """Whether anything was converted; the rest stands verbatim."""
        return self.before != self.after


def tokens(text: str) -> int:
    """How many tokens a text has, layout and comments aside.

    >>> tokens("x = f(1)  # one")
    6
    """
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type not in _LAYOUT for token in found)


def longest(text: str) -> int:
    """The width of the longest line."""
    return max(map(len, text.splitlines()))


def conversions() -> tuple[list[Conversion], list[str]]:
    """All functions of the corpus, and the names of those that are refused."""
    found, refused = [], []
    for name, function, _ in corpus_loader.entries():
        try:
            after = _definition(autograph.to_code(function))
        except autograph.ConversionError:
            refused.append(name)
            continue
        found.append(Conversion(name, _definition(inspect.getsource(function)), after))
    return found, refused


def _definition(text: str) -> str:
    """The text from ``def`` on: the corpus marks its functions with a decorator."""
    text = textwrap.dedent(text)
    lines = text.rstrip().splitlines(keepends=True)
    return "".join(lines[ast.parse(text).body[0].lineno - 1 :]) + "\n"


def measures(found: Sequence[Conversion]) -> list[Measure]:
    """What the budgets are about, and what helps to judge it."""
    rewritten = [conversion for conversion in found if conversion.rewritten]
    all_tokens = [conversion.tokens for conversion in found]
    all_lines = [conversion.lines for conversion in found]
    return [
        Measure("tokens out / in, median", statistics.median(all_tokens), "x", 1.65),
        Measure("tokens out / in, 90th percentile", _p90(all_tokens), "x", 2.45),
        Measure("tokens out / in, most", max(all_tokens), "x"),
        Measure("tokens out / in, median of the rewritten", _median(rewritten), "x"),
        Measure("lines out / in, median", statistics.median(all_lines), "x", 2.2),
        Measure("lines out / in, whole corpus", _lines_of_all(found), "x", 2.2),
        Measure("lines out / in, 90th percentile", _p90(all_lines), "x"),
        Measure("lines over 88 columns and the source's", _too_long(found), "", 0),
        Measure("functions", len(found)),
        Measure("functions that are rewritten", len(rewritten)),
    ]


def _p90(values: Iterable[float]) -> float:
    return statistics.quantiles(values, n=10, method="inclusive")[-1]


def _median(found: Sequence[Conversion]) -> float:
    return statistics.median(conversion.tokens for conversion in found)


def _lines_of_all(found: Sequence[Conversion]) -> float:
    after = sum(len(conversion.after.splitlines()) for conversion in found)
    return after / sum(len(conversion.before.splitlines()) for conversion in found)


def _too_long(found: Sequence[Conversion]) -> int:
    return sum(conversion.excess > 0 for conversion in found)


def _worst(found: Sequence[Conversion], count: int) -> list[Conversion]:
    """Lines that are too long first, then the most tokens."""
    return sorted(found, key=lambda c: (c.excess, c.tokens), reverse=True)[:count]


def _shown(conversion: Conversion) -> str:
    numbers = f"tokens {conversion.tokens:.2f}x, lines {conversion.lines:.2f}x"
    if conversion.excess:
        numbers += f", {conversion.excess} columns too wide"
    title = f"--- {conversion.name}: {numbers} "
    before = textwrap.indent(conversion.before, "  | ")
    return f"{title:-<{WIDTH}}\n{before}\n{textwrap.indent(conversion.after, '  ')}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the measures; 1 if a budget is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readability")
    parser.add_argument("--worst", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found, refused = conversions()
    found_measures = measures(found)
    if options.json:
        functions = {c.name: {"tokens": c.tokens, "lines": c.lines} for c in found}
        print(as_json(found_measures, refused=refused, functions=functions))
    else:
        print(table(found_measures))
        if refused:
            print("refused:", ", ".join(refused))
        for conversion in _worst(found, options.worst):
            print(f"\n{_shown(conversion)}", end="")
        sys.stdout.flush()  # before what goes to stderr
    if len(found) < FEWEST:
        print(f"the corpus has fewer than {FEWEST} functions", file=sys.stderr)
        return 1
    return finish(found_measures)


if __name__ == "__main__":
    sys.exit(main())
