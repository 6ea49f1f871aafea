"""Compilation: from a rewritten tree to a code object.

The pipeline calls these functions. The tree is compiled under the user's own file name
with the user's own positions: tracebacks, breakpoints, coverage and profilers show the
user's source.
"""

from __future__ import annotations

import warnings
from collections.abc import Set
from types import CodeType, FunctionType
from typing import Any

import gast

from ..source.code_objects import FUTURE_FLAGS, PLACEHOLDER, Helper, restore_names
from ..trees import nodes
from ..trees.translate import is_untouched, to_ast
from ..trees.visitors import Transformer, clone

#: The function around generated code, which makes its free variables free.
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
        original: the function object that the code is for: it gives the file, the free
            variables, the ``__future__`` flags and the names.
        helpers: the generated functions, which do not show in qualified names.
        class_name: the class around the definition, whose private names it uses.
    """
    code = original.__code__
    if class_name is not None:
        node = mangle(node, class_name)
    definition = _bare(node)
    body: list[gast.AST] = [definition]
    if isinstance(node, gast.Lambda):
        body = [nodes.expression(definition, node)]
    elif node.name not in code.co_freevars:
        # A function that calls itself by its global name finds it there.
        body.insert(0, nodes.global_([node.name], node))
    factory = nodes.function(_FACTORY, body, node, *code.co_freevars)
    module = to_ast(gast.Module([factory], []))
    flags = code.co_flags & FUTURE_FLAGS
    with warnings.catch_warnings():
        # Python warned of an `x is 0` when it compiled the file for its user.
        warnings.simplefilter("ignore", SyntaxWarning)
        compiled = compile(
            module, code.co_filename, "exec", flags=flags, dont_inherit=True
        )
    inner = _inner(_inner(compiled))
    name, shown = code.co_name, getattr(code, "co_qualname", original.__qualname__)
    old = getattr(inner, "co_qualname", inner.co_name)
    return restore_names(inner, helpers, old, shown, name)


def _bare(node: Any) -> Any:
    """The definition without decorators, defaults, annotations and type parameters."""
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
) -> CodeType:
    """The code object of a module tree, under its own file name.

    ``helpers`` are the generated functions, which do not show in qualified names.
    """
    code: CodeType = compile(to_ast(tree), filename, "exec", dont_inherit=True)
    return restore_names(code, helpers, "", "")


# --- names ---
# A function that is compiled alone is outside of its class, so Python would no longer
# turn ``self.__x`` into ``self._C__x``. The rules, in the language reference:
# https://docs.python.org/3/reference/expressions.html#private-name-mangling


def mangle(node: Any, class_name: str) -> Any:
    """The tree with the private names of the class spelled out.

    >>> tree = gast.parse("self.__x = __y + __init__")
    >>> print(gast.unparse(mangle(tree, "_Point")))
    self._Point__x = _Point__y + __init__
    """
    stripped = class_name.lstrip("_")
    if not stripped:
        return node
    return _Mangler(stripped).visit(node)


class _Mangler(Transformer):
    def __init__(self, class_name: str) -> None:
        self._class_name = class_name

    def _name(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{self._class_name}{name}" if private else name

    def visit_ClassDef(self, node: Any) -> Any:
        # The body belongs to the inner class; bases and decorators do not.
        node = clone(node, name=self._name(node.name))
        for field in ("bases", "keywords", "decorator_list"):
            node = clone(node, **{field: self.visit_list(getattr(node, field))})
        return node

    def generic_visit(self, node: Any) -> Any:
        node = super().generic_visit(node)
        for field in ("id", "attr", "arg", "name", "rest", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str) and self._name(value) != value:
                node = clone(node, **{field: self._name(value)})
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            return clone(node, names=[self._name(name) for name in node.names])
        return node


# --- the operators ---
# Code that takes the place of other code (``function.__code__``) has the free variables
# and globals of that and no more: the operators are a constant of generated code.


class _Placeholders(Transformer):
    """Puts the placeholder where a name is read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit(self, node: Any) -> Any:
        # Parsed nodes do not contain the name.
        return node if is_untouched(node) else super().visit(node)

    def visit_Name(self, node: Any) -> Any:
        return nodes.constant(PLACEHOLDER, node) if node.id == self._name else node


def put_placeholder(tree: Any, name: str) -> Any:
    """The tree with a placeholder in place of a name, for `fill_placeholder`."""
    return _Placeholders(name).visit(tree)
