"""`StagedSequence`: the length and items that a staged ``for`` iterates over.

``range``, ``enumerate``, ``zip`` and ``reversed`` of tensors are such sequences. They
compute one item at a time, without a tensor of all items. Loops and builtins ask
`as_sequence` for the sequence of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, ClassVar, NoReturn

from runtime.core.errors import StagedStateError
from runtime.core.graph.context import current_graph
from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.ops.arrays.gather import gather
from runtime.ops.arrays.shape import shape
from runtime.ops.convert import (
    cast,
    cast_number,
    constant,
    convert_to_tensor,
    get_static_value,
)
from runtime.ops.elementwise.arithmetic import minimum
from runtime.ops.text import strings
from runtime.staging.tracing.subgraph import state_tensor


@dataclass(frozen=True)
class StagedSequence:
    """Items that a graph computes one by one: ``item(i)`` for ``i < length``.

    The length may be negative: then there are no items.
    """

    length: Any
    item: Callable[[Any], Any]
    #: The lists of the graph that it iterates over.
    over: tuple[Any, ...] = field(default=(), kw_only=True, compare=False, repr=False)

    #: The staging protocol of the compiler; `staging.compiler.install` fills it in.
    __autograph_backend__: ClassVar[Any]

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.length, int):
            return map(self.item, range(self.length))
        raise self._only_for("iterated")

    def __getitem__(self, index: Any) -> NoReturn:
        raise self._only_for("indexed")

    def _only_for(self, use: str) -> StagedStateError:
        return state_error(
            "AG303",
            f"a range, enumerate, zip or reversed of tensors was {use} by Python, "
            "and its items are only known when the graph runs",
            "loop over it with a `for` statement, or make it a list: `list(range(n))`",
        )


@dataclass(frozen=True)
class StagedRange(StagedSequence):
    """The numbers from `start` on, in steps of `step`."""

    start: Any
    step: Any

    def __autograph_type__(self) -> type:
        return range


def weakened(tensor: Any) -> Any:
    """The tensor as a stand-in for a Python number: its dtype adapts to operands."""
    graph = current_graph()
    if graph is None or not isinstance(tensor, SymbolicTensor) or tensor.spec.weak:
        return tensor
    if tensor.dtype.is_numeric:
        return cast_number(tensor, dtypes.wide(tensor.dtype), weak=True)
    (weak,) = graph.add("Identity", (tensor,), {}, (tensor.spec.with_weak(True),))
    return weak


def like(tensor: Any, other: Any) -> Any:
    """The tensor, weak if the other one is: it stands for Python numbers then."""
    return weakened(tensor) if other.spec.weak else tensor


def length_of(tensor: Tensor) -> Any:
    """The number of rows: a Python int where the shape tells, else a tensor."""
    if tensor.shape.rank == 0:
        raise TypeError("a scalar tensor has no len()")
    static = tensor.shape[0] if tensor.shape.rank is not None else None
    return static if static is not None else shape(tensor)[0]


def first_index(length: Any, first: int = 0) -> Tensor:
    """The first index of a loop over a sequence, of the dtype of its length."""
    if isinstance(length, Tensor) and not length.spec.weak:
        return constant(first, length.dtype)
    return state_tensor(first) if isinstance(length, Tensor) else constant(first)


def as_sequence(value: Any) -> StagedSequence:
    """The sequence that a loop over ``value`` iterates: of a tensor, its first axis."""
    if isinstance(value, StagedSequence):
        return value
    items = getattr(value, "sequence", None)
    if items is not None and not isinstance(value, Tensor):
        sequence: StagedSequence = items()
        return sequence
    if isinstance(value, Collection) and not hasattr(value, "__array__"):
        return _of_python(list(value))
    tensor = convert_to_tensor(value)
    if isinstance(tensor, SymbolicTensor) and tensor.is_text:
        return _characters(tensor)
    if tensor.shape.rank == 0:
        raise TypeError(
            f"a scalar tensor ({tensor.spec.describe()}) cannot be iterated; "
            "did you mean range()?"
        )
    return _range_of(tensor) or StagedSequence(
        length_of(tensor), lambda index: gather(tensor, index)
    )


def functions_of(sequence: StagedSequence) -> Iterator[Any]:
    """The user's functions that compute the items of a sequence."""
    pending: list[Any] = [sequence]
    while pending:
        item = pending.pop()
        if isinstance(item, StagedSequence):
            pending.append(item.item)
        elif isinstance(item, list):
            pending += [p for p in item if isinstance(p, StagedSequence)]
        elif isinstance(item, FunctionType) and item.__module__.startswith("runtime."):
            pending += [cell.cell_contents for cell in item.__closure__ or ()]
        elif callable(item) and not isinstance(item, type):
            yield item


