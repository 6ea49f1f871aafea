"""Errors of running graphs, shown where the user wrote the operation.

A graph runs long after the Python code that made it. An exception from a node is raised
with the type it had, its message names the op, and the last entry of its traceback is
the user's line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, NoReturn

from runtime.core.errors import EndlessRecursionError, OpError, is_python_limit
from runtime.core.graph import Node
from runtime.core.graph.graph_def import NodeDef
from runtime.core.graph.record import Op, get
from runtime.core.location.user_code import SourcePosition, traceback_at, user_frames
from runtime.engines.numpy_source.replay import next_call
from runtime.ops.apply import KERNEL_ERRORS, kernel_error, run_kernel
from runtime.ops.checks.numerics import check_results
from runtime.ops.python_ints import kernel_of


def run_node(node: Node, arrays: Sequence[Any], function: str) -> Any:
    """What the node's kernel gives; an error is raised as from the node's line."""
    try:
        happened = next_call(get(node.op))
        return call_kernel(node, arrays) if happened is None else happened()
    except Exception as error:
        raise_from_node(error, node, function)


def call_kernel(node: Node, arrays: Sequence[Any]) -> Any:
    """What the node's kernel gives; an error is raised as it is."""
    op = get(node.op)
    if op.raises_for_program:
        return op.kernel(*arrays, **node.attrs)
    return run_kernel(op, arrays, node.attrs, kernel_of(node))


def check_node(
    node: Node, arrays: Sequence[Any], results: Sequence[Any], function: str
) -> None:
    """Raise, as from the node's line, if it computed NaN or infinities."""
    try:
        check_results(node.op, arrays, results)
    except OpError as error:
        raise_from_node(error, node, function)


def kernel_failure(node: Node, arrays: Sequence[Any], error: Exception) -> Exception:
    """What `run_node` would raise for an error that came from the bare kernel."""
    if get(node.op).raises_for_program:
        return error
    if isinstance(error, OpError):
        return error.for_op(node.op)
    if isinstance(error, KERNEL_ERRORS):
        return kernel_error(get(node.op), arrays, node.attrs, error)
    return error


def too_deep(error: RecursionError, function: str, node: Node | None) -> RecursionError:
    """The error for calls within calls that went deeper than Python goes.

    `node` is the call, if there is one. An error of another text is the program's own.
    """
    if not is_python_limit(error):
        return error
    where = "" if node is None else node.where
    return EndlessRecursionError(
        f"{where}AG211: the graph {function!r} called itself deeper than Python's "
        f"recursion limit ({sys.getrecursionlimit()}); raise that with "
        "sys.setrecursionlimit, or write a loop"
    )


def raise_from_node(error: Exception, node: Node, function: str) -> NoReturn:
    """Raise `error`, which `node` caused, as if at the node's line in `function`.

    What a Python function raised, which the node called, comes from its own line there.
    """
    if get(node.op).called_attribute:
        raise error
    inner = _called_frames(error, get(node.op)) if get(node.op).calls_python else None
    error = error.with_traceback(inner)
    if node.location is None:
        raise error
    filename, lineno = node.location
    if isinstance(error, OpError) and error.node_def is None:
        error.node_def = NodeDef(node.name, node.op, [t.name for t in node.inputs])
    if isinstance(error, OpError) and len(error.args) == 1 and inner is None:
        code = "" if str(error).startswith("AG") else f"{error.code} "
        where = f"\n  {code}at {filename}:{lineno}"
        excerpt = SourcePosition(*node.location).excerpt()
        error.args = (f"{error.args[0]}{where}{excerpt}",)
    raise error.with_traceback(traceback_at(node.location, function, inner))


def called_by(calls: Iterable[Node], error: BaseException) -> TracebackType | None:
    """The traceback of an error within calls of graphs, the outermost call first."""
    traceback = error.__traceback__
    for call in reversed([*calls]):
        if call.location is not None:
            traceback = traceback_at(call.location, call.graph.name, traceback)
    return traceback


def _called_frames(error: Exception, op: Op) -> TracebackType | None:
    """The entries of the Python function that a node called, and what that called."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code is op.kernel.__code__:
            return user_frames(traceback.tb_next)
        traceback = traceback.tb_next
    return None
