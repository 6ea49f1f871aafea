"""Facts as text, the language of the golden tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from autograph.analysis import UNBOUND, Facts, NameSet
from autograph.analysis.cfg import Graph, Node
from autograph.analysis.containers import Containers
from autograph.analysis.dataflow import Marker
from autograph.analysis.events import DELETE, GLOBAL, LATER, WRITE
from autograph.analysis.provably_python import ProvablyPython
from autograph.analysis.scopes import Scope
from autograph.trees.visitors import blocks, statements_in


def scope_text(scope: Scope) -> str:
    """Whose the names are, row by row."""
    rows = [("params", scope.params)]
    for row in ("bound", "globals", "nonlocals", "free", "captured"):
        rows.append((row, tuple(getattr(scope, row))))
    if not {"super", "__class__"}.isdisjoint(scope.free):
        rows.append(("uses", ("__class__",)))
    return "\n".join(f"{row}: {', '.join(names)}" for row, names in rows if names)


def kind_of(name: str, scope: Scope) -> str:
    """Whose the name is: ``'local'``, ``'nonlocal'`` or ``'global'``.

    Builtins are global names.
    """
    kinds = (("local", scope.bound), ("nonlocal", scope.nonlocals))
    for kind, names in (*kinds, ("global", scope.globals)):
        if name in names:
            return kind
    assert name in scope.free
    return "nonlocal" if name in scope.enclosing else "global"


def graph_text(graph: Graph) -> str:
    """The nodes of a graph, a line for each."""
    return "\n".join(_line(node) for node in graph.nodes)


def _line(node: Node) -> str:
    text = f"{node.index} {_label(node)}"
    if node.succ:
        text += " -> " + ", ".join(str(successor.index) for successor in node.succ)
    if node.exc is not None:
        text += f" ! {node.exc.index}"
    return text


def _label(node: Node) -> str:
    if node.stmt is None:
        return node.kind
    words = {"do": "", "test": "if "}
    if node.stmt.__class__ is gast.While:
        words["test"] = "while "
    text = words.get(node.kind, node.kind + " ")
    if node.kind == "do" and node.stmt.__class__ in _DEFINITIONS:
        text += f"define {node.stmt.name}"
    elif node.kind == "unbind":
        text += str(node.stmt.name.id)
    else:
        text += ", ".join(gast.unparse(part).strip() for part in node.parts)
    line = getattr(node.parts[0] if node.parts else node.stmt, "lineno", None)
    return f"L{line or node.stmt.lineno} {text.strip()}"


_DEFINITIONS = frozenset({gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef})


def dump(facts: Facts, tables: Iterable[str]) -> str:
    """Some tables of the facts, statement by statement; empty entries are left out."""
    lines: list[str] = []
    body = facts.node.body
    for stmt in statements_in(body if isinstance(body, list) else [body]):
        lines.append(f"L{stmt.lineno} {_header(stmt)}")
        for table in tables:
            lines += [f"  {table}: {row}" for row in TABLES[table](facts, stmt) if row]
    return "\n".join(lines)


def _header(stmt: Any) -> str:
    if isinstance(stmt, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        return f"define {stmt.name}"
    return str(gast.unparse(stmt).strip().split("\n")[0])


def _set(table: str) -> Callable[[Facts, Any], Iterator[str]]:
    """A table that has a set of names or places for each statement."""

    def rows(facts: Facts, stmt: Any) -> Iterator[str]:
        yield ", ".join(map(str, getattr(facts, table)(stmt)))

    return rows


def _indirect_writes(facts: Facts, stmt: Any) -> Iterator[str]:
    """Names that functions defined within a statement may bind when they are called."""
    yield ", ".join(
        NameSet(
            name
            for flags, name, _ in facts._events(stmt)
            if flags & (WRITE | DELETE) and flags & (LATER | GLOBAL)
        )
    )


def maybe_assigned_in(facts: Facts, stmt: Any) -> NameSet:
    """Names that may be bound when a statement starts."""
    points = facts.cfg.points[stmt]
    definitions = facts._reaching
    return NameSet(
        name
        for name in facts._bits
        if name in definitions._shared
        or any(
            definitions._before[point.before.index] & bit and made is not UNBOUND
            for point in points
            for bit, made in definitions._definitions[name].items()
        )
    )


def _maybe_assigned_in(facts: Facts, stmt: Any) -> Iterator[str]:
    yield ", ".join(maybe_assigned_in(facts, stmt))


def _live_head(facts: Facts, stmt: Any) -> Iterator[str]:
    if isinstance(stmt, (gast.For, gast.AsyncFor, gast.While)):
        yield ", ".join(facts.live_head(stmt))


def _reaching(facts: Facts, stmt: Any) -> Iterator[str]:
    """`n <- L2, L5` for each local name that the statement itself loads."""
    for node in _expressions(stmt):
        if isinstance(node, gast.Name) and node.id in facts.scope.bound:
            found = facts.reaching(node)
            if found:
                yield f"{node.id} <- " + ", ".join(map(_described, found))


def _python_bool(facts: Facts, stmt: Any) -> Iterator[str]:
    for node in _expressions(stmt):
        if node is getattr(stmt, "test", None):
            yield "yes" if facts.is_python_bool(node) else "no"


def _python_controlled(facts: Facts, stmt: Any) -> Iterator[str]:
    if any(blocks(stmt)):
        python = ProvablyPython(facts, Containers(facts))
        yield "yes" if python.controls(stmt) else "no"


def _python_iterable(facts: Facts, stmt: Any) -> Iterator[str]:
    if isinstance(stmt, gast.For):
        yield "yes" if facts.is_python_iterable(stmt.iter) else "no"


def _python_type(facts: Facts, stmt: Any) -> Iterator[str]:
    """The types of the operands of a statement: returned, called upon, assigned."""
    for node in _expressions(stmt):
        if isinstance(node, gast.expr):
            found = facts.python_type(node)
            if found is not None and not isinstance(node, gast.Constant):
                yield f"{gast.unparse(node).strip()} is {found.__name__}"


def _described(definition: Any) -> str:
    if isinstance(definition, Marker):
        return repr(definition)
    if isinstance(definition, gast.comprehension):
        return "comprehension"
    kind = "parameter" if isinstance(definition, gast.Name) else ""
    return kind or f"L{definition.lineno}"


def _expressions(stmt: Any) -> Iterator[Any]:
    """The nodes that the statement itself evaluates, outside nested scopes."""
    for field in stmt._fields:
        value = getattr(stmt, field, None)
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, gast.AST) or isinstance(
                node, (gast.stmt, gast.ExceptHandler, gast.Lambda, gast.GeneratorExp)
            ):
                continue
            if isinstance(node, gast.match_case):
                node = gast.Tuple([node.pattern, *filter(None, [node.guard])], None)
            else:
                yield node
            yield from _expressions(node)


#: How to print each table.
TABLES: dict[str, Callable[[Facts, Any], Iterator[str]]] = {
    **{
        table: _set(table)
        for table in (
            *("reads", "writes", "targets"),
            *("live_in", "live_out", "live_at_handlers"),
            "assigned_in",
        )
    },
    "indirect_writes": _indirect_writes,
    "maybe_assigned_in": _maybe_assigned_in,
    "live_head": _live_head,
    "reaching": _reaching,
    "is_python_bool": _python_bool,
    "is_python_iterable": _python_iterable,
    "is_python_controlled": _python_controlled,
    "python_type": _python_type,
}