def calls_functions(sequence: StagedSequence) -> bool:
    """Whether functions of the user's compute the items: what these change is state, so
    that the operators of the compiler are to loop.
    """
    return any(True for _ in functions_of(sequence))


_PYTHON = {bool, int, float, complex, str}


def _characters(text: Tensor) -> StagedSequence:
    """The characters of a text that stands for one of Python's."""

    def character(index: Any) -> Any:
        return weakened(strings.substr(text, index, 1, unit="UTF8_CHAR"))

    return StagedSequence(strings.length(text, unit="UTF8_CHAR"), character)


def _of_python(items: list[Any]) -> StagedSequence:
    """Python items; an index tensor gives numbers and texts as weak tensors."""

    def item(index: Any) -> Any:
        if type(index) is int:
            return items[index]
        kinds = set(map(type, items))
        if kinds <= {int, float}:
            dtype = dtypes.float64 if float in kinds else dtypes.int64
            return weakened(gather(convert_to_tensor(items, dtype), index))
        value = gather(convert_to_tensor(items), index)
        return weakened(value) if kinds <= _PYTHON else value

    return StagedSequence(len(items), item)


def _range_of(tensor: Tensor) -> StagedSequence | None:
    """The sequence of ``tf.range``, without its tensor."""
    if not isinstance(tensor, SymbolicTensor) or tensor.node.op != "Range":
        return None
    if not tensor.dtype.is_integer or len(tensor.node.inputs) != 3:
        return None
    values = []
    for end in tensor.node.inputs:
        static = get_static_value(end)
        values.append(end if static is None else int(static))
    start, stop, step = values
    sequence = _counted(start, stop, step, lambda index: index)
    return StagedSequence(
        sequence.length, lambda index: cast(sequence.item(index), tensor.dtype)
    )


def _counted(
    start: Any, stop: Any, step: Any, number: Callable[[Any], Any] = weakened
) -> StagedRange:
    # Numbers are told from tensors by type: comparing a tensor makes a node.
    if type(step) is int and step == 1:
        if type(start) is int and start == 0:
            return StagedRange(stop, number, start, step)
        length = stop - start
        return StagedRange(length, lambda index: number(index) + start, start, step)
    # Rounded towards plus infinity, by the sign of the step.
    length = -((start - stop) // step)
    return StagedRange(length, lambda index: number(index) * step + start, start, step)


def staged_range(*args: Any) -> StagedSequence:
    """``range`` of tensors. Its items stand for Python ints."""
    start, stop, step = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
    for value in (start, stop, step):
        if isinstance(value, Tensor) and not value.dtype.is_integer:
            raise state_error(
                "AG204",
                f"range() was given a {value.dtype.name} tensor",
                "use tf.range, or cast it to an integer",
            )
    start, stop, step = map(weakened, (start, stop, step))
    return _counted(start, stop, step)


def staged_enumerate(items: Any, start: Any = 0) -> StagedSequence:
    """``enumerate`` of a tensor."""
    inner = as_sequence(items)
    return StagedSequence(
        inner.length, lambda i: (weakened(i) + start, inner.item(i)), over=inner.over
    )


def staged_zip(*items: Any) -> StagedSequence:
    """``zip`` of tensors, and of lists that can become tensors."""
    inner = [as_sequence(item) for item in items]
    length = inner[0].length
    for sequence in inner[1:]:
        length = _shorter(length, sequence.length)
    over = tuple(one for sequence in inner for one in sequence.over)
    return StagedSequence(length, lambda i: tuple(s.item(i) for s in inner), over=over)


def _shorter(one: Any, other: Any) -> Any:
    """The smaller of two lengths."""
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.spec.weak is not other.spec.weak:
            one, other = weakened(one), weakened(other)
    return minimum(one, other)


def staged_reversed(items: Any) -> StagedSequence:
    """``reversed`` of a tensor or a range."""
    inner = as_sequence(items)
    last = inner.length - 1
    return StagedSequence(inner.length, lambda i: inner.item(last - i), over=inner.over)


def staged_map(function: Callable[..., Any], *items: Any) -> StagedSequence:
    """``map`` over tensors; the function is called as the loop runs."""
    inner = [as_sequence(item) for item in items]
    pairs = staged_zip(*inner)
    return StagedSequence(
        pairs.length, lambda i: function(*pairs.item(i)), over=pairs.over
    )
