"""Random syntax trees, for the tests of the printer."""

from __future__ import annotations

import sys
from typing import Any

import gast
from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]

names = st.sampled_from(["a", "b", "a_long_name", "match", "é"])
texts = st.text(st.sampled_from("ab {}'\"\\\n\té\0"), max_size=6)
constants = st.one_of(
    st.sampled_from([None, True, False, ...]),
    st.integers(0, 10**30),
    st.floats(min_value=0, allow_nan=False),
    st.floats(min_value=0, max_value=1e9).map(lambda x: complex(0, x)),
    texts,
    texts.map(str.encode),
).map(lambda value: gast.Constant(value, None))
loads = names.map(lambda name: gast.Name(name, gast.Load(), None, None))
stores = names.map(lambda name: gast.Name(name, gast.Store(), None, None))
parameters = names.map(lambda name: gast.Name(name, gast.Param(), None, None))


def _operators(kinds: str) -> Strategy:
    return st.sampled_from(kinds.split()).map(lambda kind: getattr(gast, kind)())


binary = _operators(
    "Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv"
)
unary = _operators("Invert Not UAdd USub")
boolean = _operators("And Or")
comparing = _operators("Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn")


def _maybe(strategy: Strategy) -> Strategy:
    return st.one_of(st.none(), strategy)


def _some(strategy: Strategy, least: int = 1, most: int = 3) -> Strategy:
    return st.lists(strategy, min_size=least, max_size=most)


def _load(node: Any) -> Any:
    return node(ctx=gast.Load())


@st.composite
def _arguments(draw: Any, value: Strategy) -> gast.arguments:
    unique = draw(st.lists(parameters, max_size=6, unique_by=lambda n: n.id))
    take = lambda most: [unique.pop() for _ in range(min(most, len(unique)))]  # noqa: E731
    count = st.integers(0, 2)
    positional, ordinary, keyword = (take(draw(count)) for _ in range(3))
    vararg, kwarg = (next(iter(take(draw(st.integers(0, 1)))), None) for _ in range(2))
    defaults = draw(_some(value, 0, len(positional) + len(ordinary)))
    kw_defaults = [draw(_maybe(value)) for _ in keyword]
    return gast.arguments(
        ordinary, positional, vararg, keyword, kw_defaults, kwarg, defaults
    )


@st.composite
def _dicts(draw: Any, value: Strategy) -> gast.Dict:
    pairs = draw(_some(st.tuples(_maybe(value), value), 0))
    return gast.Dict([key for key, _ in pairs], [item for _, item in pairs])


@st.composite
def _compares(draw: Any, value: Strategy) -> gast.Compare:
    rights = draw(_some(value, 1, 2))
    return gast.Compare(draw(value), [draw(comparing) for _ in rights], rights)


@st.composite
def _indices(draw: Any, value: Strategy) -> gast.AST:
    slices = st.builds(gast.Slice, _maybe(value), _maybe(value), _maybe(value))
    starred = _starred(value) if sys.version_info >= (3, 11) else value
    several = _some(st.one_of(value, slices, starred))
    tuples = several.map(lambda elts: gast.Tuple(elts, gast.Load()))
    return draw(st.one_of(value, slices, tuples))


def _starred(value: Strategy) -> Strategy:
    return value.map(lambda node: gast.Starred(node, gast.Load()))


@st.composite
def _calls(draw: Any, value: Strategy) -> gast.Call:
    keywords = st.builds(gast.keyword, _maybe(names), value)
    arguments = _some(st.one_of(value, _starred(value)), 0)
    return gast.Call(draw(value), draw(arguments), draw(_some(keywords, 0, 2)))


def _fstrings(value: Strategy) -> Strategy:
    literal = texts.filter(bool).map(lambda text: gast.Constant(text, None))
    conversion = st.sampled_from([-1, ord("r"), ord("s"), ord("a")])
    plain = st.builds(gast.FormattedValue, value, conversion, st.none())
    spec = _pieces(st.text(st.sampled_from("<>0.3d"), min_size=1), plain)
    field = st.builds(gast.FormattedValue, value, conversion, _maybe(spec))
    return _pieces(literal.map(lambda node: node.value), field)


@st.composite
def _pieces(draw: Any, literal: Strategy, field: Strategy) -> gast.JoinedStr:
    """Literals and fields in turn: two literals in a row would be parsed as one."""
    values: list[gast.AST] = []
    for node in draw(_some(st.one_of(literal, field), 0, 4)):
        if not isinstance(node, str):
            values.append(node)
        elif not (values and isinstance(values[-1], gast.Constant)):
            values.append(gast.Constant(node, None))
    return gast.JoinedStr(values)


def _composite(value: Strategy) -> Strategy:
    """Expressions with operands out of `value`."""
    load = st.builds(gast.Load)
    elements = _some(st.one_of(value, _starred(value)))
    several = _some(value)
    clause = st.builds(
        gast.comprehension,
        st.one_of(stores, _some(stores).map(lambda e: gast.Tuple(e, gast.Store()))),
        value,
        _some(value, 0, 2),
        st.just(0),
    )
    clauses = _some(clause, 1, 2)
    return st.one_of(
        st.builds(gast.BinOp, value, binary, value),
        st.builds(gast.UnaryOp, unary, value),
        st.builds(gast.BoolOp, boolean, _some(value, 2)),
        _compares(value),
        st.builds(gast.IfExp, value, value, value),
        st.builds(gast.Lambda, _arguments(value), value),
        st.builds(gast.NamedExpr, stores, value),
        st.builds(gast.Await, value),
        st.builds(gast.Yield, _maybe(value)),
        st.builds(gast.YieldFrom, value),
        st.builds(gast.Attribute, value, names, load),
        st.builds(gast.Subscript, value, _indices(value), load),
        _calls(value),
        st.builds(gast.Tuple, st.one_of(elements, st.just([])), load),
        st.builds(gast.List, elements, load),
        st.builds(gast.Set, several),
        _dicts(value),
        st.builds(gast.ListComp, value, clauses),
        st.builds(gast.SetComp, value, clauses),
        st.builds(gast.GeneratorExp, value, clauses),
        st.builds(gast.DictComp, value, value, clauses),
    )


#: Any expression but f-strings, which older Pythons cannot always write.
expressions = st.recursive(st.one_of(loads, constants), _composite, max_leaves=12)

#: f-strings of what every Python can write inside them.
fstrings = _fstrings(
    st.recursive(
        st.one_of(loads, st.integers(0, 9).map(lambda n: gast.Constant(n, None))),
        _composite,
        max_leaves=4,
    )
)
