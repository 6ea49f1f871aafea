"""What plain Python surely iterates over, and which comprehensions it surely runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gast

if TYPE_CHECKING:
    from autograph.analysis.plain import Plain

_COMPREHENSIONS = frozenset(
    {gast.DictComp, gast.GeneratorExp, gast.ListComp, gast.SetComp}
)
#: What a tensor may be of a comprehension that makes no list.
_KEYS = {gast.SetComp: "elt", gast.DictComp: "key"}
_ITERATORS = frozenset({"enumerate", "reversed", "sorted", "zip"})
_VIEWS = frozenset({"items", "keys", "values"})
_ITERABLE_TYPES = frozenset({bytes, dict, list, range, set, str, tuple})
#: Methods that tensors do not have; what has them gives Python's own collections.
_PYTHON_METHODS = frozenset({"split", "splitlines"})


def is_iterable(plain: Plain, expr: Any) -> bool:
    """Whether plain Python surely drives a loop over an expression."""
    kind = expr.__class__
    if kind in _COMPREHENSIONS:
        return is_comprehension(plain, expr)
    if kind is gast.Set or kind is gast.Dict:
        keys = expr.elts if kind is gast.Set else expr.keys
        return all(key is not None and plain.value(key) for key in keys)
    if kind is gast.IfExp:
        return plain.truth(expr.test) and all(
            map(plain.iterable, (expr.body, expr.orelse))
        )
    if kind is gast.Call:
        func = expr.func
        if func.__class__ is gast.Attribute and func.attr in _VIEWS:
            kept = func.value.__class__ is not gast.Name or plain.is_kept(func.value)
            return kept and plain.type_of(func.value) is dict
        if plain.builtin(func) in _ITERATORS:
            first = expr.args if func.id == "zip" else expr.args[:1]
            return bool(first) and all(map(plain.iterable, first))
    if kind is gast.Name and plain.type_of(expr) is list:
        return plain.is_kept(expr) and plain.ask(expr, "iterable", plain.iterable)
    kept = kind is not gast.Name or plain.is_kept(expr)
    return kept and plain.type_of(expr) in _ITERABLE_TYPES


def is_comprehension(plain: Plain, expr: Any) -> bool:
    """Whether plain Python surely decides which items a comprehension has."""
    inside = plain.inside(expr)
    key = _KEYS.get(expr.__class__)
    if key is not None and not inside.value(getattr(expr, key)):
        return False
    return all(iterations(plain, expr)) and all(
        inside.truth(test) for generator in expr.generators for test in generator.ifs
    )


def iterations(plain: Plain, expr: Any) -> Iterator[bool]:
    """For each ``for`` of a comprehension, whether plain Python drives it."""
    inside = plain.inside(expr)
    for number, generator in enumerate(expr.generators):
        iterated = generator.iter
        func: Any = iterated.func if iterated.__class__ is gast.Call else None
        if func.__class__ is gast.Attribute and func.attr in _PYTHON_METHODS:
            yield True
        else:
            yield (inside if number else plain).iterable(iterated)
