"""Graphs as data, in the form of TensorFlow's GraphDef: nodes that name their inputs.

A `GraphDef` is what `Graph.as_graph_def` gives: plain records, which print as protobuf
text.

>>> node = NodeDef("sum", "AddV2", ["x", "y"], {"T": AttrValue("type", dtypes.int32)})
>>> print(GraphDef([node]))
node {
  name: "sum"
  op: "AddV2"
  input: "x"
  input: "y"
  attr {
    key: "T"
    value {
      type: DT_INT32
    }
  }
}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape

#: How many elements of a constant are printed; a comment says how many more there are.
SHOWN = 8

_DTYPE_NAMES = {
    "float16": "DT_HALF",
    "float32": "DT_FLOAT",
    "float64": "DT_DOUBLE",
    "resource": "DT_RESOURCE",
}
_FIELDS = {
    "float16": "half_val",
    "float32": "float_val",
    "float64": "double_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "bool": "bool_val",
    "string": "string_val",
}
_KINDS = ("s", "i", "f", "b", "type", "shape", "tensor", "func", "list")


class TensorValue:
    """The value of a constant: its dtype, its shape, and its elements as an array."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.dtype = dtypes.of_array(array)

    @property
    def tensor_shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(self.array.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorValue):
            return NotImplemented
        return self.dtype is other.dtype and np.array_equal(self.array, other.array)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TensorValue({self.array!r})"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"dtype: {_dtype_text(self.dtype)}"
        yield from _message("tensor_shape", _shape_lines(self.tensor_shape))
        elements = self.array.reshape(-1)
        # Fewer elements than the shape says: the last one goes on, as in TensorFlow.
        if len(elements) > 1 and _is_uniform(elements):
            elements = elements[:1]
        name = _FIELDS.get(self.dtype.name, "int_val")
        for element in elements[:SHOWN]:
            yield from (f"{name}: {text}" for text in _element_texts(element))
        if len(elements) > SHOWN:
            yield f"# and {len(elements) - SHOWN} more"


