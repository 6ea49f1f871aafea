"""A form that two values of a variable have in common, where their kinds differ.

The branches of an ``if``, and a loop before and after an iteration, can leave a
variable with values of different structures: lists of different lengths, or None and a
value. `branches`, `loop_state` and `recursion` ask here for a form of both. Classes
of containers register theirs with `register_join`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.ops.elementwise.logical import logical_and
from runtime.ops.staged.flow import optional_parts, require_bound
from runtime.staging.lists.elements import Element
from runtime.staging.lists.gathering import spread
from runtime.staging.lists.rows import buffer_of, loose
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import (
    ChosenCopy,
    ElementCopy,
    chosen,
    in_one_kind,
    plain_class,
)
from runtime.staging.objects.enums import StagedMember, member_of
from runtime.staging.objects.refusals import Untold
from runtime.staging.state.optional import (
    NOTHING,
    StagedOptional,
    alike,
    as_optional,
    composed,
)
from runtime.staging.state.values import (
    can_be_tensor,
    checked_parts,
    placeholder,
    same_object,
)
from runtime.staging.tracing.form import Form, nested


class Side(NamedTuple):
    """One of two values of a variable, and the graph that it is a value in."""

    value: Any
    graph: Graph


#: Two values in one form; None where no form holds both.
Pair = tuple[Any, Any] | None
#: Brings two values of a named variable into one form.
Join = Callable[[Side, Side, str], Pair]
_joins: dict[type, Join] = {}


def register_join(kind: type, join: Join) -> None:
    """Have ``join`` find the common form of two containers of Python of that kind."""
    _joins[kind] = join


def common_form(one: Side, other: Side, name: str) -> Pair:
    """Both values in one form, or None where there is none.

    Each value is converted in the graph of its side (``with building(one.graph)``). The
    results have the same structure: tensors, or objects whose ``_flatten()`` gives
    parts to merge one by one, and whose ``_unflatten(parts)`` makes the value of the
    variable ``name`` from the merged parts.
    """
    if _may_be_none(one.value) or _may_be_none(other.value):
        return _as_optionals(one, other, name)
    if _is_member(one.value) or _is_member(other.value):
        return _as_members(one, other, name)
    pair = in_one_kind(one.value, other.value)
    if pair is not None:
        one, other = Side(pair[0], one.graph), Side(pair[1], other.graph)
        if _fit(*pair):
            return pair
    staged_kinds = [s.value.kind for s in (one, other) if isinstance(s.value, Untold)]
    kind = staged_kinds[0] if staged_kinds else type(one.value)
    if kind in _joins and (staged_kinds or type(other.value) is kind):
        pair = _joins[kind](one, other, name)
        if pair is not None or staged_kinds:
            return pair
    if _is_list(one.value) and _is_list(other.value):
        rows = None if _is_chosen(one, other) else _as_rows(one, other, name)
        if rows is not None:
            return rows
        lists = _as_lists(one, other, name)
        if lists is not None:
            return lists
    return _part_by_part(one, other, name)


def _is_member(value: Any) -> bool:
    return isinstance(value, (Enum, StagedMember))


def _as_members(one: Side, other: Side, name: str) -> Pair:
    """Two members of an enumeration as their indices; beside a number, as numbers."""
    values = one.value, other.value
    if any(map(can_be_tensor, values)):
        members = [value for value in values if _is_member(value)]
        if not all(isinstance(member, (int, float, str)) for member in members):
            return None
        return tuple(v.value if _is_member(v) else v for v in values)
    with building(one.graph):
        ours = member_of(one.value)
    with building(other.graph):
        theirs = member_of(other.value)
    if ours is None or theirs is None or not ours._same_structure(theirs):
        return None
    return ours, theirs


# --- None beside a value --------------------------------------------------------------


def absent(name: str) -> StagedOptional:
    """None, as an optional that could hold anything."""
    return StagedOptional(NOTHING, False, name)


def _as_optionals(one: Side, other: Side, name: str) -> Pair:
    """Two values, at least one of which may be None, as optionals of one structure."""
    with building(one.graph):
        first = _optional(one.value, name)
    with building(other.graph):
        second = _optional(other.value, name)
    if first._value is NOTHING:
        return _filled(first, second._value, one.graph), second
    if second._value is NOTHING:
        return first, _filled(second, first._value, other.graph)
    if alike(first._value, second._value):
        return first, second
    sides = one._replace(value=first._value), other._replace(value=second._value)
    values = common_form(*sides, name)
    if values is None:
        return None
    return (
        StagedOptional(values[0], first._some, first._name),
        StagedOptional(values[1], second._some, second._name),
    )


def without_none(value: Any, name: str) -> Any:
    """The value with `absent` for each None, itself or within its structure."""
    if value is None:
        return absent(name)
    return nest.with_parts(value, lambda part: without_none(part, name))


def _may_be_none(value: Any) -> bool:
    return value is None or isinstance(as_optional(value), StagedOptional)


def _optional(value: Any, name: str) -> StagedOptional:
    """Any value as an optional; None becomes `absent`."""
    if value is None:
        return absent(name)
    value = as_optional(value)
    if buffer_of(value) is not None:
        value = loose(value)  # None has no rows
    is_optional = isinstance(value, StagedOptional)
    return value if is_optional else StagedOptional(value, True, name)


def _filled(empty: StagedOptional, like: Any, graph: Graph) -> StagedOptional:
    """The empty optional with placeholders in the structure of ``like``."""
    with building(graph):
        form, leaves = Form.of(like, composed)
        unread = [placeholder(x.spec) if isinstance(x, Tensor) else x for x in leaves]
        return StagedOptional(form.pack(unread), empty._some, empty._name)


# --- lists ----------------------------------------------------------------------------


def _is_list(value: Any) -> bool:
    if isinstance(value, StagedList):
        return value.kind is list
    return plain_class(value) is list and not isinstance(value, ElementCopy)


def _is_chosen(*sides: Side) -> bool:
    return any(isinstance(side.value, ChosenCopy) for side in sides)


def _as_rows(one: Side, other: Side, name: str) -> Pair:
    """Two lists of one length as rows of a tensor each, if one of them already is."""
    buffer, other_buffer = buffer_of(one.value), buffer_of(other.value)
    if any(isinstance(side.value, StagedList) for side in (one, other)):
        return None
    if (buffer is None) == (other_buffer is None) or len(one.value) != len(other.value):
        return None
    with building(one.graph):
        first = spread(one.value)
    with building(other.graph):
        second = spread(other.value)
    if buffer_of(first) is not None and buffer_of(second) is not None:
        return first, second
    # Otherwise the items of the list of rows become separate values.
    if buffer is None:
        with building(other.graph):
            return common_form(one, Side(loose(other.value), other.graph), name)
    with building(one.graph):
        return common_form(Side(loose(one.value), one.graph), other, name)


def _as_lists(
    one: Side, other: Side, name: str
) -> tuple[StagedList, StagedList] | None:
    """Two lists as lists of an open length; None if they are of one length."""
    values = one.value, other.value
    if not any(isinstance(value, StagedList) for value in values):
        if len({*map(len, values)}) == 1:
            return None
    both = beside_each_other(one, other, name, _as_list)
    if both is None:
        return None
    if _is_chosen(one, other):
        return chosen(both[0]), chosen(both[1])
    return both


def _as_list(side: Side, name: str, elements: Sequence[Element]) -> StagedList | None:
    if isinstance(side.value, StagedList):
        return side.value
    if not side.value and not elements:
        return None
    with building(side.graph):
        values, flag = _without_flag(side.value)
        staged = StagedList.of(values, name, elements[0] if elements else None)
        if flag is None:
            return staged
        tensors = [require_bound(tensor, flag, name) for tensor in staged._flatten()]
        return staged._unflatten(tensors)


def _without_flag(items: list[Any]) -> tuple[list[Any], Any]:
    """The raw items of a list that may be unbound, and the flag; None if it is bound.

    Packing checked items into rows would read them; only a use of the list may do that.
    """
    checked_leaves = [checked_parts(leaf) for leaf in nest.flatten(items)]
    checked = [pair for pair in checked_leaves if pair is not None]
    if not checked or len(checked) < len(checked_leaves):
        return items, None
    values = [value for value, _ in checked]
    # All items of a list are bound together, though each of them has its flag.
    flag = functools.reduce(logical_and, [flag for _, flag in checked])
    return nest.pack_sequence_as(items, values), flag


def beside_each_other(
    one: Side, other: Side, name: str, staged: Callable[[Side, str, Any], Any]
) -> Pair:
    """Both values as containers of the graph, each with room for all elements.

    ``staged`` makes the container of a side, given the forms of its elements: an empty
    container takes those of the other side. None if neither side gives any.
    """
    first = staged(one, name, ())
    second = staged(other, name, () if first is None else first.all_elements)
    if first is None and second is not None:
        first = staged(one, name, second.all_elements)
    if first is None or second is None:
        return None
    with building(one.graph):
        first = first.beside(second.all_elements)
    with building(other.graph):
        second = second.beside(first.all_elements)
    for ours, theirs in zip(first.all_elements, second.all_elements, strict=True):
        ours.joined(theirs, name)
    return first, second


# --- structures -----------------------------------------------------------------------


def _part_by_part(one: Side, other: Side, name: str) -> Pair:
    """Two structures with the same keys, each pair of parts in a common form."""
    if composed(one.value) is None or composed(other.value) is None:
        return None
    ours, theirs = nested(one.value), nested(other.value)
    if ours is None or theirs is None or type(one.value) is not type(other.value):
        return None
    if ours.steps != theirs.steps:
        return None
    pairs = []
    for step, a, b in zip(ours.steps, ours.parts, theirs.parts):
        pair = a, b
        if not _fit(a, b):
            sides = Side(a, one.graph), Side(b, other.graph)
            common = common_form(*sides, name + step)
            if common is None:
                return None
            pair = common
        pairs.append(pair)
    first = ours.rebuild([a for a, _ in pairs])
    second = theirs.rebuild([b for _, b in pairs])
    return (first, second) if alike(first, second) else None


def _fit(one: Any, other: Any) -> bool:
    """Whether two values can be merged without a conversion."""
    if same_object(one, other):
        return True
    if optional_parts(one) or optional_parts(other):
        return False
    if can_be_tensor(one) or can_be_tensor(other):
        return can_be_tensor(one) and can_be_tensor(other)
    form, leaves = Form.of(one, composed)
    other_form, others = Form.of(other, composed)
    if form.is_leaf or not form.is_like(other_form):
        return False
    return all(map(_fit, leaves, others))
