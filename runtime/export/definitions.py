"""A graph as TensorFlow's GraphDef.

In a graph of ours ``tf.reshape(x, [2, 3])`` is ``Reshape(x, shape=(2, 3))``; in a
GraphDef the shape is an input, the constant ``Reshape/shape``. The nodes are written in
order, each as the record of its op says (`Export`); an op that TensorFlow does not have
keeps its name and its attributes. Branches, loop bodies and called functions go to the
library. Effects keep their order through control inputs (``^name``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.graph_def import (
    ArgDef,
    AttrValue,
    FunctionDef,
    GraphDef,
    NodeDef,
    OpDefSignature,
    TensorValue,
)
from runtime.core.graph.prune import has_effects
from runtime.core.graph.record import Export, get
from runtime.core.missing import near
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.identity import IdentityMap
from runtime.export import attributes
from runtime.export.attributes import (
    is_slice,
    shape_value,
    slice_inputs,
    type_value,
    variable_of,
)
from runtime.ops.operands import Operand

#: Static arguments that are numbers of the node's own dtype; the others are int32.
_OF_ITS_DTYPE = ("delta", "high", "limit", "low", "start", "value")

#: The ops whose results TensorFlow hands on by a node for each.
_BRANCHES = ("If", "Case")

#: The ops that fill an array with one number, and that number.
_FILLS = {"Zeros": 0, "Ones": 1}


def graph_def(graph: Graph) -> GraphDef:
    """The GraphDef of a graph: placeholders first, then its nodes."""
    library = _Library()
    writer = _Writer(graph, library)
    for tensor in graph.inputs:
        writer.placeholder(tensor)
    writer.write()
    definition = GraphDef(writer.nodes)
    definition.library.function = list(library.functions.values())
    return definition


def node_def(node: Node) -> NodeDef:
    """The node of the GraphDef that stands for this one."""
    graph = node.graph
    known = _known.get(graph)
    if known is None or known[0] != len(graph.nodes):
        nodes = {found.name: found for found in graph_def(graph).node}
        known = _known[graph] = len(graph.nodes), nodes
    return known[1][node.name]


#: What `node_def` was asked for last: how many nodes a graph had, and all of them.
_known: WeakKeyDictionary[Graph, tuple[int, dict[str, NodeDef]]] = WeakKeyDictionary()


def op_type(node: Node) -> str:
    """The name of the op in TensorFlow."""
    if node.op == "Placeholder":
        return node.op
    return _op_of(node, has_effects(node))


def _op_of(node: Node, effects: bool) -> str:
    """As `op_type`; a part of control flow is stateless or has effects."""
    record = get(node.op)
    if node.op == "PartitionedCall":
        return f"Stateful{node.op}" if effects else node.op
    if record.family == "structure":
        return node.op if effects else f"Stateless{node.op}"
    if _is_constant(node):
        return "Const"
    op = record.export.op
    return (op if isinstance(op, str) else op(node.attrs)) or node.op


def _is_constant(node: Node) -> bool:
    """Whether TensorFlow writes zeros or ones as a constant rather than a ``Fill``."""
    if node.op not in _FILLS:
        return False
    size = node.outputs[0].shape.num_elements()
    return "operands" not in node.attrs and size is not None and size < 1000


class _Library:
    """The functions of a GraphDef, and what its parts share."""

    def __init__(self) -> None:
        self.functions: dict[str, FunctionDef] = {}
        self._names: dict[Graph, str] = {}
        self._variables: dict[int, str] = {}

    def name_of(
        self, graph: Graph, wanted: str, passed_on: int = 0, scope: str = ""
    ) -> str:
        """The function for a graph, written if it is new.

        The last `passed_on` parameters are results, too: those of a loop body. The
        results of a branch pass through nodes of the `scope`.
        """
        known = self._names.get(graph)
        if known is not None:
            return known
        name = _unique(wanted.replace("/", "_"), set(self.functions))
        self._names[graph] = name
        self.functions[name] = FunctionDef(OpDefSignature(name))  # It may call itself.
        self.functions[name] = self._function(graph, name, passed_on, scope)
        return name

    def _function(
        self, graph: Graph, name: str, passed_on: int, scope: str
    ) -> FunctionDef:
        writer = _Writer(graph, self, is_function=True)
        parameters = [writer.parameter(tensor) for tensor in graph.inputs]
        writer.write()
        specs = [tensor.spec for tensor in graph.outputs]
        values = [writer.texts[tensor] for tensor in graph.outputs]
        if scope:
            values = [
                writer.identity(scope, text, spec.dtype)
                for text, spec in zip(values, specs, strict=True)
            ]
        if passed_on:
            specs += [tensor.spec for tensor in graph.inputs[-passed_on:]]
            values += [writer.texts[tensor] for tensor in graph.inputs[-passed_on:]]
        used = {arg.name for arg in parameters}
        results = []
        for spec in specs:
            result = f"{scope}_identity".replace("/", "_") if scope else "identity"
            results.append(ArgDef(_unique(result, used), spec.dtype))
            used.add(results[-1].name)
        signature = OpDefSignature(name, parameters, results, writer.last is not None)
        ret = {arg.name: text for arg, text in zip(results, values)}
        last = {} if writer.last is None else {writer.last: writer.last}
        return FunctionDef(signature, writer.nodes, ret, last)

    def shared_name(self, variable: Any) -> str:
        """A name for a variable that no other one has."""
        known = self._variables.get(id(variable))
        if known is None:
            name = variable.name.rpartition(":")[0]
            known = _unique(name, set(self._variables.values()))
            self._variables[id(variable)] = known
        return known


class _Writer:
    """Writes the nodes of one graph."""

    def __init__(
        self, graph: Graph, library: _Library, is_function: bool = False
    ) -> None:
        self.graph = graph
        self.library = library
        self.is_function = is_function
        self.nodes: list[NodeDef] = []
        #: How nodes name each tensor.
        self.texts: IdentityMap[SymbolicTensor, str] = IdentityMap()
        #: The node that had the last effect, and those that read variables since.
        self.last: str | None = None
        self._reads: list[str] = []
        self._handles: dict[str, str] = {}
        #: Names of nodes that are still to be written as they are.
        self._own = {node.name for node in graph.get_operations()}
        self._names = {name.lower() for name in self._own}
        self._results = set(map(id, graph.outputs))

    # --- inputs -----------------------------------------------------------------------

    def placeholder(self, tensor: SymbolicTensor) -> None:
        """Write an input of the whole graph."""
        name = tensor.node.name
        self.texts[tensor] = self._add(
            name,
            "Placeholder",
            [],
            {
                "_user_specified_name": AttrValue("s", name),
                "dtype": type_value(tensor.dtype),
                "shape": shape_value(tensor.shape),
            },
        )

    def parameter(self, tensor: SymbolicTensor) -> ArgDef:
        """The declaration of an input of a function."""
        name = tensor.node.name.replace("/", "_")
        if name != tensor.node.name:
            name = self._unique(name)
        self.texts[tensor] = name
        return ArgDef(name, tensor.dtype)

    # --- nodes ------------------------------------------------------------------------

    def write(self) -> None:
        """Write all nodes."""
        for node in self.graph.nodes:
            if node.op == "Const":
                text = self.constant(node.name, node.attrs["value"])
                self.texts[node.outputs[0]] = text
            else:
                self._write(node)

    def _write(self, node: Node) -> None:
        effects = has_effects(node)
        if _is_constant(node):
            spec = node.outputs[0].spec
            one = np.array(_FILLS[node.op], spec.dtype.np_dtype)
            array = np.broadcast_to(one, [int(size or 0) for size in spec.shape])
            self.texts[node.outputs[0]] = self.constant(node.name, array)
            return
        form = get(node.op).export
        inputs = self._inputs(node, form)
        attrs = attributes.of(node)
        self._functions(node, attrs)
        if effects:
            inputs += self._order(node)
        elif not self.is_function and self.last and self._is_result(node):
            inputs.append(f"^{self.last}")
        self._add(node.name, _op_of(node, effects), inputs, attrs)
        self.nodes[-1].device = node.device
        for tensor in node.outputs:
            text = self._text(node.name, form.output, tensor.value_index)
            if node.op in _BRANCHES:
                text = self.identity(node.name, text, tensor.dtype)
            self.texts[tensor] = text

    def _inputs(self, node: Node, form: Export) -> list[str]:
        if node.op in _FILLS:
            fill = np.array(_FILLS[node.op], node.outputs[0].dtype.np_dtype)
            return [
                self._argument(node, "shape", f"{node.name}/dims"),
                self.constant(f"{node.name}/Const", fill),
            ]
        data = node.inputs
        if form.inputs or is_slice(node):
            # The tensors among the static arguments come with these.
            data = data[: len(data) - node.attrs.get("operands", 0)]
        inputs = [self.texts[tensor] for tensor in data]
        for position, key, name in form.inputs:
            text = self._argument(node, key, f"{node.name}/{name}")
            inputs.insert(len(inputs) if position < 0 else position, text)
        variable = variable_of(node)
        if variable is not None:
            inputs.insert(0, self._handle(variable))
        if is_slice(node):
            inputs[1:1] = [
                self._value(node, part, f"{node.name}/{name}", dtypes.int32)
                for name, part in slice_inputs(node.attrs["key"]).items()
            ]
        return inputs

    def _argument(self, node: Node, key: str, name: str) -> str:
        """A static argument as an input."""
        value = node.attrs.get(key)
        if value is None and key == "value":
            value = 0  # what is padded with
        if value is None:
            rank = node.inputs[0].shape.rank
            if rank is None:
                return self._all_axes(node)
            value = tuple(range(rank))
            if key == "perm":
                value = value[::-1]
        dtype = node.outputs[0].dtype if key in _OF_ITS_DTYPE else dtypes.int32
        return self._value(node, value, name, dtype)

    def _all_axes(self, node: Node) -> str:
        prefix = f"{node.name}/"
        rank = self._add(
            f"{prefix}Rank",
            "Rank",
            [self.texts[node.inputs[0]]],
            {"T": type_value(node.inputs[0].dtype)},
        )
        bounds = [
            self.constant(f"{prefix}range/start", np.int32(0)),
            rank,
            self.constant(f"{prefix}range/delta", np.int32(1)),
        ]
        return self._add(
            f"{prefix}range", "Range", bounds, {"Tidx": type_value(dtypes.int32)}
        )

    def _value(self, node: Node, value: Any, name: str, dtype: DType) -> str:
        """A value that may hold tensors: a constant, an input, or several packed."""
        if isinstance(value, Operand):
            return self.texts[node.inputs[value.index]]
        if not _has_operand(value):
            return self.constant(name, np.array(value, dtype.np_dtype))
        items = [
            self._value(node, item, f"{name}/{index}", dtype)
            for index, item in enumerate(value)
        ]
        attrs = {
            "N": AttrValue("i", len(items)),
            "T": type_value(dtype),
            "axis": AttrValue("i", 0),
        }
        return self._add(name, "Pack", items, attrs)

    def constant(self, name: str, value: Any) -> str:
        """Write a constant."""
        tensor = AttrValue("tensor", TensorValue(np.asarray(value)))
        attrs = {"dtype": type_value(tensor.value.dtype), "value": tensor}
        return self._add(name, "Const", [], attrs)

    def identity(self, scope: str, text: str, dtype: DType) -> str:
        """Write the node that hands a result of a branch on."""
        attrs = {"T": type_value(dtype)}
        return self._add(f"{scope}/Identity", "Identity", [text], attrs)

    def _functions(self, node: Node, attrs: dict[str, AttrValue]) -> None:
        """The parts of control flow, as names of functions."""
        for label, graph in node.subgraphs():
            key, role = attributes.part(label)
            passed_on = 0
            if label == "body_graph":
                passed_on = len(node.inputs) - len(node.outputs)
            wanted = f"{node.name}_{role}" if role else graph.name
            scope = node.name if node.op in _BRANCHES else ""
            name = self.library.name_of(graph, wanted, passed_on, scope)
            func = AttrValue("func", name)
            if node.op == "Case":
                listed = attrs.setdefault(key, AttrValue("list", []))
                listed.value.append(func)
            else:
                attrs[key] = func

    # --- effects ----------------------------------------------------------------------

    def _order(self, node: Node) -> list[str]:
        """The control inputs of a node with effects: what has to run before it."""
        if node.op == "ReadVariableOp":
            before = [self.last] if self.last else []
            self._reads.append(node.name)
        else:
            before = self._reads or ([self.last] if self.last else [])
            self._reads, self.last = [], node.name
        return [f"^{name}" for name in before]

    def _handle(self, variable: Any) -> str:
        """The node that stands for a variable."""
        shared = self.library.shared_name(variable)
        handle = self._handles.get(shared)
        if handle is None:
            attrs = {
                "dtype": type_value(variable.dtype),
                "shape": shape_value(variable.shape),
                "shared_name": AttrValue("s", shared),
            }
            handle = self._add(shared, "VarHandleOp", [], attrs, "resource")
            self._handles[shared] = handle
        return handle

    def _is_result(self, node: Node) -> bool:
        return any(id(tensor) in self._results for tensor in node.outputs)

    # --- names ------------------------------------------------------------------------

    def _add(
        self,
        name: str,
        op: str,
        inputs: Sequence[str],
        attrs: dict[str, AttrValue],
        output: str = "output",
    ) -> str:
        """Append a node; gives the name of its first output."""
        if name in self._own:
            self._own.remove(name)
        else:
            name = self._unique(name)
        self.nodes.append(NodeDef(name, op, list(inputs), attrs))
        return self._text(name, output, 0)

    def _text(self, name: str, output: str, index: int) -> str:
        if self.is_function:
            return f"{name}:{output}:{index}"
        return f"{name}:{index}" if index else name

    def _unique(self, name: str) -> str:
        found = _unique(name, self._names)
        self._names.add(found.lower())
        return found


def _unique(name: str, used: set[str]) -> str:
    """`name`, numbered if it is used; names that differ only in case count as one."""
    found, count = name, 0
    while found.lower() in used or found in used:
        count += 1
        found = f"{name}_{count}"
    return found


def _has_operand(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_operand, value))
    return isinstance(value, Operand)


# --- names ----------------------------------------------------------------------------


def operation(graph: Graph, name: str) -> Node:
    """The node of that name. Raises KeyError if there is none."""
    nodes = {node.name: node for node in graph.get_operations()}
    node = nodes.get(name)
    if node is not None:
        return node
    text = f"the graph {graph.name!r} has no operation {name!r}"
    before, _, index = name.rpartition(":")
    if before in nodes and index.isdigit():
        text += f"; {name!r} is a tensor: use get_tensor_by_name()"
    else:
        text += near(name, nodes)
    raise KeyError(text)


def tensor(graph: Graph, name: str) -> SymbolicTensor:
    """The tensor of that name, such as ``add:0``. Raises KeyError if there is none, and
    ValueError if the name is not that of a tensor.
    """
    before, _, index = name.rpartition(":")
    if not index.isdigit():
        raise ValueError(
            f"{name!r} is not the name of a tensor, which is that of its operation and "
            f"the number of the output, such as '{name}:0'"
        )
    outputs = operation(graph, before).outputs
    if int(index) < len(outputs):
        return outputs[int(index)]
    raise KeyError(
        f"the operation {before!r} of the graph {graph.name!r} has "
        f"{len(outputs)} outputs: there is no {name!r}"
    )
