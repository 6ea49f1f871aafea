"""The user's own text, wherever it is printed."""

from __future__ import annotations

import textwrap
from typing import Any

import gast
import pytest

from autograph.printing import Pristine, unparse
from autograph.source.definitions import find_function
from autograph.source.parse import parse_module
from autograph.source.text import Source
from autograph.trees.visitors import Transformer, clone


def load(text: str) -> tuple[gast.Module, Pristine]:
    source = Source(text)
    tree = parse_module(source)
    return tree, Pristine(tree, source)


def wrapped(body: list[Any]) -> gast.With:
    """Statements one level deeper, below a new header."""
    item = gast.withitem(gast.Name("scope", gast.Load(), None, None), None)
    return gast.With([item], body, None)


def deeper(text: str, width: int = 88) -> str:
    tree, pristine = load(text)
    return unparse(clone(tree, body=[wrapped(tree.body)]), pristine, width)


def test_what_is_deeper_keeps_its_text_if_it_fits() -> None:
    text = """\
# above
x  = f( 'a',   # one
        b)     # two

if x : y = 0xFF
# below
"""

    assert deeper(text) == "with scope:\n" + textwrap.indent(text, " " * 4)


def test_statements_that_get_too_wide_are_printed_anew() -> None:
    text = """\
a  = 1
b  = function( 0xA, second )
if c :
    d  = function( 0xA )
    e  = function( 0xA, last )
"""

    assert (
        deeper(text, width=30)
        == """\
with scope:
    a  = 1
    b = function(0xA, second)
    if c :
        d  = function( 0xA )
        e = function(0xA,
                     last)
"""
    )


def test_lines_that_were_too_wide_stay() -> None:
    text = "a  = 'a string that was too wide already'\n"

    assert deeper(text, width=30) == f"with scope:\n    {text}"


def test_comments_that_get_too_wide() -> None:
    text = """\
# a comment of thirty columns.
a  = 1  # and this is another.
for b  in c:  # a header, well
    pass
    #: no blank, very wide!!
"""

    assert (
        deeper(text, width=30)
        == """\
with scope:
    # a comment of thirty
    # columns.
    # and this is another.
    a  = 1
    # a header, well
    for b  in c:
        pass
        #: no blank, very
        #wide!!
"""
    )


def test_a_method_moves_to_the_margin() -> None:
    text = '''\
class A:
    # above
    @decorator  # why
    def f(self, a,
                b):
        """Doc.

        More.
        """
        return [a,
                b]
        # last
    # below
'''
    tree, pristine = load(text)
    printed = unparse(tree.body[0].body[0], pristine)

    assert (
        printed
        == '''\
@decorator  # why
def f(self, a,
            b):
    """Doc.

        More.
        """
    return [a,
            b]
    # last
'''
    )


def test_a_function_that_was_found_alone() -> None:
    found = find_function(wrapped)
    pristine = Pristine(found.node, found.source)
    text = unparse(found.node, pristine)

    assert text.startswith("def wrapped(body: list[Any]) -> gast.With:\n")
    assert text.endswith("    return gast.With([item], body, None)\n")


def test_decorators_may_go() -> None:
    tree, pristine = load(
        "# above\n@a  # why\n@b\n# between\ndef f( x ):  # f\n    pass\n"
    )
    function = tree.body[0]
    kept = clone(function, decorator_list=function.decorator_list[1:])
    bare = clone(function, decorator_list=[])

    assert unparse(clone(tree, body=[kept]), pristine) == (
        "# above\n# why\n# between\n# f\n@b\ndef f(x):\n    pass\n"
    )
    assert unparse(clone(tree, body=[bare]), pristine) == (
        "# above\n# why\n# between\n# f\ndef f(x):\n    pass\n"
    )


def test_headers_that_change_their_keyword() -> None:
    tree, pristine = load(
        "if a :\n    b\nelif c :\n    d\nelse:\n    if e :\n        f\n"
    )
    first = tree.body[0]
    second = first.orelse[0]
    nested = second.orelse[0]

    assert unparse(clone(tree, body=[second]), pristine) == (
        "if c :\n    d\nelse:\n    if e :\n        f\n"
    )
    third = clone(first, orelse=[clone(second, orelse=[])])
    assert unparse(third, pristine) == "if a :\n    b\nelif c :\n    d\n"
    moved = gast.If(first.test, first.body, [nested])
    assert unparse(moved, pristine) == "if a:\n    b\nelse:\n    if e :\n        f\n"


