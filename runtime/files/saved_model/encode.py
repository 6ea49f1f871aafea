"""Graphs and their values as JSON; the format is specified in docs/saving.md.

Only data is written. A value that is none, such as a Python function that a graph
calls, is refused.
"""

from __future__ import annotations

import builtins
import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from runtime.autodiff.custom import GradientGraph, Rule
from runtime.core import errors
from runtime.core.errors import UnsavableError
from runtime.core.graph import Graph, Node
from runtime.core.graph.labels import find_labels
from runtime.core.graph.record import get
from runtime.core.graph.text import attr_text
from runtime.core.location.user_code import Location
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types.dtypes import DType, of_array
from runtime.core.types.identity import IdentityMap
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops.containers.lookup_tables import Contents
from runtime.ops.operands import Operand, Slice
from runtime.ops.random.state import GeneratorState, RandomState
from runtime.ops.staged.flow import tensors_of
from runtime.ops.staged.python_text import (
    Format,
    MakeText,
    OptionalFill,
    SequenceFill,
    TensorFill,
    ValueFill,
)
from runtime.ops.variables import Variable

Array = np.ndarray[Any, Any]

#: Constants of more elements are tensors of the file.
INLINE = 16


class ProgramWriter:
    """Collects graphs, and the variables, generators and arrays that they refer to."""

    def __init__(self) -> None:
        #: The tensors of the file.
        self.arrays: dict[str, Array] = {}
        self.graphs: list[dict[str, Any]] = []
        self.variables: list[dict[str, Any]] = []
        self.generators: list[str] = []
        self.tables: list[dict[str, str]] = []
        #: The seeds of streams of random numbers; None for those without.
        self.streams: list[list[int] | None] = []
        #: The lines that call functions in which there are nodes.
        self.callers: list[list[Any]] = []
        #: By the ids of the arrays of their paths: the numbers of assets.
        self.assets: dict[int, int] = {}
        self._counts: dict[str, int] = {}
        #: The numbers of the tensors of each graph.
        self._tensor_numbers: dict[Graph, IdentityMap[Any, int]] = {}
        #: By the ids of objects, which are kept alive: their numbers.
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []

    # --- values -----------------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """A value as JSON. Raises TypeError for what is no data."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is tuple:
            return [self.value(item) for item in value]
        return self._tagged(value)

    def _tagged(self, value: Any) -> dict[str, Any]:
        if type(value) is list:
            return {"list": [self.value(item) for item in value]}
        if type(value) is dict:
            return {"dict": [[self.value(k), self.value(v)] for k, v in value.items()]}
        if type(value) is bytes:
            return {"bytes": value.decode("latin-1")}
        if type(value) is complex:
            return {"complex": [self.value(value.real), self.value(value.imag)]}
        if isinstance(value, (np.ndarray, np.generic)):
            return self.array(np.asarray(value))
        if isinstance(value, EagerTensor):
            return self.array(value._array)
        if isinstance(value, DType):
            return {"dtype": value.name}
        if isinstance(value, TensorShape):
            return {"shape": _dims(value)}
        if isinstance(value, TensorSpec):
            return {"spec": spec(value)}
        if isinstance(value, Operand):
            return {"operand": value.index, "known": self._known(value.known)}
        if isinstance(value, Slice):
            return {"slice": [self.value(part) for part in value]}
        if value is Ellipsis:
            return {"ellipsis": True}
        return self._reference(value)

    def _reference(self, value: Any) -> dict[str, Any]:
        """An object that others refer to, too."""
        if isinstance(value, Graph):
            return {"graph": self.graph(value)}
        if isinstance(value, Variable):
            return {"variable": self.variable(value)}
        if isinstance(value, GeneratorState):
            return {"generator": self.generator(value)}
        if isinstance(value, Contents):
            return {"table": self.table(value)}
        if type(value) is RandomState:
            return {"stream": self._number(value, self.streams, _seeds(value))}
        if isinstance(value, Format):
            return {"text": self._format(value)}
        if isinstance(value, BaseException):
            return {"exception": self._exception(value)}
        if isinstance(value, Rule):
            return {"own_gradient": self._rule(value)}
        raise TypeError(f"{attr_text(value)}, which is no data")

    def _rule(self, rule: Rule) -> dict[str, Any]:
        """A gradient that a program wrote; without its graph if that is no data."""
        found: dict[str, Any] = {"name": rule.name, "count": rule.count}
        own = rule.function
        if not isinstance(own, GradientGraph):
            return found
        try:
            ProgramWriter().graph(own.graph)
        except UnsavableError:
            return found
        return {
            **found,
            "graph": self.graph(own.graph),
            "arguments": own.arguments,
            "given": list(own.given),
            "variables": [self.variable(variable) for variable in rule.variables],
        }

    def _known(self, value: Any) -> Any:
        """What tracing knew of an operand: an aid, which may be left out."""
        try:
            return self.value(value)
        except TypeError:
            return None

    def array(self, array: Array) -> dict[str, Any]:
        """An array: beside the others if it is small, else as a tensor of the file."""
        number = self.assets.get(id(array))
        if number is not None:
            return {"asset": number}
        if array.size > INLINE:
            return {"tensor": self._stored("constants", array)}
        dtype = of_array(array)
        if dtype.kind == "O":
            items = [
                item.encode() if isinstance(item, str) else item
                for item in array.reshape(-1).tolist()
            ]
            data: Any = [item.decode("latin-1") for item in items]
        else:
            data = array.astype(array.dtype.newbyteorder("<")).tobytes().hex()
        return {"array": {"dtype": dtype.name, "shape": array.shape, "data": data}}

    def _stored(self, folder: str, array: Array) -> str:
        count = self._counts[folder] = self._counts.get(folder, -1) + 1
        name = f"{folder}/{count}"
        self.arrays[name] = array
        return name

    def _exception(
        self, error: BaseException, tensors: Sequence[Any] | None = None
    ) -> dict[str, Any]:
        """An exception that a graph raises: its class, and what it was made of.

        The tensors among that, which are the inputs of the node, have their numbers;
        those of an exception within another one are numbered with its.
        """
        name = exception_name(type(error))
        if name is None:
            raise TypeError(
                f"the exception {type(error).__qualname__}, which is neither one of "
                "Python's nor of tf.errors: another process does not have the class"
            )
        if error.__cause__ is not None:
            raise TypeError("an exception that was raised from another one")
        if tensors is None:
            tensors = tensors_of(error)
        args = [self._argument(value, tensors) for value in error.args]
        own = {k: self._argument(v, tensors) for k, v in vars(error).items()}
        return {
            "class": name,
            "args": args,
            "attributes": own,
            "suppress": error.__suppress_context__,
        }

    def _argument(self, value: Any, tensors: Sequence[Any]) -> Any:
        def inner(item: Any) -> Any:
            return self._argument(item, tensors)

        if isinstance(value, SymbolicTensor):
            return {"input": next(i for i, t in enumerate(tensors) if t is value)}
        if type(value) is tuple:
            return [inner(item) for item in value]
        if type(value) is list:
            return {"list": [inner(item) for item in value]}
        if type(value) is dict:
            return {"dict": [[self.value(k), inner(v)] for k, v in value.items()]}
        if isinstance(value, BaseException):
            return {"exception": self._exception(value, tensors)}
        return self.value(value)

    def _format(self, text: Format) -> dict[str, Any]:
        if not isinstance(text.make, MakeText):
            raise TypeError(f"the text {text!r}, which a Python function makes")
        return {
            "make": [text.make.kind, text.make.text],
            "fills": [self._fill(fill) for fill in text.fills],
            "weak": list(text.weak),
            "template": text.template,
        }

    def _fill(self, fill: Any) -> Any:
        if isinstance(fill, TensorFill):
            return {"tensor": fill.index}
        if isinstance(fill, ValueFill):
            return {"value": self.value(fill.value)}
        if isinstance(fill, OptionalFill):
            return {"optional": [self._fill(fill.value), self._fill(fill.some)]}
        if isinstance(fill, SequenceFill):
            return {fill.kind.__name__: [self._fill(item) for item in fill.items]}
        raise TypeError("a text that shows an object")

    # --- objects that are referred to -------------------------------------------------

    def _number(self, value: Any, table: list[Any], entry: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(table)
            self._alive.append(value)
            table.append(entry)
        return number

    def variable(self, variable: Variable) -> int:
        """The number of a variable, whose value is a tensor of the file."""
        if id(variable) in self._numbers:
            return self._numbers[id(variable)]
        entry = {
            "name": variable._name,
            "dtype": variable.dtype.name,
            "shape": _dims(variable.shape),
            "trainable": variable.trainable,
            "synchronization": variable.synchronization.name,
            "aggregation": variable.aggregation.name,
            "value": self._stored("variables", variable._array),
        }
        return self._number(variable, self.variables, entry)

    def generator(self, state: GeneratorState) -> int:
        """The number of the state of a generator."""
        if id(state) in self._numbers:
            return self._numbers[id(state)]
        entry = self._stored("generators", state.array)
        return self._number(state, self.generators, entry)

    def table(self, contents: Contents) -> int:
        """The number of a table, whose keys and values are tensors of the file."""
        if id(contents) in self._numbers:
            return self._numbers[id(contents)]
        keys, values = contents.all()
        arrays = {"keys": keys, "values": values, "default": contents.default}
        entry = {name: self._stored("tables", array) for name, array in arrays.items()}
        return self._number(contents, self.tables, entry)

    def graph(self, graph: Graph) -> int:
        """The number of a graph; those around it have lower ones."""
        if id(graph) in self._numbers:
            return self._numbers[id(graph)]
        parent = None if graph.parent is None else self.graph(graph.parent)
        if id(graph) in self._numbers:  # The parent has it in one of its nodes.
            return self._numbers[id(graph)]
        entry: dict[str, Any] = {"name": graph.name, "parent": parent}
        number = self._number(graph, self.graphs, entry)
        numbers: IdentityMap[Any, int] = IdentityMap()

        def define(tensors: Iterable[SymbolicTensor]) -> list[dict[str, Any]]:
            for tensor in tensors:
                numbers[tensor] = len(numbers)
            return [spec(tensor.spec) for tensor in tensors]

        entry["inputs"] = [
            {"name": tensor.node.name, "spec": found}
            for tensor, found in zip(graph.inputs, define(graph.inputs))
        ]
        # Sub-graphs refer to the tensors of their parent by these numbers.
        for node in graph.nodes:
            define(node.outputs)
        self._tensor_numbers[graph] = numbers
        entry["nodes"] = [self._node(node, numbers) for node in graph.nodes]
        entry["outputs"] = [numbers[tensor] for tensor in graph.outputs]
        entry["captures"] = self._captures(graph)
        entry["recursive"] = graph.is_recursive
        labels = find_labels(graph.nodes)
        entry["labels"] = [
            [numbers[tensor], name]
            for tensor, name in labels.items()
            if tensor in numbers
        ]
        return number

    def _captures(self, graph: Graph) -> list[int]:
        if not graph.captures:
            return []
        assert graph.parent is not None
        outer = self._tensor_numbers[graph.parent]
        return [outer[tensor] for tensor in graph.captures]

    def _node(self, node: Node, numbers: IdentityMap[Any, int]) -> dict[str, Any]:
        where = node.location
        if get(node.op).calls_python:
            raise _refusal(node, "a Python function, which is no data")
        found: dict[str, Any] = {
            "op": node.op,
            "name": node.name,
            "inputs": [numbers[tensor] for tensor in node.inputs],
            "outputs": [spec(tensor.spec) for tensor in node.outputs],
            "attributes": {k: self._attribute(node, k) for k in node.attrs},
        }
        if where is not None:
            found["line"] = self._line(where)
        if node.device:
            found["device"] = node.device
        return found

    def _line(self, location: Location) -> list[Any]:
        """A line: its file, number and function, and the number of its caller."""
        line = [os.path.basename(location[0]), location[1], location.function]
        waiting = []
        caller = location.caller
        while caller is not None and id(caller) not in self._numbers:
            waiting.append(caller)
            caller = caller.caller
        for found in reversed(waiting):
            self._number(found, self.callers, self._line(found))
        if location.caller is not None:
            line.append(self._numbers[id(location.caller)])
        return line

    def _attribute(self, node: Node, key: str) -> Any:
        try:
            return self.value(node.attrs[key])
        except TypeError as error:
            raise _refusal(node, str(error)) from None
        except RecursionError:
            raise _refusal(node, "a value that is nested too deeply") from None


def _refusal(node: Node, held: str) -> UnsavableError:
    where = node.location
    place = "" if where is None else f"{where[0]}:{where[1]}: "
    return UnsavableError(
        f"{place}AG340: {node.graph.name!r} cannot be saved: its operation "
        f"{node.name!r} ({node.op}) has {held}. A saved model runs without "
        "the program: leave the operation out of what is saved"
    )


def spec(value: TensorSpec) -> dict[str, Any]:
    """A spec as JSON."""
    found: dict[str, Any] = {"dtype": value.dtype.name, "shape": _dims(value.shape)}
    if value.name is not None:
        found["name"] = value.name
    if value.weak:
        found["weak"] = True
    return found


def exception_name(cls: type[BaseException]) -> str | None:
    """The name of a class of exceptions that every process has; None for others."""
    for home, prefix in ((builtins, ""), (errors, "errors.")):
        name: str = cls.__name__
        if vars(home).get(name) is cls:
            return prefix + name
    return None


def _dims(shape: TensorShape) -> list[int | None] | None:
    return None if shape.dims is None else list(shape.dims)


def _seeds(state: RandomState) -> list[int] | None:
    return None if state.seeds is None else list(state.seeds)
