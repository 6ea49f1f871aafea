"""What `Facts` promises beside the tables themselves."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import gast
import pytest

from autograph.analysis import ELSEWHERE, Facts, NameSet, Target, analyze
from autograph.analysis.collect import collect
from tests.autograph.analysis.printing import dump, graph_text, kind_of, scope_text

ROOT = Path(__file__).parents[3]
MODULES = ["argparse", "dataclasses", "fractions", "heapq", "inspect", "statistics"]
MODULES += ["contextlib", "tarfile", "textwrap"]


def define(source: str) -> tuple[Any, Facts]:
    fn = gast.parse(source).body[0]
    return fn, analyze(fn)


def text_of(facts: Facts) -> str:
    tables = dump(facts, ("reads", "writes", "live_in", "live_out"))
    return f"{scope_text(facts.scope)}\n{tables}"


@pytest.mark.parametrize("module", MODULES)
def test_every_function_of_the_standard_library(module: str) -> None:
    """No question about any node fails."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    tree = gast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))
    for fn in gast.walk(tree):
        if isinstance(fn, (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)):
            ask_everything(analyze(fn))


def ask_everything(facts: Facts) -> None:
    assert graph_text(facts.cfg).startswith("0 entry")
    for stmt in facts.cfg.points:
        assert facts.assigned_in(stmt) <= facts.scope.bound
        assert facts.writes(stmt).isdisjoint(facts.scope.free)
        assert facts.live_in(stmt) | facts.live_out(stmt) is not None
        for target in facts.targets(stmt):
            assert target.opaque or set(target.names) <= set(facts.reads(stmt))
        for node in gast.walk(stmt):
            try:
                reads = facts.reads(node)
            except KeyError:
                continue  # of a nested scope, or not a thing that is evaluated
            assert reads <= facts.reads(stmt)
            if isinstance(node, gast.expr):
                facts.is_python_bool(node)
                facts.is_python_iterable(node)
                facts.python_type(node)


def test_result_is_the_same_in_every_process() -> None:
    """Sets of strings are ordered differently from one process to the next."""
    program = (
        "import gast, inspect, textwrap\n"
        "from tests.autograph.analysis.printing import graph_text\n"
        "from tests.autograph.analysis.test_facts import analyze, text_of\n"
        "fn = gast.parse(textwrap.dedent(inspect.getsource(textwrap.wrap))).body[0]\n"
        "print(text_of(analyze(fn)), graph_text(analyze(fn).cfg))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(texts) == 1


def test_node_made_after_the_analysis_is_an_error() -> None:
    _, facts = define("def f(a): return a")
    late = gast.parse("b = a", mode="exec").body[0]

    for question in (facts.reads, facts.targets, facts.is_python_bool, facts.has_yield):
        with pytest.raises(KeyError, match="made after the analysis: Assign at line 1"):
            question(late)
    with pytest.raises(KeyError, match="not a statement of this function"):
        facts.live_in(late)
    with pytest.raises(KeyError, match="not a loop of this function"):
        facts.live_head(late)


def test_node_of_a_nested_function_is_an_error() -> None:
    fn, facts = define("def f(a):\n def g(): return a\n return g")
    inside = fn.body[0].body[0]

    with pytest.raises(KeyError, match="not a node of this function's scope"):
        facts.reads(inside)
    assert facts.inner(fn.body[0]).reads(inside) == {"a"}
    with pytest.raises(KeyError, match="not a scope within this function"):
        facts.inner(inside)


def test_facts_of_a_nested_function_are_made_once() -> None:
    fn, facts = define("def f(a):\n def g():\n  return lambda: a\n return g")
    outer = facts.inner(fn.body[0])
    function = fn.body[0].body[0].value

    assert facts.inner(fn.body[0]) is outer
    assert outer.inner(function) is facts.inner(function)
    assert facts.inner(fn) is facts


def test_facts_of_a_generator_expression() -> None:
    fn, facts = define("def f(k, xs): return (x + k for x in xs)")
    generator = fn.body[0].value
    inner = facts.inner(generator)

    assert inner.reads(generator.elt) == {"k"}
    assert kind_of("k", inner.scope) == "nonlocal"
    assert inner.reaching(generator.elt.left) == (generator.generators[0],)
    assert inner.reaching(generator.elt.right) == (ELSEWHERE,)
    assert not inner.is_python_bool(generator.elt)


def test_function_itself_and_lists_are_nodes_too() -> None:
    fn, facts = define("def f(a):\n b = a\n c = b\n return g()")

    assert facts.reads(fn) == {"a", "b", "g"}
    assert facts.writes(fn.body[:2]) == {"b", "c"}
    assert facts.reads([]) == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("yield a", True),
        ("x = yield from a", True),
        ("lambda: (yield a)", False),
        ("def g(): yield a", False),
        ("[x for x in a]", False),
        ("(x async for x in a)", False),
        ("await a", True),
        ("[x async for x in a]", True),
        ("[await x for x in a]", True),
        ("async for x in a: pass", True),
        ("async with a: pass", True),
    ],
)
def test_has_yield(source: str, expected: bool) -> None:
    fn, facts = define(f"async def f(a):\n {source}")

    assert facts.has_yield(fn.body) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(x := a) > 1", True),
        ("[y for y in a if (x := y)]", True),
        ("lambda: (x := a)", False),
        ("a > 1", False),
    ],
)
def test_has_walrus(source: str, expected: bool) -> None:
    fn, _ = define(f"def f(a): return {source}")

    assert collect(fn).has_walrus is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("locals()", True),
        ("vars()", True),
        ("vars(a)", False),
        ("vars(*a)", True),
        ("dir()", True),
        ("dir(a)", False),
        ("eval(a)", True),
        ("eval(a, {})", False),
        ("exec(a)", True),
        ("map(eval, a)", True),
        ("a.locals()", False),
        ("[locals() for x in a]", True),
        ("lambda: locals()", False),
        ("[locals(locals) for locals in a]", False),
    ],
)
def test_uses_frame(source: str, expected: bool) -> None:
    fn, facts = define(f"def f(a): return {source}")

    assert facts.uses_frame is expected
    shadowed = analyze(fn, shadowed=["locals", "vars", "dir", "eval", "exec"])
    assert not shadowed.uses_frame
    enclosed = analyze(fn, enclosing=["locals", "vars", "dir", "eval", "exec"])
    assert not enclosed.uses_frame


