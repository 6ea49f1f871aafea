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
from runtime.tensor.device import DeviceTensor, held_by
from runtime.tracing.arguments import other_attributes
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
    met: set[int] | None = None
    try:
        for value in args:
            # Tensors here and not in `_add` alone: most arguments are, and a call
            # counts.
            if type(value) is EagerTensor:
                array = value._array
                key.append(array.dtype)
                key.append(array.shape)
                arrays.append(array)
            elif type(value) is DeviceTensor:
                array = held_by(value)
                key.append(DeviceTensor)
                key.append(array.aval)
                arrays.append(array)
            else:
                met = met or set()
                if not _add((value,), key, arrays, met):
                    return None
        if kwargs:
            met = met or set()
            key.append(tuple(kwargs))
            if not _add(kwargs.values(), key, arrays, met):
                return None
    except RecursionError:  # an argument contains itself
        return None
    return tuple(key), arrays


def objects_of(key: Sequence[Any]) -> set[int]:
    """The ids of the objects that a key knows by identity."""
    return {key[i + 1] for i, part in enumerate(key) if part is _OBJECT}


def _add(
    values: Iterable[Any], key: list[Any], arrays: list[Array], met: set[int]
) -> bool:
    """Append what tells the values apart, and their arrays; False: a closer look.

    That is needed, too, where an object comes again: `met` has the ids of all.
    """
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
            if kind is list:
                if id(value) in met:
                    return False
                met.add(id(value))
            if not _add(value, key, arrays, met):
                return False
        elif kind in _DICTS:
            names = tuple(value)
            if id(value) in met:
                return False
            met.add(id(value))
            append(kind)
            append(names)
            if not _STR.issuperset(map(type, names)):
                if not _PLAIN.issuperset(map(type, names)):
                    return False
                append(tuple(map(type, names)))  # 1 equals True
            if not _add(value.values(), key, arrays, met):
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
        elif kind is DeviceTensor:
            array = held_by(value)
            append(kind)
            append(array.aval)
            arrays.append(array)
        elif not _add_object(value, key, arrays, met):
            return False
    return True


def _add_object(value: Any, key: list[Any], arrays: list[Array], met: set[int]) -> bool:
    """As `_add`, for an object of another kind."""
    kind = type(value)
    if defines(kind, "_argument_key"):
        # Data sets and iterators are known by the specs of their elements.
        spec, array = value._argument_key()
        key += (kind, spec)
        arrays.append(array)
        return True
    parts = _parts(value, kind)
    if parts is None:
        key += (_OBJECT, id(value))
        return True
    if not issubclass(kind, tuple):
        if id(value) in met:
            return False
        met.add(id(value))
    key += (kind, len(parts))
    return _add(parts, key, arrays, met)


def _parts(value: Any, kind: type) -> Sequence[Any] | None:
    """What is in a namedtuple, a dataclass or an attrs object; None for others."""
    for mark in _MARKS:
        if defines(kind, mark):
            break
    else:
        return None
    names = _names(kind)
    if names is None:
        return None
    found = [getattr(value, name) for name in names]
    attributes = getattr(value, "__dict__", None)
    if attributes is None and issubclass(kind, tuple):
        return found
    if attributes is not None and attributes.keys() == _declared(kind):
        return found
    others = other_attributes(value)
    return [*found, tuple(others), *others.values()] if others else found


@remembered
def _declared(kind: type) -> frozenset[str]:
    """The attributes of an object that has no others; none where that may be so."""
    names = frozenset(_names(kind) or ())
    return names if names >= {*nest.declared(kind)} else frozenset()


@remembered
def _names(kind: type) -> Sequence[str] | None:
    """The names of the parts that `nest` knows by their names."""
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    if issubclass(kind, (list, Mapping)):
        return None
    return nest.field_names(kind)
