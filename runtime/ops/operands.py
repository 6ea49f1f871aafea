"""Ops whose attributes may be tensors: shapes, axes, sizes, indices.

``tf.reshape(x, [n, -1])`` with a Python ``n`` is the node ``Reshape(x, shape=(5,
-1))``. Where ``n`` is a tensor that has its value only when the graph runs, it becomes
a further input of the node, and an `Operand` stands in its place in the attribute:
``Reshape(x, n, shape=(input1, -1))``. What is known stays visible to shape inference
and in the printed source, ``x.reshape((n, -1))``; nothing has to be packed into a
tensor first.

`define` registers an op: kernels and infer rules are written as if attributes were
plain values. `run` applies it to tensors and to attributes that may hold tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import DTypeMismatchError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Op, get, register
from runtime.core.tensor import EagerTensor, Recorded, SymbolicTensor, Tensor
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply, as_array
from runtime.ops.eager import FALL_BACK, quiet
from runtime.ops.shapes import Unknown
from runtime.ops.static import plain, static_value


@dataclass(frozen=True)
class Operand:
    """In an attribute: the value of input number `index` of the node."""

    index: int
    #: What tracing knows of the value, as `static.static_value` gives it.
    known: Any = None

    def __repr__(self) -> str:
        return f"input{self.index}"


class Slice(NamedTuple):
    """A slice within an attribute (Python's own is not hashable before 3.12)."""

    start: Any
    stop: Any
    step: Any

    def __repr__(self) -> str:
        return slice_text(*(None if part is None else repr(part) for part in self))


def define(
    name: str,
    kernel: Callable[..., Any],
    infer: Callable[..., Any],
    *,
    takes: str = "",
    stateful: bool = False,
    strong: bool = True,
    **facts: Any,
) -> None:
    """Register the op `name`; its attributes may be tensors.

    `takes` are the kinds of dtypes (letters of NumPy) that the first input may have.
    The other arguments are those of `Op`; results are strong, as those for Python
    numbers are in eager code.
    """

    def run_kernel(*arrays: Any, operands: int = 0, **attrs: Any) -> Any:
        if takes and arrays[0].dtype.kind not in takes:
            raise _not_taken(of_array(arrays[0]), takes)
        if not operands:
            return kernel(*arrays, **attrs)
        values = [plain(array) for array in arrays]
        attrs = {key: _fill(value, values) for key, value in attrs.items()}
        arrays = arrays[: len(arrays) - operands]
        try:
            return kernel(*arrays, **attrs)
        except (ValueError, IndexError):
            # Now that all values are known the infer rule can say what is wrong.
            infer(*map(_spec_of, arrays), **attrs)
            raise

    def run_infer(*specs: TensorSpec, operands: int = 0, **attrs: Any) -> Any:
        if takes and specs[0].dtype.kind not in takes:
            raise _not_taken(specs[0].dtype, takes)
        if operands:
            attrs = {key: _fill_unknown(value, specs) for key, value in attrs.items()}
            specs = specs[: len(specs) - operands]
        return infer(*specs, **attrs)

    register(
        Op(
            name,
            run_kernel,
            run_infer,
            stateful,
            strong,
            takes=tuple(dtype for dtype in dtypes.ALL if dtype.kind in takes),
            bare_kernel=None if stateful else kernel,
            **facts,
        )
    )


def run(op: str, *tensors: Tensor, name: str | None = None, **attrs: Any) -> Any:
    """Apply `op`; tensors within `attrs` become operands, eager ones plain values."""
    if current_graph() is None:
        results = _run_quickly(op, tensors, attrs)
        if results is not None:
            return results
    extra: list[Tensor] = []
    found = {key: _attribute(attrs[key], extra, len(tensors)) for key in attrs}
    if extra:
        found["operands"] = len(extra)
    return apply(op, *tensors, *extra, name=name, **found)


def _run_quickly(op: str, tensors: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """The results of a kernel without effects; None: it takes the general way."""
    definition = get(op)
    kernel, numbers = definition.bare_kernel, definition.numbers
    if kernel is None:
        return None
    if not _PLAIN.issuperset(map(type, attrs.values())):
        for value in attrs.values():
            items = value if type(value) is tuple else (value,)
            if not _PLAIN.issuperset(map(type, items)):
                return None
    arrays = []
    for tensor in tensors:
        if type(tensor) is not EagerTensor:
            return None
        arrays.append(tensor._array)
    if numbers and arrays[0].dtype.num not in numbers:
        return None
    try:
        result = quiet.run(kernel, *arrays, **attrs)
    except FALL_BACK:
        return None
    if type(result) is tuple:
        return tuple([EagerTensor(as_array(item)) for item in result])
    return EagerTensor(result if type(result) is np.ndarray else as_array(result))


def unwrapped(results: Sequence[Any]) -> Any:
    """The results of a kernel or of an infer rule: one stands for itself."""
    return results[0] if len(results) == 1 else tuple(results)


def listed(results: Any) -> list[Any]:
    """What `run` gives for the results that `unwrapped` gave."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


def attributes_with_tensors(
    inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> tuple[Sequence[Tensor], dict[str, Any]]:
    """The inputs and attributes of a node as `run` was given them."""
    operands = attrs.get("operands", 0)
    if not operands:
        return inputs, attrs
    filled = {key: _fill(value, inputs) for key, value in attrs.items()}
    del filled["operands"]
    return inputs[: len(inputs) - operands], filled


#: The classes of eager tensors that a tape may know.
_KNOWN_TO_TAPES = frozenset({Recorded, DeviceTensor})
#: What an attribute may be that holds no tensor.
_PLAIN = frozenset({type(None), int, str, bool, float, DType})


def _attribute(value: Any, extra: list[Tensor], offset: int) -> Any:
    """`value` with each symbolic tensor replaced by an `Operand` that names it."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, SymbolicTensor):
        known, complete = static_value(value)
        return known if complete else _operand(value, known, extra, offset)
    if isinstance(value, EagerTensor):
        if type(value) in _KNOWN_TO_TAPES and value._array.dtype.kind in "fc":
            return _operand(value, None, extra, offset)
        return plain(value._array)
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value)
    if kind is Slice:
        return Slice(*(_attribute(part, extra, offset) for part in value))
    if isinstance(value, (tuple, list)):
        if _PLAIN.issuperset(map(type, value)):
            return tuple(value)
        return tuple([_attribute(item, extra, offset) for item in value])
    return value


def _operand(tensor: Tensor, known: Any, extra: list[Tensor], offset: int) -> Operand:
    for position, other in enumerate(extra):
        if other is tensor:
            return Operand(offset + position, known)
    extra.append(tensor)
    return Operand(offset + len(extra) - 1, known)


def _fill(value: Any, values: Sequence[Any]) -> Any:
    """`value` with each `Operand` replaced by the value of the input it names."""
    return map_operands(value, lambda operand: values[operand.index])


def _fill_unknown(value: Any, specs: Sequence[TensorSpec]) -> Any:
    """`value` with each `Operand` replaced by what is known of the input it names."""
    return map_operands(value, lambda item: Unknown(specs[item.index], item.known))


def map_operands(value: Any, change: Callable[[Operand], Any]) -> Any:
    """An attribute with ``change(operand)`` in the place of each `Operand`.

    >>> map_operands((Slice(Operand(1), None, 2), 3), lambda operand: operand.index)
    (1::2, 3)
    """
    if isinstance(value, Operand):
        return change(value)
    if isinstance(value, Slice):
        return Slice(*(map_operands(part, change) for part in value))
    if type(value) is tuple:
        return tuple(map_operands(item, change) for item in value)
    return value


_KINDS = {
    "f": "floating",
    "i": "integer",
    "u": "unsigned integer",
    "c": "complex",
    "b": "bool",
    "O": "string",
}


def _not_taken(dtype: DType, takes: str) -> DTypeMismatchError:
    kinds = ", ".join(_KINDS[kind] for kind in takes)
    return DTypeMismatchError(
        f"it does not take a {dtype.name} tensor, but one of these kinds: {kinds}; "
        "tf.cast converts"
    )


def slice_text(start: str | None, stop: str | None, step: str | None) -> str:
    """A slice as Python writes it within an index."""
    text = f"{start or ''}:{stop or ''}"
    return text if step is None else f"{text}:{step}"


def _spec_of(array: Any) -> TensorSpec:
    return TensorSpec(array.shape, of_array(array))
