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
from runtime.core.graph.record import Fails, get
from runtime.core.types.dtypes import DType
from runtime.engines.numpy_source.precedence import ATOM, UNARY, filled, marker
from runtime.engines.numpy_source.rules import RULES, Source, bare
from runtime.ops.operands import Operand
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
    position = _number_position(source, node, args)
    if position is not None:
        number = args[position].number or ""
        operands[position] = number, number_level(number)
    found = _with_markers(source, node)
    return None if found is None else filled(found, operands)


def _with_markers(source: Source, node: Node) -> str | None:
    """The source of a node with its attributes, and markers for its operands."""
    markers = _markers(len(node.inputs))
    if not isinstance(source, str):
        return source(markers, node.attrs)
    if not node.attrs:
        return _without_attrs(source, len(markers))
    attrs = {key: bare(value, markers) for key, value in node.attrs.items()}
    return source.format(*markers, **attrs)


@functools.lru_cache(maxsize=1024)
def _without_attrs(source: str, count: int) -> str:
    return source.format(*_markers(count))


@functools.cache
def _markers(count: int) -> list[str]:
    return [marker(index) for index in range(count)]


def number_level(number: str) -> int:
    """The level of a Python number."""
    return UNARY if number.startswith("-") else ATOM


def _source(node: Node) -> Source:
    """The op's source; strings have none, they are Python objects to NumPy."""
    if any(tensor.dtype.kind == "O" for tensor in (*node.inputs, *node.outputs)):
        return ""
    if node.inputs and node.inputs[0].shape.rank is None:
        if node.attrs.get("axis") is not None:
            # NumPy takes a scalar for an array of one axis; the kernel does not.
            return ""
    source = RULES[node.op].source
    size = node.outputs[0].shape.num_elements() if node.outputs else 0
    return source if size is not None and size < FEW else large_source(node) or source


def large_source(node: Node) -> str:
    """What is faster than the source of the op where results are large, if anything."""
    source = RULES[node.op].large
    ranks = [tensor.shape.rank for tensor in node.inputs]
    return source if len(ranks) != 2 or 0 in ranks else ""


def _unchecked_source(node: Node, args: Sequence[Text]) -> str:
    """The source of an operation whose kernel checks what is known here.

    Integers are not divided by zero, nor raised to negative powers.
    """
    fails, source = get(node.op).fails, RULES[node.op].unchecked
    if not source or node.inputs[0].dtype.kind not in "iuf":
        return ""
    if node.inputs[0].dtype.kind == "f":
        return source if fails is Fails.DIVISOR else ""
    number = args[1].number
    known = number is not None and number.isdigit()
    is_safe = known and (number != "0" or fails is Fails.EXPONENT)
    return source if is_safe else ""


def is_choice(node: Node) -> bool:
    """Whether the node chooses between two numbers, as ``x if test else y`` does."""
    return node.op == "SelectV2" and all(
        tensor.shape.rank == 0 and tensor.dtype.kind in "biufc"
        for tensor in node.inputs
    )


def repeated_arguments(node: Node) -> set[int]:
    """The inputs that the source of a node does not mention exactly once."""
    source = _source(node)
    if not source:
        return set()
    if is_choice(node):
        return {1, 2}  # evaluated in any case
    markers = _markers(len(node.inputs))
    text = _with_markers(source, node) or " ".join(markers)
    return {index for index, name in enumerate(markers) if text.count(name) != 1}


def _number_position(source: Source, node: Node, args: Sequence[Text]) -> int | None:
    """Which operand of a binary operation may be a Python number, if any."""
    if len(args) != 2 or not isinstance(source, str):
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
