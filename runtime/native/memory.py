"""Where arrays lie: one arena for each call, laid out while the code is written."""

from __future__ import annotations

from math import prod
from typing import Any

from runtime.native.types import size_of
from runtime.types.dtypes import DType

__all__ = ["ALIGNMENT", "Arena"]

#: The widest vectors of processors, in bytes.
ALIGNMENT = 64


class Arena:
    """The memory of one call, beside what it is given."""

    def __init__(self) -> None:
        #: How many bytes a call needs.
        self.size = 0

    def place(self, shape: Any, dtype: DType) -> int:
        """The place of a new array of a known shape, in bytes from the beginning."""
        start = self.size
        count = prod(shape) * size_of(dtype)
        self.size += -(-count // ALIGNMENT) * ALIGNMENT
        return start
