"""Lists of different lengths as elements of a list in a graph.

Such an element is a `Ragged`: the items, with room to spare, and their number. The
buffer of the items is as wide as the longest of them needs. A list whose elements are
of one known form becomes one of these where an element of another length comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from runtime.ops import convert
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.shape import reshape
from runtime.ops.define import run
from runtime.ops.elementwise.arithmetic import maximum
from runtime.staging.lists.elements import Element, Fixed, Ragged, Row
from runtime.staging.lists.rows import emit
from runtime.staging.lists.sequences import weakened
from runtime.tracing.subgraph import adapted, join_specs
from runtime.types import dtypes, nest
from runtime.types.specs import TensorSpec

__all__ = [
    "common_element",
    "holds_ragged",
    "padded",
    "ragged_columns",
    "relaid",
    "widened",
]

_Leaf = TensorSpec | Fixed
_COUNT = TensorSpec((), dtypes.int32)
_LISTS = (list, Row, Ragged)


def holds_ragged(structure: Any) -> bool:
    """Whether there is a list of any length in the structure of an element."""
    if type(structure) is Ragged:
        return True
    return any(holds_ragged(part) for _, part in nest.children(structure) or ())


def ragged_columns(element: Element) -> list[bool]:
    """For each buffer of a list of such elements whether it has items of a `Ragged`."""
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
    """What takes elements of both, with lists of any length; None if nothing does."""
    leaves = iter(one.leaves), iter(other.leaves)
    try:
        structure, found = _common(one.structure, leaves[0], other.structure, leaves[1])
    except _Unlike:
        return None
    return Element(structure, tuple(found))


def _common(
    one: Any, leaves: Iterator[_Leaf], other: Any, others: Iterator[_Leaf]
) -> tuple[Any, list[_Leaf]]:
    if type(one) in _LISTS and type(other) in _LISTS:
        if not (type(one) is type(other) is list and len(one) == len(other)):
            here, there = _items(one, leaves), _items(other, others)
            item = _joined(here, there) if here and there else here or there
            if item is None:
                raise _Unlike
            return Ragged(0, 0), [item, _COUNT]
    inside, beside = nest.children(one), nest.children(other)
    if inside is None and beside is None:
        return 0, [_joined(next(leaves), next(others))]
    if inside is None or beside is None or type(one) is not type(other):
        raise _Unlike
    if [step for step, _ in inside] != [step for step, _ in beside]:
        raise _Unlike
    parts = [_common(a, leaves, b, others) for (_, a), (_, b) in zip(inside, beside)]
    return (
        nest.rebuild(one, [part for part, _ in parts]),
        [leaf for _, found in parts for leaf in found],
    )


def _items(structure: Any, leaves: Iterator[_Leaf]) -> TensorSpec | None:
    """The spec of the items of a list, as a vector; None for an empty list."""
    if type(structure) is list:
        if any(nest.is_nested(part) for part in structure):
            raise _Unlike
        found: Any = None
        for _ in structure:
            leaf = next(leaves)
            if not isinstance(leaf, TensorSpec) or leaf.rank != 0:
                raise _Unlike
            found = leaf if found is None else _joined(found, leaf)
        return found and TensorSpec((None,), found.dtype, weak=found.weak)
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
    found = _relaid(old.structure, leaves, iter(columns), count, new.structure)
    made = []
    for column, spec in zip(found, new.specs, strict=True):
        if column is None:  # of lists without items
            none = np.empty((1, 0), spec.dtype.np_dtype)
            weak = bool(spec.weak)
            column = emit("ListRepeat", convert.make_constant(none, weak=weak), count)
        wanted = TensorSpec((None, *spec.shape.as_tuple()), spec.dtype, weak=spec.weak)
        made.append(adapted(column, wanted))
    return made


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
            rows = _like(rows, items[0])
        return [rows, _repeated(len(items), count)]
    inside, beside = nest.children(structure), nest.children(form)
    if inside is None or beside is None:
        return [next(columns)] if isinstance(next(leaves), TensorSpec) else []
    return [
        column
        for (_, part), (_, other) in zip(inside, beside)
        for column in _relaid(part, leaves, columns, count, other)
    ]


def _repeated(value: Any, count: Any) -> Any:
    one = reshape(convert.cast(value, dtypes.int32), [1])
    return emit("ListRepeat", one, count, weak=False)


def _like(tensor: Any, other: Any) -> Any:
    return weakened(tensor) if other.spec.weak else tensor


def _length(tensor: Any, axis: int) -> Any:
    dims = emit("Shape", tensor, weak=False, out_type=dtypes.int32)
    return dims[axis]


def widened(buffer: Any, rows: Any) -> Any:
    """A buffer of rows with room for as many items as there are in some rows."""
    width = _length(buffer, 1)
    return _padded(buffer, maximum(width, _length(rows, -1)) - width)


def padded(rows: Any, buffer: Any) -> Any:
    """A row, or many, of the width of a buffer that has room for it."""
    return _padded(rows, _length(buffer, 1) - _length(rows, -1))


def _padded(rows: Any, missing: Any) -> Any:
    """Rows with so many items more, which nobody reads."""
    rank = rows.shape.rank
    widths = reshape(stack([*[0] * (2 * rank - 1), missing]), [rank, 2])
    nothing = b"" if rows.dtype.kind == "O" else 0
    made = run("PadV2", rows, paddings=widths, mode="CONSTANT", value=nothing)
    return _like(made, rows)


Element.common = staticmethod(common_element)
