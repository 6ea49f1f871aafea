"""Graphs as text, for people to read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from runtime.core.types.identity import IdentityMap, IdentitySet

#: The numbers of tensors in the text, for each graph.
Numbers = dict[Any, IdentityMap[Any, str]]

#: Attributes that say nothing about what a node does: names for its results.
_UNPRINTED = {"names"}


def graph_lines(graph: Any, known: Numbers | None = None) -> Iterator[str]:
    """The text of a `runtime.core.graph.Graph`, line by line.

    A graph that calls itself is written once, where it is called first. With `known`,
    tensors keep the numbers that they had when the graph was written with it before.
    """
    known = {} if known is None else known
    return _lines(graph, f"graph {graph.name}", "", set(), known)


def _lines(
    graph: Any, title: str, indent: str, seen: set[Any], known: Numbers
) -> Iterator[str]:
    numbers = known.setdefault(graph, IdentityMap())

    def define(tensor: Any) -> str:
        numbers.setdefault(tensor, f"%{len(numbers)}")
        return f"{numbers[tensor]}: {tensor.spec.describe()}"

    captured = IdentitySet(graph.captures.values())
    inputs = [
        f"{define(tensor)} {'captured ' if tensor in captured else ''}"
        f"{tensor.node.name!r}"
        for tensor in graph.inputs
    ]
    yield f"{indent}{title}({', '.join(inputs)}):"
    for node in graph.nodes:
        arguments = [numbers.get(tensor, tensor.name) for tensor in node.inputs]
        arguments += [
            f"{key}={attr_text(value)}"
            for key, value in node.attrs.items()
            if not (value is None or key in _UNPRINTED or _holds_graph(value))
        ]
        called = [sub for _, sub in node.subgraphs() if sub.is_recursive]
        arguments += [f"graph={sub.name!r}" for sub in called]
        results = ", ".join(map(define, node.outputs))
        call = f"{node.op}({', '.join(arguments)})"
        line = f"{indent}  {results} = {call}" if results else f"{indent}  {call}"
        if node.location is not None:
            filename, lineno = node.location
            line += f"  # {os.path.basename(filename)}:{lineno}"
        yield line
        for label, subgraph in node.subgraphs():
            if subgraph not in seen:
                if subgraph.is_recursive:
                    seen.add(subgraph)
                yield from _lines(subgraph, label, indent + "    ", seen, known)
    outputs = ", ".join(numbers.get(tensor, tensor.name) for tensor in graph.outputs)
    yield f"{indent}  return {outputs}".rstrip()


def _holds_graph(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_graph, value))
    return hasattr(value, "get_operations")


def attr_text(value: Any) -> str:
    """A static argument on one line, shortened where it is long."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return repr(value.item())
        with np.printoptions(threshold=8, edgeitems=2, linewidth=10_000):
            text = " ".join(str(value).split())
    elif hasattr(value, "graph_text"):
        text = value.graph_text
    elif callable(value) and hasattr(value, "__qualname__"):
        text = value.__qualname__
    else:
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
