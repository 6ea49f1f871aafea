"""Python's own text of tensors: what ``f'{x}'`` and ``print`` give when a graph runs.

A scalar is formatted as the Python number or text that it stands for, another tensor as
the eager tensor of the same value is.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from runtime.core.graph.record import Export, Op, register
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply, as_array

Array = np.ndarray[Any, Any]
#: Makes a Python value of the values of the tensors.
Fill = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class TensorFill:
    """The value of a tensor, by its number."""

    index: int

    def __call__(self, found: Sequence[Any]) -> Any:
        """The value, when those of the tensors are known."""
        return found[self.index]


@dataclass(frozen=True)
class ValueFill:
    """A value that was known before."""

    value: Any

    def __call__(self, found: Sequence[Any]) -> Any:
        """The value, when those of the tensors are known."""
        return self.value


@dataclass(frozen=True)
class OptionalFill:
    """A value that is None where a flag says so."""

    value: Fill
    some: Fill

    def __call__(self, found: Sequence[Any]) -> Any:
        """The value, when those of the tensors are known."""
        return self.value(found) if self.some(found) else None


@dataclass(frozen=True)
class SequenceFill:
    """A list or a tuple of values."""

    kind: type
    items: tuple[Fill, ...]

    def __call__(self, found: Sequence[Any]) -> Any:
        """The value, when those of the tensors are known."""
        return self.kind([fill(found) for fill in self.items])


@dataclass(frozen=True)
class MakeText:
    """A way to make a text of Python values, as data: one of the `KINDS`.

    >>> MakeText("format", "{} of {}")(1, 3)
    '1 of 3'
    """

    kind: str
    text: str = ""

    KINDS: ClassVar[dict[str, Callable[..., Any]]] = {
        "format": lambda text, *values: text.format(*values),
        "method": lambda name, *values: getattr(str, name)(*values),
        "percent": operator.mod,
        "join": lambda text, items: text.join(items),
        "chr": lambda _, number: chr(number),
        "item": lambda _, text, index: text[index],
        "ord": lambda _, text: ord(text),
        "slice": lambda _, text, *ends: text[slice(*ends)],
    }

    def __call__(self, *values: Any) -> Any:
        """The text, or what was asked of it."""
        return self.KINDS[self.kind](self.text, *values)


class Format:
    """How a text is made of Python values: ``make(*values)``.

    `fills` give each of the values, and ``template`` says in graphs what it looks like.
    It is data where all of these are of the classes above.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        fills: Sequence[Fill],
        weak: Sequence[bool],
        template: str,
    ) -> None:
        self.make = make
        self.fills = fills
        self.weak = weak
        self.template = template

    def __call__(self, arrays: Sequence[Array]) -> Any:
        """Make the text of the values of the tensors."""
        found = shown_values(arrays, self.weak)
        return self.make(*(fill(found) for fill in self.fills))

    def __repr__(self) -> str:
        return repr(self.template)


def shown_values(arrays: Sequence[Array], weak: Sequence[bool]) -> list[Any]:
    """The values of tensors as Python shows them.

    `weak` ones stand for its own numbers and texts, and so do all scalars.
    """
    return [
        python_value(array) if is_weak or not as_array(array).ndim else _tensor(array)
        for array, is_weak in zip(arrays, weak, strict=True)
    ]


def _tensor(array: Any) -> EagerTensor:
    return EagerTensor(as_array(array))


def python_value(array: Any) -> Any:
    """The Python number or text that a tensor stands for.

    Of a float of fewer bits it is the shortest decimal, as of what it was made of.
    """
    value = as_array(array)[()]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, (np.float16, np.float32)):
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
