"""Python's operators of tensors: `x + y`, `x == y`, `[0] * n`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import DTypeMismatchError, InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Op, register
from runtime.core.hooks import hooks
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor, operators
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from runtime.ops.convert import as_tensor, cast_number, constant, is_tensor
from runtime.ops.elementwise.arithmetic import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    not_equal,
    true_divide,
)
from runtime.ops.elementwise.factories import (
    apply_binary,
    binary_function,
    broadcast_spec,
)
from runtime.ops.staged.flow import none_test, optional_parts


def _operator(op: str, node_name: str, general: Any = apply_binary) -> Any:
    """The function behind the Python operator called `node_name`."""

    def of_numbers(op: str, x: Any, y: Any, name: str, reflected: str | None) -> Any:
        if _is_truth(x) or _is_truth(y):
            x, y = _as_number(x), _as_number(y)
        return general(op, x, y, name, reflected)

    reflected = f"__r{node_name}__"
    return binary_function(node_name, op, "", node_name, reflected, of_numbers)


def _is_truth(value: Any) -> bool:
    """Whether it is a scalar bool tensor, which stands for a bool of Python's."""
    return isinstance(value, Tensor) and value.dtype.is_bool and value.shape.rank == 0


def _as_number(value: Any) -> Any:
    """A bool as the int that it is in Python; anything else as it is."""
    if isinstance(value, bool) or (isinstance(value, EagerTensor) and _is_truth(value)):
        return int(value)
    return cast_number(value, dtypes.int64, weak=True) if _is_truth(value) else value


# --- x + y ----------------------------------------------------------------------------


def _add_operator(op: str, x: Any, y: Any, name: str, reflected: str | None) -> Any:
    """``x + y``: what a program may mean to join is not broadcast.

    Who writes ``done + rest`` of a list means to join them, and an empty list would
    take the vector with it. So do slices of one vector, as in ``xs[1:] + xs[:1]``,
    in a graph: elsewhere, and of more dimensions, that is TensorFlow's broadcasting.
    """
    for items, tensor in ((x, y), (y, x)):
        is_list = isinstance(items, Sequence) and not isinstance(items, (tuple, str))
        if is_list and is_tensor(tensor) and _may_be_joined(items, tensor):
            if not isinstance(items, list):
                raise InvalidArgumentError(_JOINING.format(""))
            if not items or tensor.shape[0] not in (None, len(items)):
                lengths = f" of the lengths {len(items)} and {tensor.shape[0]}"
                raise InvalidArgumentError(_JOINING.format(lengths))
            if tensor.shape[0] is None:
                shape = (len(items), *tensor.shape[1:])
                checked = apply("EnsureShape", as_tensor(tensor), shape=shape)
                x, y = (items, checked) if tensor is y else (checked, items)
            break
    if isinstance(x, SymbolicTensor) and isinstance(y, SymbolicTensor):
        _check_slices(x, y)
    return apply_binary(op, x, y, name, reflected)


def _may_be_joined(items: Sequence[Any], tensor: Any) -> bool:
    """Whether a list and a tensor may be two lists: of numbers, or of rows."""
    if tensor.shape.rank == 1 or not tensor.shape.rank:
        return bool(tensor.shape.rank)
    if not isinstance(items, list):
        return False
    return all(is_tensor(item) and item.shape.rank for item in items)


def _check_slices(x: SymbolicTensor, y: SymbolicTensor) -> None:
    """Refuse slices of one vector whose lengths differ; the graph asks open lengths.

    Raises InvalidArgumentError.
    """
    if x.shape.rank != 1 or y.shape.rank != 1:
        return
    ends = _slice_of(x), _slice_of(y)
    if None in ends or x.node.inputs[0] is not y.node.inputs[0]:
        return
    one, other = x.shape[0], y.shape[0]
    if one is None or other is None:
        if _same_length(*ends):
            return
        lengths = [apply("Shape", t, out_type=dtypes.int32) for t in (x, y)]
        template = (_JOINING_SLICES.format("different lengths"),)
        apply("Assert", apply("Equal", *lengths), template=template, summarize=3)
    elif one != other:
        raise _joins_slices(one, other)


def _joins_slices(*lengths: Any) -> InvalidArgumentError:
    one, other = lengths
    return InvalidArgumentError(
        _JOINING_SLICES.format(f"the lengths {one} and {other}")
    )


def _slice_of(tensor: SymbolicTensor) -> Any:
    """The slice ``start:stop:step`` that gave the tensor; None if none did."""
    if tensor.op_name != "StridedSlice":
        return None
    key = tensor.node.attrs["key"]
    return key[0] if len(key) == 1 and isinstance(key[0], tuple) else None


