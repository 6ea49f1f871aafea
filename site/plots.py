"""The ratios of README's table as bars, on a logarithmic scale: an SVG file."""

from __future__ import annotations

import math
import re
from xml.sax.saxutils import escape

_ROW = re.compile(r"\| ([^|]+?) \| (\d+\.?\d*) (?=\|)")
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b1f24; }
.bar { fill: #3f51b5; } .line { stroke: #d0d7de; } .one { stroke: #1b1f24; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .bar { fill: #8c9eff; } .line { stroke: #30363d; }
.one { stroke: #e6edf3; }
}
"""
_LEFT, _WIDTH, _RIGHT, _ROW_HEIGHT, _TOP = 260, 400, 60, 24, 40
#: The powers of ten between which the bars lie.
_LOW, _HIGH = -2, 0.2


def ratios(table: str) -> list[tuple[str, float]]:
    r"""The programs and ratios of a table, the fastest first.

    >>> ratios("| program | ratio |\\n|---|---|\\n| `x + 1` | 0.5 | | sum | 0.25 |\\n")
    [('sum', 0.25), ('x + 1', 0.5)]
    """
    found = [(n.replace("`", ""), float(ratio)) for n, ratio in _ROW.findall(table)]
    return sorted(found, key=lambda pair: pair[1])


def plotted(pairs: list[tuple[str, float]]) -> str:
    """The bars; what is left of the line at 1 is faster than TensorFlow."""
    height = _TOP + _ROW_HEIGHT * len(pairs) + 10
    width = _LEFT + _WIDTH + _RIGHT

    def x(ratio: float) -> float:
        share = (math.log10(max(ratio, 10**_LOW)) - _LOW) / (_HIGH - _LOW)
        return _LEFT + _WIDTH * share

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" role="img"><style>{_STYLE}</style>'
    ]
    for tick in (0.01, 0.1, 1):
        kind, at = "one" if tick == 1 else "line", f"{x(tick):.1f}"
        lines.append(f'<text x="{at}" y="24" text-anchor="middle">{tick}</text>')
        lines.append(
            f'<line class="{kind}" x1="{at}" x2="{at}" y1="32" y2="{height - 6}"/>'
        )
    for row, (name, ratio) in enumerate(pairs):
        y = _TOP + _ROW_HEIGHT * row
        end = x(ratio)
        # A number does not stand on the line at 1.
        behind = max(end, x(1)) if end > x(1) - 50 else end
        label = f'y="{y + 14}" text-anchor="end">{escape(name)}</text>'
        lines += [
            f'<text x="{_LEFT - 8}" {label}',
            f'<rect class="bar" x="{_LEFT}" y="{y + 2}" width="{end - _LEFT:.1f}" '
            'height="16"/>',
            f'<text x="{behind + 6:.1f}" y="{y + 14}">{ratio:g}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])
