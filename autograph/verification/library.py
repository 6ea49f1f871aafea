"""What `verify` and `report` ask of a tensor library."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, Protocol

_GROUP = "autograph.libraries"


#: By position, and by name.
Arguments = tuple[Sequence[Any], Mapping[str, Any]]


class Spec(Protocol):
    """A tensor without its values: sizes, None where any will do, and the dtype."""

    @property
    def shape(self) -> Any:
        """The sizes: numbers, or None; None alone if their number is not known."""

    @property
    def dtype(self) -> Any:
        """The dtype, which has a ``name``."""


class Library(Protocol):
    """How a tensor library runs functions, and what it makes of values."""

    def specs(self, text: str) -> Arguments:
        """The arguments that a text such as ``int32[100], 0.5`` stands for: a `Spec`
        for each tensor, in structures too. Raises ValueError if it is none.
        """

    def is_spec(self, value: Any) -> bool:
        """Whether a value is one of the library's specs."""

    def array(self, values: Any, spec: Spec) -> Any:
        """Numbers, or lists of them, as Python's own arrays hold them (NumPy's)."""

    def tensor(self, value: Any, spec: Spec | None = None) -> Any:
        """A value as a tensor of the dtype that a spec has. Without a spec: numbers,
        arrays and lists of numbers as tensors, and all else as it is.
        """

    def to_python(self, value: Any) -> Any:
        """A tensor or array as numbers of Python; all else as it is."""

    def printed(self, text: str) -> str:
        """What was printed, with tensors as the numbers that Python would print."""

    def stagers(self) -> Mapping[str, Callable[[Callable[..., Any]], Any]]:
        """For each executor that is installed, what makes a staged function of one."""

    def observe(self, note: Callable[[Any], None], value: Any) -> None:
        """Call ``note`` with a value whenever the program, staged or not, is here; with
        NotImplemented for a value that a staged program cannot hand to Python.
        """

    def explain(
        self, f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> str:
        """What a trace for these arguments or specs has made of a function."""

    def report(
        self, f: Callable[..., Any], specs: Arguments, call: Arguments | None
    ) -> Mapping[str, Any]:
        """A function staged for specs, for JSON; with times of a call, if there is one.

        - ``signature``: a text for people;
        - ``places``: file and number of lines of the program, which the rest names by
          their indices here;
        - ``stages``: title and lines of each code that runs, a line with its places;
        - ``values``: places, each with a text such as ``x: float32[3]``;
        - ``drawing``: SVG, where the titles of groups end with a line ``file.py:3``;
        - ``times``: None, or ``how``, a text, and ``lines``: place, seconds, runs.
        """


@functools.cache
def libraries() -> dict[str, Library]:
    """The libraries that are installed, by their names."""
    found = entry_points(group=_GROUP)
    return {point.name: point.load() for point in sorted(found, key=lambda p: p.name)}
