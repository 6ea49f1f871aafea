"""Calls as they are written: a key for the kinds of their arguments, in a microsecond.

The key tells apart what the key of a `function.call.Call` tells apart, and more: calls
that differ only in how they are written (by keyword, by position, with a default left
out) have keys of their own.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from runtime.ops.convert import convert_to_tensor
from runtime.tensor import EagerTensor
from runtime.types import nest
from runtime.types.classes import defines, remembered

__all__ = ["ARRAYS", "FastKey", "fast_key", "objects_of"]

Array = np.ndarray[Any, Any]
FastKey = tuple[Hashable, ...]

#: Stands in a key before the id of an object that is known by its identity.
_OBJECT = object()
#: Values that are equal only if they are the same, once their type is known.
_PLAIN = frozenset((int, bool, str, bytes, type(None)))
#: What classes have whose parts are known by name. Others are not asked further, nor
#: remembered: their traces would stay with them.
_MARKS = ("_fields", "__dataclass_fields__", "__attrs_attrs__")
_STR = frozenset((str,))
_DICTS = frozenset((dict, OrderedDict, defaultdict))
#: What NumPy's own values become tensors of.
ARRAYS = frozenset((np.ndarray, *np.sctypeDict.values()))


def fast_key(
    args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[FastKey, list[Array]] | None:
    """A key for a call, and the arrays of its tensors; None if it needs a closer look.

    Objects of unknown types are taken for such as are known by identity: a key with
    `objects_of` is only to be remembered if they are.
    """
    key: list[Any] = []
    arrays: list[Array] = []
    try:
        for value in args:
            # Tensors here and not in `_add` alone: most arguments are, and a call
            # counts.
            if type(value) is EagerTensor:
                array = value._array
                key.append(array.dtype)
                key.append(array.shape)
                arrays.append(array)
            elif not _add((value,), key, arrays):
                return None
        if kwargs:
            key.append(tuple(kwargs))
            if not _add(kwargs.values(), key, arrays):
                return None
    except RecursionError:  # an argument contains itself
        return None
    return tuple(key), arrays


def objects_of(key: Sequence[Any]) -> set[int]:
    """The ids of the objects that a key knows by identity."""
    return {key[i + 1] for i, part in enumerate(key) if part is _OBJECT}


def _add(values: Iterable[Any], key: list[Any], arrays: list[Array]) -> bool:
    """Append what tells the values apart, and their arrays; False: a closer look."""
    append = key.append
    for value in values:
        kind = type(value)
        if kind is EagerTensor:
            array = value._array
            append(array.dtype)
            append(array.shape)
            arrays.append(array)
        elif kind in _PLAIN:
            append(kind)
            append(value)
        elif kind is list or kind is tuple:
            append(kind)
            append(len(value))
            if not _add(value, key, arrays):
                return False
        elif kind in _DICTS:
            names = tuple(value)
            append(kind)
            append(names)
            if not _STR.issuperset(map(type, names)):
                if not _PLAIN.issuperset(map(type, names)):
                    return False
                append(tuple(map(type, names)))  # 1 equals True
            if not _add(value.values(), key, arrays):
                return False
        elif kind is float:
            append(kind)
            # 0.0 equals -0.0 and NaN nothing at all, but their texts tell them apart.
            append(value if value and value == value else repr(value))
        elif kind in ARRAYS:
            tensor = convert_to_tensor(value)
            if type(tensor) is not EagerTensor:
                return False
            append(tensor._array.dtype)
            append(tensor._array.shape)
            arrays.append(tensor._array)
        else:
            if defines(kind, "_argument_key"):
                # Data sets and iterators are known by the specs of their elements.
                spec, array = value._argument_key()
                append(kind)
                append(spec)
                arrays.append(array)
                continue
            parts = _parts(value, kind)
            if parts is None:
                append(_OBJECT)
                append(id(value))
            else:
                append(kind)
                append(len(parts))
                if not _add(parts, key, arrays):
                    return False
    return True


def _parts(value: Any, kind: type) -> Sequence[Any] | None:
    """What is in a namedtuple, a dataclass or an attrs object; None for others."""
    for mark in _MARKS:
        if defines(kind, mark):
            break
    else:
        return None
    names = _names(kind)
    return None if names is None else [getattr(value, name) for name in names]


@remembered
def _names(kind: type) -> Sequence[str] | None:
    """The names of the parts that `nest` knows by their names."""
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    if issubclass(kind, (list, Mapping)):
        return None
    return nest.field_names(kind)