def test_is_builtin() -> None:
    fn, facts = define("def f(min):\n max(len, min, any, g)\n def h(): return min")

    assert facts.is_builtin("len")
    assert not facts.is_builtin("min")
    assert not facts.is_builtin("g")
    assert not facts.is_builtin("sum")  # it does not occur
    assert not facts.inner(fn.body[1]).is_builtin("min")
    assert not analyze(fn, shadowed=["any"]).is_builtin("any")


def test_shadowed_consumer_captures() -> None:
    fn, facts = define("def f(a, k): return sum(x + k for x in a)")

    assert facts.scope.captured == set()
    assert analyze(fn, shadowed=["sum"]).scope.captured == {"k"}


def test_statements_around() -> None:
    fn, facts = define(
        "def f(a):\n"
        " while a:\n"
        "  try: pass\n"
        "  except E:\n"
        "   if (x := a): b = 1\n"
        " return lambda: 1"
    )
    loop = fn.body[0]
    attempt = loop.body[0]
    branch = attempt.handlers[0].body[0]

    assert facts.statements_around(branch.body[0]) == (branch, attempt, loop)
    assert facts.statements_around(branch.test) == (branch, attempt, loop)
    assert facts.statements_around(loop) == ()
    assert facts.inner(fn.body[1].value).statements_around(fn.body[1].value.body) == ()


def test_is_conditional() -> None:
    fn, facts = define(
        "def f(a):\n g((x := a), a and (y := a))\n if a or (z := a): pass"
    )
    x, conjunction = fn.body[0].value.args

    assert not facts.is_conditional(x)
    assert facts.is_conditional(conjunction.values[1])
    assert facts.is_conditional(fn.body[1].test.values[1])


def test_targets_are_values() -> None:
    fn, facts = define("def f(a, i):\n a.b[i] = a.b[i] = 1\n g(a).c = 2")

    assert facts.targets(fn) == (
        Target("a.b[i]", "a.b", ("a", "i")),
        Target("", "", (), opaque=True),
    )


def test_targets_of_calls() -> None:
    fn, facts = define("def f(a, i):\n a.b[i].pop()\n print(i).clear()\n os.remove(i)")

    assert facts.targets(fn) == (Target("a.b", "a.b", ("a",), opaque=True),)


def test_nameset() -> None:
    names = NameSet(["b", "a", "b"])

    assert list(names) == ["b", "a"]
    assert names == {"a", "b"} == names
    assert hash(names) == hash(NameSet("ab"))
    assert list(names & {"a", "b"}) == ["b", "a"]
    assert list(names | ["c", "a"]) == ["b", "a", "c"]
    assert list(names - ["b"]) == ["a"]
    assert list(names & iter("a")) == ["a"]
    assert repr(names) == "{b, a}"
    assert {"b", "c"} & names == {"b"}
    assert {"c"} | names == {"a", "b", "c"}
    assert names <= {"a", "b", "c"}
    assert not NameSet()


def test_printed() -> None:
    _, facts = define("def f(a):\n b = a\n return b")

    assert text_of(facts).splitlines() == [
        "params: a",
        "bound: a, b",
        "L2 b = a",
        "  reads: a",
        "  writes: b",
        "  live_in: a",
        "  live_out: b",
        "L3 return b",
        "  reads: b",
        "  live_in: b",
    ]
