"""Breaking long lines inside brackets.

A continuation is aligned to its opening bracket; arguments go one to a line if lambdas
are among them, else as many as fit; an expression breaks before its operators, those
that bind least first. Brackets end on their last line. Where no bracket is open,
parentheses are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..interpreter import cached_property

# --- tokens ---------------------------------------------------------------------------
# The printer of expressions gives text, with marks in it. All marks are strings, so
# joining the tokens gives the text on one line.


class Mark(str):
    """An empty string with a meaning of its own."""

    meaning: str

    def __new__(cls, meaning: str) -> Mark:
        mark = super().__new__(cls, "")
        mark.meaning = meaning
        return mark


#: Around an expression that is aligned to its own start, and that may get parentheses
#: where a line break needs them.
OPEN = Mark("open")
CLOSE = Mark("close")


class Comma(str):
    """The ``', '`` between the items of a bracket or of a tuple."""

    __slots__ = ()


class Break(str):
    """Text such as ``' + '`` before which a line may be broken.

    Breaks of a lower level are taken first. A forced break is always taken.
    """

    level: int
    forced: bool

    def __new__(cls, text: str, level: int, forced: bool = False) -> Break:
        self = super().__new__(cls, text)
        self.level = level
        self.forced = forced
        return self


class Seam(Break):
    """A part of a string literal, before which the literal may be divided in two.

    Then ``end`` closes the first, and ``start`` opens the second.
    """

    start: str
    end: str

    def __new__(cls, text: str, level: int, start: str, end: str) -> Seam:
        self = str.__new__(cls, text)
        self.level = level
        self.forced = False
        self.start = start
        self.end = end
        return self


# --- boxes ----------------------------------------------------------------------------
# The bracket structure of a printed line, which line breaks follow.


class Line:
    """Text, breaks and boxes in a row."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces

    @cached_property
    def flat(self) -> str:
        """The text without any line break of ours."""
        return "".join(p.flat if isinstance(p, Box) else p for p in self.pieces)

    @cached_property
    def forced(self) -> bool:
        """Whether it must be broken somewhere."""
        return any(
            p.forced if isinstance(p, (Box, Break)) else False for p in self.pieces
        )

    @cached_property
    def level(self) -> int | None:
        """The level of the breaks that are to be taken first."""
        levels = [p.level for p in self.pieces if isinstance(p, Break)]
        return min(levels, default=None)

    @cached_property
    def parts(self) -> list[tuple[str, Line]]:
        """What stands between those breaks, each with the break before it."""
        parts: list[tuple[str, Line]] = []
        prefix = ""
        pieces: list[Piece] = []
        for piece in self.pieces:
            if isinstance(piece, Break) and piece.level == self.level:
                parts.append((prefix, Line(pieces)))
                prefix, pieces = piece, []
            else:
                pieces.append(piece)
        parts.append((prefix, Line(pieces)))
        return parts

    @property
    def is_lambda(self) -> bool:
        """Whether this is a lambda, a keyword argument or a tuple with one."""
        first, *rest = self.pieces or [""]
        if isinstance(first, str) and first.endswith("=") and rest:
            first = rest.pop(0)
        if isinstance(first, Box):
            if first.open:
                return not rest and any(item.is_lambda for item in first.items)
            return first.items[0].is_lambda
        return first.startswith("lambda")


