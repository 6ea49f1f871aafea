"""From a rewritten tree to a function object.

What runs is the tree, compiled under the user's own file name with the user's own
positions: tracebacks, breakpoints, coverage and profilers show the user's source.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Set
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

import gast

from . import nodes
from .bound import FUTURE
from .deep import restored
from .labels import Helper, relabelled
from .mangle import mangled
from .visitors import clone

#: The function that generated code is compiled in, so that its free variables are free.
_FACTORY = "__autograph_factory__"


def compile_function(
    node: Any,
    original: FunctionType,
    helpers: Set[Helper],
    class_name: str | None = None,
) -> CodeType:
    """The code object of a function definition or lambda.

    Args:
        node: the rewritten definition.
        original: a function object that it stands for: gives the file, the free
            variables, the ``__future__`` flags and the names.
        helpers: the generated functions, which do not show in qualified names.
        class_name: the class around the definition, whose private names it uses.
    """
    code = original.__code__
    if class_name is not None:
        node = mangled(node, class_name)
    definition = _bare(node)
    body: list[gast.AST] = [definition]
    if isinstance(node, gast.Lambda):
        body = [nodes.expression(definition, node)]
    elif node.name not in code.co_freevars:
        # A function that calls itself by its global name finds it there.
        body.insert(0, nodes.global_([node.name], node))
    factory = nodes.function(_FACTORY, body, node, *code.co_freevars)
    module = gast.gast_to_ast(gast.Module([factory], []))
    flags = code.co_flags & FUTURE
    with warnings.catch_warnings():
        # Python warned of an `x is 0` when it compiled the file for its user.
        warnings.simplefilter("ignore", SyntaxWarning)
        compiled = compile(
            module, code.co_filename, "exec", flags=flags, dont_inherit=True
        )
    found = _inner(_inner(compiled))
    name, shown = code.co_name, getattr(code, "co_qualname", original.__qualname__)
    old = getattr(found, "co_qualname", found.co_name)
    return relabelled(found, helpers, old, shown, name)


def _bare(node: Any) -> Any:
    """The definition without what the enclosing scope evaluates."""
    arguments = node.args

    def plain(parameter: Any) -> Any:
        return None if parameter is None else clone(parameter, annotation=None)

    args = clone(
        arguments,
        args=[plain(p) for p in arguments.args],
        posonlyargs=[plain(p) for p in arguments.posonlyargs],
        kwonlyargs=[plain(p) for p in arguments.kwonlyargs],
        vararg=plain(arguments.vararg),
        kwarg=plain(arguments.kwarg),
        defaults=[],
        kw_defaults=[None for _ in arguments.kwonlyargs],
    )
    if isinstance(node, gast.Lambda):
        return clone(node, args=args)
    return clone(node, args=args, decorator_list=[], returns=None, type_params=[])


def _inner(code: CodeType) -> CodeType:
    """The code object of the one function that some code defines."""
    return next(c for c in code.co_consts if isinstance(c, CodeType))


def compile_module(
    tree: gast.Module,
    filename: str,
    helpers: Set[Helper] = frozenset(),
    kept: Mapping[str, ast.stmt] = MappingProxyType({}),
) -> CodeType:
    """The code object of a module tree, under its own file name.

    ``helpers`` are the generated functions, which do not show in qualified names;
    ``kept`` are the statements that placeholders stand for.
    """
    module = restored(gast.gast_to_ast(tree), kept)
    code: CodeType = compile(module, filename, "exec", dont_inherit=True)
    return relabelled(code, helpers, "", "")
