"""Run programs of TensorFlow cell by cell, as notebooks do.

The programs are the other modules of this folder. ``# %%`` begins a cell, and all cells
of a program have one namespace. Run with a Python that has TensorFlow, this module
writes what each cell shows there into ``NAME.json``, beside ``NAME.py``; `test_notebooks`
compares that with what the cell shows here::

    python tests/runtime/names/notebooks/runner.py [NAME …]
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent
NAMES = sorted({path.stem for path in FOLDER.glob("*.py")} - {"conftest", "runner"})
_MARK = re.compile(r"^# %%.*$", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf")
#: A number of NumPy as NumPy 2 writes it.
_SCALAR = re.compile(r"np\.\w+\(([^()]*)\)")


def cells(path: Path) -> Iterator[str]:
    """The cells of a program, each below as many empty lines as are above it there.

    Thus errors name the lines of the file, and functions find their source.
    """
    text = path.read_text()
    starts = [0, *(mark.start() for mark in _MARK.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        if text[start:end].strip():
            yield "\n" * text.count("\n", 0, start) + text[start:end]


def show(cell: str, file: str, namespace: dict[str, Any]) -> str:
    """Run a cell: what it prints, and below that the value of its last expression."""
    body = ast.parse(cell, file)
    last = (
        body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(body, file, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), file, "eval"), namespace)
            if value is not None:
                print(repr(value))
    return printed.getvalue()


def run(name: str) -> list[str]:
    """What each cell of a program shows. The current folder takes its files."""
    path = FOLDER / f"{name}.py"
    module = ModuleType(f"notebook_{name}")
    # AutoGraph of TensorFlow looks for the module of a function.
    sys.modules[module.__name__] = module
    try:
        return [show(cell, str(path), vars(module)) for cell in cells(path)]
    finally:
        del sys.modules[module.__name__]


def alike(found: str, expected: str) -> bool:
    """Whether two outputs differ in spaces at most, and in numbers by 1e-4."""
    texts = [_SCALAR.sub(r"\1", text) for text in (found, expected)]
    words = ["".join(_NUMBER.sub("#", text).split()) for text in texts]
    if words[0] != words[1]:
        return False
    numbers = [[float(number) for number in _NUMBER.findall(text)] for text in texts]
    return all(
        a == b or (a != a and b != b) or abs(a - b) <= 1e-4 * max(1, abs(b))
        for a, b in zip(*numbers, strict=True)
    )


def main() -> None:
    """Record what the TensorFlow of this Python shows."""
    import tensorflow as tf

    assert tf.__version__.startswith("2.21"), tf.__version__
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            shown = json.dumps(run(name), indent=0, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(shown + "\n")


if __name__ == "__main__":
    main()
