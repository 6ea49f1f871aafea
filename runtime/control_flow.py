"""Conditionals as functions: `cond`, `case`, `switch_case`.

They run as plain Python on eager tensors. While a function is traced they become the
nodes ``If`` and ``Case`` of its graph.

>>> case([(False, lambda: "big"), (True, lambda: "small")])
'small'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runtime import nest
from runtime.context import current_graph
from runtime.errors import UnknownResultError
from runtime.graph import Graph
from runtime.ops.convert import cast
from runtime.subgraph import (
    emit_case,
    emit_if,
    predicate,
    set_outputs,
    trace_subgraph,
)
from runtime.tensor import EagerTensor, Tensor
from runtime.tracing import Results, flatten_results

__all__ = ["case", "cond", "switch_case"]

Branch = Callable[[], Any]


def cond(
    pred: Any,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
) -> Any:
    """``true_fn()`` where `pred` holds, else ``false_fn()``.

    Both return the same structure of tensors (or None). A Python bool and an eager
    tensor decide at once; with a symbolic one both functions are traced.

    >>> cond(True, lambda: "yes", lambda: "no")
    'yes'
    """
    if true_fn is None or false_fn is None:
        raise TypeError("cond() needs both true_fn and false_fn")
    if current_graph() is None or _is_known(pred):
        return true_fn() if _truth(pred) else false_fn()
    condition = predicate(pred)
    graphs, results = _trace_branches((true_fn, false_fn), ("true_fn", "false_fn"))
    return results.pack(emit_if(condition, graphs[0], graphs[1], name or "cond"))


def case(
    pred_fn_pairs: Iterable[tuple[Any, Branch]] | Mapping[Any, Branch],
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition holds, else of `default`.

    Without a default the last function runs where no condition holds. `exclusive` asks
    that at most one condition holds; where that can be seen (eagerly), several are a
    ValueError.
    """
    pairs = list(
        pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs
    )
    if not pairs:
        raise ValueError("case() needs at least one pair of a condition and a function")
    if exclusive and current_graph() is None:
        held = sum(_truth(pred) for pred, _ in pairs)
        if held > 1:
            raise ValueError(f"case(exclusive=True): {held} conditions hold at once")
    if default is None:
        *pairs, (_, default) = pairs
    chosen = default
    for pred, fn in reversed(pairs):
        chosen = _either(pred, fn, chosen, name)
    return chosen()


def _either(pred: Any, fn: Branch, otherwise: Branch, name: str) -> Branch:
    return lambda: cond(pred, fn, otherwise, name=name)


def switch_case(
    branch_index: Any,
    branch_fns: Sequence[Branch] | Sequence[tuple[int, Branch]] | Mapping[int, Branch],
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """The result of the function number `branch_index`, else of `default`.

    `branch_fns` are functions, or pairs of an index and a function. Without a default
    the last one runs for any other index.

    >>> switch_case(1, [lambda: "a", lambda: "b", lambda: "c"])
    'b'
    """
    functions = _numbered(branch_fns)
    fallback = functions[max(functions)] if default is None else default
    if current_graph() is None or _is_known(branch_index):
        return functions.get(int(branch_index), fallback)()
    dense = [functions.get(index, fallback) for index in range(max(functions) + 1)]
    if default is not None:
        dense.append(default)
    index = cast(branch_index, "int32")
    labels = [f"branch {position}" for position in range(len(dense))]
    graphs, results = _trace_branches(dense, labels)
    return results.pack(emit_case(index, graphs, name))


def _trace_branches(
    functions: Sequence[Branch], labels: Sequence[str]
) -> tuple[list[Graph], Results]:
    """The graphs of branches, which return one structure.

    Another branch stands for one whose result is not known yet.
    """
    graphs: list[Graph | None] = []
    first: Results | None = None
    for fn, label in zip(functions, labels):
        try:
            graph, result = trace_subgraph(fn, (), label)
        except UnknownResultError:
            graphs.append(None)
            continue
        with graph.as_default():
            tensors, results = flatten_results(result, label)
        set_outputs(graph, tensors)
        graphs.append(graph)
        if first is None:
            first = results
        else:
            _check_same(first, results, labels[0], label)
    known = [graph for graph in graphs if graph is not None]
    if first is None:
        raise UnknownResultError
    return [graph or known[0] for graph in graphs], first


def _check_same(one: Results, other: Results, label: str, other_label: str) -> None:
    try:
        nest.assert_same_structure(one.structure, other.structure)
        if [r is None for r in one.leaves] != [r is None for r in other.leaves]:
            raise ValueError(f"{one.structure!r} against {other.structure!r}")
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{label} and {other_label} return different structures: {error}"
        ) from None


def _numbered(branch_fns: Any) -> dict[int, Branch]:
    if isinstance(branch_fns, Mapping) or (branch_fns and not callable(branch_fns[0])):
        functions = dict(branch_fns)
    else:
        functions = dict(enumerate(branch_fns))
    if not functions or min(functions) < 0:
        raise ValueError("switch_case() needs functions for indices from 0 on")
    return functions


def _is_known(value: Any) -> bool:
    """Whether the value is there already, although a graph may be being built."""
    return isinstance(value, EagerTensor) or not (
        isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__")
    )


def _truth(value: Any) -> bool:
    return bool(predicate(value)) if isinstance(value, Tensor) else bool(value)
