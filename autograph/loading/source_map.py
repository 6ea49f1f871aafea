"""The lines of built modules: which line of the source each comes from, and back.

``autograph build`` writes ``module.py.map`` beside ``module.py``.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from typing import NamedTuple


class SourceMap(NamedTuple):
    """Lines of a built module beside those of its source, from 1.

    >>> found = SourceMap("clip.py", [(1, 1), (2, 2), (3, 2), (5, 4)])
    >>> found.source_line(4), found.built_lines(2)
    (2, [2, 3])
    """

    source: str
    #: The lines where a statement begins: in the built module, and in the source.
    lines: list[tuple[int, int]]

    def source_line(self, line: int) -> int:
        """The line of the source that a line of the built module comes from."""
        index = bisect_right(self.lines, (line, float("inf"))) - 1
        return self.lines[max(index, 0)][1] if self.lines else line

    def built_lines(self, line: int) -> list[int]:
        """The lines of the built module that begin a statement of a source line."""
        return [built for built, source in self.lines if source == line]


def source_map(path: str | os.PathLike[str]) -> SourceMap:
    """The map of a built module; its source is named as seen from the current folder.

    Raises:
        OSError: there is no map beside it.
        ValueError: it is none.
    """
    path = os.fspath(path)
    with open(f"{path}.map", encoding="utf-8") as file:
        record = json.load(file)
    try:
        source = os.path.normpath(os.path.join(os.path.dirname(path), record["source"]))
        return SourceMap(source, sorted((a, b) for a, b in record["lines"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}.map is no map of lines") from error
