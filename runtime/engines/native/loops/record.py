"""What is noted of functions while they are written, for people who read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from runtime.core.graph import Graph, Node
from runtime.core.graph.labels import find_labels
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap
from runtime.engines.native.values import Buffer, Index, Register, Scalar


class Origin(NamedTuple):
    """The node that an instruction is of, as metadata of LLVM."""

    node: Node

    @staticmethod
    def get_reference() -> str:
        """What the text of a module has of it."""
        return "!node"


class Record:
    """What registers of a module are, by their ids; see also `lines.Lines`."""

    def __init__(self, module: Any) -> None:
        self.module = module
        #: The functions of programs, with their graphs, the names of the variables that
        #: the last outputs are the new values of, and what further slots are for.
        self.programs: list[tuple[Any, Graph, Sequence[str], Sequence[Any]]] = []
        self.names: dict[int, tuple[Register, str]] = {}
        #: By pointers: arrays that take memory, and as what an array was first known.
        self.arrays: dict[int, Buffer] = {}
        self.buffers: dict[int, Buffer] = {}
        #: The arrays and the places that pointers are of.
        self.accesses: dict[int, tuple[Buffer, Index]] = {}
        #: Loops by their first blocks, and registers that those in loops stand for.
        self.loops: dict[int, Any] = {}
        self.outside: dict[int, Register] = {}
        #: Functions that programs call, and those that are loops, by their ids.
        self.called, self.moved = set[int](), set[int]()
        self._labels: dict[int, Any] = {}

    def begin(self, function: Any) -> Any:
        """What instructions of a function have that are of no node."""

    def of(self, node: Node) -> Any:
        """What instructions of a node have."""
        return Origin(node)

    def within(self, function: Any) -> Record | None:
        """The record of a function that a program calls."""
        self.called.add(id(function))
        return self

    def move(self, function: Any, instructions: Iterable[Any]) -> None:
        """The instructions of a loop have moved to a function."""
        self.moved.add(id(function))

    def access(self, pointer: Register, buffer: Buffer, index: Index) -> None:
        """A pointer is that of an element, or of a row."""
        self.accesses[id(pointer)] = buffer, index
        self.buffers.setdefault(id(buffer.pointer), buffer)

    def values(self, tensors: Sequence[SymbolicTensor], values: Sequence[Any]) -> None:
        """What stands for tensors has their names."""
        for tensor, value in zip(tensors, values):
            if isinstance(value, Buffer):
                self.buffers.setdefault(id(value.pointer), value)
            if isinstance(value, (Buffer, Scalar)):
                register = value.value if isinstance(value, Scalar) else value.pointer
                self.names.setdefault(id(register), (register, self.name_of(tensor)))

    def name_of(self, tensor: SymbolicTensor) -> str:
        """What the user calls a tensor, or the name of its node."""
        node = tensor.node
        if node.op != "Placeholder" and id(node.graph) not in self._labels:
            self._labels[id(node.graph)] = find_labels(node.graph.nodes)
        found = self._labels.get(id(node.graph), IdentityMap()).get(tensor)
        if found is None and node.op == "While":
            place = [each is tensor for each in node.outputs].index(True)
            return self.name_of(node.attrs["body_graph"].inputs[place])
        name = node.name.rpartition("/")[2]
        if node.op == "Placeholder":
            return name
        name = re.sub(r"(V\d+)?(_\d+)?$", "", name)
        return str(found or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
