"""The printed facts of small functions."""

from __future__ import annotations

from pathlib import Path

import gast

from autograph.analysis import Facts, analyze
from tests import golden
from tests.autograph.analysis.printing import dump, graph_text, kind_of, scope_text

HERE = Path(__file__).parent / "golden"


def facts_of(source: str) -> Facts:
    """The facts of the last definition of the source, or of its last lambda."""
    last = gast.parse(source).body[-1]
    return analyze(last.value if isinstance(last, gast.Assign) else last)


@golden.parametrize(HERE / "scopes.test")
def test_scopes(case: golden.Case, update_golden: bool) -> None:
    facts = facts_of(case.source)
    parts = [scope_text(facts.scope)]
    for node in gast.walk(facts.node):
        if node is not facts.node and isinstance(
            node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
        ):
            name = getattr(node, "name", "lambda")
            scope = facts.inner(node).scope
            kinds = [f"{n}: {kind_of(n, scope)}" for n in scope.free]
            parts.append(f"-- {name}\n{scope_text(scope)}\n" + "\n".join(kinds))
    case.check(update_golden, out="\n".join(parts))


@golden.parametrize(HERE / "cfg.test")
def test_cfg(case: golden.Case, update_golden: bool) -> None:
    case.check(update_golden, out=graph_text(facts_of(case.source).cfg))


@golden.parametrize(HERE / "names.test")
def test_names(case: golden.Case, update_golden: bool) -> None:
    tables = ("reads", "writes", "indirect_writes", "targets")
    case.check(update_golden, out=dump(facts_of(case.source), tables))


@golden.parametrize(HERE / "liveness.test")
def test_liveness(case: golden.Case, update_golden: bool) -> None:
    tables = ("live_in", "live_head", "live_out", "live_at_handlers")
    case.check(update_golden, out=dump(facts_of(case.source), tables))


@golden.parametrize(HERE / "assignment.test")
def test_assignment(case: golden.Case, update_golden: bool) -> None:
    tables = ("assigned_in", "maybe_assigned_in")
    case.check(update_golden, out=dump(facts_of(case.source), tables))


@golden.parametrize(HERE / "reaching.test")
def test_reaching(case: golden.Case, update_golden: bool) -> None:
    case.check(update_golden, out=dump(facts_of(case.source), ["reaching"]))


@golden.parametrize(HERE / "plain.test")
def test_plain(case: golden.Case, update_golden: bool) -> None:
    tables = (
        *("is_python_bool", "is_python_iterable", "is_python_controlled"),
        "python_type",
    )
    case.check(update_golden, out=dump(facts_of(case.source), tables))
