"""What the blocks of one generated function share: names, constants, kernels."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import int64
from runtime.core.types.identity import IdentityMap
from runtime.core.types.specs import TensorSpec
from runtime.engines.numpy_source.blocks import in_blocks, write_blocks
from runtime.engines.numpy_source.precedence import ATOM
from runtime.engines.numpy_source.scalars import Scalars
from runtime.engines.numpy_source.text import (
    Step,
    Text,
    literal_attribute,
    number_level,
    scalar_text,
)
from runtime.ops.kernels.extremes import extreme
from runtime.ops.kernels.select import select
from runtime.ops.kernels.special import erf
from runtime.ops.python_ints import CHECKS, exact_kernel, is_exact
from runtime.ops.static import plain

#: Arrays up to this size are written out.
SHORT_ARRAY = 12

#: Names that generated code reads and must not assign.
RESERVED = frozenset(
    {"abs", "checked_range", "enumerate", "int", "len", "map", "max", "min"}
    | {"exact_kernel", "wrapping"}
    | {f"as_{name}" for name in CHECKS}
    | {
        "np",
        "tf",
        "erf",
        "extreme",
        "held",
        "in_blocks",
        "kernel",
        "kernel_on_values",
        "kernel_in_place",
        "select",
    }
    | {"float", "range", "tuple"}
)


class Program:
    """A generated function in the making.

    Global names (constants, kernels) are kept apart from all local ones, so that a
    constant can be named whenever it is first met.
    """

    def __init__(self) -> None:
        #: The lines above the function.
        self.header: list[str] = []
        #: What the lines above the function find in ``held``.
        self.held: dict[str, Any] = {}
        self.uses_dtypes = False
        self._globals: set[str] = set(RESERVED)
        self._locals: set[str] = set()
        self._constants: dict[int, tuple[Any, str]] = {}
        self._kernels: dict[tuple[str, str], str] = {}
        self._order: dict[Node, int] = {}
        #: The graphs that are functions of their own, with their names.
        self.functions: dict[Graph, str] = {}
        #: The functions of blocks, in the order of their names' use.
        self.blocks: list[list[str]] = []
        #: What is known of the numbers in the function that is being written.
        self.scalars: Scalars
        #: Writes to arrays that a loop fills, with the positions of the index and the
        #: row, and the lengths of those arrays: see `loop_arrays`.
        self.row_writes: dict[Node, tuple[int, int]] = {}
        self.filled: IdentityMap[SymbolicTensor, int] = IdentityMap()
        #: A node that calls one of these, for messages.
        self.recursive_call: Node | None = None

    # --- names ------------------------------------------------------------------------

    def is_global(self, name: str) -> bool:
        """Whether local variables must not have this name."""
        return name in self._globals

    def add_local(self, name: str) -> None:
        """Note a name that a local variable has."""
        self._locals.add(name)

    def _new_global(self, hint: str) -> str:
        base = name = clean(hint)
        number = 1
        while name in self._globals or name in self._locals:
            name, number = f"{base}_{number}", number + 1
        self._globals.add(name)
        return name

    def function(self, graph: Graph) -> str:
        """The name of the function that a graph becomes."""
        name = self.functions.get(graph)
        if name is None:
            name = self.functions[graph] = self._new_global(graph.name.strip("<>"))
        return name

    # --- parts ------------------------------------------------------------------------

    def constant(self, array: np.ndarray[Any, Any], hint: str) -> Text:
        """A constant: a scalar in place, an array under a name above the function."""
        scalar = scalar_text(array)
        if scalar is not None:
            return scalar
        known = self._constants.get(id(array))
        if known is not None:
            return Text(known[1])
        name = self._new_global(hint)
        self._constants[id(array)] = array, name
        if array.size <= SHORT_ARRAY and array.dtype.kind in "biuf":
            dtype = "bool" if array.dtype.kind == "b" else f"np.{array.dtype.name}"
            # Nested lists without elements do not tell the shape.
            code = f"array({_elements(array)}" if array.size else f"zeros({array.shape}"
            self.header.append(f"{name} = np.{code}, {dtype})")
        else:
            shape = ",".join(map(str, array.shape))
            self._hold(name, array, f"{array.dtype.name}[{shape}]")
        return Text(name)

    def fit(self, text: Text, tensor: SymbolicTensor, form: str) -> Text:
        """A number in another form: see `scalars`."""
        if text.form == form or "range" in (form, text.form):
            return text
        if form == "bool":
            known = {"np.True_": "True", "np.False_": "False"}.get(text.code)
            return text if known is None else Text(known, form="bool")
        if form == "":
            if text.form == "bool":
                return replace(text, code=f"np.bool_({text.code})", level=ATOM, form="")
            text = self.fit(text, tensor, "int")
            code = f"np.{tensor.dtype.name}({text.code})"
            return replace(text, code=code, level=ATOM, form="")
        if text.form == "":
            if text.number is not None:
                level = number_level(text.number)
                return Text(text.number, level, text.number, form="int")
            return replace(text, code=f"int({text.code})", level=ATOM, form="int")
        if form == "int":
            if tensor.spec.weak and self.scalars.is_bounded(tensor):
                return replace(text, form="int")
            code = f"{self.wrap(tensor.spec)}({text.code})"
            return replace(text, code=code, level=ATOM, form="int")
        return text

    def wrap(self, spec: TensorSpec) -> str:
        """The name of what wraps ints around as the dtype does, or checks Python's."""
        if spec.weak:
            return f"as_{spec.dtype.name}"
        bits = 8 * spec.dtype.size
        name = self._kernels.get(("wrap", str(bits)))
        if name is None:
            name = self._kernels["wrap", str(bits)] = self._new_global(f"wrap{bits}")
            self.header.append(f"{name} = wrapping({bits})")
        return name

    def call(self, node: Node, args: list[Text], gives_away: bool = False) -> str:
        """A call of the kernel of a node.

        `gives_away`: the first argument is a variable that nobody reads again.
        """
        texts = [arg.code for arg in args]
        called = get(node.op).called_attribute
        if called:
            return (
                f"{self._attribute(node.attrs[called], called, [])}({', '.join(texts)})"
            )
        operands = node.attrs.get("operands", 0)
        parts = texts[: len(texts) - operands]
        for key, value in node.attrs.items():
            if key != "operands":
                text = self._attribute(value, f"{node.op}_{key}", texts)
                parts.append(f"{key}={text}")
        maker = "kernel_on_values" if operands else "kernel"
        if gives_away and get(node.op).kernel_in_place:
            maker = "kernel_in_place"
        if is_exact(node):
            maker = "exact_kernel"
        return f"{self._kernel(node.op, maker)}({', '.join(parts)})"

    def _kernel(self, op: str, maker: str) -> str:
        """The name of a kernel; `maker` is what the header gets it from."""
        name = self._kernels.get((op, maker))
        if name is None:
            name = self._kernels[op, maker] = self._new_global(op)
            self.header.append(f"{name} = {maker}({op!r})")
        return name

    def _attribute(self, value: Any, hint: str, args: list[str]) -> str:
        literal = literal_attribute(value, args)
        if literal is not None:
            self.uses_dtypes |= "tf." in literal
            return literal
        known = self._constants.get(id(value))
        if known is not None:
            return known[1]
        # Functions by their names: an address would be another one in each run.
        known_as = getattr(value, "name", getattr(value, "__name__", None))
        name = self._new_global(known_as if isinstance(known_as, str) else hint)
        self._constants[id(value)] = value, name
        note = str(getattr(value, "__qualname__", None) or repr(value))
        self._hold(name, value, " ".join(note.split()))
        return name

    def _hold(self, name: str, value: Any, note: str) -> None:
        self.held[name] = value
        code = f"{name} = held[{name!r}]"
        line = f"{code}  # {note}"
        if len(line) > 88:
            line = f"{line[:85]}..." if len(code) < 80 else code
        self.header.append(line)

    # --- steps ------------------------------------------------------------------------

    def step(self, node: Node, args: list[Text]) -> Step:
        """The evaluation of a node, in its place in the program."""
        self._order.setdefault(node, len(self._order))
        return Step(node, tuple(arg.code for arg in args))

    def in_order(self, steps: list[Step]) -> tuple[Step, ...]:
        """Steps in the order of the program."""
        return tuple(sorted(steps, key=lambda step: self._order[step.node]))

    def block_function(self, body: Graph, hints: Mapping[SymbolicTensor, str]) -> str:
        """The name of the function that computes the body of a region in blocks."""
        hint = hints[body.outputs[0]]
        if hint.startswith("result"):
            hint = next(iter(self.functions.values()))
        name = self._new_global(f"{hint}_blocks")
        hints = IdentityMap((t, clean(hint)) for t, hint in hints.items())
        self.blocks.append(write_blocks(name, body, hints))
        return name

    def namespace(self) -> dict[str, Any]:
        """The globals with which the source is executed."""
        return {
            **{f"as_{name}": check for name, check in CHECKS.items()},
            "np": np,
            "tf": dtypes,
            "held": self.held,
            "erf": erf,
            "extreme": extreme,
            "in_blocks": in_blocks,
            "select": select,
            "exact_kernel": exact_kernel,
            "kernel": lambda op: get(op).kernel,
            "kernel_on_values": kernel_on_values,
            "kernel_in_place": lambda op: get(op).kernel_in_place,
            "checked_range": checked_range,
            "wrapping": wrapping,
        }


