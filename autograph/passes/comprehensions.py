"""Comprehensions and generator expressions as calls of operators on lambdas.

    [f(x) for x in xs if p(x)]      ag.list_comp(lambda x: f(x), xs, lambda x: p(x))
    (f(x) for x in xs)              ag.generator(lambda x: f(x), xs)
    [k for k, v in xs]              ag.list_comp(lambda k, v: k, xs, target='k, v')
    {x for x in xs}                 ag.set(ag.list_comp(lambda x: x, xs))
    [y for x in xs for y in g(x)]   ag.list_comp(lambda x: ag.list_comp(lambda y: y,
                                        g(x)), xs, flat=True)

Verbatim stand those that Python alone surely decides, and those that a lambda would
change: what binds (a walrus) or suspends (``await``), what looks at its frame, and what
keeps a function that would see the target change later. They take the items of a tensor
one by one: ``{x for x in ag.unrolled(xs)}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gast

from ..analysis import Facts
from ..trees import nodes
from ..trees.visitors import are_same, child_nodes, clone, walk
from .bindings import names_read
from .values import Values

_Comprehension = Any
#: What would look at another function than it does now.
_FRAME_NAMES = frozenset(
    {"__class__", "dir", "eval", "exec", "locals", "super", "vars"}
)
#: Builtins that run the generator, or call the key function, that they are given.
_CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum"}
    | {"tuple"}
)
_KEYED = frozenset({"max", "min", "sorted"})


def rewrite_comprehension(node: _Comprehension, facts: Facts, rewriter: Values) -> Any:
    """The call that stands for a comprehension or generator expression; what stands
    verbatim, with its parts rewritten.
    """
    is_python = rewriter.proves(facts.is_python_comprehension, node)
    if is_python or not _is_exact(node, facts, rewriter):
        return _unrolled(node, facts, rewriter)
    if isinstance(node, (gast.ListComp, gast.GeneratorExp)):
        return _call(node, node.generators, rewriter, rewriter.visit)
    operator, element = "set", getattr(node, "elt", None)
    if isinstance(node, gast.DictComp):
        pair = gast.Tuple([node.key, node.value], gast.Load())
        operator, element = "dict", nodes.located(pair, node.key)
    listed = nodes.located(gast.ListComp(element, node.generators), node)
    items = _call(listed, node.generators, rewriter, rewriter.visit)
    return rewriter.operator(operator, [items], node)


def _unrolled(node: _Comprehension, facts: Facts, rewriter: Values) -> _Comprehension:
    """A comprehension with its parts rewritten that takes tensors item by item."""
    new = rewriter.generic_visit(node)
    generators = list(new.generators)
    for position, is_python in enumerate(_python_iterations(node, facts)):
        generator = generators[position]
        if not is_python and not generator.is_async:
            call = rewriter.operator("unrolled", [generator.iter], generator.iter)
            generators[position] = clone(generator, iter=call)
    same = are_same(generators, new.generators)
    return new if same else clone(new, generators=generators)


def _call(
    node: _Comprehension,
    generators: Sequence[Any],
    rewriter: Values,
    rewrite: Callable[[gast.AST], Any],
) -> gast.Call:
    generator, *inner = generators
    names = list(_names(generator.target))

    def lazily(part: gast.AST) -> Any:
        return rewriter.thunk(part).body

    if inner:
        nested = _call(node, inner, rewriter, lazily)
        element = rewriter.lambda_(nested, *names)
    else:
        element = rewriter.thunk(node.elt, *names)
    conditions = [rewriter.thunk(test, *names) for test in generator.ifs]
    is_generator = isinstance(node, gast.GeneratorExp)
    is_name = isinstance(generator.target, gast.Name)
    return rewriter.operator(
        "generator" if is_generator else "list_comp",
        [element, rewrite(generator.iter), *conditions],
        node,
        target=None if is_name else nodes.constant(_text(generator.target), node),
        flat=nodes.constant(True, node) if inner else None,
    )


def _names(target: Any) -> Iterator[str]:
    return (node.id for node in walk(target) if isinstance(node, gast.Name))


def _text(target: Any, inside: bool = False) -> str:
    if isinstance(target, gast.Name):
        return str(target.id)
    if isinstance(target, gast.Starred):
        return f"*{_text(target.value, inside=True)}"
    text = ", ".join(_text(part, inside=True) for part in target.elts)
    if len(target.elts) == 1:
        text += ","
    return f"({text})" if inside else text


# --- what Python decides --------------------------------------------------------------


def _python_iterations(node: _Comprehension, facts: Facts) -> list[bool]:
    try:
        return facts.python_iterations(node)
    except KeyError:
        return [False] * len(node.generators)


# --- what a lambda would change -------------------------------------------------------


def _is_exact(node: _Comprehension, facts: Facts, rewriter: Values) -> bool:
    """Whether the comprehension means the same with its parts in lambdas."""
    if any(generator.is_async for generator in node.generators):
        return False
    if rewriter.is_fixed(node) or not _binds_in_order(node.generators):
        return False
    if any(isinstance(n, gast.Name) and n.id in _FRAME_NAMES for n in walk(node)):
        return False
    targets = frozenset(n for g in node.generators for n in _names(g.target))
    return not any(names_read([kept], targets) for kept in _kept_functions(node, facts))


def _binds_in_order(generators: Sequence[Any]) -> bool:
    """Whether the targets are names, each bound before it is read."""
    bound: set[str] = set()
    later = [name for generator in generators for name in _names(generator.target)]
    for position, generator in enumerate(generators):
        own = list(_names(generator.target))
        if len(set(own)) < len(own) or not _is_unpacking(generator.target):
            return False
        if position and names_read([generator.iter], frozenset(later) - bound):
            return False
        del later[: len(own)]
        bound.update(own)
        if names_read(generator.ifs, frozenset(later) - bound):
            return False
    return True


def _is_unpacking(target: Any) -> bool:
    if isinstance(target, gast.Name):
        return True
    if isinstance(target, gast.Starred):
        return _is_unpacking(target.value)
    is_sequence = isinstance(target, (gast.Tuple, gast.List)) and target.elts
    return bool(is_sequence) and all(map(_is_unpacking, target.elts))


def _kept_functions(node: gast.AST, facts: Facts) -> Iterator[gast.AST]:
    """The functions inside that may be called after the iteration that makes them."""
    called = _called_at_once(node, facts)
    for child in child_nodes(node):
        if isinstance(child, (gast.Lambda, gast.GeneratorExp)) and child not in called:
            yield child
        else:
            yield from _kept_functions(child, facts)


def _called_at_once(node: Any, facts: Facts) -> tuple[gast.AST, ...]:
    """The arguments of a call that it runs, and does not keep."""
    if not isinstance(node, gast.Call):
        return ()
    function = node.func
    if isinstance(function, gast.Lambda):
        return (function,)
    if isinstance(function, gast.Attribute):
        text = isinstance(function.value, gast.Constant) and function.attr == "join"
        return tuple(node.args) if text else ()
    if not isinstance(function, gast.Name) or not facts.is_builtin(function.id):
        return ()
    if function.id not in _CONSUMERS:
        return ()
    keyed = function.id in _KEYED
    keys = [k.value for k in node.keywords if keyed and k.arg == "key"]
    return (*node.args[:1], *keys)
