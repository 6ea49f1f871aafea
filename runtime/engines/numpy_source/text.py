"""Pieces of generated source: expressions, and the operations that they carry out."""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from runtime.core.graph import Node
from runtime.core.graph.record import Fails, Source, get
from runtime.core.types.dtypes import DType
from runtime.engines.numpy_source.precedence import ATOM, UNARY, filled, marker
from runtime.ops.define import Operand
from runtime.ops.python_ints import is_exact

#: Results with fewer elements are written in the simplest way, which is faster then.
FEW = 1 << 14

_INFIX = re.compile(r"\{0\} \S+ \{1\}")
#: What most expressions look like; to parse them takes a hundred times as long.
_CALL = re.compile(r"[\w.]+\([^()'\"]*\)")
_OPERATION = re.compile(r"[\w.]+ [-+*/%<>=!&|^]+ [\w.]+")
_BINARY_CALL = re.compile(r"np\.(\w+)\(\{0\}, \{1\}\)")


@dataclass(frozen=True)
class Step:
    """A node within an expression: how to evaluate its inputs once more.

    ``guards`` are expressions that must be true for the node to be evaluated at all.
    """

    node: Node
    args: tuple[str, ...]
    guards: tuple[str, ...] = ()


@dataclass(frozen=True)
class Text:
    """An expression of generated source."""

    code: str
    #: How tightly it holds together: see `precedence`.
    level: int = ATOM
    #: The Python number that it is, if it is a scalar constant.
    number: str | None = None
    #: The local variables that it reads.
    names: frozenset[str] = frozenset()
    #: The nodes that it evaluates, in program order.
    steps: tuple[Step, ...] = ()
    #: Whether it is a number of Python, and of which form: see `scalars`.
    form: str = ""

    @property
    def wrapped(self) -> str:
        """The expression as an operand."""
        return self.code if self.level == ATOM else f"({self.code})"

    def is_int(self, dtype: DType) -> bool:
        """Whether it is an int of Python, or a constant that may as well be one."""
        is_constant = self.number is not None and dtype.is_integer
        return is_constant or self.form in ("int", "wide")

    def guarded(self, guard: str) -> tuple[Step, ...]:
        """The steps, taken only where `guard` holds."""
        return tuple(replace(s, guards=(*s.guards, guard)) for s in self.steps)


@dataclass(frozen=True)
class Line:
    """A line of generated source and the nodes that it evaluates."""

    code: str
    steps: tuple[Step, ...] = ()
    indent: int = 0

    def indented(self) -> Line:
        """The line one level further in."""
        return replace(self, indent=self.indent + 1)


def scalar_text(array: np.ndarray[Any, Any]) -> Text | None:
    """A constant number or bool of rank 0; None for what is written elsewhere."""
    kind = array.dtype.kind
    if array.ndim or kind not in "biuf":
        return None
    value = array[()]
    if kind == "b":
        return Text("np.True_" if value else "np.False_")
    if kind in "iu":
        number = str(value)
    elif math.isfinite(value):
        number = str(value)
        if not any(mark in number for mark in ".e"):
            number += ".0"
    else:
        return Text(f"np.{array.dtype.name}({str(value)!r})")
    return Text(f"np.{array.dtype.name}({number})", number=number)


def template(
    node: Node, args: Sequence[Text], fits: bool = False
) -> tuple[str, int] | None:
    """The node as an expression of these operands, and its level.

    None if the op has no source for them, and its kernel is to be called: that of an
    int of Python is, unless the number `fits`.
    """
    if is_exact(node) and not fits:
        return None
    source = _source(node) or _unchecked_source(node, args)
    if not source:
        return None
    operands = [(arg.code, arg.level) for arg in args]
    if isinstance(source, str):
        position = _number_position(source, node, args)
        if position is not None:
            number = args[position].number or ""
            operands[position] = number, number_level(number)
        return filled(_with_markers(source, len(args)), operands)
    found = source([marker(index) for index in range(len(args))], node.attrs)
    return None if found is None else filled(found, operands)


@functools.lru_cache(maxsize=1024)
def _with_markers(source: str, count: int) -> str:
    return source.format(*map(marker, range(count)))


def number_level(number: str) -> int:
    """The level of a Python number."""
    return UNARY if number.startswith("-") else ATOM


