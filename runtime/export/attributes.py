"""Static arguments of nodes as attributes of a GraphDef."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph import Node
from runtime.core.graph.graph_def import AttrValue, TensorValue
from runtime.core.graph.record import RESULT, Export, get
from runtime.core.graph.text import attr_text
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops.operands import Slice

# --- ``x[key]`` as TensorFlow's ``StridedSlice`` takes it: three lists and five masks


def is_slice(node: Node) -> bool:
    """Whether a node reads or changes ``x[key]``."""
    return node.op.startswith(("StridedSlice", "ResourceStridedSlice"))


def slice_inputs(key: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
    """The begins, ends and strides, by what TensorFlow calls their constants.

    They may hold operands.

    >>> from runtime.ops.operands import Slice
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


def attr_value(value: Any) -> AttrValue:
    """Any static argument; what protobuf has no kind for as its text."""
    if isinstance(value, (bool, np.bool_)):
        return AttrValue("b", bool(value))
    if isinstance(value, (int, np.integer)):
        return AttrValue("i", int(value))
    if isinstance(value, (float, np.floating)):
        return AttrValue("f", float(value))
    if isinstance(value, (str, bytes)):
        return AttrValue("s", value)
    if isinstance(value, DType):
        return type_value(value)
    if isinstance(value, TensorShape):
        return shape_value(value)
    if isinstance(value, np.ndarray):
        return AttrValue("tensor", TensorValue(value))
    if isinstance(value, (tuple, list)) and all(map(_is_plain, value)):
        return AttrValue("list", [attr_value(item) for item in value])
    return AttrValue("s", attr_text(value))


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str, DType))


def type_value(dtype: DType | str) -> AttrValue:
    """A dtype."""
    return AttrValue("type", dtype)


def shape_value(shape: TensorShape) -> AttrValue:
    """A shape."""
    return AttrValue("shape", shape)


def dtype_list(specs: list[TensorSpec]) -> AttrValue:
    """The dtypes of tensors."""
    return AttrValue("list", [type_value(spec.dtype) for spec in specs])


def shape_list(specs: list[TensorSpec]) -> AttrValue:
    """The shapes of tensors."""
    return AttrValue("list", [shape_value(spec.shape) for spec in specs])


# --- of a node ------------------------------------------------------------------------

#: Attributes that say nothing in a GraphDef, or are written in another way.
_UNWRITTEN = {"names", "operands"}
_PARTS = {
    "then_graph": ("then_branch", "true"),
    "else_graph": ("else_branch", "false"),
    "cond_graph": ("cond", "cond"),
    "body_graph": ("body", "body"),
    "graph": ("f", ""),
}


def variable_of(node: Node) -> Any:
    """The variable that a node reads or assigns, or None."""
    variable = node.attrs.get("variable")
    return None if isinstance(variable, str) else variable


def part(label: str) -> tuple[str, str]:
    """For a sub-graph of a node the attribute in TensorFlow, and what it is called."""
    if label.startswith("branch_graphs["):
        return "branches", f"branch{label[len('branch_graphs[') : -1]}"
    return _PARTS[label]


def of(node: Node) -> dict[str, AttrValue]:
    """The attributes of a node but for those that hold functions."""
    specs = [tensor.spec for tensor in node.inputs]
    results = [tensor.spec for tensor in node.outputs]
    if any(True for _ in node.subgraphs()):
        return _of_control_flow(node, specs, results)
    if is_slice(node):
        masks = slice_masks(node.attrs["key"])
        found = {name: AttrValue("i", mask) for name, mask in masks.items()}
        found["Index"] = type_value(dtypes.int32)
        found["T"] = type_value(results[0].dtype)
        return found
    op = get(node.op)
    if op.calls_python and "func" in node.attrs:
        token = AttrValue("s", attr_text(node.attrs["func"]))
        return {"Tin": dtype_list(specs), "Tout": dtype_list(results), "token": token}
    attrs = _types(node, op.export, specs, results)
    moved = {key for _, key, _ in op.export.inputs}.union(op.export.unwritten)
    for key, value in node.attrs.items():
        if value is None or key in moved or key in _UNWRITTEN:
            continue
        if value is variable_of(node):
            continue
        attrs[op.export.renamed.get(key, key)] = attr_value(value)
    return attrs


def _types(
    node: Node, form: Export, specs: list[TensorSpec], results: list[TensorSpec]
) -> dict[str, AttrValue]:
    """What dtypes a node takes and gives, under the names that are usual."""
    variable = variable_of(node)
    attrs = {} if variable is None else {"dtype": type_value(variable.dtype)}
    for name, place in form.types:
        if place == RESULT:
            attrs[name] = type_value(results[0].dtype)
        elif specs:
            attrs[name] = type_value(specs[place].dtype)
    if form.is_counted:
        attrs["N"] = AttrValue("i", len(specs) - node.attrs.get("operands", 0))
    return attrs


def _of_control_flow(
    node: Node, specs: list[TensorSpec], results: list[TensorSpec]
) -> dict[str, AttrValue]:
    if node.op == "While":
        attrs = {"T": dtype_list(specs), "output_shapes": shape_list(specs)}
        limit = node.attrs["maximum_iterations"]
        if limit is not None:
            attrs["maximum_iterations"] = attr_value(limit)
        return attrs
    taken = specs if node.op == "PartitionedCall" else specs[1:]
    attrs = {"Tin": dtype_list(taken), "Tout": dtype_list(results)}
    if node.op == "If":
        attrs["Tcond"] = type_value(specs[0].dtype)
    if node.op != "PartitionedCall":
        attrs["output_shapes"] = shape_list(results)
    return attrs
