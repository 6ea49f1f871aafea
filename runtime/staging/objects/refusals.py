"""What Python cannot be told about what only the graph knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn

from runtime.core.errors import StagedStateError


class Untold:
    """A container of the graph: Python may not ask how long it is, or what is in it."""

    __slots__ = ()

    #: What only the graph knows.
    untold: ClassVar[str]
    #: What it is in Python.
    kind: ClassVar[type]

    def like(self, value: Any) -> Any:
        """A container of Python as one such as this one; other values as they are."""
        raise NotImplementedError

    def lists_shown(self) -> list[Any]:
        """The lists of what its text shows."""
        raise NotImplementedError

    def shown(self, *columns: list[Any]) -> Any:
        """What Python shows for such lists, when they are known."""
        raise NotImplementedError

    def _cannot(self, what: str, why: str) -> StagedStateError:
        """The error for what the container cannot do."""
        raise NotImplementedError

    def _unknown(self, use: str) -> StagedStateError:
        return self._cannot(
            f"be given to {use} of code that is not converted",
            f"{self.untold} known when the graph runs",
        )

    def __len__(self) -> NoReturn:
        raise self._unknown("len()")

    def __bool__(self) -> NoReturn:
        raise self._unknown("a Python bool")

    def __iter__(self) -> Iterator[Any]:
        raise self._unknown("a loop")

    def __contains__(self, value: Any) -> NoReturn:
        raise self._unknown("`in`")
