"""A prepared graph written with the ops of ONNX, node by node.

Graphs of branches and loops see the names of those around them: captured tensors are
no inputs. A check that fails does not end an ONNX model; it raises a flag, at which
loops end, and which the model gives beside its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import OpError
from runtime.core.graph import Graph, Node
from runtime.core.graph.prune import find_live
from runtime.core.types.identity import IdentityMap
from runtime.export.onnx.library import load
from runtime.ops.operands import attributes_with_tensors
from runtime.passes.lowering.rules import Rules, unimplemented

RULES = Rules("ONNX has no {}")
rule = RULES.rule


class Value:
    """A value of the model: a name, or a constant, which gets its name when used.

    Operators are those of ONNX; numbers beside them are of the value's dtype.
    """

    __slots__ = ("_name", "_writer", "dtype", "known")

    def __init__(
        self, writer: Writer, dtype: Any, name: str = "", known: Any = None
    ) -> None:
        self._writer, self._name = writer, name
        self.dtype = np.dtype(dtype)
        #: The array of a constant.
        self.known = known

    @property
    def name(self) -> str:
        """The name in the model."""
        self._name = self._name or self._writer.constant(self.known)
        return self._name

    def _with(self, op: str, *values: Any) -> Value:
        given = [self._writer.value(value, self.dtype) for value in values]
        result: Value = self._writer.op(op, self, *given)
        return result

    def __add__(self, other: Any) -> Value:
        return self._with("Add", other)

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", other)

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", other)

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", other)

    def __lt__(self, other: Any) -> Value:
        return self._with("Less", other)

    def __gt__(self, other: Any) -> Value:
        return self._with("Greater", other)

    def __ge__(self, other: Any) -> Value:
        return self._with("GreaterOrEqual", other)

    def __and__(self, other: Any) -> Value:
        return self._with("And" if self.dtype == bool else "BitwiseAnd", other)

    def __or__(self, other: Any) -> Value:
        return self._with("Or" if self.dtype == bool else "BitwiseOr", other)

    def __xor__(self, other: Any) -> Value:
        return self._with("Xor" if self.dtype == bool else "BitwiseXor", other)

    def __invert__(self) -> Value:
        return self._with("Not" if self.dtype == bool else "BitwiseNot")

    def __neg__(self) -> Value:
        return self._with("Neg")

    def equals(self, other: Any) -> Value:
        """Where the elements are equal."""
        return self._with("Equal", other)


#: The dtypes of results that are not the dtype of the first input.
_BOOLS = ("Equal", "Greater", "GreaterOrEqual", "IsNaN", "Less", "LessOrEqual")
_PLACES = ("ArgMax", "ArgMin", "NonZero", "Shape", "Size")
_DTYPES = {**dict.fromkeys(_BOOLS, bool), **dict.fromkeys(_PLACES, np.int64)}


class Writer:
    """The model, and the graph of it that is being written, for the rules.

    ``failed`` is the flag as it is now; None: nothing can have failed. ``node`` is the
    node that is being written, ``checks`` whether checks are.
    """

    def __init__(self, checks: bool) -> None:
        self.onnx = load()
        self.checks = checks
        self.failed: Value | None = None
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.node: Any = None
        self._constants: dict[Any, str] = {}
        self._counts: dict[str, int] = {}

    # --- graphs -----------------------------------------------------------------------

    def run(self, graph: Graph, inputs: Sequence[Any]) -> list[Value]:
        """Write the nodes of a graph for these inputs; gives its outputs."""
        values = IdentityMap[Any, Any](zip(graph.inputs, inputs))
        outer = self.node
        for self.node in find_live(graph).nodes:
            results = self._results(
                self.node, [values.get(t) for t in self.node.inputs]
            )
            values.update(zip(self.node.outputs, results))
        self.node = outer
        return [self.value(values.get(tensor)) for tensor in graph.outputs]

    def _results(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        known = RULES.get(node.op)
        if known is None:
            raise self.refused(RULES.lack(node.op))
        for tensor in node.outputs:
            if tensor.dtype.kind not in "biuf":
                raise self.refused(
                    f"an ONNX model cannot have {tensor.dtype.name} values"
                )
        values, attrs = attributes_with_tensors(inputs, node.attrs)
        return _many(known.run(self, *values, **attrs))

    def subgraph(
        self,
        name: str,
        write: Callable[[], Sequence[Value]],
        inputs: Sequence[Any] = (),
        failed: Value | None = None,
    ) -> Any:
        """The graph of what `write` writes, which gives its results."""
        before = self.nodes, self.failed
        self.nodes, self.failed = [], failed
        try:
            # A result is of this graph, and is one only.
            results = [self.op("Identity", value) for value in write()]
            infos = [self.info(value.name, value.dtype) for value in results]
            make = self.onnx.helper.make_graph
            return make(self.nodes, self.name(name), inputs, infos)
        finally:
            self.nodes, self.failed = before

    def info(self, name: str, dtype: Any, dims: Any = None) -> Any:
        """What is said of an input or a result."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.onnx.helper.make_tensor_value_info(name, kind, dims)

    def may_fail(self, graphs: Iterable[Graph]) -> bool:
        """Whether a check in one of the graphs, or within, may raise the flag."""
        return self.checks and any(map(RULES.may_fail, graphs))

    # --- values -----------------------------------------------------------------------

    def name(self, text: str) -> str:
        """A name that nothing else has."""
        name = text
        while name in self._counts:
            self._counts[text] += 1
            name = f"{text}_{self._counts[text]}"
        self._counts[name] = 0
        return name

    def constant(self, array: Any) -> str:
        """The name of a constant."""
        array = np.array(array, order="C")
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._constants:
            name = self._constants[key] = self.name("constant")
            self.initializers.append(self.onnx.numpy_helper.from_array(array, name))
        return self._constants[key]

    def value(self, value: Any, dtype: Any = np.int64) -> Value:
        """A value as it is; numbers become a constant."""
        if isinstance(value, Value):
            return value
        return Value(self, dtype, known=np.asarray(value, dtype))

    def op(
        self, op: str, *inputs: Any, dtype: Any = None, outputs: int = 1, **attrs: Any
    ) -> Any:
        """The result of an op of ONNX, or several `outputs`; None is no input.

        Numbers are int64. The result has the dtype of the first input, if no other.
        """
        given = [None if value is None else self.value(value) for value in inputs]
        names = [self.name(op) for _ in range(outputs)]
        node = self.onnx.helper.make_node(
            op, ["" if value is None else value.name for value in given], names, **attrs
        )
        if self.node is not None and self.node.location is not None:
            node.doc_string = f"{self.node.location[0]}:{self.node.location[1]}"
        self.nodes.append(node)
        dtype = dtype or _DTYPES.get(op) or (given[0].dtype if given[0] else np.int64)
        results = [Value(self, dtype, name) for name in names]
        return results[0] if outputs == 1 else results

    def where(self, test: Any, x: Any, y: Any) -> Value:
        """Elements of `x`, or of the number `y`, which has its dtype."""
        first: Value = self.value(x, getattr(y, "dtype", None))
        other: Value = self.value(y, first.dtype)
        if first.dtype == bool:
            test = self.value(test, bool)
            return self.value((test & first) | (~test & other))
        result: Value = self.op("Where", test, first, other, dtype=first.dtype)
        return result

    def cast(self, value: Any, dtype: Any = np.int64) -> Value:
        """A value in another dtype of NumPy."""
        value, dtype = self.value(value), np.dtype(dtype)
        if value.dtype == dtype:
            return value  # type: ignore[no-any-return]
        if value.known is not None:
            return self.value(value.known.astype(dtype), dtype)
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        result: Value = self.op("Cast", value, to=kind, dtype=dtype)
        return result

    def ints(self, values: Any) -> Value:
        """Integers, some of which may be values of the model, as a vector of int64."""
        if isinstance(values, Value):
            result: Value = self.op("Reshape", self.cast(values), [-1])
            return result
        if isinstance(values, np.ndarray):
            values = values.ravel().tolist()
        values = values if isinstance(values, (tuple, list)) else (values,)
        if not any(isinstance(value, Value) for value in values):
            return self.value(np.array(values, np.int64))
        return self.concat(*values)

    def concat(self, *values: Any) -> Value:
        """Integers one after the other: numbers, scalars and vectors."""
        result: Value = self.op("Concat", *map(self.ints, values), axis=0)
        return result

    # --- what rules ask and tell ------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the first result of the node, as NumPy has it."""
        found: np.dtype[Any] = np.dtype(self.node.outputs[0].dtype.np_dtype)
        return found

    @property
    def flag(self) -> Value:
        """Whether a check has failed."""
        return self.failed or self.value(False, bool)

    def check(self, is_right: Any) -> None:
        """Raise the flag where an element of a condition is false."""
        if self.checks:
            wrong = self.cast(~self.value(is_right, bool), np.int32)
            count = self.op("ReduceSum", wrong, keepdims=0)
            self.failed = self.flag | self.cast(count, bool)

    def number(self, value: Any, what: str) -> Any:
        """An attribute that must be known when the model is written."""
        if (
            any(isinstance(v, Value) for v in value)
            if isinstance(value, tuple)
            else isinstance(value, Value)
        ):
            raise self.refused(
                f"ONNX needs to know {what} when the model is written; here a value "
                "of the program decides it"
            )
        return value

    def refused(self, reason: str) -> OpError:
        """The error for what has no form in ONNX, with the user's line."""
        return unimplemented(self.node, reason)


def _many(result: Any) -> Sequence[Any]:
    return result if isinstance(result, (tuple, list)) else (result,)
