"""Conditionals as functions: `cond`, `case`, `switch_case`.

They run as plain Python on eager tensors. While a function is traced they become the
nodes ``If`` and ``Case`` of its graph.

>>> case([(False, lambda: "big"), (True, lambda: "small")])
'small'
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runtime.core.errors import UnknownResultError
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import dtypes, nest
from runtime.core.types.classes import defines
from runtime.ops.arguments import int_argument
from runtime.ops.checks.assertions import Assert
from runtime.ops.convert import cast
from runtime.ops.elementwise.arithmetic import clip_by_value
from runtime.ops.elementwise.logical import logical_or
from runtime.staging.tracing.form import Results, flatten_results
from runtime.staging.tracing.joins import join_specs
from runtime.staging.tracing.subgraph import (
    emit_case,
    emit_if,
    predicate,
    set_outputs,
    trace_subgraph,
)

Branch = Callable[[], Any]


def cond(
    pred: Any,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
) -> Any:
    """``true_fn()`` where `pred` holds, else ``false_fn()``.

    A Python bool and an eager tensor decide at once. With a symbolic one both functions
    are traced, and must return the same structure of tensors (or None): ValueError,
    TypeError or StagedStateError AG206 says which parts of the results differ.

    >>> cond(True, lambda: "yes", lambda: "no")
    'yes'
    """
    if true_fn is None or false_fn is None:
        raise TypeError("cond() needs both true_fn and false_fn")
    for label, fn in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(fn):
            raise TypeError(f"cond: {label} must be callable, not {fn!r}")
    return _choose(pred, true_fn, false_fn, ("true_fn", "false_fn"), name or "cond")


def _choose(
    pred: Any, true_fn: Branch, false_fn: Branch, labels: Sequence[str], name: str
) -> Any:
    if current_graph() is None or _has_value(pred):
        return true_fn() if _truth(pred) else false_fn()
    condition = predicate(pred)
    graphs, results = _trace_branches((true_fn, false_fn), labels)
    return results.pack(emit_if(condition, graphs[0], graphs[1], name))


def case(
    pred_fn_pairs: Iterable[tuple[Any, Branch]] | Mapping[Any, Branch],
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition holds, else of `default`.

    All functions return the same structure of tensors, as those of `cond` do. `strict`
    is there for TensorFlow's signature.

    Raises:
        InvalidArgumentError: no condition holds and there is no default, or with
            `exclusive` several hold; when the graph runs, if tensors decide.
        TypeError: a pair is no pair of a condition and a function.

    >>> case([(False, lambda: "a"), (True, lambda: "b")], default=lambda: "c")
    'b'
    """
    pairs = _pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError(f"case: default must be callable, not {default!r}")
    conditions = [pred for pred, _ in pairs]
    if exclusive:
        count = sum(cast(predicate(pred), "int32") for pred in conditions)
        Assert(count <= 1, ["case(exclusive=True): several conditions hold at once"])
    last = "default"
    if default is None:
        last = f"function {len(pairs) - 1}"
        any_holds = functools.reduce(logical_or, map(predicate, conditions))
        Assert(any_holds, ["case: no condition holds, and there is no default"])
        *pairs, (_, default) = pairs
    choice = default
    for number, (pred, fn) in reversed(list(enumerate(pairs))):
        labels = f"function {number}", last
        choice = functools.partial(_choose, pred, fn, choice, labels, name)
        last = labels[0]
    return choice()


def _pairs(pred_fn_pairs: Any) -> list[tuple[Any, Branch]]:
    """The pairs of `case`, from a mapping or an iterable."""
    if isinstance(pred_fn_pairs, Mapping):
        pred_fn_pairs = pred_fn_pairs.items()
    if not isinstance(pred_fn_pairs, Iterable):
        raise TypeError(
            "case: pred_fn_pairs must be a list of pairs of a condition and a "
            f"function, not {pred_fn_pairs!r}"
        )
    pairs = list(pred_fn_pairs)
    for number, pair in enumerate(pairs):
        if not (
            isinstance(pair, (list, tuple)) and len(pair) == 2 and callable(pair[1])
        ):
            raise TypeError(
                f"case: pair {number} must be a condition and a function, not {pair!r}"
            )
    if not pairs:
        raise ValueError("case() needs at least one pair of a condition and a function")
    return [(pred.deref() if _is_ref(pred) else pred, fn) for pred, fn in pairs]


def _is_ref(pred: Any) -> bool:
    """Whether a condition is ``tensor.ref()``, which can be a key of a dict."""
    return hasattr(pred, "deref")


