"""What `Function.explain` says: the statements that tensors decide, and the traces.

Of a trace it says what it read of Python's state, which lines became many operations
(loops that were unrolled), where dtypes were promoted, and what runs it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.function.cache import Entry
from runtime.function.concrete import ConcreteFunction

#: A line with fewer operations than this is not named.
_MANY = 50
_SHOWN = 5
_CASTS = ("Cast", "CastExactly")


class TraceFacts(NamedTuple):
    """What one trace was made for, and what it became."""

    signature: str
    nodes: int
    #: What each guard compares: ``global `rate` is 0.5 (read at f.py:3)``.
    guards: tuple[str, ...]
    #: Lines with very many operations, and how many: ``(file, line, nodes)``.
    unrolled: tuple[tuple[str, int, int], ...]
    #: Where a value got another dtype: ``(file, line, from, to)``.
    promotions: tuple[tuple[str, int, str, str], ...]
    executor: str
    #: How much of it is native code; empty before the first run.
    coverage: str

    def __str__(self) -> str:
        is_told = self.coverage not in ("", self.executor)
        native = f", {self.coverage}" if is_told else ""
        head = f"trace {self.signature}: {self.nodes} operations, by {self.executor}"
        lines = [
            f"{head}{native}",
            *self.guards,
            *(f"{f}:{line} became {n} operations" for f, line, n in self.unrolled),
            *(f"{f}:{line}: {a} becomes {b}" for f, line, a, b in self.promotions),
        ]
        return "\n  ".join(lines)


class Explanation:
    """The statements of some traces, which iteration gives, and the traces."""

    def __init__(self, statements: Any, entries: Sequence[Entry]) -> None:
        self.statements = statements
        self.traces = tuple(map(_facts, entries))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.statements)

    def __str__(self) -> str:
        return "\n".join([str(self.statements), *map(str, self.traces)])

    __repr__ = __str__

    def to_json(self) -> str:
        """Both as JSON: an object with ``statements`` and ``traces``."""
        statements = [statement.record() for statement in self.statements]
        traces = [trace._asdict() for trace in self.traces]
        return json.dumps({"statements": statements, "traces": traces}, indent=2)


def _facts(entry: Entry) -> TraceFacts:
    concrete = entry.concrete
    graph, report = concrete.graph, getattr(concrete._executable, "native", None)
    return TraceFacts(
        typed_call(concrete),
        sum(len(inner.nodes) for inner in nested_graphs(graph)),
        tuple(entry.guards.texts()) if entry.guards else (),
        tuple(_unrolled(graph)),
        tuple(dict.fromkeys(_promotions(graph))),
        concrete.executor,
        getattr(report, "coverage", ""),
    )


def typed_call(concrete: ConcreteFunction) -> str:
    """The arguments of a trace: ``f(x: float32[3], rate=0.5)``."""
    args, kwargs = concrete._specs
    texts = [
        f"{name}: {_text(value)}" if _has_tensor(value) else f"{name}={_text(value)}"
        for name, value in concrete._signature.named(args, kwargs)
    ]
    return f"{concrete.name}({', '.join(texts)})"


def _text(value: Any) -> str:
    return (
        repr(nest.outline(value)).replace("'", "")
        if _has_tensor(value)
        else repr(value)
    )


def _has_tensor(value: Any) -> bool:
    return any(isinstance(leaf, TensorSpec) for leaf in nest.flatten(value))


def _unrolled(graph: Graph) -> Iterator[tuple[str, int, int]]:
    counts = Counter(
        node.location[:2]
        for inner in nested_graphs(graph)
        for node in inner.nodes
        if node.location is not None
    )
    for (filename, line), count in counts.most_common(_SHOWN):
        if count >= _MANY:
            yield filename, line, count


def _promotions(graph: Graph) -> Iterator[tuple[str, int, str, str]]:
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            if node.op in _CASTS and node.location is not None:
                given, made = node.inputs[0].dtype.name, node.outputs[0].dtype.name
                yield *node.location[:2], given, made
