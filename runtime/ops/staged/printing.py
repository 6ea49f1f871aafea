"""``tf.print``: printing that happens when the program runs, in order.

Tensors are written in TensorFlow's way, which differs from NumPy's: six or nine digits
as they need them, bools as 1 and 0, strings quoted, long axes cut to their ends.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import as_tensor, is_tensor
from runtime.ops.operands import define, run

Array = np.ndarray[Any, Any]

# --- tensors as text ------------------------------------------------------------------


def tensor_text(array: Array, summarize: int = 3) -> str:
    """The elements in nested brackets; of long axes `summarize` at each end (-1: all).

    >>> tensor_text(np.arange(10))
    '[0 1 2 ... 7 8 9]'
    """
    if not array.ndim:
        return _element_text(array[()])
    return _axis_text(array, summarize, 0)


def as_count(summarize: Any) -> int:
    """How many elements to show at each end; None is the default, 3."""
    if summarize is None:
        return 3
    if isinstance(summarize, int):
        return summarize
    raise TypeError(f"summarize must be a number of elements or -1, not {summarize!r}")


def _axis_text(array: Array, summarize: int, depth: int) -> str:
    if array.ndim == 1:
        parts = [
            "..." if item is None else _element_text(item)
            for item in _ends(
                array.tolist() if array.dtype == object else array, summarize
            )
        ]
        return f"[{' '.join(parts)}]"
    rows = [
        "..." if row is None else _axis_text(row, summarize, depth + 1)
        for row in _ends(array, summarize)
    ]
    gap = "\n" * (array.ndim - 1) + " " * (depth + 1)
    return f"[{gap.join(rows)}]"


def _ends(items: Sequence[Any] | Array, summarize: int) -> Iterator[Any]:
    """The items, or the first and the last of them with None between."""
    if summarize < 0 or len(items) <= 2 * summarize:
        yield from items
        return
    yield from items[:summarize]
    yield None
    if summarize:
        yield from items[-summarize:]


#: How C writes the characters that a text in quotes cannot show.
_ESCAPES = (
    {code: f"\\{code:03o}" for code in (*range(32), 127)}
    | {ord(mark): f"\\{mark}" for mark in "\\\"'"}
    | {ord("\n"): r"\n", ord("\r"): r"\r", ord("\t"): r"\t"}
)


def _element_text(value: Any) -> str:
    if isinstance(value, bytes):
        escaped = value.decode("latin-1").translate(_ESCAPES).encode("latin-1")
        return f'"{escaped.decode("utf-8", "backslashreplace")}"'
    if isinstance(value, (np.bool_, bool)):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        kind = np.float32 if value.dtype == np.complex64 else np.float64
        return f"({_float_text(kind(value.real))},{_float_text(kind(value.imag))})"
    return _float_text(value) if isinstance(value, np.floating) else str(value)


def _float_text(value: Any) -> str:
    """The fewest digits of two lengths that give the number back."""
    digits = (15, 17) if value.dtype == np.float64 else (6, 9)
    short = f"{float(value):.{digits[0]}g}"
    if value.dtype.type(float(short)) == value or value != value:
        return short
    return f"{float(value):.{digits[1]}g}"


# --- the op ---------------------------------------------------------------------------


def formatted(arrays: Sequence[Array], template: Sequence[str], summarize: int) -> str:
    """The texts of `template` with those of the tensors between them."""
    parts = [template[0]]
    for array, text in zip(arrays, template[1:]):
        parts += [tensor_text(array, summarize), text]
    return "".join(parts)


def _print(
    *arrays: Array,
    template: tuple[str, ...],
    end: str,
    output_stream: Any,
    summarize: int,
) -> tuple[()]:
    if len(arrays) == 1 and not any(template) and _is_string(arrays[0]):
        # A string alone is printed as it is, elsewhere in quotes.
        text = arrays[0].item().decode("utf-8", "replace") + end
    else:
        text = formatted(arrays, template, summarize) + end
    if not isinstance(output_stream, str):
        output_stream.write(text)
    elif output_stream.startswith("file://"):
        with open(output_stream[len("file://") :], "a", encoding="utf-8") as file:
            file.write(text)
    else:
        # Looked up now: tests and notebooks replace the streams.
        getattr(sys, output_stream).write(text)
    return ()


def _is_string(array: Array) -> bool:
    return not array.ndim and array.dtype == object


def _infer_print(*tensors: TensorSpec, **attrs: Any) -> tuple[()]:
    return ()


define("PrintV2", _print, _infer_print, stateful=True, family="python")

# --- the function ---------------------------------------------------------------------


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Print tensors, Python values and structures of both, each time the program runs.

    Python's own ``print`` runs once, while a function is traced. Writes to `sys.stderr`
    or to `output_stream` (a stream, or ``"file://PATH"`` to append to a file); of each
    axis the first and last `summarize` elements are shown, or all if it is -1.

    >>> print("x =", as_tensor([1.5, 2.0]), output_stream=sys.stdout)
    x = [1.5 2]
    """
    for text, parameter in ((sep, "sep"), (end, "end")):
        if not isinstance(text, str):
            raise TypeError(f"tf.print: {parameter} must be a string, not {text!r}")
    template, tensors = parse(inputs, sep)
    run(
        "PrintV2",
        *tensors,
        template=template,
        end=end,
        output_stream=_stream(output_stream),
        summarize=as_count(summarize),
        name=name,
    )


def parse(inputs: Sequence[Any], sep: str) -> tuple[tuple[str, ...], list[Tensor]]:
    """The texts around the tensors in `inputs`, and the tensors."""
    tensors: list[Tensor] = []

    def hole(leaf: Any) -> Any:
        if not is_tensor(leaf):
            return leaf
        tensors.append(as_tensor(leaf))
        return _Hole(len(tensors) - 1)

    import pprint  # for graphs alone

    texts = []
    for value in inputs:
        if isinstance(value, str):
            texts.append(value.replace(_MARK, ""))
        else:
            texts.append(pprint.pformat(nest.map_structure(hole, value)))
    pieces = re.split(f"{_MARK}([0-9]+){_MARK}", sep.join(texts))
    # Text and numbers of tensors alternate; pprint may have changed the order.
    return tuple(pieces[::2]), [tensors[int(number)] for number in pieces[1::2]]


#: No text holds this character.
_MARK = "\0"


class _Hole:
    """The place of a tensor in a structure that is printed."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __repr__(self) -> str:
        return f"{_MARK}{self._number}{_MARK}"


def _stream(output_stream: Any) -> Any:
    """The stream as an attribute: the standard ones by name."""
    if output_stream is None or output_stream is sys.stderr:
        return "stderr"
    if output_stream is sys.stdout:
        return "stdout"
    if isinstance(output_stream, str):
        if not output_stream.startswith("file://"):
            raise ValueError(
                "output_stream must be a stream or 'file://PATH', not "
                f"{output_stream!r}"
            )
        return output_stream
    if not hasattr(output_stream, "write"):
        raise ValueError(f"output_stream {output_stream!r} has no write method")
    return output_stream
