"""Iterators: elements one by one, in eager code and within graphs.

>>> from runtime.data.dataset import Dataset
>>> iterator = iter(Dataset.range(2))
>>> int(next(iterator)), int(next(iterator)), next(iterator, "end")
(0, 1, 'end')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from runtime.core.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    StagedStateError,
    UnimplementedError,
)
from runtime.core.graph import leak_error
from runtime.core.graph.context import current_graph
from runtime.core.location.user_code import state_error
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.specs import TensorSpec
from runtime.data.node import Node
from runtime.data.ops import IteratorState
from runtime.data.structure import (
    HandleTensor,
    IteratorSpec,
    element_packer,
    flat_specs,
    handle_of,
    packed,
    with_none,
)
from runtime.ops.apply import apply
from runtime.ops.convert import convert_to_tensor
from runtime.ops.elementwise.logical import logical_not
from runtime.staging.lists.sequences import weakened
from runtime.staging.state.branches import either, raise_if
from runtime.staging.state.values import placeholder


class Iterator:
    """The elements of a data set, one by one: what ``iter(dataset)`` gives.

    Within a `tf.function` it is a value of the graph: ``next(iterator)`` advances it
    each time the function runs, and a ``for`` over it is staged.
    """

    #: The staging protocol of the compiler; `data.dataset` fills it in.
    __autograph_backend__: ClassVar[Any]

    def __init__(
        self, handle: IteratorState | SymbolicTensor, element_spec: Any
    ) -> None:
        self._handle = handle
        self._spec = element_spec
        self._pack: Callable[[Any], Any] = element_packer(element_spec)
        self._argument: tuple[IteratorSpec, HandleTensor] | None = None

    @property
    def element_spec(self) -> Any:
        """The structure of the specs of an element."""
        return self._spec

    def __iter__(self) -> Iterator:
        if current_graph() is not None:
            raise python_loop("an iterator of a data set")
        return self

    def __staged_iter__(self) -> Iterator:
        """``iter(iterator)`` in a graph."""
        return self

    def __next__(self) -> Any:
        """The next element: StopIteration at the end, OutOfRangeError in a graph."""
        handle = self._handle
        if current_graph() is None and type(handle) is IteratorState:
            return self._pack(handle.next())
        return self._staged_next()

    def get_next(self) -> Any:
        """The next element. Raises OutOfRangeError at the end.

        >>> from runtime.data.dataset import Dataset
        >>> iterator = iter(Dataset.range(1))
        >>> int(iterator.get_next())
        0
        >>> iterator.get_next()
        Traceback (most recent call last):
            ...
        runtime.core.errors.OutOfRangeError: the iterator is at its end
        """
        try:
            return self.__next__()
        except StopIteration:
            raise OutOfRangeError("the iterator is at its end") from None

    def get_next_as_optional(self) -> Optional:
        """The next element, or nothing at the end: see `Optional`."""
        if current_graph() is not None:
            return _staged_optional(self._tensor(), self._spec)
        try:
            return Optional(True, self.__next__(), self._spec)
        except StopIteration:
            return Optional(False, None, self._spec)

    # --- in graphs --------------------------------------------------------------------

    def _tensor(self) -> Tensor:
        """The handle as a tensor: of the graph being built, if there is one."""
        if isinstance(self._handle, SymbolicTensor):
            return self._handle
        if current_graph() is None:
            return self._eager_argument()[1]
        handle: Tensor = apply("IteratorHandle", iterator=self._handle)
        return handle

    def _staged_next(self) -> Any:
        return staged_next(self._tensor(), self._spec)

    def __staged_items__(self) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """What a staged loop calls: is there another item, and which."""
        return staged_items(self._tensor(), self._spec)

    def _eager_argument(self) -> tuple[IteratorSpec, HandleTensor]:
        """What the iterator is as an argument: made once, since calls compare it."""
        if isinstance(self._handle, SymbolicTensor):
            raise leak_error(self._handle, None)
        if self._argument is None:
            tensor = HandleTensor(self._handle, dtypes.resource)
            self._argument = IteratorSpec(self._spec), tensor
        return self._argument

    def _argument_key(self) -> tuple[Any, Any]:
        spec, tensor = self._eager_argument()
        return spec, tensor._array

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._spec)

    def _argument_parts(self) -> tuple[Any, tuple[Any, ...]]:
        return self._type_spec, (self._tensor(),)

    # --- saving -----------------------------------------------------------------------

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint has of the iterator: see `files.saving.trackable`."""
        saved = self._save()
        rows = [[*words, count] for words, count in saved["random"]]
        return {
            "position": np.array(saved["position"], np.int64),
            "random": np.array(rows, np.uint64).reshape(-1, 3),
        }

    def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
        rows = np.asarray(tensors["random"]).tolist()
        random = [[words, count] for *words, count in rows]
        self._restore({"position": int(tensors["position"]), "random": random})

    def _save(self) -> dict[str, Any]:
        """Where the iterator is: ``position`` and ``random``, to be written as JSON."""
        return self._state("saved").save()

    def _restore(self, saved: dict[str, Any]) -> None:
        """Go on from where an iterator over an equal data set was saved."""
        self._state("restored").restore(saved)

    def _state(self, done: str) -> IteratorState:
        if isinstance(self._handle, SymbolicTensor):
            raise UnimplementedError(
                f"an iterator cannot be {done} while a function is traced; do it "
                "outside of the tf.function"
            )
        return self._handle

    def __repr__(self) -> str:
        return f"<tf.data.Iterator element_spec={self._spec!r}>"


