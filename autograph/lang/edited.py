"""Functions whose file was edited after they were imported.

Converting one would silently run the new text in place of what the program imported.
"""

from __future__ import annotations

import functools
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .bound import codes_in
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
    return fn.__code__ not in _codes(source) and not _is_of_converted_module(fn)


@functools.lru_cache(maxsize=64)
def _codes(source: Source) -> frozenset[CodeType]:
    """All code objects that a text compiles to."""
    module = compile(source.text, source.filename, "exec", dont_inherit=True)
    return frozenset(codes_in(module))


def _is_of_converted_module(fn: FunctionType) -> bool:
    """A module that was converted whole runs other code than its text, rightly."""
    modules = (v for v in fn.__globals__.values() if isinstance(v, ModuleType))
    return any(module.__name__ == "autograph.operators" for module in modules)
