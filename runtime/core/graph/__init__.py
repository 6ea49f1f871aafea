"""Programs as data: graphs of nodes, their text, and which graph is being built."""

from __future__ import annotations

from runtime.core.graph.graph import Graph, Mark, Node, leak_error

__all__ = ["Graph", "Mark", "Node", "leak_error"]
