"""Restoring: the objects of a checkpoint find those of the program by their names.

A value whose variable does not exist yet waits. The object that it belongs to gets a
class of its own, derived from its class, that hears of new attributes; it takes its
class back when all has come. Items that are added to lists and dicts are not heard of.
"""

from __future__ import annotations

import copyreg
import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph import context
from runtime.core.tensor import EagerTensor
from runtime.core.types.dtypes import of_array
from runtime.files.saving.tensor_file import TensorFile
from runtime.files.saving.trackable import VALUE, children, has_state, is_trackable
from runtime.ops.convert import convert_to_tensor
from runtime.ops.variables import Variable

_log = logging.getLogger("runtime.train")

Array = np.ndarray[Any, Any]

#: The attribute of an object that waits for others.
_AWAITED = "_awaited_from_checkpoints"


class Restoration:
    """A checkpoint that is being restored, and which object each of its objects is."""

    def __init__(self, file: TensorFile, nodes: list[dict[str, Any]]) -> None:
        self._file = file
        self.nodes = nodes
        #: The objects of the program, by the numbers of those of the checkpoint.
        self.objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        #: Whether values may be left over.
        self.is_partial = False

    def __del__(self) -> None:
        # Nobody can ask any more, and nothing can come.
        missing = [] if self.is_partial else self.missing()
        if missing:
            _log.warning(
                "%d values of the checkpoint %s were never used, such as %s; "
                "restore(path).expect_partial() says that this is well",
                len(missing),
                self._file.path,
                self.key(missing[0]),
            )

    def bind(self, number: int, value: Any) -> None:
        """Say that an object is that of a number, and restore all that it leads to.

        Raises ValueError or InvalidArgumentError if a shape or dtype does not fit, or
        two objects share a value; then nothing is changed.
        """
        found, awaited = self._matched(number, value)
        values = [self._values(number, item) for number, item in found]
        for number, item in found:
            self.objects[number] = item
            self._numbers[id(item)] = number
        with context.init_scope():
            for (_, item), arrays in zip(found, values):
                _set_state(item, arrays)
        for number, item in awaited:
            _await(item, self, number)

    def has_restored(self, value: Any) -> bool:
        """Whether an object has got its state from the checkpoint."""
        return id(value) in self._numbers

    def key(self, number: int) -> str:
        """What an object of the checkpoint is called in messages."""
        return next(iter(self.nodes[number]["state"].values()), "")

    def missing(self) -> list[int]:
        """The objects of the checkpoint with state that the program has not.

        The counter of `Checkpoint.save` need not be there.
        """
        return [
            number
            for number, node in enumerate(self.nodes)
            if node["state"]
            and number not in self.objects
            and not self.key(number).startswith("save_counter/")
        ]

    def bind_new(self, number: int, owner: Any, name: str) -> bool:
        """Restore the new attribute of an object; whether others are still missing."""
        present = children(owner)
        attribute = getattr(owner, "__dict__", {}).get(name)
        missing = False
        for child, child_number in self.nodes[number]["children"].items():
            if child_number in self.objects:
                continue
            value = present.get(child)
            is_new = child == name or (value is not None and value is attribute)
            if is_new and self._takes(child_number, value):
                self.bind(child_number, value)
            else:
                missing = True
        return missing

    def _matched(
        self, number: int, value: Any
    ) -> tuple[list[tuple[int, Any]], list[tuple[int, Any]]]:
        """The new pairs of objects, and the objects that have children to come."""
        objects, numbers = dict(self.objects), dict(self._numbers)
        waiting = deque([(number, value)])
        found: list[tuple[int, Any]] = []
        awaited: list[tuple[int, Any]] = []
        while waiting:
            number, value = waiting.popleft()
            if number in objects:
                self._check_same(number, value, objects[number])
                continue
            if numbers.get(id(value), number) != number:
                self._check_one(number, numbers[id(value)])
            objects[number] = value
            numbers[id(value)] = number
            found.append((number, value))
            present = children(value)
            for name, child in self.nodes[number]["children"].items():
                if self._takes(child, present.get(name)):
                    waiting.append((child, present[name]))
                elif child not in objects:
                    awaited.append((number, value))
        return found, awaited

    def _takes(self, number: int, value: Any) -> bool:
        """Whether a value may be the object of a number."""
        if value is None or not is_trackable(value):
            return False
        return has_state(value) or not self.nodes[number]["state"]

    def _check_same(self, number: int, value: Any, known: Any) -> None:
        if value is not known and self.nodes[number]["state"]:
            raise ValueError(
                f"the checkpoint has one object {self.key(number)!r} where the program "
                f"has two: {known!r} and {value!r}"
            )

    def _check_one(self, number: int, known: int) -> None:
        if self.nodes[number]["state"]:
            raise ValueError(
                "the program has one object where the checkpoint has two: "
                f"{self.key(known)!r} and {self.key(number)!r}"
            )

    def _values(self, number: int, value: Any) -> dict[str, Array]:
        """The state for an object, which has to fit what it is now."""
        keys = self.nodes[number]["state"]
        arrays = {name: self._file.array(key) for name, key in keys.items()}
        if not isinstance(value, Variable) or not arrays:
            return arrays
        if arrays.keys() != {VALUE}:
            raise ValueError(f"the checkpoint has no value of a variable in {keys}")
        dtype, shape = of_array(arrays[VALUE]), arrays[VALUE].shape
        if dtype is not value.dtype:
            raise InvalidArgumentError(
                f"the checkpoint has {dtype.name} values in {keys[VALUE]!r}, and the "
                f"variable {value.name!r} has {value.dtype.name}"
            )
        if not value.shape.is_compatible_with(shape):
            raise ValueError(
                f"the checkpoint has the shape {shape} in {keys[VALUE]!r}, and the "
                f"variable {value.name!r} has the shape {value.shape}"
            )
        return arrays


