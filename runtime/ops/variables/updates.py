"""The ops that read and change variables.

Each carries its variable as an attribute. An update is the kernel of a pure op on the
old value and the other inputs, whose result becomes the new value. It happens under the
lock of the variable, so that no update of another thread is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from runtime.core.errors import InvalidArgumentError, OutOfRangeError
from runtime.core.graph.record import Export, Op, decomposes, get, register
from runtime.core.tensor import EagerTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import apply_one, as_array
from runtime.ops.arrays.dimensions import alike, length, lengths
from runtime.ops.arrays.gather import check_bounds
from runtime.ops.convert import cast, constant
from runtime.ops.eager import FALL_BACK, quiet
from runtime.ops.elementwise.factories import beside
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, merge_dims, show

Array = np.ndarray[Any, Any]
Compute = Callable[..., Any]


class Storage(Protocol):
    """What the ops need of a variable: its value, and the lock around updates of it."""

    _array: Array
    _lock: Any

    @property
    def name(self) -> str:
        """The name, for messages."""

    @property
    def dtype(self) -> DType:
        """The type of the elements."""

    @property
    def shape(self) -> TensorShape:
        """The static shape."""

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""


#: A node that reads or changes a variable has the variable's ``dtype``.
_PLAIN, _SCATTER = Export(types=()), Export(types=(("Tindices", 0),))

# --- reading and assigning ------------------------------------------------------------

register(
    Op(
        "ReadVariableOp",
        kernel=lambda variable: variable._array,
        infer=lambda variable: variable.spec,
        stateful=True,
        strong=True,
        family="state",
        picks=True,
        export=Export(output="value", types=()),
    )
)


def _assign(value: Array, variable: Storage) -> Array:
    # What has the shape of the old value fits.
    is_new = value.shape != variable._array.shape
    if is_new and not variable.shape.is_compatible_with(value.shape):
        raise InvalidArgumentError(
            f"a value of shape {value.shape} does not fit the variable "
            f"{variable.name!r} of shape {variable.shape}"
        )
    with variable._lock:
        variable._array = as_array(value)
        return variable._array


def _assigning(compute: Compute) -> Compute:
    """A kernel that stores what `compute` makes of the old value and the argument."""

    def kernel(value: Array, variable: Storage) -> Array:
        with variable._lock:
            old = variable._array
            if old.shape != value.shape:
                raise InvalidArgumentError(
                    f"a value of shape {value.shape} does not fit the variable "
                    f"{variable.name!r}, whose value has the shape {old.shape}"
                )
            # A new array each time: tensors that were read before keep theirs.
            variable._array = as_array(compute(old, value))
            return variable._array

    return kernel


def _infer_assign(value: TensorSpec, variable: Storage) -> TensorSpec:
    if value.dtype is not variable.dtype or not variable.shape.is_compatible_with(
        value.shape
    ):
        raise InvalidArgumentError(
            f"{value.describe()} does not fit the variable {variable.name!r}, which is "
            f"{variable.spec.describe()}"
        )
    return TensorSpec(variable.shape.merge_with(value.shape), value.dtype)


def _read(variable: Storage) -> Any:
    return apply_one("ReadVariableOp", variable=variable)


def _assigned(value: Any, variable: Storage) -> Any:
    return apply_one("AssignVariableOp", value, variable=variable)


_add, _subtract = _assigning(np.add), _assigning(np.subtract)
for _op, _kernel in (
    ("AssignVariableOp", _assign),
    ("AssignAddVariableOp", _add),
    ("AssignSubVariableOp", _subtract),
):
    register(
        Op(
            _op,
            _kernel,
            _infer_assign,
            stateful=True,
            strong=True,
            family="state",
            picks=_kernel is _assign,
            export=_PLAIN,
        )
    )


@decomposes("AssignAddVariableOp")
def _add_decomposed(value: Any, *, variable: Storage) -> Any:
    return _assigned(_plus(_read(variable), value), variable)


@decomposes("AssignSubVariableOp")
def _subtract_decomposed(value: Any, *, variable: Storage) -> Any:
    return _assigned(_minus(_read(variable), value), variable)


def _plus(part: Any, value: Any) -> Any:
    one, other = alike(part, value)
    return one + other


def _minus(part: Any, value: Any) -> Any:
    one, other = alike(part, value)
    return one - other


def check_arithmetic(dtype: DType, symbol: str, variable: str) -> None:
    """Raise InvalidArgumentError where the elements have no such operation."""
    if dtype.kind in "bO" and (dtype.is_bool or symbol != "+"):
        raise InvalidArgumentError(
            f"{symbol} is not for {dtype.name}, the dtype of the variable {variable!r}"
        )


def _replace(value: Array, variable: Storage) -> None:
    with variable._lock:
        variable._array = value


#: The kernels for values of the shape and dtype that the old one has.
_QUICK = {
    "AssignVariableOp": _replace,
    "AssignAddVariableOp": _add,
    "AssignSubVariableOp": _subtract,
}


def assign_quickly(op: str, variable: Storage, value: Any) -> bool:
    """Assign a value that is like the old one; False: it takes the general way."""
    old = variable._array
    array = value._array if type(value) is EagerTensor else beside(value, old.dtype)
    if array is None or array.dtype is not old.dtype or array.shape != old.shape:
        return False
    if array is value:
        # The program may change its own array.
        array = array.copy()
    try:
        quiet.run(_QUICK[op], array, variable)
    except FALL_BACK:
        return False
    return True


# --- parts ----------------------------------------------------------------------------


def _updating(
    name: str,
    compute: Compute,
    infer: Compute,
    export: Export = _PLAIN,
    is_host: bool = False,
) -> None:
    """An op whose result, a tensor like the old value, replaces that.

    `compute` takes the old value and the inputs, `infer` the same as specs.
    """

    def kernel(*arrays: Array, variable: Storage, **attrs: Any) -> Array:
        with variable._lock:
            old = variable._array
            try:
                variable._array = as_array(compute(old, *arrays, **attrs))
            except (ValueError, IndexError):
                # What is wrong is said of the value, whose shape is known.
                infer(*(EagerTensor(array).spec for array in (old, *arrays)), **attrs)
                raise
            return variable._array

    def infer_update(*specs: TensorSpec, variable: Storage, **attrs: Any) -> TensorSpec:
        infer(variable.spec, *specs, **attrs)
        return variable.spec

    define(
        name,
        kernel,
        infer_update,
        stateful=True,
        family="state",
        export=export,
        is_host=is_host,
    )


def _nd_decomposed(update: Compute) -> Compute:
    def decomposition(indices: Any, updates: Any, *, variable: Storage) -> Any:
        return _assigned(update(_read(variable), indices, updates), variable)

    return decomposition


#: The ops behind ``scatter_nd_*``, by the pure op that each is made of.
SCATTER_ND = {
    "TensorScatterAdd": "ResourceScatterNdAdd",
    "TensorScatterSub": "ResourceScatterNdSub",
    "TensorScatterUpdate": "ResourceScatterNdUpdate",
    "TensorScatterMin": "ResourceScatterNdMin",
    "TensorScatterMax": "ResourceScatterNdMax",
}
for _pure, _op in SCATTER_ND.items():
    _updating(_op, get(_pure).kernel, get(_pure).infer, _SCATTER)
    decomposes(_op)(_nd_decomposed(partial(run, _pure)))


def _divide_at(target: Array, index: Any, updates: Array) -> None:
    if target.dtype.kind in "fc":
        np.divide.at(target, index, updates)
        return
    # Integers as `tf.truncatediv`, one update after the other.
    divide = get("TruncateDiv").kernel
    places, updates = np.broadcast_arrays(index, updates)
    for place, update in zip(places.flat, updates.flat):
        target[place] = divide(target[place], update)


def _write_at(target: Array, index: Any, updates: Array) -> None:
    target[index] = updates


def _scatter(write: Callable[[Array, Any, Array], None]) -> Compute:
    """Slices of the first axis, each at its index."""

    def compute(old: Array, indices: Array, updates: Array) -> Array:
        wanted = indices.shape + old.shape[1:]
        if not old.ndim or updates.shape not in (wanted, ()):
            raise ValueError
        check_bounds(indices, old.shape[0])
        # As flat arrays, so that one integer names an element.
        width = int(np.prod(old.shape[1:]))
        result = old.copy().reshape(-1)
        places = indices[..., np.newaxis] * width + np.arange(width)
        spread = np.broadcast_to(updates, wanted).reshape(places.shape)
        write(result, places, spread)
        return result.reshape(old.shape)

    return compute


def _infer_scatter(old: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> None:
    if not indices.dtype.is_integer:
        raise InvalidArgumentError(
            f"indices must be integers, not {indices.dtype.name}"
        )
    target, places, given = dims_of(old), dims_of(indices), dims_of(updates)
    if target == ():
        raise InvalidArgumentError("a scalar variable has no slices to update")
    if target is None or places is None or given == ():
        return
    wanted = (*places, *target[1:])
    try:
        merge_dims(wanted, given)
    except ValueError:
        raise InvalidArgumentError(
            f"values must have the shape {show(wanted)} for indices {show(places)} "
            f"into {show(target)}, not {show(given)}"
        ) from None


def _decomposed(update: Compute) -> Compute:
    """As `_nd_decomposed`, for slices of the first axis; one number is for all."""

    def decomposition(indices: Any, updates: Any, *, variable: Storage) -> Any:
        old = _read(variable)
        if None in (old.shape.rank, indices.shape.rank, updates.shape.rank):
            return NotImplemented
        if not updates.shape.rank:
            wanted = [*lengths(indices), *lengths(old)[1:]]
            updates = tf.broadcast_to(updates, wanted)
        return _assigned(update(old, tf.expand_dims(indices, -1), updates), variable)

    return decomposition


def _multiplied(old: Any, indices: Any, updates: Any) -> Any:
    """Each slice times all its updates; those of other slices count as ones."""
    inner = lengths(old)[1:]
    places = tf.reshape(cast(indices, dtypes.int64), [-1])
    # Adding nothing refuses places that are outside, and updates of other shapes.
    old = tf.tensor_scatter_nd_add(old, indices, updates - updates)
    own = tf.expand_dims(tf.range(0, length(old, 0), dtype=dtypes.int64), 1) == places
    for _ in inner:
        own = tf.expand_dims(own, -1)
    rows = tf.reshape(updates, [tf.size(places), *inner])
    return old * tf.reduce_prod(tf.where(own, rows, constant(1, old.dtype)), 1)


for _op, _write, _update in (
    ("ResourceScatterAdd", np.add.at, partial(run, "TensorScatterAdd")),
    ("ResourceScatterSub", np.subtract.at, partial(run, "TensorScatterSub")),
    ("ResourceScatterUpdate", _write_at, partial(run, "TensorScatterUpdate")),
    ("ResourceScatterMin", np.minimum.at, partial(run, "TensorScatterMin")),
    ("ResourceScatterMax", np.maximum.at, partial(run, "TensorScatterMax")),
    ("ResourceScatterMul", np.multiply.at, _multiplied),
):
    _updating(_op, _scatter(_write), _infer_scatter, _SCATTER)
    decomposes(_op)(_decomposed(_update))
# Integers are rounded after each division: no other ops do that.
_updating(
    "ResourceScatterDiv",
    _scatter(_divide_at),
    _infer_scatter,
    _SCATTER,
    is_host=True,
)


def _batch_update(old: Array, indices: Array, updates: Array) -> Array:
    batch = indices.ndim - 1
    if updates.shape != indices.shape + old.shape[batch + 1 :]:
        raise ValueError
    check_bounds(indices, old.shape[batch])
    result = old.copy()
    outer = np.ogrid[tuple(slice(length) for length in indices.shape)][:batch]
    result[(*outer, indices)] = updates
    return result


def _infer_batch_update(
    old: TensorSpec, indices: TensorSpec, updates: TensorSpec
) -> None:
    target, places = dims_of(old), dims_of(indices)
    if target is None or places is None:
        return
    batch = len(places) - 1
    try:
        if not 0 <= batch < len(target):
            raise ValueError
        merge_dims(target[:batch], places[:batch])
        merge_dims((*places, *target[batch + 1 :]), dims_of(updates))
    except ValueError:
        raise InvalidArgumentError(
            f"indices {show(places)} and values {show(dims_of(updates))} do not name "
            f"slices of {show(target)}: all begin with the same batch dimensions, and "
            "there is one slice for each index"
        ) from None


_updating("ResourceBatchScatterUpdate", _batch_update, _infer_batch_update)


@decomposes("ResourceBatchScatterUpdate")
def _batch_decomposed(indices: Any, updates: Any, *, variable: Storage) -> Any:
    if indices.shape.rank is None:
        return NotImplemented
    places = cast(indices, dtypes.int64)
    sizes = lengths(indices)
    parts = []
    for axis in range(len(sizes) - 1):
        along = [-1 if place == axis else 1 for place in range(len(sizes))]
        steps = tf.range(0, sizes[axis], dtype=dtypes.int64)
        parts.append(tf.broadcast_to(tf.reshape(steps, along), sizes))
    found = tf.stack([*parts, places], -1)
    new = tf.tensor_scatter_nd_update(_read(variable), found, updates)
    return _assigned(new, variable)


def _slice_op(
    name: str, change: Callable[[Array, Array], Array], combine: Compute
) -> None:
    """``variable[key]`` becomes what `change` makes of it and of a value.

    `combine` makes the same of tensors.
    """
    pick = get("StridedSlice")

    def compute(old: Array, value: Array, *, key: Any) -> Array:
        result = old.copy()
        view = pick.kernel(result, key=_with_ellipsis(key))
        if view.shape != value.shape:
            raise ValueError
        view[...] = change(view, value)
        return result

    def infer(old: TensorSpec, value: TensorSpec, *, key: Any) -> None:
        part = pick.infer(old, key=_with_ellipsis(key))
        try:
            merge_dims(dims_of(part), dims_of(value))
        except ValueError:
            raise InvalidArgumentError(
                f"a value of shape {value.shape} does not fit the slice of shape "
                f"{part.shape}; tf.broadcast_to or tf.fill repeats one"
            ) from None

    def decomposition(value: Any, *, variable: Storage, key: Any) -> Any:
        old, index = _read(variable), _with_ellipsis(key)
        count = tf.range(0, tf.size(old), dtype=dtypes.int32)
        places = run("StridedSlice", tf.reshape(count, tf.shape(old)), key=index)
        new = combine(run("StridedSlice", old, key=index), value)
        flat = tf.tensor_scatter_nd_update(
            tf.reshape(old, [-1]), tf.expand_dims(places, -1), new
        )
        return _assigned(tf.reshape(flat, tf.shape(old)), variable)

    _updating(name, compute, infer)
    decomposes(name)(decomposition)


def _with_ellipsis(key: Any) -> Any:
    """The key of an index, in which an Ellipsis is written as text."""
    return tuple(Ellipsis if type(item) is str else item for item in key)


def _replaced(part: Any, value: Any) -> Any:
    return value


_slice_op("ResourceStridedSliceAssign", _replaced, _replaced)
_slice_op("ResourceStridedSliceAdd", np.add, _plus)
_slice_op("ResourceStridedSliceSub", np.subtract, _minus)


# --- counting -------------------------------------------------------------------------


def _count_up_to(*, variable: Storage, limit: int) -> Array:
    with variable._lock:
        old = variable._array
        if old >= limit:
            raise OutOfRangeError(
                f"the variable {variable.name!r} has reached its limit of {limit}"
            )
        variable._array = as_array(old + old.dtype.type(1))
        return old


define(
    "ResourceCountUpTo",
    _count_up_to,
    lambda *, variable, limit: variable.spec,
    stateful=True,
    is_host=True,
    family="state",
)
