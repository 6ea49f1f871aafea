"""NumPy's view: making arrays, and their shapes, parts and orders."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import runtime as tf
from runtime.names.numpy_view.conversion import (
    Function,
    along,
    as_dtype,
    asarray,
    axis_of,
    parts,
    promoted,
    table,
)

# --- creation -------------------------------------------------------------------------


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Any:
    """A tensor of the value, of `ndmin` dimensions or more."""
    found = asarray(val, dtype)
    while len(found.shape) < ndmin:
        found = found[None]
    return found


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of one value, or of the values that are broadcast to its shape."""
    return broadcast_to(asarray(fill_value, dtype), shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value in the shape of an array."""
    like = asarray(a)
    return full(tf.shape(like), fill_value, like.dtype if dtype is None else dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """The numbers from `start` to `stop`, which is left out."""
    ends = (0, start, step) if stop is None else (start, stop, step)
    begin, end, by = promoted(*ends)
    end = tf.where((end - begin) * tf.sign(by) < 0, begin, end)  # none at all
    numbers = tf.range(begin, end, by)
    return numbers if dtype is None else tf.cast(numbers, as_dtype(dtype))


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, *, dtype: Any = float
) -> Any:
    """Numbers at equal distances."""
    first, last = asarray(start, float), asarray(stop, float)
    numbers = tf.linspace(first, last, num if endpoint else num + 1)
    kind = as_dtype(dtype)
    return tf.cast(tf.floor(numbers) if kind.is_integer else numbers, kind)[:num]


def _offsets(rows: Any, columns: Any) -> Any:
    """Of the elements of a matrix: the number of the diagonal that each stands on."""
    return tf.range(columns)[None] - tf.range(rows)[:, None]


def _triangle(m: Any, k: int, below: bool) -> Any:
    matrix = asarray(m)
    offsets = _offsets(tf.shape(matrix)[-2], tf.shape(matrix)[-1])
    inside = offsets <= k if below else offsets >= k
    return tf.where(inside, matrix, tf.zeros_like(matrix))


def diag(v: Any, k: int = 0) -> Any:
    """A matrix with the elements on a diagonal, or the diagonal of a matrix."""
    found = asarray(v)
    if len(found.shape) == 1:
        return tf.linalg.diag(found, k=k)
    return diagonal(found, k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes."""
    return tf.linalg.diag_part(moveaxis(a, [axis1, axis2], [-2, -1]), k=offset)


# --- shapes ---------------------------------------------------------------------------


def ndim(a: Any) -> int:
    """The number of dimensions."""
    return len(asarray(a).shape)


def size(x: Any, axis: int | None = None) -> Any:
    """The number of elements, or the length of an axis: a tensor if it is not known."""
    found = asarray(x)
    count = found.shape.num_elements() if axis is None else found.shape[axis]
    if count is not None:
        return count
    return tf.size(found) if axis is None else tf.shape(found)[axis]


def reshape(a: Any, newshape: Any, order: str = "C") -> Any:
    """The elements in another shape, row by row, or in ``order="F"`` by columns."""
    dims = newshape if isinstance(newshape, (list, tuple)) else [newshape]
    if order == "F":
        return tf.transpose(tf.reshape(tf.transpose(asarray(a)), dims[::-1]))
    if order != "C":
        raise ValueError(f"the order must be 'C' or 'F', not {order!r}")
    return tf.reshape(asarray(a), newshape if tf.is_tensor(newshape) else dims)


def ravel(a: Any) -> Any:
    """The elements in one dimension."""
    return tf.reshape(asarray(a), [-1])


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    found = asarray(a)
    order = list(range(len(found.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(found, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes at other positions; the others keep their order."""
    found = asarray(a)
    pairs = zip(np.atleast_1d(destination).tolist(), np.atleast_1d(source).tolist())
    moves = sorted((axis_of(found, to), axis_of(found, axis)) for to, axis in pairs)
    moved = {axis for _, axis in moves}
    order = [axis for axis in range(len(found.shape)) if axis not in moved]
    for to, axis in moves:
        order.insert(to, axis)
    return tf.transpose(found, order)


def broadcast_to(array: Any, shape: Any) -> Any:
    """The elements repeated to fill a shape."""
    is_count = isinstance(shape, int)
    return tf.broadcast_to(asarray(array), [shape] if is_count else shape)


def broadcast_arrays(*args: Any) -> Any:
    """All arrays in the shape in which they meet."""
    arrays = list(map(asarray, args))
    dims = tf.shape(sum(tf.zeros_like(found, tf.int8) for found in arrays))
    return [tf.broadcast_to(found, dims) for found in arrays]


def pad(array: Any, pad_width: Any, mode: str, constant_values: Any = 0) -> Any:
    """More elements on all sides: constant ones, or mirrored ones."""
    found = asarray(array)
    widths = np.broadcast_to(pad_width, (len(found.shape), 2)).tolist()
    constant = tf.cast(asarray(constant_values), found.dtype)
    return tf.pad(found, widths, mode.upper(), constant)


# --- joining and splitting ------------------------------------------------------------


def concatenate(arys: Any, axis: int | None = 0) -> Any:
    """Arrays one after the other along an axis."""
    arrays = parts(arys)
    if axis is None:
        return tf.concat(list(map(ravel, arrays)), 0)
    return tf.concat(arrays, axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Equal parts of an array, or the parts between indices."""
    found = asarray(ary)
    if isinstance(indices_or_sections, int):
        return tf.split(found, indices_or_sections, axis)
    ends = [0, *indices_or_sections, None]
    return [along(found, axis, *pair) for pair in pairwise(ends)]


# --- order ----------------------------------------------------------------------------


def tile(a: Any, reps: Any) -> Any:
    """An array repeated along its axes."""
    counts = np.atleast_1d(reps).tolist()
    found = array(a, ndmin=len(counts))
    return tf.tile(found, [1] * (len(found.shape) - len(counts)) + counts)


def flip(m: Any, axis: Any = None) -> Any:
    """The elements of axes in the opposite order: of all axes by default."""
    found = asarray(m)
    axes = range(len(found.shape)) if axis is None else np.atleast_1d(axis).tolist()
    return tf.reverse(found, list(axes))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved along axes; what leaves at the end enters at the start."""
    found = asarray(a)
    if axis is None:
        return tf.reshape(tf.roll(ravel(found), shift, 0), tf.shape(found))
    return tf.roll(found, shift, axis)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """The plane of two axes turned, by `k` right angles."""
    first, second = axes
    turned = asarray(m)
    for _ in range(k % 4):
        turned = swapaxes(flip(turned, second), first, second)
    return turned


# --- parts ----------------------------------------------------------------------------


def nonzero(a: Any) -> Any:
    """The positions of elements that are not zero: a tensor for each axis."""
    found = tf.where(asarray(a, bool))
    return [found[:, axis] for axis in range(found.shape[1])]


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of `x` where the condition holds, of `y` elsewhere; see `nonzero`."""
    if x is None and y is None:
        return nonzero(condition)
    return tf.where(asarray(condition, bool), *promoted(x, y))


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Any:
    """Elements by their positions: beyond the ends the last ones, or with "wrap" the
    ones that are reached by counting on from the other end.
    """
    found, places = asarray(a), asarray(indices)
    if axis is None:
        found, axis = ravel(found), 0
    length = tf.cast(tf.shape(found)[axis], places.dtype)
    if mode not in ("clip", "wrap"):
        raise ValueError(f"the mode must be 'clip' or 'wrap', not {mode!r}")
    wrapped = mode == "wrap"
    inside = places % length if wrapped else tf.clip_by_value(places, 0, length - 1)
    return tf.gather(found, inside, axis=axis)


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Any:
    """Of each row of an axis the elements at positions of its own."""
    found, places = asarray(arr), asarray(indices)
    if axis is None:
        return tf.gather(ravel(found), places)
    found, places = moveaxis(found, axis, -1), moveaxis(places, axis, -1)
    places = tf.where(places < 0, places + tf.shape(found, places.dtype)[-1], places)
    rows = tf.gather(found, places, batch_dims=len(found.shape) - 1)
    return moveaxis(rows, -1, axis)


def _at_least(rank: int) -> Function:
    def at_least(*arys: Any) -> Any:
        found = [array(one, ndmin=min(rank, 2)) for one in arys]
        if rank == 3:  # NumPy has vectors in the middle
            found = [one[..., None] if len(one.shape) == 2 else one for one in found]
        return found[0] if len(found) == 1 else found

    return at_least


def _joined(rank: int) -> Function:
    """``hstack``, ``vstack`` or ``dstack``, which joins arrays of `rank` or more."""

    def joined(tup: Any) -> Any:
        arrays = list(map(_at_least(rank), parts(tup)))
        axis = min(len(arrays[0].shape) - 1, 1)
        return tf.concat(arrays, {1: axis, 2: 0, 3: 2}[rank])

    return joined


#: What is made of one call, by name.
FUNCTIONS: dict[str, Function] = {
    "append": lambda arr, values, axis=None: concatenate([arr, values], axis),
    "argsort": lambda a, axis=-1: tf.cast(
        tf.argsort(ravel(a) if axis is None else asarray(a), axis or 0, stable=True),
        tf.int64,
    ),
    "asarray": asarray,
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "atleast_3d": _at_least(3),
    "copy": lambda a: asarray(a),
    "diagflat": lambda v, k=0: diag(ravel(v), k),
    "dsplit": lambda ary, indices_or_sections: split(ary, indices_or_sections, 2),
    "dstack": _joined(3),
    "expand_dims": lambda a, axis: tf.expand_dims(asarray(a), axis),
    "eye": lambda N, M=None, k=0, dtype=float: tf.cast(  # noqa: N803
        _offsets(N, N if M is None else M) == k, as_dtype(dtype)
    ),
    "fliplr": lambda m: flip(m, 1),
    "flipud": lambda m: flip(m, 0),
    "hsplit": lambda ary, indices_or_sections: split(
        ary, indices_or_sections, min(len(asarray(ary).shape) - 1, 1)
    ),
    "hstack": _joined(1),
    "identity": lambda n, dtype=float: tf.eye(n, dtype=as_dtype(dtype)),
    "meshgrid": lambda *xi, indexing="xy": tf.meshgrid(
        *map(asarray, xi), indexing=indexing
    ),
    "ndim": lambda a: len(asarray(a).shape),
    "ones": lambda shape, dtype=float: table("ones")(shape, as_dtype(dtype).np_dtype),
    "ones_like": lambda a, dtype=None: tf.ones_like(asarray(a, dtype)),
    "repeat": lambda a, repeats, axis=None: tf.repeat(asarray(a), repeats, axis),
    "shape": lambda a: asarray(a).shape,
    "sort": lambda a, axis=-1: table("sort")(asarray(a), axis),
    "squeeze": lambda a, axis=None: tf.squeeze(asarray(a), axis),
    "stack": lambda arrays, axis=0: tf.stack(parts(arrays), axis),
    "transpose": lambda a, axes=None: tf.transpose(asarray(a), axes),
    "tri": lambda N, M=None, k=0, dtype=float: tf.cast(  # noqa: N803
        _offsets(N, N if M is None else M) <= k, as_dtype(dtype)
    ),
    "tril": lambda m, k=0: _triangle(m, k, True),
    "triu": lambda m, k=0: _triangle(m, k, False),
    "vsplit": lambda ary, indices_or_sections: split(ary, indices_or_sections, 0),
    "vstack": _joined(2),
    "zeros": lambda shape, dtype=float: table("zeros")(shape, as_dtype(dtype).np_dtype),
    "zeros_like": lambda a, dtype=None: tf.zeros_like(asarray(a, dtype)),
}
