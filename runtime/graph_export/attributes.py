"""Static arguments of nodes as attributes of a GraphDef."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime import dtypes
from runtime.dtypes import DType
from runtime.graph import Node
from runtime.graph_def import AttrValue, TensorValue
from runtime.graph_export.forms import Form
from runtime.graph_export.slices import is_slice, slice_masks
from runtime.graph_text import attr_text
from runtime.shapes import TensorShape
from runtime.specs import TensorSpec

__all__ = [
    "attr_value",
    "dtype_list",
    "of",
    "part",
    "shape_list",
    "shape_value",
    "type_value",
    "variable_of",
]


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
_LOGICAL = {"LogicalAnd", "LogicalNot", "LogicalOr"}
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


def of(node: Node, form: Form) -> dict[str, AttrValue]:
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
    if "PyFunc" in node.op:
        token = AttrValue("s", attr_text(node.attrs["func"]))
        return {"Tin": dtype_list(specs), "Tout": dtype_list(results), "token": token}
    if node.op in ("Cast", "CastExactly"):
        return {
            "DstT": type_value(results[0].dtype),
            "SrcT": type_value(specs[0].dtype),
        }
    attrs = _types(node, form, specs, results)
    if form.op in ("Fill", "Range"):
        return attrs
    moved = {key for _, key, _ in form.inputs}
    for key, value in node.attrs.items():
        if value is None or key in moved or key in _UNWRITTEN:
            continue
        if value is variable_of(node):
            continue
        attrs[form.renamed.get(key, key)] = attr_value(value)
    return attrs


def _types(
    node: Node, form: Form, specs: list[TensorSpec], results: list[TensorSpec]
) -> dict[str, AttrValue]:
    """What dtypes a node takes and gives, under the names that are usual."""
    op = form.op
    if op in _LOGICAL:
        return {}
    variable = variable_of(node)
    if variable is not None:
        attrs = {"dtype": type_value(variable.dtype)}
        if op.startswith("ResourceScatter"):
            attrs["Tindices"] = type_value(specs[0].dtype)
        return attrs
    if op in ("Fill", "Range"):
        return {"T" if op == "Fill" else "Tidx": type_value(results[0].dtype)}
    if op == "GatherV2":
        return {
            "Tindices": type_value(specs[1].dtype),
            "Tparams": type_value(specs[0].dtype),
        }
    if not specs:
        return {}
    # The first input of a selection is its condition.
    attrs = {"T": type_value(specs[1 if op == "SelectV2" else 0].dtype)}
    if op in ("AddN", "ConcatV2", "Pack"):
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
