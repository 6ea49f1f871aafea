"""What dicts and sets in graphs are made of: lists of keys and values, and defaults."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from runtime.errors import StagedStateError
from runtime.graph import state_error
from runtime.ops.flow import optional_parts
from runtime.ops.list_tables import PUT
from runtime.staging.elements import Element, taken_apart
from runtime.staging.list_parts import emit
from runtime.staging.lists import StagedList
from runtime.staging.maybe import fitted
from runtime.staging.sequences import weakened
from runtime.staging.untold import Untold
from runtime.staging.values import can_be_tensor
from runtime.subgraph import adapted, state_tensor
from runtime.tensor import EagerTensor

__all__ = [
    "TableView",
    "Unasked",
    "default_of",
    "missing",
    "put",
    "python_key",
    "python_value",
    "zero",
]


class TableView(StagedList):
    """A list of what is in a dict or set, as it was when it was asked for."""

    __slots__ = ("view_of",)

    view_of: Any

    @classmethod
    def of_table(cls, table: Any, items: StagedList) -> TableView:
        """The items, as those of a table."""
        items._check()
        view = cls(items._element, items._buffers, items._count, items.name)
        view.view_of = table
        return view


class Unasked(Untold):
    """What Python cannot be told about a dict or set in a graph: it refuses to ask."""

    __slots__ = ("name",)

    untold = "its keys are"

    kind: ClassVar[type]
    name: str

    def _cannot(self, what: str, why: str) -> StagedStateError:
        return state_error(
            "AG210",
            f"the {self.kind.__name__} {self.name!r}, whose keys a tensor decides, "
            f"cannot {what}: {why}",
            "docs/limitations.md says what such dicts and sets can do",
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.kind.__name__} {self.name!r} with keys of the graph>"


def put(part: StagedList, place: Any, value: Any, keep: bool) -> None:
    """Write an element at a place, or behind the last one; the count stays."""
    part._check()
    found = optional_parts(value)
    single = value if found is None else found[0]
    if part._holds_only_none and can_be_tensor(single):
        part._admit(state_tensor(single).spec)
    value = fitted(value, part._element.structure, iter(part._element.leaves))
    element, tensors = taken_apart(value, part.name)
    part._widen(element)
    part._shared.give(value)
    columns = [
        emit(PUT, buffer, part._count, place, adapted(tensor, buffer.spec), keep=keep)
        for buffer, tensor in zip(part._buffers, tensors)
    ]
    part._become(columns, part._count)


def missing(key: Any) -> KeyError:
    """The KeyError of a key, which is shown as a Python value."""
    if isinstance(key, tuple):
        return KeyError(tuple(map(weakened, key)))
    return KeyError(weakened(key))


def python_key(element: Element, buffers: Sequence[Any], place: int) -> Any:
    """A key outside of graphs: numbers and texts have a hash, tensors have none."""
    values = []
    for spec, buffer in zip(element.specs, buffers):
        value = buffer._array[place]
        value = value.item() if hasattr(value, "item") else value
        is_text = isinstance(value, bytes) and spec.weak
        values.append(value.decode() if is_text else value)
    return element.pack(values)


def python_value(element: Element, buffers: Sequence[Any], place: int) -> Any:
    """A value outside of graphs."""
    return element.pack([EagerTensor(b._array[place, ...]) for b in buffers])


def zero() -> int:
    """What a Counter gives for what it has not counted."""
    return 0


def default_of(items: Any) -> Callable[[], Any] | None:
    """What makes the value of a key that a dict of Python does not have."""
    if isinstance(items, Counter):
        return zero
    return items.default_factory if isinstance(items, defaultdict) else None
