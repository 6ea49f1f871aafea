"""Scopes, against those of Python's own compiler."""

from __future__ import annotations

import importlib.util
import re
import symtable
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

import gast
import pytest

from autograph.analysis import Facts, analyze
from tests.autograph.analysis.printing import kind_of

MODULES = ["argparse", "dataclasses", "fractions", "heapq", "inspect", "statistics"]
MODULES += ["asyncio.tasks", "contextlib", "textwrap", "typing"]
FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)


def source_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    return Path(str(spec.origin)).read_text(encoding="utf-8")


def functions(source: str) -> Iterator[Facts]:
    """The facts of every function: of outermost ones, and of those nested in them."""

    def visit(node: gast.AST, facts: Facts | None) -> Iterator[Facts]:
        if not isinstance(node, FUNCTIONS):
            for child in gast.iter_child_nodes(node):
                yield from visit(child, facts)
            return
        inner = analyze(node) if facts is None else facts.inner(node)
        yield inner
        body = node.body if isinstance(node.body, list) else [node.body]
        for child in gast.iter_child_nodes(node):
            yield from visit(child, inner if child in body else facts)

    yield from visit(gast.parse(source), None)


def tables(table: symtable.SymbolTable) -> Iterator[symtable.Function]:
    for child in table.get_children():
        if isinstance(child, symtable.Function):
            yield child
        yield from tables(child)


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes(constant)


def name_and_line(facts: Facts) -> tuple[str, int]:
    return getattr(facts.node, "name", "lambda"), facts.node.lineno


def comprehension_targets(node: gast.AST) -> set[str]:
    return {
        name.id
        for comprehension in gast.walk(node)
        if isinstance(comprehension, gast.comprehension)
        for name in gast.walk(comprehension.target)
        if isinstance(name, gast.Name)
    }


def unmangled(names: Iterable[str]) -> set[str]:
    """Names of the compiler, without those that are private to a class."""
    return {name for name in names if not re.fullmatch(r"_\w*[^_]__\w*[^_]_?", name)}


def public(names: Iterable[str]) -> set[str]:
    """Names of the source, without those."""
    return {name for name in names if not re.fullmatch(r"__\w*[^_]_?", name)}


@pytest.mark.parametrize("module", MODULES)
def test_names_are_those_of_the_symbol_table(module: str) -> None:
    source = source_of(module)
    by_place: dict[tuple[str, int], list[symtable.Function]] = {}
    for table in tables(symtable.symtable(source, module, "exec")):
        by_place.setdefault((table.get_name(), table.get_lineno()), []).append(table)
    checked = 0
    for facts in functions(source):
        found = by_place.get(name_and_line(facts), [])
        if len(found) != 1:
            continue  # decorated, or several lambdas of one line
        checked += 1
        check_table(facts, found[0])

    assert checked > 10


def check_table(facts: Facts, table: symtable.Function) -> None:
    scope, where = facts.scope, name_and_line(facts)
    inlined = comprehension_targets(facts.node)
    bound = public(scope.bound)

    assert public(scope.params) == unmangled(table.get_parameters()), where
    assert bound <= unmangled(table.get_locals()), where
    assert unmangled(table.get_locals()) - bound <= inlined, where
    assert public(scope.nonlocals) == unmangled(
        s.get_name() for s in table.get_symbols() if s.is_nonlocal()
    ), where
    assert public(scope.globals) == unmangled(
        s.get_name() for s in table.get_symbols() if s.is_declared_global()
    ), where
    for name in unmangled(table.get_frees()) - {"__class__", *scope.nonlocals}:
        assert kind_of(name, scope) == "nonlocal", (where, name)


@pytest.mark.parametrize("module", MODULES)
def test_captured_names_are_the_cells_of_the_code(module: str) -> None:
    source = source_of(module)
    by_place: dict[tuple[str, int], list[types.CodeType]] = {}
    for code in codes(compile(source, module, "exec")):
        name = code.co_name.strip("<>")
        by_place.setdefault((name, code.co_firstlineno), []).append(code)
    checked = 0
    for facts in functions(source):
        found = by_place.get(name_and_line(facts), [])
        if len(found) == 1:
            checked += 1
            check_cells(facts, found[0])

    assert checked > 10


