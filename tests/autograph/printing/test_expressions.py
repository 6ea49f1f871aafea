"""Expressions in their normal form: exact parentheses, and none that are needless."""

from __future__ import annotations

import ast
import sys
import warnings

import gast
import pytest

from autograph.printing import unparse

#: Each is its own normal form.
NORMAL = r"""
a + b * c
(a + b) * c
a - (b - c)
a - b - c
a * -b
-a ** b
(-a) ** b
a ** -b
a ** b ** c
(a ** b) ** c
--a
-(a + b)
~(not a)
not a in b
(not a) in b
not not a
not (a and b)
a @ b @ c
a @ (b @ c)
a // b % c
a << b >> c
a | b ^ c & d
(a | b) & c
a < b <= c != d
(a < b) < c
a < (b < c)
a is not b
a not in b
a > b >= c is d
a == b
+a
a ^ b - c
a / b << c
a and b or c and d
(a or b) and c
(a and b) and c
a and (b and c)
a if b else c
a if b else c if d else e
(a if b else c) if d else e
a if (b if c else d) else e
(lambda: a) if b else lambda: c
lambda: a if b else c
lambda: (a, b)
lambda: (yield)
lambda: (a := b)
lambda x: lambda y: x
lambda a, b=1, /, c=2, *d, e, f=3, **g: a
lambda *, a: a
lambda *a, **b: a
(lambda: a)()
(a := b)
(a := b), c
[(a := b), c]
f(a := b)
f(a=(b := c))
a[(b := c)]
yield
yield a, b
yield from a
await (yield)
a, (yield b)
f((yield))
f((yield a))
await a
await a ** b
-await a
(await a).b
await a.b()
await (await a)
await (-a)
a, b
(a, b), c
()
(a,),
f((a, b))
[a, b], [], [(a, b)]
{a, b}
{a: b, **c, (d, e): lambda: f}
{**(a or b)}
[*a, *(b or c)]
*a, b
f(*a, **b)
f(*(a or b), c=d, **e or f)
f(a for b in c)
f((a for b in c), d)
f(*(a for b in c))
[a for b in c if d if e for f in g]
[a for b, c in d]
[a for b in (c, d)]
[(a, b) for c in d]
[a for b in (c if d else e)]
[a for b in c if (d if e else f)]
[a for b in (lambda: c)]
{a: b for c, d in e}
{a for b in c}
[a async for b in c]
a.b.c
(1).real
1.5.real
1j.imag
'a'.join
(a + b).c
[].append
{}.get
(a or b)(c)
a(b)(c)
a[b][c]
a[b, c]
a[b,]
a[()]
a[b:c:d, ::e, :]
a[:]
a[b:]
a[:b]
a[(lambda: b):(yield)]
a[lambda: b]
a[-1], a[b + 1:]
...
None, True, False
0, 1.5, 1e+300, 2j
1e309, 1e309j
'a', b'a', "it's", 'a\nb'
u'a'
f'{a}{b!r}{c:>{d}.{e}}{f!a:x}'
f'{{}} {a} {{b}}'
f'{(lambda: a)} {(a if b else c)}'
f'{a["b"]}'
f'{ {a: b}[c]}{ {d for d in e}}'
f'''{a['"']}'''
f'{(a := b)}'
f'{(a, b)}{(yield)}'
f'{a:}'
print((yield a))
"""


def parse(text: str) -> gast.AST:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gast.parse(text).body[0]


@pytest.mark.parametrize("text", NORMAL.strip().split("\n"))
def test_normal_forms(text: str) -> None:
    tree = parse(text)
    printed = unparse(tree)

    assert printed == text + "\n"
    assert gast.dump(parse(printed)) == gast.dump(tree)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("(a)", "a"),
        ("((a, b))", "a, b"),
        ("(a) + ((b))", "a + b"),
        ("a[(b, c)]", "a[b, c]"),
        ("f((a))", "f(a)"),
        ("(a).b", "a.b"),
        ("lambda : (a)", "lambda: a"),
        ("a if (b) else (c)", "a if b else c"),
        ("x = (yield)", "x = yield"),
        ("x = (a, b)", "x = a, b"),
        ("x = yield a, b", "x = yield a, b"),
        ("0xFF + 1_000", "255 + 1000"),
        ("'a' \"b\" 'c'", "'abc'"),
        ("f'{x=}'", "f'x={x!r}'"),
        ("f'a' 'b{}'", "f'ab{{}}'"),
        ("1e1000 - 1e1000j", "1e309 - 1e309j"),
    ],
)
def test_needless_parentheses_and_spellings_go(text: str, normal: str) -> None:
    assert unparse(parse(text)) == normal + "\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="syntax of Python 3.11")
@pytest.mark.parametrize("text", ["a[*b]", "a[*b, c]", "a[b, *c]", "a[b:c, *d]"])
def test_stars_in_subscripts(text: str) -> None:
    assert unparse(parse(text)) == text + "\n"


def test_a_tuple_with_a_star_as_an_index() -> None:
    text = unparse(parse("a[(b, *c)]"))

    assert text == ("a[b, *c]\n" if sys.version_info >= (3, 11) else "a[(b, *c)]\n")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize(
    "text",
    [
        "f'{a['b']}'",
        "f'{f'{f'{a}'}'}'",
        "f'{'\\n'}'",
        "f'{'\"'}{\"'\"}'",
        "f'{a:{'>'}{b}}'",
        "f'''{\na}'''",
    ],
)
def test_fstrings_of_python_3_12(text: str) -> None:
    tree = parse(text)

    assert gast.dump(parse(unparse(tree))) == gast.dump(tree)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "-1"),
        pytest.param(10**5000, hex(10**5000), id="huge"),
        (float("inf"), "1e309"),
        (complex(0, float("inf")), "1e309j"),
        ("\ud800", "'\\ud800'"),
        ("a\\b\x00\r", r"'a\\b\x00\r'"),
        ("\u2028é\u200b", r"'\u2028é\u200b'"),
        (b"'\xff\"", r"""b'\'\xff"'"""),
    ],
)
def test_odd_constants(value: object, text: str) -> None:
    assert unparse(gast.Constant(value, None)) == text
    if value != -1:
        assert ast.literal_eval(text) == value


def test_negative_constants_bind_as_what_they_look_like() -> None:
    power = gast.BinOp(gast.Constant(-1, None), gast.Pow(), gast.Constant(-2, None))
    attribute = gast.Attribute(gast.Constant(-1.5, None), "real", gast.Load())

    assert unparse(power) == "(-1) ** -2"
    assert unparse(attribute) == "(-1.5).real"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="can be written since then")
def test_what_cannot_be_written_is_refused() -> None:
    field = gast.FormattedValue(gast.Constant("\n\\", None), -1, None)

    with pytest.raises(ValueError, match=r"cannot be written before Python 3\.12"):
        unparse(gast.JoinedStr([field]))
