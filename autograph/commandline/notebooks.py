r"""Jupyter notebooks: the texts of their code cells, with IPython's own syntax.

IPython's magics (``%time``), shell lines (``!ls``) and questions (``len?``) are no
statements of Python. While a cell is converted, placeholders stand for them:

>>> cell = Cell(1, "%matplotlib inline\nx = !ls\ny = 2\n")
>>> print(cell.python, end="")
import __magic_0__
x = __magic_1__
y = 2
>>> cell.restored(cell.python) == cell.text
True
"""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections.abc import Iterator
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import TargetError
from ..interpreter import cached_property

#: A line of IPython: the text before, and the part that is not Python.
_LINE = re.compile(r"(?P<before>\s*)(?P<magic>[%!?].*|[\w.*]+\?\??\s*)")
_VALUE = re.compile(r"(?P<before>\s*[^\s=(][^=(]*=\s*)(?P<magic>[%!].*)")
_PLACEHOLDER = re.compile(r"(?:import )?__magic_(\d+)__")

#: Cell magics with Python below them.
_AROUND_PYTHON = frozenset({"capture", "prun", "time", "timeit"})


class Cell:
    """A code cell: its number, from 1, and its text."""

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text if text.endswith("\n") or not text else f"{text}\n"
        #: The texts of the placeholders.
        self._magics: list[str] = []

    @property
    def is_foreign(self) -> bool:
        """Whether the whole cell is in another language: ``%%bash``."""
        magic = re.match(r"\s*%%(\w*)", self.text)
        return magic is not None and magic[1] not in _AROUND_PYTHON

    @cached_property
    def python(self) -> str:
        """The text with a placeholder for each part that is not Python."""
        lines: list[str] = []
        for line in self.text.splitlines(keepends=True):
            body = line.rstrip("\n")
            match = _LINE.fullmatch(body) or _VALUE.fullmatch(body)
            if match is None or _is_open("".join(lines)) or _is_comment(body):
                lines.append(line)
                continue
            # An import is a statement wherever it is moved, and no expression.
            keyword = "" if match["before"].strip() else "import "
            name = f"__magic_{len(self._magics)}__"
            self._magics.append(match["magic"])
            lines.append(f"{match['before']}{keyword}{name}\n")
        return "".join(lines)

    def restored(self, converted: str) -> str:
        """Converted code with the texts of its placeholders."""
        return _PLACEHOLDER.sub(lambda found: self._magics[int(found[1])], converted)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _is_open(text: str) -> bool:
    """Whether a bracket or a string is still open at the end of the text."""
    if text.endswith("\\\n"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO(text).readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:  # of an indentation: not ours to judge
        return False
    return False


def cells_of(data: bytes, path: str) -> list[Cell]:
    """The code cells of a notebook.

    Raises:
        TargetError: AG401, it is no notebook, or not one of Python.
    """
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        language = _language(notebook)
        texts = list(_texts(notebook))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        is_json_error = isinstance(error, ValueError)
        why = f": {error}" if is_json_error else ", it has no cells as notebooks have"
        raise _unreadable(path, f"it is not the JSON of a notebook{why}") from error
    if language != "python":
        raise _unreadable(path, f"its cells are {language}, not Python")
    return [Cell(number, text) for number, text in enumerate(texts, 1)]


def _language(notebook: Any) -> str:
    metadata = notebook.get("metadata", {})
    kernel = metadata.get("kernelspec", {}).get("language", "python")
    return str(metadata.get("language_info", {}).get("name", kernel)).lower()


def _texts(notebook: Any) -> Iterator[str]:
    # Version 3 has sheets of cells, whose texts are their inputs.
    sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
    for cell in (cell for sheet in sheets for cell in sheet["cells"]):
        if cell["cell_type"] == "code":
            text = cell["source"] if "source" in cell else cell["input"]
            yield text if isinstance(text, str) else "".join(text)


def _unreadable(path: str, why: str) -> TargetError:
    return TargetError(Diagnostic("AG401", f"cannot read `{path}`", why))
