"""Graphs in other forms: TensorFlow's GraphDef, SVG drawings, text for Graphviz.

`core.graph` stands below the ops and cannot import this: `compiler.install` gives it
this package as `Graph.exports`. What writes the forms is imported when the first graph
is written.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.export.definitions import (
        graph_def,
        node_def,
        op_type,
        operation,
        tensor,
    )
    from runtime.export.dot import to_dot
    from runtime.export.svg import to_html, to_svg

__all__ = [
    "graph_def",
    "node_def",
    "op_type",
    "operation",
    "tensor",
    "to_dot",
    "to_html",
    "to_svg",
]

_HOMES = {
    "graph_def": "definitions",
    "node_def": "definitions",
    "op_type": "definitions",
    "operation": "definitions",
    "tensor": "definitions",
    "to_dot": "dot",
    "to_html": "svg",
    "to_svg": "svg",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    found = globals()[name] = getattr(home, name)
    return found