# --- what generated source calls ---------


def wrapping(bits: int) -> Callable[[int], int]:
    """The function that wraps ints around as signed integers of so many bits do.

    >>> wrapping(32)(2**31)
    -2147483648
    """
    half, whole = 1 << (bits - 1), 1 << bits
    # With constants it takes two thirds of the time, and most numbers fit.
    return eval(  # type: ignore[no-any-return]
        f"lambda number: number if {-half} <= number < {half} "
        f"else (number + {half}) % {whole} - {half}"
    )


def kernel_on_values(op: str) -> Callable[..., Any]:
    """The kernel of an op with arrays for attributes, as Python numbers."""
    kernel = get(op).kernel
    return lambda *arrays, **attrs: kernel(
        *arrays, **{key: _number(attrs[key]) for key in attrs}
    )


def _number(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value)
    return tuple(map(_number, value)) if type(value) is tuple else value


def checked_range(*bounds: int) -> range:
    """Python's ``range``, where `Range` makes one; it raises as that does.

    >>> checked_range(1, 4)
    range(1, 4)
    """
    given = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    start, limit, delta = map(int, given)
    if (limit - start if delta > 0 else start - limit) <= 0:
        bounds_of_kernel = {"start": start, "limit": limit, "delta": delta}
        get("Range").kernel(**bounds_of_kernel, dtype=int64)
    return range(start, limit, delta)


# --- texts -----


def clean(hint: str) -> str:
    """A hint as an identifier: the last part of ``scope/name``.

    >>> clean("layer/MatMul_1"), clean("class"), clean("2d")
    ('MatMul_1', '_class', '_2d')
    """
    name = re.sub(r"\W", "_", hint.rpartition("/")[2]) or "value"
    if name[0].isdigit() or keyword.iskeyword(name):
        name = f"_{name}"
    return name


def _elements(array: np.ndarray[Any, Any]) -> str:
    """The elements as nested lists; floats by their shortest decimals."""
    if array.ndim:
        return f"[{', '.join(map(_elements, array))}]"
    scalar = scalar_text(array)
    assert scalar is not None
    return scalar.number or scalar.code
