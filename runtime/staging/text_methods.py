"""The methods of a str, of texts that are known when the graph runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from runtime import dtypes
from runtime.ops.text import Format, ask_text
from runtime.staging.sequences import weakened
from runtime.staging.text import Values, characters
from runtime.tensor import SymbolicTensor

__all__ = ["method_of_text"]

_TEXTS = frozenset(
    {"capitalize", "casefold", "center", "expandtabs", "ljust", "lower", "lstrip"}
    | {"removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip"}
    | {"swapcase", "title", "upper", "zfill"}
)
_BOOLS = frozenset(
    {"endswith", "isalnum", "isalpha", "isdigit", "islower", "isspace", "isupper"}
    | {"startswith"}
)
_INTS = frozenset({"count", "find", "rfind", "rindex"})


def method_of_text(text: SymbolicTensor, name: str) -> Callable[..., Any] | None:
    """``text.name`` of a text in a graph; None if it has no such method there.

    Those that give a text, a bool or an int are there, and indices and slices.
    """
    if name == "__getitem__":
        return functools.partial(characters, text)
    if name not in _TEXTS | _BOOLS | _INTS:
        return None

    def method(*args: Any) -> Any:
        found = Values()
        fills = [found.fill(value) for value in (text, *args)]
        if name in _TEXTS:
            return found.text(getattr(str, name), fills, f"str.{name}")
        weak = [tensor.spec.weak for tensor in found.tensors]
        asked = Format(getattr(str, name), fills, weak, f"str.{name}")
        dtype = dtypes.bool if name in _BOOLS else dtypes.int32
        answer = ask_text(found.tensors, asked, dtype, raises=name == "rindex")
        return answer if name in _BOOLS else weakened(answer)

    method.__name__ = method.__qualname__ = name
    return method
