"""Which lines of the user's program a run of its graph spends its time in.

The source that runs is followed line by line. Each of its lines knows the nodes that it
computes, and these know the lines of the program that made them.
"""

from __future__ import annotations

import ast
import html
import json
import linecache
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple

from runtime.core.errors import InvalidArgumentError
from runtime.engines.numpy_source.executable import Executable

SourceLine = tuple[str, int]
#: That of what belongs to no line.
NOWHERE: SourceLine = ("", 0)


class LineTime(NamedTuple):
    """The time that a line of the program took."""

    filename: str
    #: Its number, or 0 for what belongs to no line.
    line: int
    seconds: float
    #: How often it ran.
    runs: int

    @property
    def text(self) -> str:
        """The line as it is written."""
        if not self.line:
            return "(arguments, loops and results)"
        return linecache.getline(self.filename, self.line).strip()


class Profile:
    """The times of the lines of a program, the slowest first.

    It prints as a table, notebooks show it with bars, and `to_json` is for machines.
    Following the lines takes about a microsecond for each that runs, which is counted
    with them: small steps look slower than they are.
    """

    def __init__(self, name: str, lines: Sequence[LineTime]) -> None:
        self.name = name
        self.lines = sorted(lines, key=lambda line: -line.seconds)

    @property
    def seconds(self) -> float:
        """The time of all lines."""
        return sum(line.seconds for line in self.lines)

    def __str__(self) -> str:
        rows = [f"{self.name}: {_time(self.seconds)}", ""]
        rows.append(f"{'time':>9} {'share':>6} {'runs':>8}  line")
        for line in self.lines:
            share = line.seconds / (self.seconds or 1)
            rows.append(
                f"{_time(line.seconds):>9} {share:>6.1%} {line.runs:>8}  "
                f"{_where(line)}{line.text}"
            )
        return "\n".join(rows)

    def __repr__(self) -> str:
        return f"<Profile of {self.name!r}: {_time(self.seconds)}>"

    def _repr_html_(self) -> str:
        """A table with a bar for each line, for notebooks."""
        most = max((line.seconds for line in self.lines), default=0) or 1
        rows = []
        for line in self.lines:
            width = round(100 * line.seconds / most)
            bar = f"linear-gradient(90deg, #9ecae1 {width}%, transparent {width}%)"
            rows.append(
                f"<tr><td>{_time(line.seconds)}</td><td>{line.runs}</td>"
                f'<td style="text-align: left; background: {bar}">'
                f"<code>{html.escape(_where(line) + line.text)}</code></td></tr>"
            )
        head = "<tr><th>time</th><th>runs</th><th>line</th></tr>"
        caption = f"<caption>{html.escape(self.name)}: {_time(self.seconds)}</caption>"
        return f"<table>{caption}{head}{''.join(rows)}</table>"

    def to_json(self) -> str:
        """The lines as JSON: file, line, seconds, runs and text of each."""
        lines = [{**line._asdict(), "text": line.text} for line in self.lines]
        return json.dumps({"name": self.name, "seconds": self.seconds, "lines": lines})


def _where(line: LineTime) -> str:
    return f"{line.filename.rpartition('/')[2]}:{line.line}: " if line.line else ""


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"


def profile(executable: Executable, arrays: Sequence[Any], repeat: int) -> Profile:
    """Run a graph `repeat` times and add up the time of each line of the program.

    Raises InvalidArgumentError for graphs that are nested too deeply for source.
    """
    places = executable.places()
    if not places:
        raise InvalidArgumentError(
            f"{executable.name!r} is nested too deeply to be written as source, "
            "and cannot be profiled"
        )
    watch = _Watch(executable, places)
    before = sys.gettrace()
    for _ in range(repeat):
        sys.settrace(watch.enter)
        try:
            executable(arrays)
        finally:
            sys.settrace(before)
            watch.move(None)
    lines = [
        LineTime(*place, seconds, watch.runs(place))
        for place, seconds in watch.seconds.items()
    ]
    return Profile(executable.name, lines)


class _Watch:
    """Adds up the time between the lines of a source as these run."""

    def __init__(self, executable: Executable, places: dict[int, SourceLine]) -> None:
        self._filename = executable.filename
        self._places = places
        self.seconds: dict[SourceLine, float] = defaultdict(float)
        #: By statements of the source, of which a line of the program may have many.
        self._runs: Counter[int] = Counter()
        self._statements = _statements(executable.source)
        self._statement = 0
        self._place: SourceLine | None = None
        self._since = 0.0

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow the functions of the source, and none that these call."""
        if frame.f_code.co_filename != self._filename:
            return None
        self.move(frame.f_lineno)
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.move(frame.f_lineno)
        return self._step

    def move(self, line: int | None) -> None:
        """The source has come to a line; None: to its end."""
        now = perf_counter()
        if self._place is not None:
            self.seconds[self._place] += now - self._since
        if line is None:
            self._place, self._statement = None, 0
        else:
            self._place = self._places.get(line, NOWHERE)
            # The lines of one are gone to and fro between.
            statement = self._statements.get(line, line)
            self._runs[statement] += statement != self._statement
            self._statement = statement
        self._since = perf_counter()

    def runs(self, place: SourceLine) -> int:
        """How often a line of the program ran."""
        found = [
            runs
            for line, runs in self._runs.items()
            if self._places.get(line, NOWHERE) == place
        ]
        return max(found)


def _statements(source: str) -> dict[int, int]:
    """The line where the statement begins that each line of a source belongs to."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno
            for line in range(node.lineno, (end or node.lineno) + 1):
                found[line] = node.lineno
    return found
