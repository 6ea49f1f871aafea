"""Graphs and their values from JSON: see `encode`.

What is read is checked: an unknown op is an UnimplementedError, and anything else that
the writer would not have written is a ValueError, KeyError, IndexError or TypeError,
which `load` reports as a damaged file. Nothing that is read is executed.
"""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.autodiff.custom import GradientGraph, Rule, lost_rule
from runtime.core import errors
from runtime.core.errors import UnimplementedError
from runtime.core.graph import Graph, Node
from runtime.core.graph.record import get
from runtime.core.graph.record import names as names_of_ops
from runtime.core.location.user_code import Location
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.core.types.identity import IdentityMap
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops.containers.lookup_tables import Contents
from runtime.ops.operands import Operand, Slice
from runtime.ops.random.state import GeneratorState, RandomState
from runtime.ops.staged import python_math as _ops_of_math  # noqa: F401
from runtime.ops.staged.python_text import (
    Fill,
    Format,
    MakeText,
    OptionalFill,
    SequenceFill,
    TensorFill,
    ValueFill,
)
from runtime.ops.variables import Variable, VariableAggregation, VariableSynchronization
from runtime.passes.optimize.verify import problems
from runtime.staging.builtins import functions as _ops_of_builtins  # noqa: F401

Array = np.ndarray[Any, Any]


def known_ops() -> frozenset[str]:
    """The ops that a model may have; those of files are imported for the first one."""
    from runtime.ops.files import contents, decoding, examples, tensors  # noqa: F401
    from runtime.ops.pictures import boxes, codecs  # noqa: F401
    from runtime.ops.signals import fourier, sound  # noqa: F401

    return frozenset(names_of_ops())