def _same_length(one: Any, other: Any) -> bool:
    """Whether two slices are equally long, whatever they are slices of."""
    if not all(part is None or isinstance(part, int) for part in (*one, *other)):
        return False
    wholes = map(range, (*range(8), 1000))
    return all(len(w[slice(*one)]) == len(w[slice(*other)]) for w in wholes)


_JOINING = (
    "`+` of a list and a tensor{} adds their elements and joins nothing: to join them, "
    "write `items + list(tensor)`, or tf.concat([items, tensor], axis=0)"
)
_JOINING_SLICES = (
    "`+` of slices of one vector, of {}, adds their elements and joins "
    "nothing: to join them, write tf.concat([x, y], axis=0), and to add them "
    "tf.add(x, y)"
)


# --- x * y ----------------------------------------------------------------------------


def _multiply(op: str, x: Any, y: Any, name: str, reflected: str | None) -> Any:
    """``x * y``: a list, tuple or text times an integer is repeated, as in Python."""
    for items, times in ((x, y), (y, x)):
        if _is_sequence(items) and _is_count(times):
            if current_graph() is not None and not isinstance(times, EagerTensor):
                times = times if isinstance(times, Tensor) else as_tensor(times)
                return hooks.repeated(items, times)
            return items * int(times)
    return apply_binary(op, x, y, name, reflected)


def _is_sequence(value: Any) -> bool:
    """Whether it is a sequence of Python's, or stands for one in a graph."""
    if isinstance(value, SymbolicTensor):
        return value.is_text
    return isinstance(value, Sequence)


def _is_count(value: Any) -> bool:
    if isinstance(value, int):
        return True
    if not is_tensor(value) or value.shape.rank != 0:
        return False
    return bool(value.dtype.is_integer or value.dtype.is_bool)


def _equal_operator(x: Any, y: Any) -> Any:
    """``x == y``: nothing equals None, nor a tensor that it does not broadcast with."""
    for one, other in ((x, y), (y, x)):
        parts = optional_parts(one)
        if parts is not None:
            return _equal_or_none(*parts, other)
    if x is None or y is None:
        return False
    try:
        return equal(x, y)
    except DTypeMismatchError:
        raise
    except InvalidArgumentError:
        return constant(False)


def _equal_or_none(value: Tensor, some: Tensor, other: Any) -> Any:
    """``x == other`` of a tensor `value` that is None where `some` is off."""
    if other is None:
        return none_test(some)
    parts = optional_parts(other)
    if parts is None:
        return apply("LogicalAnd", some, _equal_operator(value, other))
    same = apply("LogicalAnd", some, _equal_operator(value, parts[0]))
    both = apply("Equal", some, parts[1])
    return apply("LogicalAnd", both, apply("LogicalOr", same, none_test(some)))


def _not_equal_operator(x: Any, y: Any) -> Any:
    """``x != y``: everything differs from None, and from a tensor of another shape."""
    if x is None or y is None or optional_parts(x) or optional_parts(y):
        same = _equal_operator(x, y)
        return True if same is False else apply("LogicalNot", same)
    try:
        return not_equal(x, y)
    except DTypeMismatchError:
        raise
    except InvalidArgumentError:
        return constant(True)


def _text_order(x: Any, y: Any, *, order: str) -> Any:
    # Texts in UTF-8 have the order of their characters.
    return np.asarray(getattr(np, order)(x, y), bool)


register(
    Op(
        "TextOrder",
        _text_order,
        lambda x, y, order: TensorSpec(broadcast_spec(x, y), dtypes.bool),
        strong=True,
        family="text",
    )
)


def _ordering(function: Any, order: str) -> Any:
    """``x < y`` and its kin, also of texts, which `tf.less` does not take."""

    def compare(x: Any, y: Any) -> Any:
        try:
            return function(x, y)
        except DTypeMismatchError:
            if not (_is_string(x) and _is_string(y)):
                raise
        return apply("TextOrder", as_tensor(x), as_tensor(y), order=order)

    return compare


def _is_string(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dtype is dtypes.string
    return isinstance(value, (bytes, str))


operators.bind(
    add=_operator("AddV2", "add", _add_operator),
    subtract=_operator("Sub", "sub"),
    multiply=_operator("Mul", "mul", _multiply),
    truediv=_operator("RealDiv", "truediv", true_divide),
    floordiv=_operator("FloorDiv", "floordiv"),
    mod=_operator("FloorMod", "mod"),
    pow=_operator("Pow", "pow"),
    less=_ordering(less, "less"),
    less_equal=_ordering(less_equal, "less_equal"),
    greater=_ordering(greater, "greater"),
    greater_equal=_ordering(greater_equal, "greater_equal"),
    equal=_equal_operator,
    not_equal=_not_equal_operator,
)
