"""Lists of different lengths as elements of a list in a graph.

Such an element is a `Ragged`: the items, with room to spare, and their number. The
buffer of the items is as wide as the longest element needs. A list whose elements are
of one length takes this form when an element of another length is added.
`BufferedList` asks for it through `Element.common` and `relaid`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.types import dtypes, nest
from runtime.core.types.specs import TensorSpec
from runtime.ops import convert
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.shape import reshape
from runtime.ops.elementwise.arithmetic import maximum
from runtime.ops.operands import run
from runtime.staging.lists.elements import Element, Fixed, Ragged, Row
from runtime.staging.lists.rows import emit
from runtime.staging.lists.sequences import like
from runtime.staging.tracing.subgraph import adapted, join_specs

_Leaf = TensorSpec | Fixed
_COUNT = TensorSpec((), dtypes.int32)
_LISTS = (list, Row, Ragged)


def holds_ragged(structure: Any) -> bool:
    """Whether the structure of an element contains a list of any length."""
    if type(structure) is Ragged:
        return True
    return any(holds_ragged(part) for _, part in nest.children(structure) or ())


def ragged_columns(element: Element) -> list[bool]:
    """For each buffer of a list of such elements, whether it has a `Ragged`'s rows."""
    flags = _are_ragged(element.structure)
    return [
        flag
        for flag, leaf in zip(flags, element.leaves, strict=True)
        if isinstance(leaf, TensorSpec)
    ]


def _are_ragged(structure: Any) -> list[bool]:
    if type(structure) is Ragged:
        return [True, False]
    inside = nest.children(structure)
    if inside is None:
        return [False]
    return [flag for _, part in inside for flag in _are_ragged(part)]


# --- the form that two elements have in common ----------------------------------------


class _Unlike(Exception):
    """Two elements have no form in common."""


def common_element(one: Element, other: Element) -> Element | None:
    """The form with ragged lists that holds elements of both; None if none does."""
    leaves = iter(one.leaves), iter(other.leaves)
    try:
        structure, merged = _common(
            one.structure, leaves[0], other.structure, leaves[1]
        )
    except _Unlike:
        return None
    return Element(structure, tuple(merged))


def _common(
    one: Any, leaves: Iterator[_Leaf], other: Any, others: Iterator[_Leaf]
) -> tuple[Any, list[_Leaf]]:
    if type(one) in _LISTS and type(other) in _LISTS:
        if not (type(one) is type(other) is list and len(one) == len(other)):
            first, second = _items(one, leaves), _items(other, others)
            item = _joined(first, second) if first and second else first or second
            if item is None:
                raise _Unlike
            return Ragged(0, 0), [item, _COUNT]
    ours, theirs = nest.children(one), nest.children(other)
    if ours is None and theirs is None:
        return 0, [_joined(next(leaves), next(others))]
    if ours is None or theirs is None or type(one) is not type(other):
        raise _Unlike
    if [step for step, _ in ours] != [step for step, _ in theirs]:
        raise _Unlike
    merged = [_common(a, leaves, b, others) for (_, a), (_, b) in zip(ours, theirs)]
    return (
        nest.rebuild(one, [part for part, _ in merged]),
        [leaf for _, part_leaves in merged for leaf in part_leaves],
    )


def _items(structure: Any, leaves: Iterator[_Leaf]) -> TensorSpec | None:
    """The spec of the items of a list, as a vector; None for an empty list."""
    if type(structure) is list:
        if any(nest.is_nested(part) for part in structure):
            raise _Unlike
        item: Any = None
        for _ in structure:
            leaf = next(leaves)
            if not isinstance(leaf, TensorSpec) or leaf.rank != 0:
                raise _Unlike
            item = leaf if item is None else _joined(item, leaf)
        return item and TensorSpec((None,), item.dtype, weak=item.weak)
    leaf = next(leaves)
    if type(structure) is Ragged:
        next(leaves)
    if not isinstance(leaf, TensorSpec) or leaf.rank != 1:
        raise _Unlike
    return TensorSpec((None,), leaf.dtype, weak=leaf.weak)


def _joined(one: _Leaf, other: _Leaf) -> Any:
    if isinstance(one, Fixed) or isinstance(other, Fixed):
        if one != other:
            raise _Unlike
        return one
    if not one.shape.is_compatible_with(other.shape):
        raise _Unlike
    try:
        return join_specs(one, other, promote=True)
    except TypeError:
        raise _Unlike from None


# --- tensors --------------------------------------------------------------------------


def relaid(old: Element, columns: Sequence[Any], count: Any, new: Element) -> list[Any]:
    """The columns of a list for the form of a `common_element`."""
    leaves = iter(old.leaves)
    relaid_columns = _relaid(old.structure, leaves, iter(columns), count, new.structure)
    result = []
    for column, spec in zip(relaid_columns, new.specs, strict=True):
        if column is None:  # of lists without items
            none = np.empty((1, 0), spec.dtype.np_dtype)
            weak = bool(spec.weak)
            column = emit("ListRepeat", convert.make_constant(none, weak=weak), count)
        wanted = TensorSpec((None, *spec.shape.as_tuple()), spec.dtype, weak=spec.weak)
        result.append(adapted(column, wanted))
    return result


def _relaid(
    structure: Any,
    leaves: Iterator[_Leaf],
    columns: Iterator[Any],
    count: Any,
    form: Any,
) -> list[Any]:
    if type(form) is Ragged and type(structure) is Row:
        next(leaves)
        rows = next(columns)
        return [rows, _repeated(_length(rows, 1), count)]
    if type(form) is Ragged and type(structure) is list:
        items = [next(columns) for _ in structure for _ in [next(leaves)]]
        rows = stack(items, axis=1) if items else None
        if rows is not None:
            rows = like(rows, items[0])
        return [rows, _repeated(len(items), count)]
    ours, theirs = nest.children(structure), nest.children(form)
    if ours is None or theirs is None:
        return [next(columns)] if isinstance(next(leaves), TensorSpec) else []
    return [
        column
        for (_, part), (_, other) in zip(ours, theirs)
        for column in _relaid(part, leaves, columns, count, other)
    ]


def _repeated(value: Any, count: Any) -> Any:
    single = reshape(convert.cast(value, dtypes.int32), [1])
    return emit("ListRepeat", single, count, weak=False)


def _length(tensor: Any, axis: int) -> Any:
    dims = emit("Shape", tensor, weak=False, out_type=dtypes.int32)
    return dims[axis]


def widened(buffer: Any, rows: Any) -> Any:
    """A buffer whose rows have room for as many items as ``rows`` have."""
    width = _length(buffer, 1)
    return _padded(buffer, maximum(width, _length(rows, -1)) - width)


def padded(rows: Any, buffer: Any) -> Any:
    """A row, or many, of the width of a buffer that has room for it."""
    return _padded(rows, _length(buffer, 1) - _length(rows, -1))


def _padded(rows: Any, missing: Any) -> Any:
    """Rows with so many more items, which nothing reads."""
    rank = rows.shape.rank
    widths = reshape(stack([*[0] * (2 * rank - 1), missing]), [rank, 2])
    nothing = b"" if rows.dtype.kind == "O" else 0
    result = run("PadV2", rows, paddings=widths, mode="CONSTANT", value=nothing)
    return like(result, rows)


Element.common = staticmethod(common_element)
