"""Tensors of a graph, and what Python may not do with them."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import re
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NoReturn

from runtime.core.errors import SymbolicTensorError, TracingError
from runtime.core.graph import Graph, Node, leak_error
from runtime.core.graph.context import current_graph
from runtime.core.graph.graph import described, outermost
from runtime.core.hooks import hooks
from runtime.core.location.frames import user_frame
from runtime.core.location.user_code import expression_at, user_position
from runtime.core.tensor.attributes import (
    METHODS_OF_LISTS,
    array_attributes,
    no_attribute,
)
from runtime.core.tensor.base import Tensor
from runtime.core.tensor.operators import operators
from runtime.core.types import nest
from runtime.core.types.dtypes import DType, string
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec

#: The code of generators and coroutines.
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_BOOL_USE = (
    "used as a Python bool (by if, while, and, or, not or a comparison chain)",
    "let the code be converted (tf.function converts what it calls, where the source "
    "is to be had), or write tf.cond, tf.where or tf.logical_and",
)
_WRITTEN_USE = (
    "used as a Python bool in `{}`, which began before anything was traced, so that "
    "its statements run as they were written",
    "call it where the graph has been entered, or from a tf.function",
)
_GENERATOR_USE = (
    "used as a Python bool by a generator or coroutine, which stays Python's",
    "make a list in a loop and return it, or use a generator expression",
)
_COMPARING_USE = (
    "used as a Python bool by a comparison of lists or tuples, which Python makes item "
    "by item",
    "write one of the two out, which == and != take (`pair == (a, b)`), or compare the "
    "items",
)
_NONE_USE = (
    "used as a Python bool: a tensor decides whether what it asks about is None, and "
    "this test of a parameter that may be left out (or in code that is not converted) "
    "is one for Python",
    "give the parameter no default, or pass it a value that is not None",
)
#: What stays Python in converted code: how its line looks, the use and the way out.
_BOOL_USES = (
    (
        r"^\s*assert\b",
        "used as a Python bool by an assert that is not staged",
        "take `:=`, `yield` and `await` out of its message, or use "
        "tf.debugging.assert_equal or one like it",
    ),
    (
        r"^\s*(match|case)\b.*:",
        "used as a Python bool by a pattern",
        "compare it in a guard (case Point(x, y) if x == 0:), or write if and elif",
    ),
    (
        r":=",
        "used as a Python bool beside `:=`, which keeps all of that from being staged",
        "assign the name in a statement of its own",
    ),
    (
        r"^(?!\s*(async )?for\b).*\bfor\b.*\bif\b",
        "used as a Python bool by the condition of a comprehension",
        "write a loop, or use tf.boolean_mask",
    ),
    (
        r"^(?!\s*(async )?for\b).*\bin\b",
        "used as a Python bool by `in` (of structures, or in code as it is)",
        "use tf.reduce_any(items == x)",
    ),
)


class SymbolicTensor(Tensor):
    """A value that a graph will compute: output `index` of `node`.

    It has a static shape and dtype but no value, so Python cannot branch on it, count
    with it or iterate over it; each try is a `SymbolicTensorError`.
    """

    __slots__ = ("_spec", "graph", "node", "value_index")

    graph: Graph
    node: Node
    #: Which of the results of the node it is; the name is TensorFlow's.
    value_index: int

    def __init__(self, graph: Graph, node: Node, index: int, spec: TensorSpec) -> None:
        self.graph = graph
        self.node = node
        self.value_index = index
        self._spec = spec

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._spec.shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._spec.dtype

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype (and whether it is weak) as one record."""
        return self._spec

    @property
    def is_text(self) -> bool:
        """Whether it stands for a string of Python's: it has the methods of one."""
        return self._spec.dtype is string and self._spec.shape.rank == 0

    @property
    def op(self) -> Node:
        """The node that computes this tensor."""
        return self.node

    @property
    def op_name(self) -> str:
        """The op of the node; rows of lists tell it without adding their nodes."""
        return self.node.op

    @property
    def name(self) -> str:
        """The name of the node and the number of the output, as ``add:0``."""
        return f"{self.node.name}:{self.value_index}"

    @property
    def device(self) -> str:
        """The device that `tf.device` asks for, '' where it does not."""
        return self.node.device

    def set_shape(self, shape: Any) -> None:
        """Refine the static shape. Raises ValueError where it contradicts.

        The program checks it: InvalidArgumentError where the value has another shape.
        """
        spec = self._spec
        merged = spec.shape.merge_with(shape)
        if merged.dims != spec.shape.dims:
            operators.note_shape(self, merged)
            self._spec = TensorSpec(merged, spec.dtype, spec.name, weak=spec.weak)

    def __autograph_is__(self, other: Any) -> Any:
        """``self is other``, where the tensor may be None."""
        return hooks.is_same(self, other)

    def __bool__(self) -> NoReturn:
        frame = user_frame()
        code = None if frame is None else frame.f_code
        # The staged form is code of its own, but for lambdas.
        is_lambda = code is not None and code.co_name == "<lambda>"
        if code is not None and not is_lambda and hooks.has_written_form(code):
            use, fix = _WRITTEN_USE
            raise self._no_value("AG301", use.format(code.co_name), fix)
        if code is not None and _is_generator(code):
            raise self._no_value("AG301", *_GENERATOR_USE)
        location = user_position()
        line = linecache.getline(*location[:2]) if location else ""
        if frame is not None and _is_comparing(frame):
            raise self._no_value("AG301", *_COMPARING_USE)
        for pattern, use, fix in _BOOL_USES:
            if re.search(pattern, line):
                raise self._no_value("AG301", use, fix)
        if self.node.op in ("IsNone", "IsNotNone"):
            raise self._no_value("AG209", *_NONE_USE)
        raise self._no_value("AG301", *_BOOL_USE)

    def __int__(self) -> NoReturn:
        raise self._no_number("int")

    def __float__(self) -> NoReturn:
        raise self._no_number("float")

    def __complex__(self) -> NoReturn:
        raise self._no_number("complex")

    def __index__(self) -> NoReturn:
        raise self._no_number("index")

    def __format__(self, spec: str) -> str:
        if spec:
            raise self._no_value(
                "AG302",
                f"formatted as {spec!r}",
                "print it with tf.print, or format it after the call",
            )
        return str(self)

    def __iter__(self) -> Iterator[Any]:
        if self.shape.rank == 0:
            raise TypeError("a scalar tensor cannot be iterated")
        if self.shape.rank is not None and self.shape[0] is not None:
            return (self[index] for index in range(self.shape[0]))
        raise self._no_value(
            "AG303",
            "iterated, but its first dimension is not known",
            "let the code be converted for a loop over it; to take it apart, use "
            "tf.unstack or x[0], x[1]",
        )

    def __len__(self) -> int:
        if self.shape.rank == 0:
            raise TypeError(f"the scalar tensor {self.name!r} has no len()")
        length = self.shape[0]
        if length is None:
            raise self._no_value(
                "AG304",
                "given to len(), but its first dimension is not known",
                "use tf.shape(x)[0]",
            )
        return length

    def __getitem__(self, key: Any) -> Any:
        if self.is_text:
            return hooks.method_of_text(self, "__getitem__")(key)
        return super().__getitem__(key)

    def __contains__(self, item: Any) -> NoReturn:
        raise self._no_value("AG301", "searched by in", "use tf.reduce_any(x == item)")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise self._no_value(
            "AG305",
            "given to NumPy",
            "use the operation of the same name from this package; an array is indexed "
            "one axis after the other, `array[i][j]`",
        )

    def __getattr__(self, name: str) -> Any:
        if name[0] != "_" and self.is_text:
            method: Any = hooks.method_of_text(self, name)
            if method is not None:
                return method
        if name in METHODS_OF_LISTS and self._spec.shape.rank:
            return hooks.method_of_list(self, name)
        if name in array_attributes:
            return array_attributes[name](self)
        error = no_attribute(self, name)
        if hasattr(str, name) and self._spec.dtype is string:
            text = "; for strings in a graph see tf.strings (tf.strings.split, …)"
            error = AttributeError(str(error) + text)
        if name == "numpy" and hasattr(error, "add_note"):
            error.add_note(
                f"{self} was made while tracing {self.graph.name!r} and has no value; "
                "return it from the function to get one"
            )
        raise error

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self.shape.rank is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'

    def _left_out(self) -> None:
        """Hear that its node is dropped from the graph."""

    def _is_out_of_scope(self) -> bool:
        """Whether the graph is none of those that are being built."""
        graph = current_graph()
        while graph is not None and graph is not self.graph:
            graph = graph.parent
        return graph is None

    def _no_number(self, purpose: str) -> TracingError:
        asking = expression_at(user_frame())
        if isinstance(asking, ast.Call):
            return self._no_value(
                "AG302",
                f"given to `{ast.unparse(asking.func)}`, which takes Python numbers",
                "use an operation on tensors instead, or compute what it is given from "
                "Python numbers",
            )
        fix = (
            "keep it a tensor (tf.cast changes the dtype, tf.gather indexes), or "
            "compute it from Python numbers"
        )
        if purpose == "index":
            fix += (
                "; a tensor indexes lists, tuples, ranges, dicts and texts, so of "
                "other sequences first make a list: `items = list(items)`"
            )
        return self._no_value("AG302", f"used as a Python {purpose}", fix)

    def _no_value(self, code: str, use: str, fix: str) -> TracingError:
        if self._is_out_of_scope():
            return leak_error(self, current_graph())
        position = user_position()
        location = None if position is None else position[:2]
        where = f"{location[0]}:{location[1]}: " if location else ""
        excerpt = "" if position is None else position.excerpt()
        origin = ""
        is_input = self.node.op == "Placeholder"  # made by the call
        if not is_input and self.node.location not in (None, location):
            origin = f", made at {self.node.location[0]}:{self.node.location[1]},"
        function = outermost(self.graph).name
        return SymbolicTensorError(
            f"{where}{code}: {described(self)}{origin} was {use}, and has no value "
            f"while {function!r} is being traced: {fix}.{excerpt}",
            code,
            location,
            fix,
        )


Graph.tensor_type = SymbolicTensor
nest.leaf_types.add(SymbolicTensor)


def _is_comparing(frame: FrameType) -> bool:
    """Whether it is comparing: objects are asked for their truth within, tensors not.

    From Python 3.13 on the instruction may ask its result for its truth, too.
    """
    operation, argument = frame.f_code.co_code[frame.f_lasti : frame.f_lasti + 2]
    asks_result = sys.version_info >= (3, 13) and bool(argument & 16)
    return operation == dis.opmap["COMPARE_OP"] and not asks_result


def _is_generator(code: CodeType) -> bool:
    """Whether it is that of a generator or a coroutine."""
    # A generator expression is told by its line.
    return code.co_name != "<genexpr>" and bool(code.co_flags & _GENERATORS)