class Box:
    """A bracket, or a unit that may get parentheses (then `open` is empty)."""

    def __init__(self, open: str, close: str, items: list[Line]) -> None:
        self.open = open
        self.close = close
        self.items = items

    @cached_property
    def flat(self) -> str:
        """The text without any line break of ours."""
        inside = ", ".join(item.flat for item in self.items)
        return f"{self.open}{inside}{self.close}"

    @cached_property
    def forced(self) -> bool:
        """Whether it must be broken somewhere."""
        return any(item.forced for item in self.items)

    @cached_property
    def tall(self) -> bool:
        """Whether each item is to get a line, if not all fit on one.

        So it is with arguments that are lambdas, and with the entries of a dict.
        """
        if len(self.items) == 1:
            return False
        if self.open == "{":
            return any(": " in item.pieces for item in self.items)
        return self.open == "(" and any(item.is_lambda for item in self.items)

    @cached_property
    def joined(self) -> Line:
        """The items in a row."""
        pieces: list[Piece] = []
        for index, item in enumerate(self.items):
            if index:
                pieces.append(", ")
            pieces.extend(item.pieces)
        return Line(pieces)

    @cached_property
    def rigid(self) -> bool:
        """Whether it is a mere name, which parentheses would not help."""
        return not self.open and self.flat.isidentifier()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to break."""
        return not any(item.pieces for item in self.items)


Piece = str | Box

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def box_of(tokens: Iterable[str]) -> Box:
    """The structure of a list of tokens, as the content of one invisible box."""
    root = Box("", "", [Line([])])
    stack = [root]
    for token in tokens:
        pieces = stack[-1].items[-1].pieces
        if isinstance(token, Break):
            pieces.append(token)
        elif token is OPEN or token in _CLOSING:
            box = Box(token, _CLOSING.get(token, ""), [Line([])])
            pieces.append(box)
            stack.append(box)
        elif token is CLOSE or token in _CLOSED:
            stack.pop()
        elif isinstance(token, Comma):
            stack[-1].items.append(Line([]))
        elif token:
            pieces.append(token)
    return root


_CLOSED = frozenset(_CLOSING.values())


# --- layout ---------------------------------------------------------------------------

#: Lines after the first carry their indentation.
_Lines = list[str]

#: So many operands are not put on lines of their own.
_MANY = 6


def wrap(tokens: Iterable[str], indent: int, width: int, hang: int = 4) -> list[str]:
    """The lines of a statement that begins at column `indent`.

    No line is longer than `width` if that can be helped. `hang` is the indentation of
    what stands below its bracket rather than beside it.
    """
    tokens = list(tokens)
    flat = "".join(tokens)
    margin = " " * indent
    if len(flat) + indent <= width and "\n" not in flat:
        if not any(getattr(token, "forced", False) for token in tokens):
            return [margin + flat]
    layout = _Layout(width, hang)
    lines = layout.statement(box_of(tokens), indent)
    return [margin + lines[0], *lines[1:]]


class _Layout:
    def __init__(self, width: int, hang: int) -> None:
        self.width = width
        self.hang = hang
        self._known: dict[tuple[int, int, int, int, bool], _Lines] = {}

    def statement(self, root: Box, indent: int) -> _Lines:
        """A whole statement; nothing can be put around it."""
        if len(root.items) == 1:
            return self.line(root.items[0], indent, indent, 0, nested=False)
        # `import a, b` and `global a, b` have no bracket to break in.
        column = indent + self.hang
        lines = [""]
        for index, item in enumerate(root.items):
            last = index == len(root.items) - 1
            text = item.flat if last else item.flat + ","
            used = len(lines[-1]) + (indent if len(lines) == 1 else 0)
            if index and used + 1 + len(text) + 2 * (not last) > self.width:
                lines[-1] += " \\"
                lines.append(" " * column + text)
            else:
                lines[-1] += " " + text if index else text
        return lines

    def line(
        self, line: Line, col: int, indent: int, tail: int, nested: bool
    ) -> _Lines:
        """`line` from column `col` on, with `tail` more columns needed at its end.

        `indent` is the indentation of the line it begins on, `nested` tells whether a
        bracket is open.
        """
        if not line.forced and self._fits(line.flat, col, tail):
            return line.flat.split("\n")
        key = (id(line), col, indent, tail, nested)
        if key not in self._known:
            options = []
            if nested and line.level is not None:
                options.append(self._at_breaks(line, col, tail))
            if not options or self._over(options[0], col, tail):
                options.extend(self._in_boxes(line, col, indent, tail, nested))
            self._known[key] = self._best(options, col, tail)
        return self._known[key]

    # --- choosing ----------------------------------------------------------------

    def _fits(self, flat: str, col: int, tail: int) -> bool:
        return self._over(flat.split("\n"), col, tail) == 0

    def _over(self, lines: _Lines, col: int, tail: int) -> int:
        """By how many columns the lines are too long.

        The lines inside a string of several lines count too: they are as they are.
        """
        over = 0
        last = len(lines) - 1
        for index, text in enumerate(lines):
            length = len(text) + (col if index == 0 else 0) + (tail * (index == last))
            over += max(0, length - self.width)
        return over

    def _best(self, options: list[_Lines], col: int, tail: int) -> _Lines:
        """The option that overflows least, then the shortest, then the first."""
        return min(options, key=lambda ls: (self._over(ls, col, tail), len(ls)))

    # --- breaking ----------------------------------------------------------------

    def _at_breaks(self, line: Line, col: int, tail: int) -> _Lines:
        """Broken before its loosest operators, the operands aligned."""
        if isinstance(line.parts[-1][0], Seam):
            return self._at_seams(line, col, tail)
        if len(line.parts) > _MANY and not line.forced:
            filled = self._filled(line, col, tail)
            if not self._over(filled, col, tail):
                return filled
        lines: _Lines = []
        last = len(line.parts) - 1
        for index, (prefix, part) in enumerate(line.parts):
            room = tail if index == last else 0
            text = prefix.lstrip()
            start = col + len(text)
            if not index:
                lines = self.line(part, col, col, room, nested=True)
                continue
            broken = self.line(part, start, col, room, nested=True)
            lines = [*lines, " " * col + text + broken[0], *broken[1:]]
        return lines

    def _filled(self, line: Line, col: int, tail: int) -> _Lines:
        """As broken at operators, with as many operands in a line as fit."""
        lines = [""]
        last = len(line.parts) - 1
        for index, (prefix, part) in enumerate(line.parts):
            room = tail if index == last else 0
            here = len(lines[-1]) + (col if len(lines) == 1 else 0)
            if self._fits(prefix + part.flat, here, room) or not index:
                lines[-1] += prefix + part.flat
            else:
                lines.append(" " * col + prefix.lstrip() + part.flat)
        return lines

    def _at_seams(self, line: Line, col: int, tail: int) -> _Lines:
        """A string literal as several, each as long as its line allows."""
        (_, first), *rest = line.parts
        lines = [" " * col + first.flat]
        for index, (seam, part) in enumerate(rest, start=1):
            assert isinstance(seam, Seam)
            text = seam + part.flat
            room = tail if index == len(rest) else len(seam.end)
            if len(lines[-1]) + len(text) + room > self.width:
                lines[-1] += seam.end
                lines.append(" " * col + seam.start)
            lines[-1] += text
        return [lines[0][col:], *lines[1:]]

    def _in_boxes(
        self, line: Line, col: int, indent: int, tail: int, nested: bool
    ) -> Iterator[_Lines]:
        """Broken inside its brackets: in one that is chosen, else where needed."""
        boxes = [
            index
            for index, piece in enumerate(line.pieces)
            if isinstance(piece, Box) and not piece.empty
        ]
        for chosen in [*reversed(boxes[-3:]), *boxes[:1]]:
            yield self._broken_in(line, chosen, col, indent, tail, nested)
        if not boxes:
            yield line.flat.split("\n")

    def _broken_in(
        self, line: Line, chosen: int, col: int, indent: int, tail: int, nested: bool
    ) -> _Lines:
        lines = [""]
        for index, piece in enumerate(line.pieces):
            here = len(lines[-1]) + (col if len(lines) == 1 else 0)
            base = indent if len(lines) == 1 else _indentation(lines[-1])
            if not isinstance(piece, Box):
                added = piece.split("\n")
            else:
                room = self._tail(line, index, tail)
                fits = not piece.forced and self._fits(piece.flat, here, room)
                if index != chosen and (fits or piece.empty):
                    added = piece.flat.split("\n")
                else:
                    added = self._box(piece, here, base, room, nested)
            lines = [*lines[:-1], lines[-1] + added[0], *added[1:]]
        return lines

    def _tail(self, line: Line, index: int, tail: int) -> int:
        """The columns needed after a piece, up to where a line may break again."""
        room = 0
        for piece in line.pieces[index + 1 :]:
            if isinstance(piece, Box):
                if not piece.empty and not piece.rigid:
                    return room + len(piece.open)
                room += len(piece.flat)
            else:
                room += len(piece)
        return room + tail

    # --- boxes -------------------------------------------------------------------

    def _box(self, box: Box, col: int, indent: int, tail: int, nested: bool) -> _Lines:
        if box.open:
            return self._bracket(box, col, indent, tail, (box.open, box.close))
        if nested:
            return self._items(box, col, indent, tail)
        bare = self.line(box.joined, col, indent, tail, nested=False)
        if box.rigid:
            return bare
        inner = any(
            isinstance(piece, Box) and piece.forced for piece in box.joined.pieces
        )
        operators = len(box.items) > 1 or box.items[0].level is not None
        if (inner or not operators) and not self._over(bare, col, tail):
            return bare
        closed = self._bracket(box, col, indent, tail, ("(", ")"))
        over = self._over(closed, col, tail) - self._over(bare, col, tail)
        # Breaks at operators read better than breaks in one of the operands.
        longest = len(bare) + (1 if operators else 0)
        return closed if over < 0 or (over == 0 and len(closed) <= longest) else bare

    def _bracket(
        self, box: Box, col: int, indent: int, tail: int, ends: tuple[str, str]
    ) -> _Lines:
        opening, closing = ends
        beside = self._items(box, col + 1, col + 1, tail + 1)
        beside[0] = opening + beside[0]
        beside[-1] += closing
        column = indent + self.hang
        if column >= col + 1:
            return beside
        below = self._items(box, column, column, tail + 1)
        below = [opening, " " * column + below[0], *below[1:]]
        below[-1] += closing
        # What stands below is harder to find: it has to save two lines, or to fit one.
        over = self._over(beside, col, tail) - self._over(below, col, tail)
        saved = len(beside) - len(below)
        is_better = over > 0 or saved >= 2 or (saved == 1 and len(below) == 2)
        chosen = below if is_better else beside
        if not self._over(chosen, col, tail):
            return chosen
        loose = self._items(box, column, column, 0)
        loose = [opening, " " * column + loose[0], *loose[1:], " " * indent + closing]
        return self._best([chosen, loose], col, tail)

    def _items(self, box: Box, col: int, indent: int, tail: int) -> _Lines:
        """The items of a box, aligned to column `col`.

        `indent` is the indentation of the line on which the first begins.
        """
        lines: _Lines = [""]
        fresh = True
        last = len(box.items) - 1
        for index, item in enumerate(box.items):
            room = tail if index == last else 1
            here = len(lines[-1]) + (col if len(lines) == 1 else 0)
            if index:
                beside = not box.tall and not fresh and not item.forced
                if beside and self._fits(item.flat, here + 1, room):
                    lines[-1] += " " + item.flat + "," * (index != last)
                    continue
                lines.append(" " * col)
                indent = col
            broken = self.line(item, col, indent, room, nested=True)
            fresh = len(broken) > 1
            lines = [*lines[:-1], lines[-1] + broken[0], *broken[1:]]
            lines[-1] += "," * (index != last)
        return lines


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
