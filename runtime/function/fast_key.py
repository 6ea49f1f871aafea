"""`fast_key`: the key of a call as it is written, in a microsecond.

Calls that differ in the key of a `function.call.Call` differ in this key. So do calls
that are written differently: by keyword, by position, with a default left out.
`Function` computes it for each call and looks it up in the first table of `TraceCache`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from runtime.core.tensor import EagerTensor
from runtime.core.tensor.device import DeviceTensor, held_by
from runtime.core.types import nest
from runtime.core.types.classes import defines, remembered
from runtime.ops.convert import convert_to_tensor
from runtime.staging.tracing.arguments import other_attributes

Array = np.ndarray[Any, Any]
FastKey = tuple[Hashable, ...]

#: Marks in a key that the id of an object follows.
_OBJECT = object()
#: Types whose equal values are interchangeable.
_PLAIN = frozenset((int, bool, str, bytes, type(None)))
#: Attributes of classes whose instances have named parts. Other classes are not
#: remembered: a cache that held them would keep their traces alive.
_MARKS = ("_fields", "__dataclass_fields__", "__attrs_attrs__")
_STR = frozenset((str,))
_DICTS = frozenset((dict, OrderedDict, defaultdict))
#: Types of NumPy whose values become tensors.
ARRAYS = frozenset((np.ndarray, *np.sctypeDict.values()))


def fast_key(
    args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[FastKey, list[Array]] | None:
    """The key of a call, and the arrays of its tensors; None if only `Call` can tell.

    Objects of unknown types enter the key by their ids. The cache keeps such a key only
    if the key of the `Call` identifies the same objects (`objects_of`) by id.
    """
    key: list[Any] = []
    arrays: list[Array] = []
    seen: set[int] | None = None
    try:
        for value in args:
            # Tensors are handled here as well as in `_add`: this is the fast path.
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
                seen = seen or set()
                if not _add((value,), key, arrays, seen):
                    return None
        if kwargs:
            seen = seen or set()
            key.append(tuple(kwargs))
            if not _add(kwargs.values(), key, arrays, seen):
                return None
    except RecursionError:  # an argument contains itself
        return None
    return tuple(key), arrays


def objects_of(key: Sequence[Any]) -> set[int]:
    """The ids of the objects in a key."""
    return {key[i + 1] for i, entry in enumerate(key) if entry is _OBJECT}


def _add(
    values: Iterable[Any], key: list[Any], arrays: list[Array], seen: set[int]
) -> bool:
    """Append the keys of the values, and their arrays; False if only `Call` can tell.

    An object that occurs twice is such a case: `seen` has the ids of the containers.
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
                if id(value) in seen:
                    return False
                seen.add(id(value))
            if not _add(value, key, arrays, seen):
                return False
        elif kind in _DICTS:
            names = tuple(value)
            if id(value) in seen:
                return False
            seen.add(id(value))
            append(kind)
            append(names)
            if not _STR.issuperset(map(type, names)):
                if not _PLAIN.issuperset(map(type, names)):
                    return False
                append(tuple(map(type, names)))  # 1 equals True
            if not _add(value.values(), key, arrays, seen):
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
        elif not _add_object(value, key, arrays, seen):
            return False
    return True


def _add_object(
    value: Any, key: list[Any], arrays: list[Array], seen: set[int]
) -> bool:
    """Append the key of an object of a further type, as `_add` does."""
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
        if id(value) in seen:
            return False
        seen.add(id(value))
    key += (kind, len(parts))
    return _add(parts, key, arrays, seen)


def _parts(value: Any, kind: type) -> Sequence[Any] | None:
    """The parts of a namedtuple, a dataclass or an attrs object; None for others."""
    for mark in _MARKS:
        if defines(kind, mark):
            break
    else:
        return None
    names = _names(kind)
    if names is None:
        return None
    parts = [getattr(value, name) for name in names]
    attributes = getattr(value, "__dict__", None)
    if attributes is None and issubclass(kind, tuple):
        return parts
    if attributes is not None and attributes.keys() == _declared(kind):
        return parts
    others = other_attributes(value)
    return [*parts, tuple(others), *others.values()] if others else parts


@remembered
def _declared(kind: type) -> frozenset[str]:
    """The names of all attributes of such objects; empty if they may have others."""
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
