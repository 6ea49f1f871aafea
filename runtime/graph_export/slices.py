"""``x[key]`` as TensorFlow's ``StridedSlice`` takes it: three lists and five masks."""

from __future__ import annotations

from typing import Any

from runtime.graph import Node
from runtime.ops.define import Slice

__all__ = ["is_slice", "slice_inputs", "slice_masks"]


def is_slice(node: Node) -> bool:
    """Whether a node reads or changes ``x[key]``."""
    return node.op.startswith(("StridedSlice", "ResourceStridedSlice"))


def slice_inputs(key: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
    """The begins, ends and strides, by what TensorFlow calls their constants.

    They may hold operands.

    >>> from runtime.ops.define import Slice
    >>> slice_inputs((3, Slice(1, None, 2)))
    {'stack': (3, 1), 'stack_1': (4, 0), 'stack_2': (1, 2)}
    """
    parts = [_part(item) for item in key]
    names = ("stack", "stack_1", "stack_2")
    return {name: tuple(part[i] for part in parts) for i, name in enumerate(names)}


def _part(item: Any) -> tuple[Any, Any, Any]:
    if item is None or _is_ellipsis(item):
        return 0, 0, 1
    if not isinstance(item, Slice):
        # The end of an index is not looked at.
        return item, (item + 1 if isinstance(item, int) else 0), 1
    start, stop, step = item
    return (
        0 if start is None else start,
        0 if stop is None else stop,
        1 if step is None else step,
    )


def _is_ellipsis(item: Any) -> bool:
    # The keys of variables say it as text.
    return item is Ellipsis or isinstance(item, str)


def slice_masks(key: tuple[Any, ...]) -> dict[str, int]:
    """Which bounds are left out, and which items are no slices: a bit for each.

    >>> slice_masks((3, Ellipsis, None))["shrink_axis_mask"]
    1
    """
    masks = dict.fromkeys(
        (
            "begin_mask",
            "ellipsis_mask",
            "end_mask",
            "new_axis_mask",
            "shrink_axis_mask",
        ),
        0,
    )
    for index, item in enumerate(key):
        for name in _masks_of(item):
            masks[name] |= 1 << index
    return masks


def _masks_of(item: Any) -> list[str]:
    if item is None:
        return ["new_axis_mask"]
    if _is_ellipsis(item):
        return ["ellipsis_mask"]
    if not isinstance(item, Slice):
        return ["shrink_axis_mask"]
    bounds = {"begin_mask": item.start, "end_mask": item.stop}
    return [name for name, bound in bounds.items() if bound is None]
