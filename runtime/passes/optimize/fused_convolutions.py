"""Convolutions take over what is done to their result while it is in the cache.

Before::                               After::

    %3 = Conv2D(%0, %1)                    %3 = FusedConv2D(%0, %1, %2, relu=True)
    %4 = AddV2(%3, %2)  # a vector
    %5 = Relu(%4)

Exact: a block of the result is rounded, added to and compared as the whole would be.
The convolution runs where its last part stood, so that it must not fail: all shapes are
known, but for the number of images.
"""

from __future__ import annotations

from collections import Counter

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import Editor, Tensors, nested_graphs, sweep
from runtime.core.tensor import SymbolicTensor

FUSED = "FusedConv2D"


def fused_convolutions(graph: Graph) -> int:
    """Make ``FusedConv2D`` of convolutions, additions of vectors, and ``Relu``."""
    graphs = list(nested_graphs(graph))
    if not any(node.op == "Conv2D" for found in graphs for node in found.nodes):
        return 0
    #: How often tensors are read, by their ``id``.
    uses = Counter(
        id(tensor)
        for found in graphs
        for tensors in (found.outputs, *(node.inputs for node in found.nodes))
        for tensor in tensors
    )

    def fuse(node: Node, editor: Editor) -> Tensors | None:
        is_relu = node.op == "Relu"
        for result, *bias in (node.inputs, node.inputs[::-1]):
            source = result.node
            is_open = source.op == FUSED and is_relu and not source.attrs["relu"]
            if source.op != "Conv2D" and not is_open:
                continue
            # It stands for itself and for the node, which reads it alone.
            if uses[id(result)] > 1 or not _cannot_fail(source):
                continue
            if all(_is_for_channels(each, result) for each in bias):
                attrs = {**source.attrs, "relu": is_relu}
                inputs, spec = (*source.inputs, *bias), node.outputs[0]._spec
                found = editor.add(FUSED, inputs, attrs, spec, source, node.name)
                uses[id(found)] = uses[id(node.outputs[0])]
                return (found,)
        return None

    return sweep(graph, {"AddV2": fuse, "Relu": fuse})


def _is_for_channels(tensor: SymbolicTensor, images: SymbolicTensor) -> bool:
    """Whether it is a vector with a number for each channel."""
    return tensor.shape.rank == 1 and tensor.shape.dims == [images.shape[-1]]


def _cannot_fail(node: Node) -> bool:
    """Whether it is known that the windows fit."""
    images, filters = node.inputs[:2]
    known = images.shape.rank == 4 and images.shape[1:].is_fully_defined()
    return known and filters.shape.is_fully_defined()
