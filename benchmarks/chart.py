"""The ratios as bars: an SVG file, which browsers show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from benchmarks.contest import Row, quartiles
from benchmarks.libraries import OURS
from benchmarks.report import TABLES, TITLES, number

__all__ = ["chart"]

#: Colours that people who see few of them tell apart, by contestant.
COLOURS = {
    "tensorflow": "#d55e00",
    "numpy": "#0072b2",
    "ours-eager": "#999999",
    "jax": "#009e73",
    "torch": "#cc79a7",
    "numba": "#e69f00",
    "tensorflow-xla": "#d55e00",
    "torch-compile": "#7f3c8d",
    "c": "#56b4e9",
}
_STYLE = """
.bars { font: 12px system-ui, sans-serif; }
.bars .page { fill: #ffffff; }
.bars text { fill: #1b1f24; }
.bars .small { font-size: 10px; fill: #57606a; }
.bars .line { stroke: #d0d7de; }
.bars .one { stroke: #1b1f24; stroke-width: 1.5; }
.bars .spread { stroke: #1b1f24; }
@media (prefers-color-scheme: dark) {
.bars .page { fill: #0d1117; }
.bars text { fill: #e6edf3; }
.bars .small { fill: #9aa4af; }
.bars .line { stroke: #30363d; }
.bars .one, .bars .spread { stroke: #e6edf3; }
}
""".strip()
_LEFT, _WIDTH, _RIGHT = 270, 620, 60
_BAR, _GAP, _TOP = 11, 14, 76


def chart(rows: Sequence[Row], subtitle: str) -> str:
    """The text of the file: a bar to the left of 1 says that ours is faster."""
    groups = [(row, list(_bars(row))) for row in rows]
    groups = [(row, bars) for row, bars in groups if bars]
    ends = [value for _, bars in groups for _, parts in bars for value in parts]
    low = math.floor(math.log10(min([*ends, 1]) / 2.5))  # the number needs a place
    high = math.ceil(math.log10(max([*ends, 10])))
    height = _TOP + sum(len(bars) * _BAR + _GAP for _, bars in groups) + 20

    def x(value: float) -> float:
        return _LEFT + _WIDTH * (math.log10(value) - low) / (high - low)

    used = {key for _, bars in groups for key, _ in bars}
    shown = [key for key in COLOURS if key in used]
    lines = [
        *_frame(height, subtitle),
        *_legend(shown),
        *(
            line
            for power in range(low, high + 1)
            for line in _tick(power, x(10.0**power), height)
        ),
    ]
    y = _TOP
    for row, bars in groups:
        middle = y + len(bars) * _BAR / 2 + 4
        lines.append(
            f'<text x="{_LEFT - 10}" y="{middle:.1f}" text-anchor="end">'
            f"{escape(row.workload.title)}</text>"
        )
        for key, parts in bars:
            lines += _bar(key, [x(value) for value in parts], x(1), y, number(parts[1]))
            y += _BAR
        y += _GAP
    return "\n".join([*lines, "</svg>"]) + "\n"


def _bars(row: Row) -> Iterator[tuple[str, tuple[float, float, float]]]:
    for key in TABLES[OURS]:
        found = row.ratios(OURS, key)
        if found:
            yield key, quartiles(found)


def _frame(height: float, subtitle: str) -> list[str]:
    width = _LEFT + _WIDTH + _RIGHT
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="bars" role="img" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        "<title>The time of ours over that of others</title>",
        f"<style>\n{_STYLE}\n</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        '<text x="12" y="20" font-weight="bold">'
        "The time of ours over that of others: left of 1, ours is faster</text>",
        f'<text class="small" x="12" y="36">{escape(subtitle)}</text>',
    ]


def _legend(keys: Sequence[str]) -> Iterator[str]:
    for place, key in enumerate(keys):
        x = 12 + 120 * place
        yield f'<rect x="{x}" y="44" width="10" height="10" fill="{COLOURS[key]}"/>'
        yield f'<text class="small" x="{x + 15}" y="53">{escape(TITLES[key])}</text>'


def _tick(power: int, x: float, height: float) -> Iterator[str]:
    name = f"1/{10**-power}" if power < 0 else f"{10**power}"
    kind = "one" if power == 0 else "line"
    yield (
        f'<line class="{kind}" x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" '
        f'y2="{height - 12}"/>'
    )
    yield (
        f'<text class="small" x="{x:.1f}" y="{_TOP - 10}" '
        f'text-anchor="middle">{name}</text>'
    )


def _bar(
    key: str, places: Sequence[float], one: float, y: float, text: str
) -> Iterator[str]:
    low, end, high = places
    start, width = min(one, end), max(abs(end - one), 1)
    yield (
        f'<rect x="{start:.1f}" y="{y}" width="{width:.1f}" height="{_BAR - 2}" '
        f'fill="{COLOURS[key]}"/>'
    )
    middle = y + (_BAR - 2) / 2
    yield (
        f'<line class="spread" x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" '
        f'y2="{middle}"/>'
    )
    faster = end < one
    x, anchor = (low - 4, "end") if faster else (high + 4, "start")
    yield (
        f'<text class="small" x="{x:.1f}" y="{y + _BAR - 3}" '
        f'text-anchor="{anchor}">{text}</text>'
    )
