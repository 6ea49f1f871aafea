"""Statements in their normal form, and every node type that gast has."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import gast
import pytest

from autograph.printing import unparse
from tests.autograph.printing.test_expressions import NORMAL as NORMAL_EXPRESSIONS

#: Each is its own normal form; a line of dashes ends it.
NORMAL = """\
a = b = c
---
a, *b = c
---
(a, b), c = d
---
a.b, c[d] = e
---
a = *b, c
---
a = yield b
---
a += yield
---
a += (b, c)
---
a: int
---
(a): int
---
a.b: int = c
---
a: tuple = (b, c)
---
a: (b, c) = d
---
return
---
return a, *b
---
return (a := b)
---
del a, b.c, d[e]
---
del (a, b)
---
del ()
---
pass
---
break
---
continue
---
assert a
---
assert (a, b), (c, d)
---
raise
---
raise A from b
---
raise (a, b)
---
import a.b as c, d
---
from a.b import c as d, e
---
from . import a
---
from ..a import b
---
from a import *
---
global a, b
---
nonlocal a
---
a.b()
---
*a, b
---
'a docstring'
---
if a:
    b
---
if a := b:
    c
elif d:
    e
else:
    f
---
if a:
    b
else:
    if c:
        d
    e
---
while a:
    b
else:
    c
---
for a in b:
    c
else:
    d
---
for a, *b in c, *d:
    e
---
for (a, b), c in d:
    e
---
for a.b in (yield):
    c
---
async for a in b:
    c
---
with a:
    b
---
with a as b, c as (d, e):
    f
---
with (a, b) as c:
    d
---
with ((a, b)):
    c
---
with (a, b), c:
    d
---
with (yield a):
    b
---
async with a as b:
    c
---
try:
    a
except:
    b
---
try:
    a
except A:
    b
except (B, C) as d:
    e
else:
    f
finally:
    g
---
def f():
    pass
---
async def f(a: int, /, b: (c, d) = 1, *args: e, g=2, **kwargs: h) -> (i, j):
    await k
---
@a
@b.c(d)
@(e := f)
def f(*, a, b=c):
    'A docstring.'
---
class A:
    pass
---
class A(B, *c, metaclass=D, **e):
    f = g
---
class A((b for c in d)):
    pass
---
@a
class A(B[C]):
    def f(self):
        pass
---
match a:
    case 0 | -1 | 1 + 2j | 'a' | b'c':
        pass
    case None | True | a.b:
        pass
    case [] | [a] | [a, *b] | [*_]:
        pass
    case {} | {'a': b, **c} | {1: _, d.e: None}:
        pass
    case A() | A(b, c=d) | a.B(c=[d]):
        pass
    case [a | b as c, (d as e) | f]:
        pass
    case a if b:
        pass
    case _ if (c := d):
        pass
---
match (a, b):
    case [c, d]:
        pass
---
match -a:
    case _:
        pass
"""

#: By the minor version of Python that has the syntax first.
NEWER = {
    11: """\
try:
    a
except* A as b:
    c
else:
    d
---
def f(*a: *b):
    pass
""",
    12: """\
type A = b
---
type A[B: int, *C, **D] = dict[B, C]
---
def f[A](a: A) -> A:
    pass
---
class A[B: (int, str)](C):
    pass
---
async def f[*A, **B](*a: *A):
    pass
""",
    13: """\
type A[B = int, *C = D, **E = []] = f
""",
}


def examples() -> list[str]:
    texts = [NORMAL]
    texts += [text for minor, text in NEWER.items() if sys.version_info >= (3, minor)]
    return [part for text in texts for part in text.rstrip("\n").split("\n---\n")]


def parse(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gast.parse(text)


@pytest.mark.parametrize("text", examples())
def test_normal_forms(text: str) -> None:
    tree = parse(text)
    printed = unparse(tree)

    assert printed == text + "\n"
    assert gast.dump(parse(printed)) == gast.dump(tree)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("if a: b; c", "if a:\n    b\n    c\n"),
        ("if a: b\nelse:\n  if c: d", "if a:\n    b\nelif c:\n    d\n"),
        ("def f()->int: return(1)", "def f() -> int:\n    return 1\n"),
        ("class A(): pass", "class A:\n    pass\n"),
        ("for (a, b) in (c, d): e", "for a, b in c, d:\n    e\n"),
        ("with (a as b, c as d): e", "with a as b, c as d:\n    e\n"),
        ("match (a):\n case (b): c", "match a:\n    case b:\n        c\n"),
        ("a = (b) = c;", "a = b = c\n"),
        ("assert(a)", "assert a\n"),
        ("del(a)", "del a\n"),
        ("x: (int) = (1)", "x: int = 1\n"),
        ('def f():\n  """a\n  b"""', 'def f():\n    """a\n  b"""\n'),
        (r"'a\n\\" '""" "' "'", '"""a\n\\\\\\""" \\""""\n'),
        (r"""'a\n\"\"\"\t'""", '"""a\n\\"""\\t"""\n'),
        ("'''a\nb'''.c", "'a\\nb'.c\n"),
    ],
)
def test_other_spellings(text: str, normal: str) -> None:
    assert unparse(parse(text)) == normal
    assert gast.dump(parse(normal)) == gast.dump(parse(text))


