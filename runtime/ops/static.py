"""What tracing can tell about the value of a tensor, above all one that holds a shape.

``tf.zeros([tf.shape(x)[0], 3])`` has the static shape ``(?, 3)``, or ``(2, 3)`` where
the length of ``x`` is known: shapes are followed through the few nodes that programs
compute them with, and any other node on small known values is simply computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph import record
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.ops.python_ints import kernel_of

#: Longer constants stay tensors: they are data, not shapes.
MAX_ELEMENTS = 64
MAX_DEPTH = 12


def plain(array: Any) -> Any:
    """The value of an array as Python numbers in nested tuples."""
    return _tuples(array.tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def static_value(tensor: Tensor) -> tuple[Any, bool]:
    """``(value, complete)``: a number or nested tuples of numbers, None where unknown.

    `complete` says that nothing in it is unknown.
    """
    value = _value(tensor, MAX_DEPTH, {})
    return value, _complete(value)


def _complete(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_complete, value))
    return value is not None


#: Values found already, by the tensor and how far it was to be followed: graphs use
#: the same tensors over and over.
_Known = dict[tuple[int, int], Any]


def _value(tensor: Any, depth: int, known: _Known) -> Any:
    if not isinstance(tensor, SymbolicTensor):
        array = tensor._array
        return plain(array) if array.size <= MAX_ELEMENTS else None
    key = (id(tensor), depth)
    if key not in known:
        known[key] = _followed(tensor, depth, known)
    return known[key]


def _followed(tensor: SymbolicTensor, depth: int, known: _Known) -> Any:
    node = tensor.node
    op = node.op
    if op == "Const":
        array = node.attrs["value"]
        return plain(array) if array.size <= MAX_ELEMENTS else None
    if op == "Shape":
        dims = node.inputs[0].shape.dims
        return None if dims is None else tuple(dims)
    if op == "Placeholder" or depth == 0:
        return None
    if op == "Pack" and node.attrs["axis"] == 0:
        return tuple(_value(item, depth - 1, known) for item in node.inputs)
    if op == "StridedSlice" and len(node.inputs) == 1:
        value = _value(node.inputs[0], depth - 1, known)
        return _sliced(value, node.attrs["key"])
    values = []
    for item in node.inputs:
        values.append(_value(item, depth - 1, known))
        if not _complete(values[-1]):
            return None
    return _computed(tensor, values) if values else None


def _sliced(value: Any, key: tuple[Any, ...]) -> Any:
    """A vector, perhaps known in part, under one index or slice."""
    if not isinstance(value, tuple) or len(key) != 1:
        return None
    try:
        if isinstance(key[0], int):
            return value[key[0]]
        return value[slice(*key[0])] if isinstance(key[0], tuple) else None
    except IndexError:
        return None


def _computed(tensor: SymbolicTensor, values: list[Any]) -> Any:
    """The value of a node whose inputs are known, if it is pure and small."""
    node = tensor.node
    count = tensor.shape.num_elements()
    if count is None or count > MAX_ELEMENTS or any(node.subgraphs()):
        return None
    op = record.get(node.op)
    if op.stateful:
        return None
    arrays = [
        np.array(value, dtype=item.dtype.np_dtype)
        for value, item in zip(values, node.inputs)
    ]
    try:
        result = kernel_of(node)(*arrays, **node.attrs)
    except Exception:
        # It fails when it runs, if it runs at all: not a matter of this shape.
        return None
    return plain(
        np.asarray(result if len(node.outputs) == 1 else result[tensor.value_index])
    )