def holders(value: Any) -> tuple[Any, ...]:
    """The objects whose attributes an object gives as its own: first of all itself."""
    others = getattr(type(value), "_trackable_holders", None)
    return (value,) if others is None else (value, *others(value))


def _set_state(value: Any, arrays: Mapping[str, Array]) -> None:
    if not arrays:
        return
    tensors = {
        name: convert_to_tensor(EagerTensor(array)) for name, array in arrays.items()
    }
    if isinstance(value, Variable):
        value.assign(tensors[VALUE])
    else:
        value._restore_from_tensors(tensors)


# --- objects that wait ----------------------------------------------------------------


class _Awaited:
    """The restorations that an object waits for; copies of the object do not wait."""

    def __init__(self) -> None:
        self.all: list[tuple[Restoration, int, Any]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return _Awaited, ()


def _await(value: Any, restoration: Restoration, number: int) -> None:
    """Have an object tell of new attributes, if it can."""
    for holder in holders(value):
        own = getattr(holder, "__dict__", None)
        if type(own) is not dict or isinstance(holder, type):
            continue
        awaited = own.get(_AWAITED)
        if awaited is None:
            try:
                derived = _listening(type(holder))
                object.__setattr__(holder, "__class__", derived)
            except TypeError:  # A class that nothing can be derived from.
                continue
            awaited = own[_AWAITED] = _Awaited()
        if (restoration, number, value) not in awaited.all:
            awaited.all.append((restoration, number, value))


def _listening(cls: type) -> type:
    """The class whose objects tell of new attributes."""

    def set_attribute(self: Any, name: str, value: Any) -> None:
        super(derived, self).__setattr__(name, value)  # type: ignore[arg-type]
        _told(self, name, cls)

    def reduce(self: Any, protocol: Any) -> Any:
        # Copies and files know the object by its own class.
        object.__setattr__(self, "__class__", cls)
        try:
            make, *rest = self.__reduce_ex__(protocol)
        finally:
            object.__setattr__(self, "__class__", derived)
        # Files would compare the class with that of the object.
        return (_new if make is copyreg.__newobj__ else make, *rest)  # type: ignore[attr-defined]

    body = {
        "__setattr__": set_attribute,
        "__reduce_ex__": reduce,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    derived: type = type(cls)(cls.__name__, (cls,), body)
    return derived


def _new(cls: type, *args: Any) -> Any:
    return cls.__new__(cls, *args)


def _told(holder: Any, name: str, cls: type) -> None:
    """An object has a new attribute: perhaps one that it waits for."""
    awaited = vars(holder).get(_AWAITED)
    if awaited is None or name == _AWAITED:
        return
    awaited.all = [
        (restoration, number, value)
        for restoration, number, value in awaited.all
        if restoration.bind_new(number, value, name)
    ]
    if not awaited.all:
        del vars(holder)[_AWAITED]
        object.__setattr__(holder, "__class__", cls)