def test_comments_at_the_end_of_an_elif() -> None:
    text = """\
if a:
    b
elif c:
    d  # goes
       # on

    # inside
# below
"""
    tree, pristine = load(text)

    assert unparse(clone(tree, body=[clone(tree.body[0])]), pristine) == text


def test_a_lone_elif_body_is_told_from_names() -> None:
    text = "iffy = 1\nelif_ = 2\n"
    tree, pristine = load(text)

    assert unparse(clone(tree, body=[*tree.body]), pristine) == text


def test_repeated_and_reordered_statements() -> None:
    tree, pristine = load("# a\na  = 1  # aa\n\n# b\nb  = 2\n")
    first, second = tree.body

    assert unparse(clone(tree, body=[second, first]), pristine) == (
        "# b\nb  = 2\n# a\na  = 1  # aa\n"
    )
    assert unparse(clone(tree, body=[first, first]), pristine) == (
        "# a\na  = 1  # aa\na  = 1\n"
    )


def test_new_statements_need_no_place() -> None:
    tree, pristine = load("# a\na  = 1\n")
    new = gast.parse("import b").body[0]
    for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        delattr(new, field)

    assert unparse(clone(tree, body=[new, *tree.body]), pristine) == (
        "import b\n# a\na  = 1\n"
    )


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("x = old(0xFF, 1_000, 'a' \"b\", r'\\d', 1e5)", None),
        ("x = old(u'a', F'{ a }', rb'\\0')", None),
        ("x = old + 0x_f .real", "x = new + (0x_f).real"),
        ("x = old + '''a\nb'''", None),
        ("x = old(b, '''a\nb''', c)  # beside", "# beside\nx = new(b, '''a\nb''', c)"),
        ("x = old + ('a'\n           'b')", None),
        ("x = ('a'\n     'b') + old", None),
        ("x = old('a'\n        f'{b}'\n        'c')", None),
        ("x = old(f'{a!r:>{b}}', f'''{c}''')", None),
        ("x = old[-1, 1.50, 0o17, True, None, ...]", None),
        ("x = 'a' \\\n    'b' + old", "x = ('a'\n     'b') + new"),
    ],
)  # fmt: skip
def test_literals_of_changed_statements_keep_their_spelling(
    text: str, changed: str | None
) -> None:
    tree, pristine = load(text)
    target = clone(tree.body[0], value=renamed(tree.body[0].value))
    printed = unparse(clone(tree, body=[target]), pristine)

    assert printed == (changed or text.replace("old", "new")) + "\n"
    assert gast.dump(gast.parse(printed)) == gast.dump(
        gast.parse(text.replace("old", "new"))
    )


class Rename(Transformer):
    def visit_Name(self, node: Any) -> Any:
        return clone(node, id="new") if node.id == "old" else node


def renamed(node: Any) -> Any:
    return Rename().visit(node)


def test_fields_of_changed_fstrings_are_printed_anew() -> None:
    tree, pristine = load("x = f'{old:>0{0xF}} {\"a\"}'")
    target = clone(tree.body[0], value=renamed(tree.body[0].value))

    assert unparse(target, pristine) == "x = f'{new:>0{15}} {\"a\"}'\n"


def test_expressions_with_a_source() -> None:
    tree, pristine = load("x = lambda a: (a + 0xF)")

    assert unparse(tree.body[0].value, pristine) == "lambda a: a + 0xF"
    alone = Pristine(tree.body[0].value, pristine.source)
    assert unparse(tree.body[0].value, alone) == "lambda a: a + 0xF"


def test_other_line_ends() -> None:
    text = "# a\r\nif old :\r\n    b = '''\r\n  c'''  # d\r\n\x0c\r\ne  = 1\r\n"
    tree, pristine = load(text)
    changed = clone(tree, body=renamed(tree).body)

    assert unparse(changed, pristine) == (
        "# a\nif new:\n    b = '''\n  c'''  # d\n\ne  = 1\n"
    )


def test_a_module_of_comments() -> None:
    tree, pristine = load("# nothing\n")

    assert unparse(tree, pristine) == "# nothing\n"
    assert unparse(tree) == ""
