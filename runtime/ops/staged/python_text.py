"""Python's own text of tensors: what ``f'{x}'`` and ``print`` give when a graph runs.

A tensor is formatted as the eager tensor of the same value is, one that stands for a
Python number or text as that number or text.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.ops.apply import apply, as_array
from runtime.ops.record import Export, Op, register
from runtime.tensor import EagerTensor, Tensor
from runtime.types import dtypes
from runtime.types.dtypes import DType
from runtime.types.specs import TensorSpec

__all__ = ["Format", "ask_text", "format_text", "print_text", "shown_values"]

Array = np.ndarray[Any, Any]
#: Makes a Python value of the values of the tensors.
Fill = Callable[[Sequence[Any]], Any]


class Format:
    """How a text is made of Python values: ``make(*values)``.

    `fills` give each of the values, and ``template`` says in graphs what it looks like.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        fills: Sequence[Fill],
        weak: Sequence[bool],
        template: str,
    ) -> None:
        self._make = make
        self._fills = fills
        self._weak = weak
        self._template = template

    def __call__(self, arrays: Sequence[Array]) -> Any:
        """Make the text of the values of the tensors."""
        found = shown_values(arrays, self._weak)
        return self._make(*(fill(found) for fill in self._fills))

    def __repr__(self) -> str:
        return repr(self._template)


def shown_values(arrays: Sequence[Array], weak: Sequence[bool]) -> list[Any]:
    """The values of tensors as Python shows them; `weak` ones stand for its own."""
    return [
        python_value(array) if is_weak or _is_bool(array) else _tensor(array)
        for array, is_weak in zip(arrays, weak, strict=True)
    ]


def _is_bool(array: Any) -> bool:
    """Whether an array is one bool: Python's own are tensors like any in a graph."""
    array = as_array(array)
    return bool(array.dtype.kind == "b" and array.ndim == 0)


def _tensor(array: Any) -> EagerTensor:
    return EagerTensor(as_array(array))


def python_value(array: Any) -> Any:
    """The Python number or text that a tensor stands for.

    Of a float32 it is the shortest decimal: that of the number it was made of.
    """
    value = as_array(array)[()]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, np.float32):
        return float(str(value))
    return value.item() if isinstance(value, np.generic) else value


def _format_kernel(*arrays: Array, text: Format) -> Array:
    return np.array(text(arrays).encode("utf-8", "surrogateescape"), dtype=object)


def _infer_text(*specs: TensorSpec, text: Format) -> TensorSpec:
    return TensorSpec((), dtypes.string)


def _ask_kernel(*arrays: Array, text: Format, dtype: DType) -> Array:
    return np.array(text(arrays), dtype.np_dtype)


def _infer_answer(*specs: TensorSpec, text: Format, dtype: DType) -> TensorSpec:
    return TensorSpec((), dtype)


def _print_kernel(*arrays: Array, text: Format) -> tuple[()]:
    text(arrays)
    return ()


register(
    Op(
        "FormatText",
        _format_kernel,
        _infer_text,
        strong=True,
        family="text",
        raises_for_program=True,
    )
)
register(
    Op(
        "AskText",
        _ask_kernel,
        _infer_answer,
        strong=True,
        family="text",
        is_own=True,
        raises_for_program=True,
    )
)
# Those that raise what the program may count on, as IndexError: they always run.
register(
    Op(
        "TextItem",
        _format_kernel,
        _infer_text,
        stateful=True,
        strong=True,
        family="text",
        raises=IndexError("string index out of range"),
        raises_for_program=True,
    )
)
register(
    Op(
        "TextPlace",
        _ask_kernel,
        _infer_answer,
        stateful=True,
        strong=True,
        family="text",
        raises=ValueError("substring not found"),
        raises_for_program=True,
    )
)
register(
    Op(
        "PrintText",
        _print_kernel,
        lambda *specs, text: (),
        stateful=True,
        family="text",
        raises_for_program=True,
        export=Export("PrintV2"),
    )
)


def format_text(tensors: Sequence[Tensor], text: Format, raises: bool = False) -> Any:
    """The text as a string tensor. If it `raises` it is made though nobody uses it."""
    return apply("TextItem" if raises else "FormatText", *tensors, text=text)


def ask_text(
    tensors: Sequence[Tensor], text: Format, dtype: DType, raises: bool = False
) -> Any:
    """What `text` gives, which is no text but a bool or an int; as `format_text`."""
    op = "TextPlace" if raises else "AskText"
    return apply(op, *tensors, text=text, dtype=dtype)


def print_text(tensors: Sequence[Tensor], fills: Sequence[Fill], options: Any) -> None:
    """``print(*values, **options)`` when the graph runs, in order with effects."""

    def show(*values: Any) -> None:
        # Python looks sys.stdout up now, too: tests and notebooks replace it.
        builtins.print(*values, **options)

    weak = [tensor.spec.weak for tensor in tensors]
    apply("PrintText", *tensors, text=Format(show, fills, weak, "print"))
