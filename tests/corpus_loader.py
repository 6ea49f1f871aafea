"""The corpus: plain functions by construct, each with arguments to call it with.

A file of ``tests/corpus`` holds functions as people write them, marked with `cases`:

    @cases((1,), (2,))
    def sign(x):
        ...

Every mode in which code can run (converted, staged, built ahead of time) is compared
with the plain function on these arguments. ``tests/corpus/syntax`` holds the syntax of
later Pythons: ``name_since_3_12.py`` is left out by older ones.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

__all__ = ["ROOT", "Entry", "cases", "entries", "files", "load"]

ROOT = Path(__file__).parent / "corpus"
_SINCE = re.compile(r"_since_(\d+)_(\d+)$")
_F = TypeVar("_F", bound=Callable[..., Any])


class Entry(NamedTuple):
    """A function of the corpus: ``loops.collatz``, and the arguments for it."""

    name: str
    function: FunctionType
    cases: tuple[tuple[Any, ...], ...]


def cases(*arguments: tuple[Any, ...]) -> Callable[[_F], _F]:
    """Mark a function of the corpus with the argument tuples to call it with."""

    def mark(function: _F) -> _F:
        function.cases = arguments  # type: ignore[attr-defined]
        return function

    return mark


def files() -> list[Path]:
    """The files of the corpus that this Python can read, in order."""
    return [path for path in sorted(ROOT.rglob("*.py")) if _is_readable(path)]


def load(path: Path) -> ModuleType:
    """The module of a file, imported once under the name ``corpus.<file>``."""
    name = f"corpus.{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def entries() -> Iterator[Entry]:
    """All functions of the corpus, file by file, in the order of the source."""
    for path in files():
        for name, function in vars(load(path)).items():
            arguments = getattr(function, "cases", None)
            if arguments and getattr(function, "__name__", None) == name:
                yield Entry(f"{path.stem}.{name}", function, arguments)


def _is_readable(path: Path) -> bool:
    found = _SINCE.search(path.stem)
    return found is None or sys.version_info >= tuple(map(int, found.groups()))
