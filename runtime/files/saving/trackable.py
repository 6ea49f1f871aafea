"""Which objects hold state, and under which names: the graph of objects.

A variable holds its value. Any other object may hold state of its own by two methods:
``_serialize_to_tensors()`` gives a dict of names and tensors, and
``_restore_from_tensors(tensors)`` takes such a dict. `tf.random.Generator` and the
iterators of datasets have them.

An object leads to others by the names of its attributes, a list by the indices of its
items, a dict by its keys. An object may say itself where it leads, by a method
``_trackable_children()`` that gives a dict.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types.classes import defines
from runtime.ops.convert import convert_to_tensor
from runtime.ops.variables import Module, Variable
from runtime.ops.variables.module import attributes

Array = np.ndarray[Any, Any]

#: The name of the value of a variable, as TensorFlow has it.
VALUE = "VARIABLE_VALUE"
_SEQUENCES = (list, tuple, deque)
#: Values that a list may have many of.
_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})
_NEVER = (Tensor, np.ndarray, np.generic, ModuleType, type, FunctionType, MethodType)


def has_state(value: Any) -> bool:
    """Whether an object holds state itself."""
    return isinstance(value, Variable) or (
        not isinstance(value, type) and defines(type(value), "_serialize_to_tensors")
    )


def state(value: Any) -> dict[str, Any]:
    """The arrays that an object holds itself; empty for most objects.

    Arrays are NumPy's, or `runtime.files.saving.parts.Divided`.
    """
    if isinstance(value, Variable):
        return {VALUE: value.to_save()}
    if not has_state(value):
        return {}
    tensors: dict[str, Any] = value._serialize_to_tensors()
    return {name: _array(tensor) for name, tensor in tensors.items()}


def _array(value: Any) -> Array:
    tensor = convert_to_tensor(value)
    assert isinstance(tensor, EagerTensor)
    return tensor._array


def is_trackable(value: Any) -> bool:
    """Whether an object may hold state, or lead to objects that do.

    Numbers, texts, tensors, functions, modules of Python, and what the standard library
    and this one define do not, but for containers, variables, and what has the methods
    of `runtime.files.saving.trackable`.
    """
    kind = type(value)
    if kind in _ATOMS or isinstance(value, _NEVER):
        return False
    if has_state(value) or isinstance(value, (Module, *_SEQUENCES, Mapping)):
        return True
    if defines(kind, "_trackable_children"):
        return True
    package = kind.__module__.partition(".")[0]
    return package != "runtime" and package not in sys.stdlib_module_names


def children(value: Any) -> dict[str, Any]:
    """The objects that an object leads to, by name, as far as they may hold state."""
    if isinstance(value, Variable) or not is_trackable(value):
        return {}
    if defines(type(value), "_trackable_children"):
        found = dict(value._trackable_children())
    else:
        found = attributes(value)
        if isinstance(value, _SEQUENCES):
            found.update((str(index), item) for index, item in enumerate(value))
        elif isinstance(value, Mapping):
            found.update(_items(value))
    return {name: child for name, child in found.items() if is_trackable(child)}


def _items(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in mapping.items():
        # Other keys have no text that a later process is sure to find again.
        name = key if isinstance(key, str) else f"{key}"
        if name in found and is_trackable(value):
            raise ValueError(f"two keys of a dict are called {name!r} in a checkpoint")
        if isinstance(key, (str, int)):
            found[name] = value
        elif ObjectGraph(value).has_state:
            raise ValueError(
                f"a dict with the key {key!r} holds variables: the keys of such a dict "
                "are strings or ints, to be found again in a checkpoint"
            )
    return found


def escaped(name: str) -> str:
    """A name as a part of a key, in which parts stand between slashes.

    >>> escaped("a/b.c")
    'a.Sb..c'
    """
    return name.replace(".", "..").replace("/", ".S")


class ObjectGraph:
    """The objects that can be reached from one, without those that lead to no state.

    They are in the order of their distance, and each is called by the shortest way.
    """

    def __init__(self, root: Any) -> None:
        self.objects: list[Any] = [root]
        edges: list[dict[str, int]] = []
        numbers = {id(root): 0}
        paths = [""]
        index = 0
        while index < len(self.objects):
            own: dict[str, int] = {}
            for name, child in children(self.objects[index]).items():
                number = numbers.get(id(child))
                if number is None:
                    number = numbers[id(child)] = len(self.objects)
                    self.objects.append(child)
                    paths.append(f"{paths[index]}{escaped(name)}/")
                own[name] = number
            edges.append(own)
            index += 1
        self._keep(self._leading_to_state(edges), edges, paths)

    def _leading_to_state(self, edges: list[dict[str, int]]) -> set[int]:
        parents: list[list[int]] = [[] for _ in edges]
        for number, own in enumerate(edges):
            for child in own.values():
                parents[child].append(number)
        found = {number for number, item in enumerate(self.objects) if has_state(item)}
        waiting = list(found)
        while waiting:
            new = [number for number in parents[waiting.pop()] if number not in found]
            found.update(new)
            waiting += new
        return found

    def _keep(
        self, wanted: set[int], edges: list[dict[str, int]], paths: list[str]
    ) -> None:
        """Drop all objects but these, and the first one."""
        order = sorted(wanted | {0})
        new = {number: place for place, number in enumerate(order)}
        self.has_state = bool(wanted)
        self.objects = [self.objects[number] for number in order]
        self.paths = [paths[number] for number in order]
        #: For each object the names and numbers of the objects that it leads to.
        self.edges = [
            {name: new[child] for name, child in edges[number].items() if child in new}
            for number in order
        ]

    def arrays(self) -> tuple[dict[str, Any], list[dict[str, str]]]:
        """All state by its keys, and for each object the keys of its own."""
        arrays: dict[str, Any] = {}
        keys: list[dict[str, str]] = []
        for item, path in zip(self.objects, self.paths):
            own = state(item)
            keys.append({name: f"{path}.ATTRIBUTES/{escaped(name)}" for name in own})
            arrays.update((keys[-1][name], array) for name, array in own.items())
        return arrays, keys