class ProgramReader:
    """Makes the graphs of a saved program, and the variables that they refer to.

    `array` gives a tensor of the file, and `assets` are the paths of the assets.
    """

    def __init__(
        self,
        content: dict[str, Any],
        array: Callable[[str], Array],
        assets: list[Array],
    ) -> None:
        self._array = array
        self._assets = assets
        self.variables = [self._variable(entry) for entry in content["variables"]]
        self.generators = []
        for name in content["generators"]:
            self.generators.append(GeneratorState())
            self.generators[-1].set(array(name))
        self._tables = [self._table(entry) for entry in content.get("tables", ())]
        self._streams = [_stream(seeds) for seeds in content["streams"]]
        self._callers: list[Location] = []
        for line in content.get("callers", ()):
            self._callers.append(self._location(line))
        self.graphs = [Graph(_text(entry["name"])) for entry in content["graphs"]]
        self._tensors: list[list[SymbolicTensor]] = []
        known = known_ops()
        for graph, entry in zip(self.graphs, content["graphs"]):
            self._fill(graph, entry, known)
        for graph in self.graphs:
            if graph.parent is None:
                for problem in problems(graph):
                    raise ValueError(f"the graph {graph.name!r}: {problem}")

    # --- values -----------------------------------------------------------------------

    def value(self, value: Any, node: Node | None = None) -> Any:
        """The value of its JSON; `node` has it among its attributes."""
        if value is None or type(value) in (bool, int, str, float):
            return value
        if type(value) is list:
            return tuple([self.value(item, node) for item in value])
        if type(value) is not dict:
            raise TypeError(f"{value!r} is no value")
        if "known" in value and len(value) == 2:
            return Operand(_index(value["operand"]), self.value(value["known"], node))
        ((tag, inner),) = value.items()
        if tag == "exception":
            return self._exception(inner, node)
        if tag == "list":
            return [self.value(item, node) for item in inner]
        if tag == "dict":
            return {self.value(key): self.value(item, node) for key, item in inner}
        if tag == "input" and node is not None:
            return _item(node.inputs, inner)
        return _READERS[tag](self, inner)

    def _float(self, inner: Any) -> Any:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[inner]

    def _complex(self, inner: Any) -> Any:
        return complex(*[float(self.value(part)) for part in inner])

    def _slice(self, inner: Any) -> Any:
        return Slice(*[self.value(part) for part in inner])

    def inline_array(self, inner: Any) -> Array:
        """A small array."""
        dtype, shape, data = _dtype(inner["dtype"]), inner["shape"], inner["data"]
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"the shape {shape!r}")
        if dtype.kind == "O":
            array = np.empty(len(data), object)
            array[:] = [item.encode("latin-1") for item in data]
        else:
            stored = dtype.np_dtype.newbyteorder("<")
            array = np.frombuffer(bytes.fromhex(data), stored).astype(dtype.np_dtype)
        return array.reshape(shape)

    def _exception(self, inner: Any, node: Node | None) -> BaseException:
        """An exception of Python's own or of `runtime.core.errors`."""
        prefix, _, name = _text(inner["class"]).rpartition(".")
        cls = vars(errors if prefix == "errors" else builtins).get(name)
        if prefix not in ("", "errors") or not (
            isinstance(cls, type) and issubclass(cls, BaseException)
        ):
            raise ValueError(f"{inner['class']!r} is no class of exceptions")
        args = [self.value(value, node) for value in inner["args"]]
        # Our own constructors take other arguments than they keep.
        error: BaseException = cls.__new__(cls) if prefix else cls(*args)
        error.args = tuple(args)
        for key, value in inner["attributes"].items():
            vars(error)[key] = self.value(value, node)
        error.__suppress_context__ = bool(inner["suppress"])
        return error

    def _format(self, inner: Any) -> Format:
        kind, text = inner["make"]
        if kind not in MakeText.KINDS or not (kind != "method" or _is_method(text)):
            raise ValueError(f"{inner['make']!r} makes no text")
        fills = [self._part_of_text(fill) for fill in inner["fills"]]
        weak = [bool(flag) for flag in inner["weak"]]
        return Format(
            MakeText(kind, _text(text)), fills, weak, _text(inner["template"])
        )

    def _part_of_text(self, value: Any) -> Fill:
        ((tag, inner),) = value.items()
        if tag == "tensor":
            return TensorFill(_index(inner))
        if tag == "value":
            return ValueFill(self.value(inner))
        items = tuple([self._part_of_text(item) for item in inner])
        if tag == "optional":
            return OptionalFill(*items)
        return SequenceFill({"list": list, "tuple": tuple}[tag], items)

    def _rule(self, inner: Any) -> Rule:
        name, count = _text(inner["name"]), _index(inner["count"])
        if "graph" not in inner:
            return lost_rule(name, count)
        variables = [_item(self.variables, number) for number in inner["variables"]]
        graph = _item(self.graphs, inner["graph"])
        given = [bool(is_given) for is_given in inner["given"]]
        function = GradientGraph(graph, count, _index(inner["arguments"]), given)
        return Rule(name, count, variables, function)

    # --- objects that are referred to -------------------------------------------------

    def _variable(self, entry: dict[str, Any]) -> Variable:
        array = self._array(_text(entry["value"]))
        variable = Variable(
            EagerTensor(array),
            trainable=bool(entry["trainable"]),
            dtype=_dtype(entry["dtype"]),
            shape=_shape(entry["shape"]),
            synchronization=VariableSynchronization[entry["synchronization"]],
            aggregation=VariableAggregation[entry["aggregation"]],
        )
        # Whatever scope of names is in force here.
        variable._name = _text(entry["name"])
        return variable

    def _table(self, entry: dict[str, Any]) -> Contents:
        keys, values, default = (
            self._array(_text(entry[name])) for name in ("keys", "values", "default")
        )
        table = Contents(of_array(keys), default)
        table.insert(keys, values)
        return table

    def _fill(self, graph: Graph, entry: dict[str, Any], known: frozenset[str]) -> None:
        """Make the nodes of a graph; those of graphs around it are there."""
        if entry["parent"] is not None:
            graph.parent = _item(self.graphs[: len(self._tensors)], entry["parent"])
        graph.is_recursive = bool(entry["recursive"])
        tensors: list[SymbolicTensor] = []
        self._tensors.append(tensors)
        for found in entry["inputs"]:
            node = Node(graph, "Placeholder", (), {}, _text(found["name"]), None)
            self._add_outputs(node, [found["spec"]], tensors)
            graph.inputs += node.outputs
        captures = entry["captures"]
        if captures:
            if graph.parent is None:
                raise ValueError(f"the graph {graph.name!r} captures from nowhere")
            outer = self._tensors[self.graphs.index(graph.parent)]
            pairs = zip(captures, graph.inputs[-len(captures) :])
            graph.captures = IdentityMap(
                (_item(outer, number), inner) for number, inner in pairs
            )
        for found in entry["nodes"]:
            graph.nodes.append(self._node(graph, found, tensors, known))
        graph.outputs = [_item(tensors, number) for number in entry["outputs"]]
        graph.labels = IdentityMap()
        for number, name in entry["labels"]:
            # They become names of variables in generated code.
            if name.isidentifier() and not keyword.iskeyword(name):
                graph.labels[_item(tensors, number)] = name

    def _node(
        self,
        graph: Graph,
        found: dict[str, Any],
        tensors: list[SymbolicTensor],
        known: frozenset[str],
    ) -> Node:
        op = _text(found["op"])
        if op not in known or get(op).calls_python:
            raise UnimplementedError(
                f"the saved model has the operation {op!r}, which this release does "
                "not know: load it with a later one"
            )
        location = self._location(found["line"]) if "line" in found else None
        inputs = tuple([_item(tensors, number) for number in found["inputs"]])
        node = Node(graph, op, inputs, {}, _text(found["name"]), location)
        node.device = _text(found.get("device", ""))
        for key, value in found["attributes"].items():
            node.attrs[_text(key)] = self.value(value, node)
        self._add_outputs(node, found["outputs"], tensors)
        return node

    def _location(self, line: Any) -> Location:
        """A line; earlier releases saved its file and number alone."""
        function = _text(line[2]) if len(line) > 2 else ""
        caller = _item(self._callers, line[3]) if len(line) > 3 else None
        return Location(f"<saved {_text(line[0])}>", _index(line[1]), function, caller)

    def _add_outputs(
        self, node: Node, specs: list[Any], tensors: list[SymbolicTensor]
    ) -> None:
        graph = node.graph
        graph._names[node.name.lower()] = 1
        found = enumerate(map(spec, specs))
        node.outputs = tuple([SymbolicTensor(graph, node, *pair) for pair in found])
        tensors += node.outputs


