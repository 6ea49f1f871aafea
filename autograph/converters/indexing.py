"""Which items of Python containers a tensor may choose: ``xs[i]``, ``xs[:n]``."""

from __future__ import annotations

from typing import Any

import gast

from ..lang import nodes

#: Containers of Python whose items a tensor can choose.
INDEXED = frozenset({dict, list, range, str, tuple})
#: Those of whose items, or items of items, a tensor can choose one that is assigned.
ASSIGNED = frozenset({dict, list, tuple})
_NO_INDEX = (gast.JoinedStr, gast.Tuple, gast.Lambda)


def ends_of(key: Any) -> list[gast.AST]:
    """The index, or the ends of the slice, that may be tensors.

    None at all where one is surely no number.
    """
    ends = [key]
    if is_pair(key):
        return list(key.elts)
    if isinstance(key, gast.Slice):
        ends = [end for end in (key.lower, key.upper, key.step) if end is not None]
    return [] if not ends or isinstance(ends[0], _NO_INDEX) else ends


def is_pair(key: Any) -> bool:
    """Whether a key is a tuple that a dict may have: ``d[i, j]``."""
    no_key = (gast.Slice, gast.Starred)
    return isinstance(key, gast.Tuple) and not any(
        isinstance(part, no_key) for part in key.elts
    )


def arguments_of(key: Any) -> list[gast.AST]:
    """What ``ag.getitem`` is given: an index, or the ends of a slice."""
    if not isinstance(key, gast.Slice):
        return [key]
    ends = [key.lower, key.upper, *([] if key.step is None else [key.step])]
    return [nodes.constant(None, key) if end is None else end for end in ends]


def keys_of(item: Any) -> tuple[list[gast.AST], gast.AST]:
    """The indices of ``items[i][j]`` in their order, and the container."""
    keys: list[gast.AST] = []
    while isinstance(item, gast.Subscript):
        keys.insert(0, item.slice)
        item = item.value
    return keys, item
