"""`Comments`: assigns the comments of a source to its statements.

Everything is keyed by line numbers: a comment belongs to the statement, or to the
clause such as ``else:``, that begins on a line. Rewritten statements keep the line of
their original, and so its comments. `UserText` asks for them.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

import gast

from ..source.text import Source

#: Comments by the line of a statement.
_Texts = dict[int, list[str]]


def first_line(node: Any, lines: Sequence[str]) -> int:
    """The line on which a statement begins, decorators included."""
    line = int(node.lineno)
    for decorator in getattr(node, "decorator_list", ()):
        line = min(line, decorator.lineno)
    if line != node.lineno:
        # An expression in parentheses may begin below its `@`.
        while line > 1 and not lines[line - 1].lstrip().startswith("@"):
            line -= 1
    return line


class Comments:
    """The comments in the lines of a tree, which is a module or a statement."""

    def __init__(self, tree: gast.AST, source: Source) -> None:
        self.strings: set[int] = set()
        """The lines that begin inside a string."""
        self.reach: dict[int, int] = {}
        """By statement: the last line of comments that belong to its blocks."""
        self._lines = source.lines
        self._range = _range(tree, self._lines)
        # Comments with a line of their own, between statements.
        self._own: dict[int, str] = {}
        # By line of a statement or clause: comments behind it or between its lines.
        self._beside: dict[int, list[tuple[int, str]]] = {}
        # By line of the last statement of a block: the lines of comments after it.
        self._after: dict[int, list[int]] = {}
        self._claimed: dict[int, int] = {}
        # Where logical lines begin.
        self._starts: list[int] = []
        # By statement: it and those around it, outermost first, each with its column.
        self._chains: dict[int, tuple[tuple[int, int], ...]] = {}
        self._parents: dict[int, int] = {}
        # By line of a clause: its first statement.
        self._heads: dict[int, int] = {}
        # Of decorated statements: the first line, and the statement of each line.
        self._first: dict[int, int] = {}
        self._decorated: dict[int, int] = {}
        if not isinstance(tree, (gast.stmt, gast.mod)):
            return
        first, last = self._range
        text = "\n".join(self._lines[first - 1 : last]) + "\n"
        if any(mark in text for mark in ("#", '"""', "'''", "\\\n")):
            self._scan(text)
        self._enter([tree], (), None)
        if self:
            self._assign()

    # --- for the printer ---------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self._own or self._beside)

    def before(self, key: int) -> list[str]:
        """The comment lines and blank lines above the statement of a line."""
        end = self._first.get(key, key)
        start = end
        while start > self._range[0] and self._is_free(start - 1):
            start -= 1
        return [self._lines[line - 1].rstrip() for line in range(start, end)]

    def beside(self, key: int) -> list[str]:
        """The comments behind and between the lines of a statement or header."""
        return [text for _, text in sorted(self._beside.get(key, ()))]

    def after(self, key: int) -> list[str]:
        """The lines of comments, with blank ones, that end the block of a statement."""
        claimed = self._after.get(key)
        if not claimed:
            return []
        start = claimed[0]
        while start > 1 and not self._lines[start - 2].strip():
            start -= 1
        return [text.rstrip() for text in self._lines[start - 1 : claimed[-1]]]

    def start_of(self, lineno: int) -> int:
        """The first line of the logical line that a line is part of."""
        index = bisect_right(self._starts, lineno) - 1
        return self._starts[index] if index >= 0 else lineno

    def clause(self, block: list[Any]) -> int:
        """The line of the ``else:``, ``elif`` or ``finally:`` of a block."""
        start = first_line(block[0], self._lines)
        if _CLAUSE.match(self._lines[start - 1]):
            return start
        index = bisect_left(self._starts, start) - 1
        return self._starts[index] if index >= 0 else start

    def orphans(self, printed: set[int]) -> tuple[_Texts, _Texts]:
        """The comments of statements that are not printed, by the one that gets them.

        Those of a clause go to its first statement (the first result), others to the
        statement around them (the second).
        """
        comments: list[tuple[int, int, str]] = []
        for line, text in self._own.items():
            comments.append((line, self._claimed.get(line) or self._next(line), text))
        for key, texts in self._beside.items():
            comments.extend((line, key, text) for line, text in texts)
        led: _Texts = {}
        adopted: _Texts = {}
        for _, key, text in sorted(comments):
            owner: int | None = self._decorated.get(key, key)
            if owner in printed:
                continue
            head = self._heads.get(owner or 0)
            if head in printed:
                led.setdefault(head or 0, []).append(text)
                continue
            while owner is not None and owner not in printed:
                owner = self._parents.get(owner)
            if owner is not None:
                adopted.setdefault(owner, []).append(text)
        return led, adopted

    def _is_free(self, line: int) -> bool:
        """Whether a line is blank, or a comment of the following statement."""
        if line in self._own:
            return line not in self._claimed
        return not self._lines[line - 1].strip()

    def _next(self, line: int) -> int:
        """The start of the logical line after a line, 0 if there is none."""
        index = bisect_right(self._starts, line)
        return self._starts[index] if index < len(self._starts) else 0

    # --- reading -----------------------------------------------------------------

    def _scan(self, text: str) -> None:
        """Find logical lines, comments, and strings of several lines."""
        offset = self._range[0] - 1
        start = opened = depth = 0
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                name = tokenize.tok_name[token.type]
                line, end = token.start[0] + offset, token.end[0] + offset
                if name == "COMMENT" and not start:
                    self._own[line] = token.string
                elif name == "COMMENT" and not depth:
                    self._beside.setdefault(start, []).append((line, token.string))
                elif name == "NEWLINE":
                    start = 0
                elif not start and name not in _NO_CODE:
                    start = line
                    self._starts.append(line)
                if name == "STRING" and not depth:
                    self.strings.update(range(line + 1, end + 1))
                elif name == "FSTRING_START":
                    opened = opened if depth else line
                    depth += 1
                elif name == "FSTRING_END":
                    depth -= 1
                    self.strings.update(range(opened + 1, end + 1))
        except (tokenize.TokenError, SyntaxError):
            # Not a whole statement: then any line may begin inside a string.
            self.strings.update(range(self._range[0] + 1, self._range[1] + 1))

    def _enter(self, block: list[Any], chain: Any, parent: int | None) -> None:
        """Note the statements of a block and of the blocks below it."""
        for node in block:
            key = getattr(node, "lineno", None)
            inner = chain
            if key is not None:
                inner = (*chain, (node.col_offset, key))
                self._chains[key] = inner
                self._adopt(key, parent)
                first = first_line(node, self._lines)
                if first != key:
                    self._first[key] = first
                    self._decorated.update(dict.fromkeys(range(first, key), key))
            self._enter(getattr(node, "body", []), inner, key)
            for clause in getattr(node, "handlers", ()):
                self._clause(clause.lineno, clause.body, inner, key)
            for case in getattr(node, "cases", ()):
                line = self.start_of(case.pattern.lineno)
                self._clause(line, case.body, inner, key)
            for rest in (getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                if rest and isinstance(rest, list):
                    self._clause(self.clause(rest), rest, inner, key)

    def _clause(self, line: int, block: list[Any], chain: Any, key: Any) -> None:
        """Note a clause of the statement `key`, and its block."""
        self._adopt(line, key)
        # An `elif` is an `if` node in the tree: the clause's body is that node's body.
        alike = first_line(block[0], self._lines) == line
        first = getattr(block[0], "body", block)[0] if alike else block[0]
        if first.lineno != line:
            self._heads[line] = first.lineno
        self._enter(block, chain, line)

    def _adopt(self, key: int, parent: int | None) -> None:
        if parent is not None and key != parent:
            self._parents.setdefault(key, parent)

    # --- assigning ---------------------------------------------------------------

    def _assign(self) -> None:
        """Assign each comment that has a line of its own."""
        for start in [s for s in self._beside if s in self._decorated]:
            key = self._decorated[start]
            self._beside.setdefault(key, []).extend(self._beside.pop(start))
        above: dict[int, list[int]] = {}
        for line in self._own:
            above.setdefault(self._next(line), []).append(line)
        for following, lines in above.items():
            key = self._decorated.get(following, following)
            if self._first.get(key, key) < following:
                # Between the decorators and the `def`.
                texts = [(line, self._own.pop(line)) for line in lines]
                self._beside.setdefault(key, []).extend(texts)
            else:
                self._claim(lines, following)

    def _claim(self, lines: list[int], following: int) -> None:
        """Give comments to the blocks that end above the line `following`.

        Their indentation decides, as it does for readers. A comment that is indented no
        further than the next statement belongs to that statement.
        """
        limit = self._indent(following) if following else -1
        index = bisect_left(self._starts, lines[0]) - 1
        above = self._starts[index] if index >= 0 else 0
        if following and above and self._indent(above) < limit:
            # The first statement of a block.
            return
        chain = self._chains.get(above)
        level = self._indent(lines[0])
        for line in lines:
            level = min(level, self._indent(line))
            if chain is None or level <= limit:
                return
            # An `elif` stands at the column of its `if`, which ends the block.
            cols = [col for col, _ in chain]
            depth = cols.index(max([c for c in cols if c <= level], default=cols[0]))
            key = chain[depth][1]
            self._after.setdefault(key, []).append(line)
            self._claimed[line] = key
            self.reach.update((outer, line) for _, outer in chain[:depth])

    def _indent(self, line: int) -> int:
        text = self._lines[line - 1]
        return len(text) - len(text.lstrip())


_CLAUSE = re.compile(r"\s*(else|elif|finally)\b")
_NO_CODE = ("INDENT", "DEDENT", "NL", "COMMENT", "NEWLINE", "ENDMARKER")


def _range(tree: Any, lines: Sequence[str]) -> tuple[int, int]:
    """The first and the last line of a tree, comments at the end included."""
    if not isinstance(tree, gast.stmt):
        return 1, len(lines)
    last = int(tree.end_lineno)
    for line in range(last + 1, len(lines) + 1):
        text = lines[line - 1]
        indent = len(text) - len(text.lstrip())
        if text.strip() and (text[indent] != "#" or indent <= tree.col_offset):
            break
        if text.strip():
            last = line
    return first_line(tree, lines), last