def check_cells(facts: Facts, code: types.CodeType) -> None:
    captured = public(facts.scope.captured) - {"__class__"}
    cells = unmangled((*code.co_cellvars, *code.co_freevars)) - {"__class__"}

    assert captured <= cells, name_and_line(facts)
    generators = any(
        isinstance(
            node, (gast.GeneratorExp, gast.ListComp, gast.SetComp, gast.DictComp)
        )
        for node in gast.walk(facts.node)
    )
    if not generators:
        own = cells - set(code.co_freevars)
        assert captured >= own, name_and_line(facts)


TRICKY = {
    "walrus": "def f(xs):\n return any((y := x) for x in xs), (z := 1 for _ in xs)",
    "class_cell": "def f(x):\n class C:\n  y = x\n  def m(self): return x, y\n",
    "nested_global": "def f():\n x = 1\n def g():\n  global x\n  x = 2\n  def h(): x",
    "default": "def f(x):\n def g(y=x): return lambda: y\n",
    "class_nonlocal": "def f(x):\n class C:\n  nonlocal x\n  x = 1\n",
    "comprehension_in_class": "def f(x):\n class C:\n  y = [x for z in x if z]\n",
    "nested_comprehension": "def f(x):\n return [[a + b for a in x] for b in x]\n",
    "lambda_in_comprehension": "def f(x):\n return [lambda: (i, x) for i in x]\n",
    "annotation": "def f(T):\n def g():\n  x: T = 1\n return g\n",
    "argument_annotation": "def f(T):\n def g(x: T) -> T: pass\n",
    "del_only": "def f():\n del x\n return lambda: x\n",
    "except": "def f():\n try: pass\n except E as x: g = lambda: x\n",
    "for_target": "def f(x):\n for x.a, [y, *z] in x: g = lambda: z\n",
    "pattern": "def f(x):\n match x:\n  case {'a': y, **z}: return lambda: (y, z)\n",
    "import": "def f():\n import a.b.c\n from d import e as g\n return lambda: (a, g)",
    "three_deep": "def f(x):\n def g():\n  def h():\n   nonlocal x\n   x = 1\n",
    "async": "async def f(x):\n async with x as y: return [z async for z in y]\n",
}
if sys.version_info >= (3, 12):
    TRICKY["type_parameter"] = "def f(x):\n def g[T: x](y: T): return T, x\n"
    TRICKY["type_alias"] = "def f(x):\n type A[T] = dict[T, x]\n return A\n"
    TRICKY["generic_class"] = "def f(x):\n class C[T](x):\n  y: T\n  z = T\n"


@pytest.mark.parametrize("case", TRICKY)
def test_tricky_scopes(case: str) -> None:
    """Each function's locals and cells, by the code that Python compiles."""
    source = TRICKY[case]
    module = compile(source, "", "exec", dont_inherit=True)
    found = {code.co_name.strip("<>"): code for code in codes(module)}
    inlined = comprehension_targets(gast.parse(source))
    for facts in functions(source):
        code = found[name_and_line(facts)[0]]
        scope = facts.scope
        local = {*code.co_varnames, *code.co_cellvars}

        assert scope.bound <= local
        assert local - scope.bound <= inlined
        assert scope.captured <= {*code.co_cellvars, *code.co_freevars}
        for name in set(code.co_freevars) - {"__class__", "T", ".type_params"}:
            assert kind_of(name, scope) == "nonlocal"
        for name in code.co_names:
            if name in scope.free:
                assert kind_of(name, scope) == "global"


def test_captured_in_every_version() -> None:
    """What Python 3.12 inlines is no capture in the older ones either."""
    (facts,) = functions("def f(k, xs): return [x + k for x in xs]")

    assert list(facts.scope.captured) == []


def test_free_names_of_enclosing_functions() -> None:
    fn = gast.parse("def f(): return a, b, len").body[0]
    scope = analyze(fn, enclosing=["a"]).scope

    assert [kind_of(name, scope) for name in scope.free] == [
        "nonlocal",
        "global",
        "global",
    ]


def test_kinds_of_declared_names() -> None:
    (facts,) = functions("def f():\n global g\n nonlocal n\n g = n = l = 1")

    assert [kind_of(name, facts.scope) for name in "gnl"] == [
        "global",
        "nonlocal",
        "local",
    ]