def test_blank_lines_around_definitions() -> None:
    text = "def f():\n  a\n  def g(): b\n  c\ndef h():\n  def i(): d\n  e\nx"
    expected = """\
def f():
    a

    def g():
        b

    c


def h():
    def i():
        d

    e


x
"""

    assert unparse(parse(text)) == expected


# --- every node type ------------------------------------------------------------------

#: Nodes of Python 2, which no parser makes any more.
GONE = {"Print", "Exec", "Repr"}
#: Contexts of names that are not parsed, and what is no part of a program.
UNSEEN = {"AugLoad", "AugStore", "type_ignore"}
#: What the tests below are about.
ROOTS = {"Expression", "FunctionType", "Interactive", "Suite"}
TEMPLATES = {"Interpolation", "TemplateStr"}


def node_types() -> set[str]:
    kinds = [kind for kind in vars(gast).values() if isinstance(kind, type)]
    return {kind.__name__ for kind in kinds if kind.__module__ == "gast.gast"}


def seen_types() -> set[str]:
    texts = [*examples(), *NORMAL_EXPRESSIONS.strip().split("\n")]
    return {type(node).__name__ for text in texts for node in gast.walk(parse(text))}


def test_every_node_type_is_printed_or_refused() -> None:
    """A node type that a new gast brings has to be decided on, and shown above."""
    newer = {"TryStar"} if sys.version_info < (3, 11) else set()
    if sys.version_info < (3, 12):
        newer |= {"TypeAlias", "TypeVar", "TypeVarTuple", "ParamSpec", "type_param"}
    known = GONE | UNSEEN | ROOTS | TEMPLATES | newer

    assert node_types() - seen_types() == known


def test_nodes_that_this_python_lacks_are_printed() -> None:
    """A gast tree has them all: it may come from elsewhere."""
    name = gast.Name("a", gast.Load(), None, None)
    handler = gast.ExceptHandler(name, None, [gast.Pass()])
    parameters = [gast.TypeVar("T", name, name), gast.ParamSpec("P", None)]

    assert unparse(gast.TryStar([gast.Pass()], [handler], [], [])) == (
        "try:\n    pass\nexcept* a:\n    pass\n"
    )
    assert unparse(gast.TypeAlias(name, parameters, name)) == (
        "type a[T: a = a, **P] = a\n"
    )


@pytest.mark.parametrize("kind", sorted(GONE))
def test_nodes_of_python_2_are_refused(kind: str) -> None:
    node_type = getattr(gast, kind)
    node = node_type(*(None for _ in node_type._fields))

    with pytest.raises(ValueError, match=f"{kind} is no part of Python 3"):
        unparse(node)


def test_other_roots() -> None:
    a = gast.Name("a", gast.Load(), None, None)

    assert unparse(gast.Expression(a)) == "a"
    assert unparse(gast.FunctionType([a, a], a)) == "(a, a) -> a"
    assert unparse(gast.Interactive([gast.Pass()])) == "pass\n"
    assert unparse(gast.Suite([gast.Pass()])) == "pass\n"
    assert unparse(gast.Module([], [])) == ""


def test_parts_of_statements() -> None:
    tree = parse(
        "with a as b: pass\nf(c=d)\ndef f(e, /, g: h = 1): pass\nimport i as j"
    )
    with_, call, function, import_ = tree.body
    comprehension = parse("[a for b in c if d]").body[0].value.generators[0]

    assert unparse(with_.items[0]) == "a as b"
    assert unparse(call.value.keywords[0]) == "c=d"
    assert unparse(function.args) == "e, /, g: h = 1"
    assert unparse(import_.names[0]) == "i as j"
    assert unparse(comprehension).strip() == "for b in c if d"


def test_template_strings() -> None:
    a = gast.Name("a", gast.Load(), None, None)
    spec = gast.JoinedStr([gast.Constant(">", None)])
    field = gast.Interpolation(a, "a", ord("r"), spec)

    assert unparse(gast.TemplateStr([gast.Constant("x", None), field])) == "t'x{a!r:>}'"


def test_trees_are_not_changed() -> None:
    tree = parse("\n".join(examples()[:20]))
    before = gast.dump(tree, include_attributes=True)
    unparse(tree)

    assert gast.dump(tree, include_attributes=True) == before
    assert not any(hasattr(node, "_pp") for node in gast.walk(tree))
