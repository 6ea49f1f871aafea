"""Static shapes, where a dimension or the rank may be unknown.

>>> shape = TensorShape([2, None])
>>> shape, shape.rank, shape + [3], shape == (2, None)
(TensorShape([2, None]), 2, TensorShape([2, None, 3]), True)
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any, overload

Dims = tuple["int | None", ...]


def _dimension(value: Any) -> int | None:
    """One dimension as an int of at least 0, or None."""
    if value is None:
        return None
    try:
        dimension = operator.index(value)
    except TypeError:
        raise TypeError(f"{value!r} is not a dimension of a shape") from None
    if dimension < 0:
        raise ValueError(f"a dimension cannot be negative: {dimension}")
    return dimension


def _all_ints(dims: tuple[Any, ...]) -> bool:
    return all(type(dim) is int and dim >= 0 for dim in dims)


class UnknownRank(ValueError):
    """Somebody asks for the lengths of a shape of which not even the rank is known."""


class TensorShape:
    """The shape of a tensor as far as it is known.

    ``TensorShape(None)`` has an unknown rank; a dimension may be ``None``. It compares
    with lists and tuples, is indexed and iterated as they are, and never changes. Its
    dimensions are Python ints and None.

    >>> shape = TensorShape([None, 3])
    >>> shape.merge_with([2, None]), shape[1:], shape.is_compatible_with([5, 3])
    (TensorShape([2, 3]), TensorShape([3]), True)
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any = None) -> None:
        self._dims: Dims | None
        if dims is None:
            self._dims = None
        elif type(dims) is tuple:
            self._dims = dims if _all_ints(dims) else tuple(map(_dimension, dims))
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, Iterable) and not isinstance(dims, (str, bytes)):
            self._dims = tuple(map(_dimension, dims))
        else:
            self._dims = (_dimension(dims),)

    @classmethod
    def of_dims(cls, dims: tuple[int, ...]) -> TensorShape:
        """The shape of an array: its dimensions are known to be right."""
        shape = cls.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions, or None."""
        return self.rank

    @property
    def dims(self) -> list[int | None] | None:
        """The dimensions as a list, or None if the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """The dimensions as a list. Raises ValueError if the rank is unknown."""
        return list(self._known_rank("as_list()"))

    def as_tuple(self) -> Dims:
        """The dimensions as a tuple. Raises ValueError if the rank is unknown."""
        return self._known_rank("as_tuple()")

    def num_elements(self) -> int | None:
        """The number of elements, or None if it is not fully known."""
        count = 1
        if self._dims is None:
            return None
        for dim in self._dims:
            if dim is None:
                return None
            count *= dim
        return count

    def is_fully_defined(self) -> bool:
        """Whether the rank and all dimensions are known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless the rank and all dimensions are known."""
        if not self.is_fully_defined():
            raise ValueError(f"the shape {self} is not fully known")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one tensor could have both shapes: no known dimensions differ."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this shape also has the shape `other`."""
        other = as_shape(other)
        if other._dims is None:
            return True
        return (
            self._dims is not None
            and len(self._dims) == len(other._dims)
            and all(b is None or a == b for a, b in zip(self._dims, other._dims))
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless one tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"the shapes {self} and {as_shape(other)} differ")

    def merge_with(self, other: Any) -> TensorShape:
        """What is known from both. Raises ValueError where the two contradict."""
        other = as_shape(other)
        self.assert_is_compatible_with(other)
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        return TensorShape(
            tuple(b if a is None else a for a, b in zip(self._dims, other._dims))
        )

    def most_specific_common_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that covers both: what differs becomes unknown.

        >>> TensorShape([2, 3]).most_specific_common_shape([2, 4])
        TensorShape([2, None])
        """
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        if len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape(
            tuple(a if a == b else None for a, b in zip(self._dims, other._dims))
        )

    #: TensorFlow's name for it.
    most_specific_compatible_shape = most_specific_common_shape

    def with_rank(self, rank: int) -> TensorShape:
        """The same shape, which must have (or may have) the rank. Raises ValueError."""
        if self._dims is None:
            return TensorShape((None,) * rank)
        if len(self._dims) != rank:
            raise ValueError(f"the shape {self} does not have rank {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """The same shape, which must not have more dimensions. Raises ValueError."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"the shape {self} does not have at most rank {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError unless the shape has, or may have, the rank."""
        self.with_rank(rank)

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError unless both shapes have, or may have, the same rank."""
        other = as_shape(other)
        if other._dims is not None:
            self.with_rank(len(other._dims))

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """The same shape, which must not have less dimensions. Raises ValueError."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"the shape {self} does not have at least rank {rank}")
        return self

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of this shape followed by those of the other."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __len__(self) -> int:
        return len(self._known_rank("len()"))

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._known_rank("iter()"))

    @overload
    def __getitem__(self, key: int) -> int | None: ...

    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...

    def __getitem__(self, key: int | slice) -> int | TensorShape | None:
        if self._dims is None:
            return _unknown_slice(key) if isinstance(key, slice) else None
        if isinstance(key, slice):
            return TensorShape(self._dims[key])
        return self._dims[key]

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        return str(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)

    def _known_rank(self, purpose: str) -> Dims:
        if self._dims is None:
            raise UnknownRank(f"{purpose} of a shape whose rank is unknown")
        return self._dims


UNKNOWN = TensorShape(None)
SCALAR = TensorShape(())


def _unknown_slice(key: slice) -> TensorShape:
    """A slice of a shape of unknown rank: from one known end to another it has a rank.

    >>> TensorShape(None)[2:4], TensorShape(None)[2:]
    (TensorShape([None, None]), TensorShape(None))
    """
    start, stop = key.start or 0, key.stop
    if stop is None or key.step not in (None, 1) or (start < 0) != (stop < 0):
        return TensorShape(None)
    return TensorShape((None,) * max(stop - start, 0))


def as_shape(value: Any) -> TensorShape:
    """`value` as a TensorShape: a shape, some dimensions, a number, or None."""
    return value if type(value) is TensorShape else TensorShape(value)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape of an elementwise result. Raises ValueError if there is none.

    >>> broadcast_static_shape([None, 1, 3], [2, 3])
    TensorShape([None, 2, 3])
    """
    x, y = as_shape(shape_x)._dims, as_shape(shape_y)._dims
    if x is None or y is None:
        return UNKNOWN
    if x == y and None not in x:
        return TensorShape(x)
    return TensorShape(broadcast_dynamic_dims(x, y))


def broadcast_dynamic_dims(x: Dims, y: Dims) -> Dims:
    """Broadcast two tuples of dimensions, of which some may be None."""
    rank = max(len(x), len(y))
    result: list[int | None] = []
    for a, b in zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y):
        if a == b or b == 1:
            result.append(a)
        elif a == 1:
            result.append(b)
        elif a is None or b is None:
            # The unknown one is either equal to the known one, or 1.
            result.append(b if a is None else a)
        else:
            raise ValueError(
                f"shapes {TensorShape(x)} and {TensorShape(y)} do not broadcast"
            )
    return tuple(result)