def switch_case(
    branch_index: Any,
    branch_fns: Sequence[Branch] | Sequence[tuple[int, Branch]] | Mapping[int, Branch],
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """The result of the function number `branch_index`, else of `default`.

    Without a default the last function runs for an index that has none.

    Args:
        branch_index: an integer scalar.
        branch_fns: functions without parameters that return the same structure of
            tensors, or pairs of an index and such a function, or a dict of these.

    Raises:
        TypeError: `branch_index` is no integer, or something is no function.
        ValueError: an index is negative or given twice, or there are no functions.

    >>> switch_case(1, [lambda: "a", lambda: "b", lambda: "c"])
    'b'
    """
    functions = _numbered(branch_fns)
    if default is not None and not callable(default):
        raise TypeError(f"switch_case: default must be callable, not {default!r}")
    fallback = functions[max(functions)] if default is None else default
    index = int_argument(branch_index, "branch_index")
    if isinstance(index, int):
        return functions.get(index, fallback)()
    dense = [functions.get(index, fallback) for index in range(max(functions) + 1)]
    labels = [f"branch {number}" for number in range(len(dense))]
    if default is not None:
        dense.append(default)
        labels.append("default")
    graphs, results = _trace_branches(dense, labels)
    if index.dtype.size > dtypes.int32.size:
        # An index beyond int32 must not become one of the others.
        index = clip_by_value(index, 0 if index.dtype.is_unsigned else -1, len(dense))
    return results.pack(emit_case(cast(index, "int32"), graphs, name))


def _trace_branches(
    functions: Sequence[Branch], labels: Sequence[str]
) -> tuple[list[Graph], Results]:
    """The graphs of branches, which return one structure.

    A branch whose recursive result is not known yet is replaced by another one.
    """
    graphs: list[Graph | None] = []
    first: tuple[str, Results, list[Tensor]] | None = None
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
            first = label, results, tensors
        else:
            _check_same(first, (label, results, tensors))
    traced = [graph for graph in graphs if graph is not None]
    if first is None:
        raise UnknownResultError
    return [graph or traced[0] for graph in graphs], first[1]


def _check_same(
    one: tuple[str, Results, list[Tensor]], other: tuple[str, Results, list[Tensor]]
) -> None:
    """Raise unless two branches return one structure of tensors of the same dtypes."""
    (label, first, tensors), (other_label, second, other_tensors) = one, other
    shown = nest.outline(first.structure), nest.outline(second.structure)
    try:
        nest.assert_same_structure(*shown)
        same = first.form.has_nesting_of(second.form)
        if not same or first.are_tensors != second.are_tensors:
            raise ValueError("what is None in one must be None in the other")
        nest.check_composites(first.structure, second.structure)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{label} and {other_label} return different structures, {shown[0]!r} and "
            f"{shown[1]!r}: {error}"
        ) from None
    for path, tensor, other_tensor in zip(first.paths, tensors, other_tensors):
        what = f"the result{path and f' at {path}'} of {label} and {other_label}"
        join_specs(tensor.spec, other_tensor.spec, what)


def _numbered(branch_fns: Any) -> dict[int, Branch]:
    """The functions of `switch_case` by their indices."""
    pairs: list[Any] = []
    if isinstance(branch_fns, Mapping):
        pairs = list(branch_fns.items())
    elif isinstance(branch_fns, Iterable):
        pairs = list(branch_fns)
        if not any(isinstance(pair, tuple) for pair in pairs):
            pairs = list(enumerate(pairs))
    functions: dict[int, Branch] = {}
    for pair in pairs:
        index, fn = pair if isinstance(pair, tuple) and len(pair) == 2 else (None, pair)
        if not isinstance(index, int) or not callable(fn):
            raise TypeError(
                "switch_case: branch_fns must be functions, or pairs of an index and a "
                f"function, but there is {(index, fn)!r}"
            )
        if index in functions:
            raise ValueError(f"switch_case: there are two functions for index {index}")
        functions[index] = fn
    if not functions or min(functions) < 0:
        raise ValueError("switch_case() needs functions for indices from 0 on")
    return functions


def _has_value(value: Any) -> bool:
    """Whether a condition has a value even while a graph is being built."""
    return isinstance(value, EagerTensor) or not (
        isinstance(value, Tensor) or defines(type(value), "__tf_tensor__")
    )


def _truth(value: Any) -> bool:
    return bool(predicate(value)) if isinstance(value, Tensor) else bool(value)
