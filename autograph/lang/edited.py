"""Functions whose file was edited after they were imported.

Converting one would silently run the new text in place of what the program imported.
"""

from __future__ import annotations

import functools
import warnings
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .bound import FUTURE, codes_in
from .source import Source

__all__ = ["was_edited"]


def was_edited(fn: Any, source: Source) -> bool:
    """Whether the text of a function is no longer what its code was compiled from.

    Only Python's own loader is asked about: what others make of a text, such as
    pytest's assertions, is theirs to know.
    """
    if not isinstance(fn, FunctionType):
        return False
    if type(fn.__globals__.get("__loader__")) is not SourceFileLoader:
        return False
    # Consoles and doctests compile with the `__future__` imports around a text.
    codes = _codes(source, fn.__code__.co_flags & FUTURE)
    return fn.__code__ not in codes and not _is_of_converted_module(fn)


@functools.lru_cache(maxsize=64)
def _codes(source: Source, flags: int) -> frozenset[CodeType]:
    """All code objects that a text compiles to."""
    with warnings.catch_warnings():
        # Python warned about a `"\d"` when it compiled the file for its user.
        warnings.simplefilter("ignore")
        module = compile(
            source.text, source.filename, "exec", flags=flags, dont_inherit=True
        )
    return frozenset(codes_in(module))


def _is_of_converted_module(fn: FunctionType) -> bool:
    """A module that was converted whole runs other code than its text, rightly."""
    modules = (v for v in fn.__globals__.values() if isinstance(v, ModuleType))
    return any(module.__name__ == "autograph.operators" for module in modules)