def _source(node: Node) -> Source | None:
    """The op's source; strings have none, they are Python objects to NumPy."""
    if any(tensor.dtype.kind == "O" for tensor in (*node.inputs, *node.outputs)):
        return None
    if node.inputs and node.inputs[0].shape.rank is None:
        if node.attrs.get("axis") is not None:
            # NumPy takes a scalar for an array of one axis; the kernel does not.
            return None
    op = get(node.op)
    size = node.outputs[0].shape.num_elements() if node.outputs else 0
    return (
        op.source
        if size is not None and size < FEW
        else large_source(node) or op.source
    )


def large_source(node: Node) -> str:
    """What is faster than the source of the op where results are large, if anything."""
    source = get(node.op).large_source
    ranks = [tensor.shape.rank for tensor in node.inputs]
    return source if len(ranks) != 2 or 0 in ranks else ""


def _unchecked_source(node: Node, args: Sequence[Text]) -> str:
    """The source of an operation whose kernel checks what is known here.

    Integers are not divided by zero, nor raised to negative powers.
    """
    op = get(node.op)
    if not op.unchecked_source or node.inputs[0].dtype.kind not in "iuf":
        return ""
    if node.inputs[0].dtype.kind == "f":
        return op.unchecked_source if op.fails is Fails.DIVISOR else ""
    number = args[1].number
    known = number is not None and number.isdigit()
    is_safe = known and (number != "0" or op.fails is Fails.EXPONENT)
    return op.unchecked_source if is_safe else ""


def is_choice(node: Node) -> bool:
    """Whether the node chooses between two numbers, as ``x if test else y`` does."""
    return node.op == "SelectV2" and all(
        tensor.shape.rank == 0 and tensor.dtype.kind in "biufc"
        for tensor in node.inputs
    )


def repeated_arguments(node: Node) -> set[int]:
    """The inputs that the source of a node does not mention exactly once."""
    source = _source(node)
    if source is None:
        return set()
    if is_choice(node):
        return {1, 2}  # evaluated in any case
    count = len(node.inputs)
    markers = [marker(index) for index in range(count)]
    if isinstance(source, str):
        text = _with_markers(source, count)
    else:
        text = source(markers, node.attrs) or " ".join(markers)
    return {index for index, name in enumerate(markers) if text.count(name) != 1}


def _number_position(source: str, node: Node, args: Sequence[Text]) -> int | None:
    """Which operand of a binary operation may be a Python number, if any."""
    if len(args) != 2:
        return None
    call = _BINARY_CALL.fullmatch(source)
    ufunc = call is not None and isinstance(getattr(np, call[1], None), np.ufunc)
    if not ufunc and not _INFIX.fullmatch(source):
        return None
    if node.inputs[0].dtype is not node.inputs[1].dtype:
        return None
    for position in (1, 0):
        if args[position].number is not None and args[1 - position].number is None:
            return position
    return None


def wrapped_lines(code: str, width: int) -> list[str]:
    """A statement as several lines if it is too wide and is a call: one per argument.

    >>> for line in wrapped_lines("y = Print(first, end='')", 20):
    ...     print(line)
    y = Print(
        first,
        end='',
    )
    """
    if len(code) <= width or code.endswith(":"):
        return [code]
    statement = ast.parse(code).body[0]
    call = getattr(statement, "value", None)
    if not isinstance(call, ast.Call) or not (call.args or call.keywords):
        return [code]
    source = code.encode()
    parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    # Not ast.get_source_segment, which goes through the whole code for each of them.
    spans = [source[part.col_offset : part.end_col_offset] for part in parts]
    head = source[: call.func.end_col_offset].decode()
    return [f"{head}(", *(f"    {span.decode()}," for span in spans), ")"]


def negated(text: Text) -> str:
    """``not`` the expression."""
    return filled(f"not {marker(0)}", [(text.code, text.level)])[0]


def literal_attribute(value: Any, args: Sequence[str] = ()) -> str | None:
    """A static argument of a kernel as source, if it is simple enough.

    `args` are the texts of all inputs, for the parts that are inputs of the node.
    """
    if isinstance(value, Operand):
        return args[value.index]
    if value is None or type(value) in (bool, int, str, bytes):
        return repr(value)
    if type(value) is float and math.isfinite(value):
        return repr(value)
    if isinstance(value, DType):
        return f"tf.{value.name}"
    if isinstance(value, tuple):
        items = [literal_attribute(item, args) for item in value]
        if None not in items:
            return f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})"
    return None
