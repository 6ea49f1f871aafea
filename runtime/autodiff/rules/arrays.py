"""Gradients of ops that move elements: they are moved back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops.arrays.creation import zeros, zeros_like
from runtime.ops.arrays.dimensions import ALL, length, lengths, product_of, with_rank
from runtime.ops.arrays.gather import gather, gather_nd, where
from runtime.ops.arrays.joining import concat, split, stack, unstack
from runtime.ops.arrays.rearrange import pad, reverse
from runtime.ops.arrays.scatter import scatter_nd, tensor_scatter_nd_update
from runtime.ops.arrays.sequences import range as numbers_from
from runtime.ops.arrays.shape import (
    expand_dims,
    identity,
    reshape,
    size,
    transpose,
)
from runtime.ops.arrays.sorting import argsort
from runtime.ops.convert import cast
from runtime.ops.define import Slice, run
from runtime.ops.derivatives import Applied, gradient, linear, without_gradient
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.gradient_shapes import shape_of, sum_to
from runtime.ops.reduce.reductions import reduce_prod, reduce_sum
from runtime.ops.variables import IndexedSlices

without_gradient(
    *("StopGradient", "Shape", "Size", "Rank", "Const", "ArgSort", "SearchSorted"),
    *("Where", "OneHot", "Eye", "Zeros", "Ones"),
)

# --- the same elements in another shape -----------------------------------------------


@linear("Reshape", "ExpandDims", "Squeeze")
def _reshape(node: Applied, g: Any) -> Any:
    return [reshape(g, shape_of(node.inputs[0]))]


@linear("Identity", "EnsureShape", "CheckNumericsV2")
def _identity(node: Applied, g: Any) -> Any:
    return [identity(g)]


@linear("RequireBound", "RequireSome")
def _checked(node: Applied, g: Any) -> Any:
    return [identity(g), None]


@linear("BroadcastTo")
def _broadcast_to(node: Applied, g: Any) -> Any:
    return [sum_to(g, node.inputs[0])]


@linear("Fill")
def _fill(node: Applied, g: Any) -> Any:
    return [reduce_sum(g)]


@linear("Transpose")
def _transpose(node: Applied, g: Any) -> Any:
    perm, conjugate = node.attrs["perm"], node.attrs["conjugate"]
    if perm is None:
        return [transpose(g, conjugate=conjugate)]
    if isinstance(perm, tuple) and all(isinstance(axis, int) for axis in perm):
        rank = len(perm)
        back = sorted(range(rank), key=lambda place: perm[place] % rank)
        return [transpose(g, back, conjugate=conjugate)]
    return [transpose(g, argsort(perm), conjugate=conjugate)]


@linear("ReverseV2")
def _reverse(node: Applied, g: Any) -> Any:
    return [reverse(g, node.attrs["axis"])]


# --- joining and splitting ------------------------------------------------------------


@linear("ConcatV2")
def _concat(node: Applied, g: Any) -> Any:
    axis = node.attrs["axis"]
    if not isinstance(axis, int):
        return NotImplemented
    lengths = [length(tensor, axis) for tensor in node.inputs]
    return list(split(g, lengths, axis, num=len(lengths)))


@linear("Pack")
def _pack(node: Applied, g: Any) -> Any:
    return list(unstack(g, len(node.inputs), node.attrs["axis"]))


@linear("Unpack")
def _unpack(node: Applied, *g: Any) -> Any:
    return [stack(list(g), node.attrs["axis"])]


@linear("Split", "SplitV")
def _split(node: Applied, *g: Any) -> Any:
    return [concat(list(g), node.attrs["axis"])]


# --- parts ----------------------------------------------------------------------------


@linear("StridedSlice")
def _strided_slice(node: Applied, g: Any) -> Any:
    x, key = node.inputs[0], node.attrs["key"]
    if _is_one_row(x, key):
        place = reshape(cast(key[0], dtypes.int64), [1])
        place = where(place < 0, place + length(x, 0), place)
        return [IndexedSlices(expand_dims(g, 0), place, shape_of(x))]
    found = _placed(x, key, g)
    if found is None:
        places = reshape(numbers_from(size(x, dtypes.int64)), shape_of(x))
        picked = reshape(run("StridedSlice", places, key=key), [-1, 1])
        flat = scatter_nd(picked, reshape(g, [-1]), [size(x, dtypes.int64)])
        found = reshape(flat, shape_of(x))
    return [found]


def _is_one_row(x: Any, key: Any) -> bool:
    """Whether a key picks the row of a number that only the run can tell."""
    if type(key) is not tuple or not isinstance(key[0], Tensor) or not x.shape.rank:
        return False
    is_rest = all(type(item) is Slice and item == ALL for item in key[1:])
    return is_rest and key[0].shape.rank == 0 and key[0].dtype.is_integer


def _placed(x: Any, key: Any, g: Any) -> Any:
    """`g` with zeros around it, where the key is of known numbers; None elsewhere."""
    if x.shape.rank is None or not isinstance(key, tuple):
        return None
    dims = x.shape.as_list()
    count = sum(item is not None and item is not Ellipsis for item in key)
    items: list[Any] = []
    for item in key:
        if item is Ellipsis or (type(item) is str and item == "..."):
            items += [ALL] * (len(dims) - count)
        elif item is not None:
            items.append(item)
    items += [ALL] * (len(dims) - len(items))
    if len(items) != len(dims):
        return None
    paddings: list[Any] = []
    kept: list[Any] = []
    steps: list[int] = []
    for item, total in zip(items, dims):
        if type(item) is int:
            item = Slice(item, item + 1 or None, 1)
        if type(item) is not Slice or not all(
            part is None or type(part) is int for part in item
        ):
            return None
        if item == ALL:
            total = length(x, len(kept))
            paddings.append((0, 0))
            kept.append(total)
            steps.append(1)
            continue
        if total is None:
            return None
        first, last, step = slice(*item).indices(total)
        if step < 1:
            return None
        count = len(range(first, last, step))
        end = first + (count - 1) * step + 1 if count else first
        paddings.append((first, total - end))
        kept.append(count)
        steps.append(step)
    return pad(_apart(reshape(g, kept), kept, steps), paddings)


def _apart(g: Any, lengths: Sequence[Any], steps: Sequence[int]) -> Any:
    """`g` with zeros between its elements: as many as steps leave out."""
    for axis, (count, step) in enumerate(zip(lengths, steps)):
        if step == 1 or count < 2:
            continue
        inner = [(0, 0)] * (len(lengths) + 1)
        inner[axis + 1] = (0, step - 1)
        shape = [length(g, place) for place in range(len(lengths))]
        wide = pad(expand_dims(g, axis + 1), inner)
        shape[axis] = count * step
        key = [ALL] * len(shape)
        key[axis] = Slice(0, (count - 1) * step + 1, None)
        g = run("StridedSlice", reshape(wide, shape), key=tuple(key))
    return g


@gradient("PadV2")
def _pad(node: Applied, g: Any) -> Any:
    paddings, value = node.attrs["paddings"], node.attrs["value"]
    x = with_rank(node.inputs[0], paddings)
    if node.attrs["mode"] != "CONSTANT" or x.shape.rank is None:
        return NotImplemented
    key = []
    for axis in range(x.shape.rank):
        begin = paddings[axis][0]
        if isinstance(begin, Tensor):
            begin = cast(begin, dtypes.int64)  # as lengths are
        key.append(Slice(begin, begin + length(x, axis), None))
    inner = run("StridedSlice", g, key=tuple(key))
    if not isinstance(value, Tensor):
        return [inner]
    # It is the last of the operands that stand in attributes.
    rest = [None] * (len(node.wanted) - 2)
    return [inner, *rest, reduce_sum(g) - reduce_sum(inner)]


@linear("GatherV2")
def _gather(node: Applied, g: Any) -> Any:
    x, indices = node.inputs
    axis, batch = node.attrs["axis"], node.attrs["batch_dims"]
    rank = x.shape.rank
    if type(axis) is not int or type(batch) is not int:
        return NotImplemented
    if axis == 0 and not batch:
        # The rows alone: an embedding has many more than a step uses.
        if rank:
            # Not -1: of rows without elements nobody could tell the number.
            is_ranked = indices.shape.rank is not None
            count = product_of(lengths(indices)) if is_ranked else -1
            rows = reshape(g, [count, *lengths(x)[1:]])
            return [
                IndexedSlices(rows, reshape(indices, [-1]), shape_of(x)),
                None,
            ]
    if rank and batch == indices.shape.rank == axis % rank == rank - 1:
        # One element of each row.
        places = expand_dims(cast(indices, dtypes.int64), -1)
        numbers = numbers_from(shape_of(x)[rank - 1], dtype=dtypes.int64)
        is_picked = equal(places, numbers)
        return [where(is_picked, expand_dims(g, -1), zeros([], g.dtype)), None]
    places = reshape(numbers_from(size(x, dtypes.int64)), shape_of(x))
    picked = gather(places, indices, axis=axis, batch_dims=batch)
    flat = scatter_nd(
        reshape(picked, [-1, 1]), reshape(g, [-1]), [size(x, dtypes.int64)]
    )
    return [reshape(flat, shape_of(x)), None]


@linear("GatherNd")
def _gather_nd(node: Applied, g: Any) -> Any:
    x, indices = node.inputs
    if node.attrs["batch_dims"]:
        places = reshape(numbers_from(size(x, dtypes.int64)), shape_of(x))
        picked = gather_nd(places, indices, batch_dims=node.attrs["batch_dims"])
        total = [size(x, dtypes.int64)]
        flat = scatter_nd(reshape(picked, [-1, 1]), reshape(g, [-1]), total)
        return [reshape(flat, shape_of(x)), None]
    return [scatter_nd(indices, g, shape_of(x)), None]


# --- scattering -----------------------------------------------------------------------


@linear("ScatterNd")
def _scatter_nd(node: Applied, g: Any) -> Any:
    return [None, gather_nd(g, node.inputs[0])]


@linear("TensorScatterAdd")
def _scatter_add(node: Applied, g: Any) -> Any:
    return [identity(g), None, gather_nd(g, node.inputs[1])]


@linear("TensorScatterSub")
def _scatter_sub(node: Applied, g: Any) -> Any:
    return [identity(g), None, -gather_nd(g, node.inputs[1])]


@gradient("TensorScatterUpdate")
def _scatter_update(node: Applied, g: Any) -> Any:
    _, indices, updates = node.inputs
    kept = tensor_scatter_nd_update(g, indices, zeros_like(updates))
    return [kept, None, gather_nd(g, indices)]


@gradient("TensorScatterMax", "TensorScatterMin")
def _scatter_extreme(node: Applied, g: Any) -> Any:
    x, indices, updates = node.inputs
    chosen = node.outputs[0]
    by_x = where(equal(x, chosen), g, zeros_like(g))
    is_chosen = equal(updates, gather_nd(chosen, indices))
    return [by_x, None, where(is_chosen, gather_nd(g, indices), zeros_like(updates))]


# --- sorting --------------------------------------------------------------------------


@gradient("Sort")
def _sort(node: Applied, g: Any) -> Any:
    x, axis = node.inputs[0], node.attrs["axis"]
    direction = "DESCENDING" if node.attrs["descending"] else "ASCENDING"
    order = argsort(x, axis, direction, stable=True)
    back = argsort(order, axis, stable=True)
    rank = x.shape.rank
    if rank is None and axis == -1:
        dims = shape_of(x)
        rows = [reduce_prod(dims[:-1]), dims[-1]]
        moved = gather(reshape(g, rows), reshape(back, rows), batch_dims=1)
        return [reshape(moved, dims)]
    if rank is None:
        return NotImplemented
    # What is sorted goes to the end and back again.
    perm = list(range(rank))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    moved = gather(transpose(g, perm), transpose(back, perm), batch_dims=rank - 1)
    return [transpose(moved, perm)]


@gradient("TopKV2")
def _top_k(node: Applied, g: Any, _: Any) -> Any:
    x, indices = node.inputs[0], node.outputs[1]
    width = length(x, -1)
    rows = reshape(g, [-1, length(indices, -1)])
    picked = reshape(indices, [-1, length(indices, -1)])
    count = length(rows, 0)
    lines = expand_dims(numbers_from(count, dtype=picked.dtype), 1) + 0 * picked
    flat = scatter_nd(stack([lines, picked], -1), rows, [count, width])
    return [reshape(flat, shape_of(x))]
