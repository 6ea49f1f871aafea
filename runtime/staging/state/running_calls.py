"""Whether a function is called within itself while it is traced."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import CodeType
from typing import Any

from runtime.graph import Node
from runtime.graph.context import current_graph
from runtime.location.user_code import function_behind
from runtime.tracing.trace import trace

__all__ = ["is_staged_again", "may_end"]


def is_staged_again(function: Any) -> bool:
    """Whether `function` is being traced, and a tensor decides whether it is called.

    The branch may be around both calls: then it does not decide how often the function
    is called, but this one does not come back either.
    """
    graph = current_graph()
    if graph is None or not _is_running(function):
        return False
    return graph.parent is not None or may_end(graph.nodes)


def may_end(nodes: Sequence[Node]) -> bool:
    """Whether some of the nodes raise what the program raises, in a branch."""
    return any(
        inner.op == "Raise" or may_end([inner])
        for node in nodes
        for _, body in node.subgraphs()
        if not body.is_recursive
        for inner in body.nodes
    )


def _is_running(function: Any) -> bool:
    """Whether a call of `function` is being traced, somewhere up the stack."""
    code = _code_of(function)
    frame = sys._getframe(1) if code is not None else None
    while frame is not None and frame.f_code is not trace.__code__:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _code_of(function: Any) -> CodeType | None:
    found = function_behind(function)
    # Generators and coroutines run when somebody asks for what they yield.
    lazy = 0x20 | 0x80 | 0x200
    if found is None or found.__code__.co_flags & lazy:
        return None
    return found.__code__
