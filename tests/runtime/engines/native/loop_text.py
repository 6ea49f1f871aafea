"""The text of loops, run as Python: it says what native code does.

It is Python but for the types in its header, pointers into arrays, and functions that
have other effects; `runs` tells whether a text has none of these.
"""

from __future__ import annotations
import __future__

import re
from collections.abc import Sequence
from typing import Any

import numpy as np


class Failed(Exception):
    """A check of the program does not hold."""


class _Type:
    """``float32``: a cast; ``float32[10, 3]`` is what an array is made of."""

    def __init__(self, name: str) -> None:
        self._dtype = np.dtype(name)

    def __getitem__(self, shape: Any) -> Any:
        # Numbers that nobody writes are seen.
        return np.full(shape, 77, self._dtype)

    def __call__(self, value: Any) -> Any:
        return np.asarray(value).astype(self._dtype)[()]


def _check(condition: Any, status: str = "FAILED") -> None:
    if not condition:
        raise Failed(status)


def _parallel(start: int, stop: int, chunk: int = 0) -> Any:
    if not chunk:
        # Iterations do not depend on others.
        return range(start, stop)[::-1]
    return [(at, min(at + chunk, stop)) for at in range(start, stop, chunk)]


def _sdiv(x: Any, y: Any) -> Any:
    return type(x)(int(x) / int(y))


_WRAPS = "_with_overflow"
_WORDS: dict[str, Any] = {
    name: _Type(name)
    for name in ("bool", "float32", "float64", "int8", "int32", "int64", "uint8")
}
_WORDS |= {"empty": lambda array: array, "stack": lambda array: array}
_WORDS |= {"parallel": _parallel, "check": _check, "sdiv": _sdiv, "umin": min}
_WORDS |= {"max": max, "min": min, "sin": np.sin, "abs": np.abs}
_WORDS |= {f"smul{_WRAPS}": lambda x, y: (x * y, not -(2**63) <= x * y < 2**63)}
_WORDS |= {"exp": np.exp, "tanh": np.tanh, "sqrt": np.sqrt, "isnan": np.isnan}
_WORDS |= {"maximum": np.fmax, "inf": np.inf, "native_poll": lambda: 0}
_WORDS |= {f"umul{_WRAPS}": lambda x, y: (x * y, False), "ule": lambda x, y: x <= y}
_WORDS |= {"stack_begin": 0, "stack_end": 1 << 40, "FULL": "FULL"}
_WORDS |= {"INTERRUPTED": "INTERRUPTED", "udiv": lambda x, y: x // y}


def runs(text: str) -> bool:
    """Whether a text is Python that has no pointers and no random numbers."""
    return (
        re.search(r"&\w|room|random_|sort\d|mem(cpy|set)|pointer|matmul", text) is None
    )


def run(text: str, inputs: Sequence[Any], like: Sequence[Any]) -> dict[str, Any]:
    """The results of the program by their names, which are to be like some arrays."""
    text = text.replace("?", "None").replace("[]", "[()]") + "    return locals()\n"
    flags = __future__.annotations.compiler_flag
    namespace = dict(_WORDS)
    exec(compile(text, "<loops>", "exec", flags), namespace)
    (name,) = re.findall(r"^def (\w+)", text)
    outputs = [np.full(np.shape(one), 77, np.asarray(one).dtype) for one in like]
    with np.errstate(all="ignore"):
        found: dict[str, Any] = namespace[name](*inputs, *outputs)
    (header,) = re.findall(r"^def .*", text)
    names = re.findall(r"(\w+): ", header)[len(inputs) :]
    return {name: found[name] for name in names}
