"""Graphs in other forms: TensorFlow's GraphDef, SVG drawings, text for Graphviz.

`runtime.graph` stands below the ops and cannot import this: `Graph.exports` is this
package, for the methods of `Graph` and `Node` that need it.
"""

from __future__ import annotations

import sys

from runtime.graph import Graph
from runtime.graph_export.definitions import graph_def, node_def, op_type
from runtime.graph_export.dot import to_dot
from runtime.graph_export.names import near, operation, tensor
from runtime.graph_export.svg import to_svg

__all__ = [
    "graph_def",
    "near",
    "node_def",
    "op_type",
    "operation",
    "tensor",
    "to_dot",
    "to_svg",
]

Graph.exports = sys.modules[__name__]