class AttrValue:
    """An attribute of a node: one value of one kind, which is also its attribute.

    The kinds are those of protobuf: ``s`` (text), ``i``, ``f``, ``b``, ``type``,
    ``shape``, ``tensor``, ``func`` (the name of a function of the library) and
    ``list``, a list of attributes. Asking for another kind is an AttributeError that
    says which one it is.

    >>> AttrValue("type", dtypes.float32).type
    tf.float32
    """

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Any) -> None:
        self.kind = kind
        self.value = value

    def __getattr__(self, name: str) -> Any:
        if name in _KINDS:
            if name == self.kind:
                return self.value
            raise AttributeError(f"it is of kind {self.kind!r}, not of kind {name!r}")
        raise AttributeError(f"'AttrValue' object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AttrValue):
            return NotImplemented
        return bool(self.kind == other.kind and self.value == other.value)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"AttrValue({self.kind!r}, {self.value!r})"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        value = self.value
        if self.kind == "list":
            lines = [line for item in value for line in item._lines()]
            yield from _message("list", lines)
        elif self.kind == "tensor":
            yield from _message("tensor", value._lines())
        elif self.kind == "shape":
            yield from _message("shape", _shape_lines(value))
        elif self.kind == "func":
            yield from _message("func", [f"name: {_quoted(value)}"])
        elif self.kind == "type":
            yield f"type: {_dtype_text(value)}"
        elif self.kind == "s":
            yield f"s: {_quoted(value)}"
        else:
            yield f"{self.kind}: {_scalar_text(value)}"


@dataclass
class NodeDef:
    """A node: its name, its op, the names of its inputs, and its attributes.

    An input is called ``name``, or ``name:1`` for a later output of that node, and
    ``^name`` where the node only has to run after it.
    """

    name: str
    op: str
    input: list[str] = field(default_factory=list)
    attr: dict[str, AttrValue] = field(default_factory=dict)
    device: str = ""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"name: {_quoted(self.name)}"
        yield f"op: {_quoted(self.op)}"
        for name in self.input:
            yield f"input: {_quoted(name)}"
        if self.device:
            yield f"device: {_quoted(self.device)}"
        for key in sorted(self.attr):
            value = _message("value", self.attr[key]._lines())
            yield from _message("attr", [f"key: {_quoted(key)}", *value])


@dataclass
class ArgDef:
    """A parameter or a result of a function in the library."""

    name: str
    type: Any

    def _lines(self) -> Iterator[str]:
        yield f"name: {_quoted(self.name)}"
        yield f"type: {_dtype_text(self.type)}"


@dataclass
class OpDefSignature:
    """The name, the parameters and the results of a function in the library."""

    name: str
    input_arg: list[ArgDef] = field(default_factory=list)
    output_arg: list[ArgDef] = field(default_factory=list)
    is_stateful: bool = False

    def _lines(self) -> Iterator[str]:
        yield f"name: {_quoted(self.name)}"
        for label, args in (
            ("input_arg", self.input_arg),
            ("output_arg", self.output_arg),
        ):
            for arg in args:
                yield from _message(label, arg._lines())
        if self.is_stateful:
            yield "is_stateful: true"


@dataclass
class FunctionDef:
    """A branch, a loop body or a called function: a graph with parameters.

    Within it an input is ``parameter`` or ``node:output:0``; `ret` says for each result
    which one it is.
    """

    signature: OpDefSignature
    node_def: list[NodeDef] = field(default_factory=list)
    ret: dict[str, str] = field(default_factory=dict)
    #: Nodes that have to run although no result needs them.
    control_ret: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _message("signature", self.signature._lines())
        for node in self.node_def:
            yield from _message("node_def", node._lines())
        for label, names in (("ret", self.ret), ("control_ret", self.control_ret)):
            for key in sorted(names):
                pair = [f"key: {_quoted(key)}", f"value: {_quoted(names[key])}"]
                yield from _message(label, pair)


@dataclass
class FunctionDefLibrary:
    """The functions that the nodes of a graph refer to by name."""

    function: list[FunctionDef] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for function in self.function:
            yield from _message("function", function._lines())


@dataclass
class GraphDef:
    """A graph as data: its nodes, and the functions that they refer to."""

    node: list[NodeDef] = field(default_factory=list)
    library: FunctionDefLibrary = field(default_factory=FunctionDefLibrary)

    def __str__(self) -> str:
        lines = [line for node in self.node for line in _message("node", node._lines())]
        if self.library.function:
            lines += _message("library", self.library._lines())
        return "\n".join(lines)


# --- protobuf text --------------------------------------------------------------------


def _message(name: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"{name} {{"
    for line in lines:
        yield f"  {line}"
    yield "}"


def _shape_lines(shape: TensorShape) -> Iterator[str]:
    if shape.dims is None:
        yield "unknown_rank: true"
        return
    for size in shape.dims:
        yield from _message("dim", [f"size: {-1 if size is None else size}"])


def _dtype_text(dtype: DType | str) -> str:
    name = dtype if isinstance(dtype, str) else dtype.name
    return _DTYPE_NAMES.get(name, f"DT_{name.upper()}")


def _quoted(text: str | bytes) -> str:
    """A text as protobuf writes it: bytes outside of ASCII in octal."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return '"' + "".join(map(_escaped, data)) + '"'


_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _is_uniform(elements: np.ndarray[Any, Any]) -> bool:
    if elements.dtype.kind == "O":
        return all(element == elements[0] for element in elements)
    # Bit by bit, which tells -0.0 from 0.0.
    return elements.tobytes() == elements[:1].tobytes() * len(elements)


def _element_texts(element: Any) -> Iterator[str]:
    if isinstance(element, np.float16):
        # The field holds the bits.
        yield f"{int(element.view(np.uint16))}  # {element!s}"
    elif isinstance(element, np.complexfloating):
        yield _scalar_text(element.real)
        yield _scalar_text(element.imag)
    elif isinstance(element, (str, bytes)):
        yield _quoted(element)
    else:
        yield _scalar_text(element)


def _scalar_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return str(value)
