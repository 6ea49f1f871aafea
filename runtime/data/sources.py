"""Where elements come from: arrays, numbers, generators."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError, InvalidArgumentError
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.specs import TensorSpec
from runtime.data.node import INFINITE, UNKNOWN, Node, Run, Seeds, rows
from runtime.data.structure import (
    Array,
    Element,
    component_names,
    flat_specs,
    handle_array,
)
from runtime.ops.convert import convert_to_tensor


class Tensors(Node):
    """One element: the tensors of a structure."""

    name = "TensorDataset"

    def __init__(self, tensors: Sequence[Tensor], spec: Any) -> None:
        self.tensors = tuple(tensors)
        self.spec = spec

    def cardinality(self) -> int:
        """One."""
        return 1

    def start(self, run: Run) -> Iterator[Element]:
        """The element."""
        return iter([tuple(tensor._array for tensor in self.tensors)])  # type: ignore[attr-defined]


class Slices(Node):
    """The items of tensors along their first axis."""

    name = "TensorSliceDataset"

    def __init__(self, tensors: Sequence[Tensor], spec: Any) -> None:
        self.tensors = tuple(tensors)
        self.spec = spec

    def cardinality(self) -> int:
        """The length of the tensors."""
        length = self.tensors[0].shape[0]
        return UNKNOWN if length is None else int(length)

    def _arrays(self) -> list[Array]:
        arrays: list[Array] = [tensor._array for tensor in self.tensors]  # type: ignore[attr-defined]
        check_lengths([array.shape for array in arrays], self.spec)
        return arrays

    def start(self, run: Run) -> Iterator[Element]:
        """The items."""
        return zip(*map(rows, self._arrays()))

    def has_blocks(self) -> bool:
        """Yes."""
        return True

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """Slices of the arrays."""
        arrays = self._arrays()
        return (
            tuple([array[start : start + size] for array in arrays])
            for start in range(0, len(arrays[0]), size)
        )


def check_lengths(shapes: Sequence[Sequence[int | None]], spec: Any) -> None:
    """Raise unless all components have the same length along their first axis."""
    first = None
    for shape, name in zip(shapes, component_names(spec)):
        if len(shape) == 0:
            raise ValueError(
                f"slices are taken along the first axis, and {name} is a scalar; "
                "from_tensors makes one element of it"
            )
        length = shape[0]
        if first is not None and length is not None and length != first:
            raise ValueError(
                f"slices are taken together: {name} has {length} of them, and the "
                f"first component {first}"
            )
        first = length if first is None else first


class Elements(Node):
    """Elements that are there already: what a window holds."""

    name = "VariantDataset"

    def __init__(self, elements: Sequence[Element], spec: Any) -> None:
        self._elements = elements
        self.spec = spec

    def cardinality(self) -> int:
        """Their number."""
        return len(self._elements)

    def start(self, run: Run) -> Iterator[Element]:
        """The elements."""
        return iter(self._elements)

    def handle(self) -> Array:
        """The node as a part of an element."""
        return handle_array(self)


class Range(Node):
    """The numbers of a range."""

    name = "RangeDataset"
    _BLOCK = 1024

    def __init__(self, start: Any, stop: Any, step: Any, dtype: Any) -> None:
        self._bounds = (start, stop, step)
        self.spec = TensorSpec((), dtype)

    def cardinality(self) -> int:
        """The length of the range."""
        if not all(isinstance(bound, int) for bound in self._bounds):
            return UNKNOWN
        return len(range(*self._bounds))

    def start(self, run: Run) -> Iterator[Element]:
        """The numbers."""
        blocks = self.blocks(run, self._BLOCK)
        return ((number,) for (block,) in blocks for number in rows(block))

    def has_blocks(self) -> bool:
        """Yes."""
        return True

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """The numbers in arrays."""
        numbers = range(*map(int, self._bounds))
        dtype = self.spec.dtype.np_dtype
        return (
            (np.array(numbers[start : start + size], dtype),)
            for start in range(0, len(numbers), size)
        )


class Random(Node):
    """Random numbers of int64, without end."""

    name = "RandomDataset"

    def __init__(self, seeds: Seeds, anew: bool) -> None:
        self._seeds = seeds
        self._anew = anew
        self.spec = TensorSpec((), dtypes.int64)

    def cardinality(self) -> int:
        """They do not end."""
        return INFINITE

    def start(self, run: Run) -> Iterator[Element]:
        """The numbers, each below 2**32."""
        draw = run.generator(self._seeds, self._anew).integers
        blocks = (draw(0, 2**32, 256, np.int64) for _ in itertools.repeat(None))
        return ((number,) for block in blocks for number in rows(block))


class Generated(Node):
    """What a generator of the user's gives."""

    #: TensorFlow makes it of one element and a `flat_map`.
    name = "FlatMapDataset"

    def __init__(
        self, function: Callable[..., Any], spec: Any, arguments: Sequence[Tensor]
    ) -> None:
        self.function = function
        self.spec = spec
        self._arguments = tuple(arguments)

    def start(self, run: Run) -> Iterator[Element]:
        """The values of a new generator, checked."""
        arguments = [tensor.numpy() for tensor in self._arguments]
        return map(_Checked(self.spec), iter(self.function(*arguments)))


class _Checked:
    """Makes a flat element of a value that a generator gave."""

    def __init__(self, spec: Any) -> None:
        self._spec = spec
        self._specs = flat_specs(spec)
        self._names = component_names(spec)
        self._one = isinstance(spec, TensorSpec)

    def __call__(self, value: Any) -> Element:
        """Raises InvalidArgumentError where the value is not what was announced."""
        if self._one:
            return (self._array(value, self._specs[0], self._names[0]),)
        if isinstance(value, list) and type(self._spec) is tuple:
            value = tuple(value)
        try:
            parts = nest.flatten_up_to(self._spec, value)
        except (ValueError, TypeError):
            raise InvalidArgumentError(
                f"the generator gave {value!r}, which has another structure than was "
                f"announced: {self._spec!r}"
            ) from None
        return tuple(map(self._array, parts, self._specs, self._names))

    def _array(self, value: Any, spec: TensorSpec, name: str) -> Array:
        try:
            tensor = convert_to_tensor(_cast(value, spec.dtype), spec.dtype)
        except (ConversionError, ValueError, TypeError) as error:
            reason = str(error).partition("\n")[0]
            raise InvalidArgumentError(
                f"the generator gave {value!r} for {name}, where {spec.dtype.name} was "
                f"announced: {reason}"
            ) from None
        if not spec.shape.is_compatible_with(tensor.shape):
            raise InvalidArgumentError(
                f"the generator gave a value of shape {tensor.shape} for {name}, where "
                f"{spec.shape} was announced"
            )
        assert isinstance(tensor, EagerTensor)
        return tensor._array


def _cast(value: Any, dtype: Any) -> Any:
    """NumPy's values in another dtype of their kind, or of a wider one."""
    if isinstance(value, Tensor):
        value = value.numpy()
    if isinstance(value, list) and dtype.kind != "O":
        value = np.asarray(value)
    if isinstance(value, (np.ndarray, np.generic)) and dtype.kind != "O":
        if value.dtype != dtype.np_dtype:
            if np.can_cast(value.dtype, dtype.np_dtype, "same_kind"):
                return value.astype(dtype.np_dtype)
    return value
