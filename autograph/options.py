"""How to convert: a small frozen record, usable as a part of cache keys."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DEFAULT", "ConversionOptions"]


class ConversionOptions(NamedTuple):
    """The choices of a conversion.

    `recursive`: also convert the functions that the converted code calls.

    >>> ConversionOptions() == ConversionOptions(recursive=True)
    True
    """

    recursive: bool = True


DEFAULT = ConversionOptions()
