"""What the methods of data sets are given, checked and converted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError, UnimplementedError
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.data.functions import DataFunction, arguments_of
from runtime.data.node import Seeds
from runtime.data.structure import Array, component_names, flat_specs, merged_specs
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.files.systems import local_name
from runtime.ops.reduce.reductions import reduce_sum


def count_argument(value: Any) -> Any:
    """A number as an int, or the symbolic tensor that it is. TypeError for others."""
    if isinstance(value, SymbolicTensor):
        if not value.dtype.is_integer or value.shape.rank not in (0, None):
            raise TypeError(f"a number of elements is an integer, not {value!r}")
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"a number of elements is an integer, not {value!r}") from None


def seeds_of(seed: Any) -> Seeds:
    """The seeds of a node. Raises TypeError for a seed that is no integer."""
    if isinstance(seed, SymbolicTensor):
        raise TypeError("the seed of a data set is an integer, no tensor of a graph")
    return Seeds(None if seed is None else operator.index(seed))


def predicate_of(
    function: Callable[..., Any], element_spec: Any, method: str
) -> DataFunction:
    """A traced function that gives a bool. Raises TypeError for others."""
    found = DataFunction(function, arguments_of(element_spec), method)
    specs = flat_specs(found.spec)
    is_bool = len(specs) == 1 and specs[0].dtype.is_bool
    if not is_bool or specs[0].shape.rank not in (0, None):
        raise TypeError(
            f"{method}() takes a function that gives a scalar bool, and "
            f"{found.name!r} gives {found.spec!r}"
        )
    return found


def checked_spec(before: Any, after: Any, method: str) -> Any:
    """The spec of a state that a function got and gave. TypeError if they differ."""
    found = merged_specs(before, after)
    if found is None:
        raise TypeError(
            f"{method}() takes a function that gives a state like the one it gets: "
            f"{after!r} is not like {before!r}"
        )
    return found


def padded_shapes_of(shapes: Any, element_spec: Any) -> Sequence[TensorShape]:
    """The padded shape of each component. ValueError for those that do not fit."""
    specs = flat_specs(element_spec)
    if shapes is None:
        found = [spec.shape for spec in specs]
    else:
        is_one = len(specs) == 1 and not nest.is_nested(element_spec)
        parts = [shapes] if is_one else nest.flatten_up_to(element_spec, shapes)
        found = [_shape(part) for part in parts]
    for shape, spec, name in zip(found, specs, component_names(element_spec)):
        if shape.rank is None:
            raise ValueError(
                f"padded_batch(): the rank of {name} is not known; give padded_shapes"
            )
        if spec.shape.rank is not None and spec.shape.rank != shape.rank:
            raise ValueError(
                f"padded_batch(): {name} has the shape {spec.shape}, which the padded "
                f"shape {shape} does not fit"
            )
    return found


def _shape(value: Any) -> TensorShape:
    if isinstance(value, TensorShape) or value is None:
        return as_shape(value)
    return as_shape([None if dim is None or dim == -1 else int(dim) for dim in value])


def padding_values_of(values: Any, element_spec: Any) -> Sequence[Tensor]:
    """The scalar that fills up each component: 0, "" or False if none is given."""
    specs = flat_specs(element_spec)
    names = component_names(element_spec)
    if values is None:
        given: list[Any] = [None] * len(specs)
    elif not nest.is_nested(values):
        given = [values] * len(specs)
    else:
        given = nest.flatten_up_to(element_spec, values)
    found: list[Tensor] = []
    for value, spec, name in zip(given, specs, names):
        if value is None:
            nothing: Any = b"" if spec.dtype.kind == "O" else 0
            found.append(EagerTensor(np.array(nothing, spec.dtype.np_dtype)))
            continue
        try:
            tensor = convert_to_tensor(value, spec.dtype)
        except (ConversionError, TypeError, ValueError) as error:
            raise TypeError(
                f"padded_batch(): {value!r} cannot fill up {name}: {error}"
            ) from None
        if tensor.shape.rank not in (0, None):
            raise ValueError(f"padded_batch(): {name} is filled up with one number")
        found.append(tensor)
    return found


def count_of(number: Any, limits: Array) -> Any:
    """How many limits are not above the number, as a tensor."""
    return reduce_sum(cast(convert_to_tensor(limits) <= number, dtypes.int64))


def check_uncompressed(method: str, compression: Any) -> None:
    """Raise UnimplementedError for elements that are to be packed."""
    if compression not in (None, "", "NONE", "AUTO"):
        raise UnimplementedError(
            f"{method}() has a file of elements as they are: leave out the compression"
        )


def elements_file(path: Any, make: bool = False) -> Path:
    """The file of elements in a directory, which is made if that is asked for."""
    folder = Path(local_name(path))
    if make:
        folder.mkdir(parents=True, exist_ok=True)
    return folder / "elements"
