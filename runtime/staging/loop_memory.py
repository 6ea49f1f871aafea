"""What a loop was found to carry, for the next time that it is staged."""

from __future__ import annotations

from typing import Any

from runtime.staging.elements import Element
from runtime.staging.lists import StagedList
from runtime.widening import SpecMemory

__all__ = ["LoopMemory"]


class LoopMemory(SpecMemory):
    """The last layout and specs of the state of a loop."""

    def __init__(self) -> None:
        super().__init__()
        #: The elements of lists that an iteration makes longer or shorter, by name.
        self._elements: dict[str, Element] = {}

    @property
    def known(self) -> bool:
        """Whether the loop has been staged before."""
        return super().known or bool(self._elements)

    def forget(self) -> None:
        """Begin with nothing known again."""
        super().forget()
        self._elements = {}

    def opened(self, name: str, value: Any) -> None:
        """Note what a variable became that the loop could not carry as it was."""
        if type(value) is StagedList:
            self._elements[name] = value.element

    def begin(self, name: str, value: Any) -> Any:
        """A variable before the loop, in the form that it had to have last."""
        element = self._elements.get(name)
        if element is None or type(value) is not list:
            return value
        return StagedList.of(value, name, element)