def spec(value: dict[str, Any]) -> TensorSpec:
    """The spec of its JSON."""
    shape, name = _shape(value["shape"]), value.get("name")
    weak = bool(value.get("weak", False))
    return TensorSpec(shape, _dtype(value["dtype"]), name, weak=weak)


_READERS: dict[str, Callable[[ProgramReader, Any], Any]] = {
    "float": ProgramReader._float,
    "complex": ProgramReader._complex,
    "slice": ProgramReader._slice,
    "array": ProgramReader.inline_array,
    "text": ProgramReader._format,
    "bytes": lambda _, text: text.encode("latin-1"),
    "dtype": lambda _, name: _dtype(name),
    "shape": lambda _, dims: _shape(dims),
    "spec": lambda _, value: spec(value),
    "ellipsis": lambda *_: Ellipsis,
    "tensor": lambda reader, name: reader._array(_text(name)),
    "asset": lambda reader, number: _item(reader._assets, number),
    "graph": lambda reader, number: _item(reader.graphs, number),
    "variable": lambda reader, number: _item(reader.variables, number),
    "generator": lambda reader, number: _item(reader.generators, number),
    "table": lambda reader, number: _item(reader._tables, number),
    "stream": lambda reader, number: _item(reader._streams, number),
    "own_gradient": ProgramReader._rule,
}


def _is_method(name: Any) -> bool:
    """Whether this is a method of a str that texts of graphs may have."""
    return type(name) is str and not name.startswith("_") and hasattr(str, name)


def _stream(seeds: Any) -> RandomState:
    return RandomState(None if seeds is None else (int(seeds[0]), int(seeds[1])))


def _shape(dims: Any) -> TensorShape:
    return TensorShape(None if dims is None else list(dims))


def _dtype(name: Any) -> DType:
    return as_dtype(_text(name))


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r} is no text")
    return value


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} is no number of something")
    return value


def _item(items: Any, number: Any) -> Any:
    """The item of a number; not one from the end."""
    return items[_index(number)]
