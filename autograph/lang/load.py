"""From a rewritten tree to a function object.

What runs is the tree, compiled under the user's own file name with the user's own
positions: tracebacks, breakpoints, coverage and profilers show the user's source.
"""

from __future__ import annotations

import __future__

import ast
from collections.abc import Callable, Collection, Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

import gast

from . import nodes
from .mangle import mangled
from .visitors import clone

#: The function that generated code is compiled in, so that its free variables are free.
_FACTORY = "__autograph_factory__"
_FUTURE = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names
)


def compile_function(
    node: Any,
    original: CodeType,
    extra: Collection[str],
    helpers: Collection[str],
    class_name: str | None = None,
) -> CodeType:
    """The code object of a function definition or lambda.

    Args:
        node: the rewritten definition.
        original: the code object it stands for: gives the file, the free variables, the
            ``__future__`` flags and the qualified name.
        extra: more names that are free in the function (the operators).
        helpers: names of generated functions; they do not show in qualified names.
        class_name: the class around the definition, whose private names it uses.
    """
    parameters = [*original.co_freevars, *extra]
    if class_name is not None:
        node = mangled(node, class_name)
    definition = _bare(node)
    if isinstance(node, gast.Lambda):
        body: list[gast.AST] = [nodes.return_(definition, node)]
    else:
        body = [definition, nodes.return_(nodes.name(node.name, node), node)]
    factory = nodes.function(_FACTORY, body, node, *parameters)
    module = gast.gast_to_ast(gast.Module([factory], []))
    flags = original.co_flags & _FUTURE
    code = compile(
        module, original.co_filename, "exec", flags=flags, dont_inherit=True
    )
    found = _inner(_inner(code, _FACTORY), original.co_name)
    qualname = getattr(original, "co_qualname", None)
    return _relabelled(found, original.co_name, qualname, frozenset(helpers))


def bind(
    code: CodeType, original: FunctionType, extra: Mapping[str, Any]
) -> FunctionType:
    """A function that runs ``code`` in the place of ``original``.

    It has the original's globals, its very closure cells, defaults, annotations,
    attributes and names; ``extra`` gives the values of names that are free besides.
    """
    cells = dict(
        zip(original.__code__.co_freevars, original.__closure__ or (), strict=True)
    )
    closure = tuple(
        CellType(extra[name]) if name in extra else cells[name]
        for name in code.co_freevars
    )
    function = FunctionType(
        code, original.__globals__, original.__name__, original.__defaults__, closure
    )
    function.__kwdefaults__ = original.__kwdefaults__
    function.__annotations__ = original.__annotations__
    function.__qualname__ = original.__qualname__
    function.__module__ = original.__module__
    function.__doc__ = original.__doc__
    if hasattr(original, "__type_params__"):
        function.__type_params__ = original.__type_params__
    function.__dict__.update(original.__dict__)
    function.__wrapped__ = original  # type: ignore[attr-defined]
    return function


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


def _inner(code: CodeType, name: str) -> CodeType:
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and constant.co_name == name:
            return constant
    raise LookupError(f"the compiled code does not define {name}")


def _relabelled(
    code: CodeType, name: str, qualname: str | None, helpers: frozenset[str]
) -> CodeType:
    """The code with the names that it would have without conversion.

    Generated functions take the name of the function they were part of: tracebacks show
    them under it.
    """
    prefix = f"{_FACTORY}.<locals>.{code.co_name}"
    shown = qualname or code.co_name

    def relabel(text: str) -> str:
        if not text.startswith(_FACTORY):
            return text
        steps = (shown + text.removeprefix(prefix)).split(".<locals>.")
        return ".<locals>.".join(s for s in steps if s not in helpers) or shown

    def visit(inner: CodeType, owner: str) -> CodeType:
        own = owner if inner.co_name in helpers else inner.co_name
        constants = tuple(
            visit(c, own)
            if isinstance(c, CodeType)
            else relabel(c)
            if isinstance(c, str)
            else c
            for c in inner.co_consts
        )
        changes: dict[str, Any] = {"co_consts": constants, "co_name": own}
        if hasattr(inner, "co_qualname"):
            changes["co_qualname"] = relabel(inner.co_qualname)
        return inner.replace(**changes)

    return visit(code, name)


def compile_module(tree: gast.Module, filename: str) -> CodeType:
    """The code object of a module tree, under its own file name."""
    module: ast.Module = gast.gast_to_ast(tree)
    code: CodeType = compile(module, filename, "exec", dont_inherit=True)
    return code