def python_loop(what: str) -> StagedStateError:
    """The error for a loop of Python over what only a graph knows.

    It would go on forever: in a graph there always seems to be a next item.
    """
    return state_error(
        "AG303",
        f"{what} was iterated by Python while a function is traced, and its items are "
        "only known when the graph runs",
        "loop over it with a `for` statement in converted code, or use reduce()",
    )


def staged_items(
    handle: Tensor, spec: Any
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """As `Iterator.__staged_items__`, of a handle."""
    return (lambda: apply("IteratorHasNext", handle), lambda: staged_next(handle, spec))


def staged_next(handle: Tensor, spec: Any) -> Any:
    """The next element as tensors of the graph."""
    return packed(spec, apply("IteratorGetNext", handle, specs=flat_specs(spec)))


class StagedEnumerate:
    """``enumerate`` of a data set in a graph: its numbers are like Python's ints."""

    __autograph_backend__: ClassVar[Any]

    def __init__(self, numbered: Any) -> None:
        self._numbered = numbered

    def __staged_items__(self) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """As `Iterator.__staged_items__`."""
        has_next, get_next = self._numbered.__staged_items__()

        def item() -> Any:
            number, element = get_next()
            return weakened(number), element

        return has_next, item


IteratorSpec.wrap = staticmethod(Iterator)


class Optional:
    """A value, or none: see `Iterator.get_next_as_optional`."""

    def __init__(self, some: Any, value: Any, element_spec: Any) -> None:
        self._some = some
        self._value = value
        self.element_spec = element_spec

    def has_value(self) -> Tensor:
        """Whether there is a value, as a tensor."""
        return convert_to_tensor(self._some)

    def get_value(self) -> Any:
        """The value. Raises InvalidArgumentError if there is none."""
        error = InvalidArgumentError("the Optional has no value")
        raise_if(logical_not(self.has_value()), error)
        return self._value

    def __repr__(self) -> str:
        text = "no value" if self._some is False else repr(self._value)
        return f"<tf.data.Optional {text}>"


def _staged_optional(handle: Tensor, spec: Any) -> Optional:
    """The next element of a graph, where there is one."""
    if any(not isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec)):
        raise UnimplementedError(
            "get_next_as_optional() within a tf.function is for elements of tensors, "
            "not of data sets"
        )
    some = apply("IteratorHasNext", handle)
    value = either(
        some,
        lambda: staged_next(handle, spec),
        lambda: with_none(nest.map_structure(placeholder, spec)),
    )
    return Optional(some, value, spec)


class NumpyIterator:
    """The elements of a data set as NumPy arrays and scalars."""

    def __init__(self, node: Node, spec: Any) -> None:
        self._state = IteratorState(node)
        self._spec = spec
        self._leaves = nest.flatten(spec)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        element = self._state.next()
        leaves = map(_as_numpy, self._leaves, element)
        return with_none(nest.pack_sequence_as(self._spec, leaves))

    def next(self) -> Any:
        """The next element, as ``next(iterator)`` gives it."""
        return self.__next__()

    def __repr__(self) -> str:
        return "<tf.data.NumpyIterator>"


def _as_numpy(leaf: Any, array: Any) -> Any:
    if isinstance(leaf, TensorSpec):
        return EagerTensor(array).numpy()
    return NumpyIterator(handle_of(array), leaf.element_spec)
