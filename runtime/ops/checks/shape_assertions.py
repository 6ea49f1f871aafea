"""``tf.debugging.assert_shapes``: lengths that several tensors have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.core.types import shapes as static_shapes
from runtime.ops.arrays.shape import rank as tensor_rank
from runtime.ops.arrays.shape import shape as tensor_shape
from runtime.ops.checks.assertions import assert_relation
from runtime.ops.convert import as_tensor
from runtime.ops.elementwise.arithmetic import equal, greater_equal


class _Sizes:
    """What the names and numbers of a symbolic shape have been found to be."""

    def __init__(self, message: str | None, name: str | None) -> None:
        self.message = message
        self.name = name
        #: For each symbol its length, and the tensor and axis where it was met.
        self._lengths: dict[Any, tuple[Any, str]] = {}

    def check(self, symbol: Any, length: Any, where: str) -> None:
        """`length`, an int or a tensor, stands in the place of `symbol`."""
        if isinstance(symbol, int):
            self._same(length, symbol, f"{where} must have the length {symbol}")
            return
        known, place = self._lengths.setdefault(symbol, (length, where))
        if place != where:
            text = f"{where} must be as long as {place} ({symbol!r})"
            self._same(length, known, text)
            if isinstance(length, int):
                # What is known now is compared with at once.
                self._lengths[symbol] = length, where

    def _same(self, length: Any, wanted: Any, text: str) -> None:
        if isinstance(length, int) and isinstance(wanted, int):
            if length != wanted:
                raise ValueError(
                    _with(self.message, f"{text}: {length} is not {wanted}")
                )
            return
        message = _with(self.message, text)
        assert_relation(equal, "x == y", length, wanted, message, None, self.name)


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless tensors have shapes that fit together.

    `shapes` are pairs of a tensor and its shape, or a dict of them by ``tensor.ref()``.
    In a shape a number is a length, a name a length that is the same wherever it
    stands, None or ``'.'`` any length, and a leading ``...`` (or ``'*'``) any axes.

    Raises ValueError if tracing shows that they do not fit, and else
    InvalidArgumentError when the graph runs.

    >>> x, y = as_tensor([[1, 2], [3, 4], [5, 6]]), as_tensor([7, 8, 9])
    >>> assert_shapes([(x, ("N", 2)), (y, ("N",))])
    >>> assert_shapes([(x, ("N", "N"))])
    Traceback (most recent call last):
    ValueError: axis 1 of tensor 0 must be as long as axis 0 of tensor 0 ('N'): ...
    """
    pairs = list(shapes.items() if isinstance(shapes, Mapping) else shapes)
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        raise ValueError("shapes are pairs of a tensor and its shape: [(x, ('N', 2))]")
    sizes = _Sizes(message, name)
    for index, (tensor, symbols) in enumerate(pairs):
        value = tensor.deref() if hasattr(tensor, "deref") else tensor
        _check_tensor(as_tensor(value), _symbols(symbols), f"tensor {index}", sizes)


def _symbols(symbols: Any) -> Sequence[Any]:
    if isinstance(symbols, static_shapes.TensorShape):
        return [Ellipsis] if symbols.rank is None else symbols.as_list()
    if isinstance(symbols, (tuple, list, str)):
        return list(symbols)
    return [symbols]


def _check_tensor(
    tensor: Any, symbols: Sequence[Any], label: str, sizes: _Sizes
) -> None:
    is_open = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
    lengths = symbols[1:] if is_open else symbols
    if any(symbol is Ellipsis or symbol == "*" for symbol in lengths):
        raise ValueError(f"only the first axis of {label} may stand for several axes")
    _check_rank(tensor, len(lengths), is_open, label, sizes)
    rank, found = tensor.shape.rank, None
    for position, symbol in enumerate(lengths):
        if symbol is None or symbol == ".":
            continue
        # Counted from the end, where the number of axes is open.
        axis = position - len(lengths) if is_open or rank is None else position
        length = None if rank is None else tensor.shape[axis]
        if length is None:
            found = tensor_shape(tensor) if found is None else found
            length = found[axis]
        shown = axis if rank is None or axis >= 0 else axis + rank
        sizes.check(symbol, length, f"axis {shown} of {label}")


def _check_rank(
    tensor: Any, count: int, is_open: bool, label: str, sizes: _Sizes
) -> None:
    rank = tensor.shape.rank
    least = "at least " if is_open else ""
    text = _with(sizes.message, f"{label} must have {least}rank {count}")
    if rank is None:
        relation, sign = (greater_equal, ">=") if is_open else (equal, "==")
        actual = tensor_rank(tensor)
        condition = f"x {sign} y"
        assert_relation(relation, condition, actual, count, text, None, sizes.name)
    elif rank < count or (rank > count and not is_open):
        raise ValueError(f"{text}, not the shape {tensor.shape}")


def _with(message: str | None, text: str) -> str:
    return f"{message}: {text}" if message else text
