"""The whole way, on one screen: source → tree → facts → rewritten tree → code or text.

`convert_module` works on the text of a module and runs none of it; `convert_callable`
works on a function object and knows what its names stand for.
"""

from __future__ import annotations

import builtins
import functools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any
from unicodedata import normalize

import gast

from .analysis.name_uses import Use, uses_in
from .codegen.arcs import with_arcs
from .codegen.compile import (
    compile_function,
    compile_module,
    mangle,
    put_placeholder,
)
from .diagnostics import Diagnostic, Location
from .errors import AutographError, ConversionError, SourceError
from .interpreter import cached_property, no_collection, recursion_room
from .options import DEFAULT, ConversionOptions
from .ownership import (
    TAKING_TENSORS,
    is_library_module,
    may_be_impure,
    may_be_included,
    names_library,
    shadowed_builtins,
)
from .passes import Context, Stays, convert_function, staying_in
from .passes.as_written import with_both_forms
from .passes.bindings import bound_names, local_functions
from .passes.verify import BrokenTree, verify
from .source.code_objects import bind, fill_placeholder
from .source.definitions import Definition, find_function
from .source.parse import parse_module, too_deep
from .source.text import Source
from .trees import nodes
from .trees.names import Namer
from .trees.visitors import (
    Transformer,
    all_blocks,
    clone,
    statements_in,
    walk_scope,
    with_blocks,
)

#: The name under which generated code reaches the operators.
ALIAS = "ag"
#: The name of the functions that hold the converted forms of others.
STAGED = "staged"
_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


class Conversion:
    """A converted module or function.

    `tree` is the rewritten one and `original` the one that was parsed; `diagnostics`
    are the refusals: what they name stands as it was; `context` tells of its functions.
    """

    def __init__(
        self,
        source: Source,
        original: gast.AST,
        tree: gast.AST,
        context: Context,
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        self.source = source
        self.original = original
        self.tree = tree
        self.context = context
        self.diagnostics = diagnostics

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """What a tensor could decide, and that is left unconverted: AG106."""
        staying = sorted(self.context.staying, key=lambda one: one.node.lineno)
        return tuple(_note(one, self.source) for one in staying)

    @cached_property
    def text(self) -> str:
        """The converted code, printed."""
        from .printing import Pristine, unparse  # printing is not always asked for

        with no_collection(), _with_room(self.source, self.original):
            return unparse(self.tree, pristine=Pristine(self.original, self.source))

    def of(self, qualname: str) -> Conversion:
        """The part that is one function or class: ``Class.method``.

        Raises:
            SourceError: AG104, there is no such definition.
        """
        node: Any = self.tree
        for name in qualname.replace("<locals>.", "").split("."):
            inside = (n for n in gast.walk(node) if getattr(n, "name", None) == name)
            node = next((n for n in inside if isinstance(n, _DEFINITIONS)), None)
            if node is None:
                text = f"{self.source.filename} does not define `{qualname}`"
                raise SourceError(Diagnostic("AG104", "no such definition", text))
        return Conversion(
            self.source,
            self.original,
            node,
            self.context,
            self.diagnostics,
        )

    @no_collection()
    def code(self) -> CodeType:
        """The code object of a converted module, under its own file and lines."""
        assert isinstance(self.tree, gast.Module)
        tree = self.executed  # which adds to the helpers
        filename, helpers = self.source.filename, self.context.helpers
        with _with_room(self.source, self.original):
            return compile_module(tree, filename, helpers)

    @cached_property
    def executed(self) -> Any:
        """The tree that is compiled: see `passes.as_written` and `arcs`."""
        with _with_room(self.source, self.original):
            ag = self.context.ag
            tree = with_both_forms(self.tree, self.context, self.source.text)
            verify("as_written", tree, self.original, ag)
            tree = with_arcs(tree, ag, self.context.helpers)
            verify("arcs", tree, self.original, ag)
            return tree


def _note(stays: Stays, source: Source) -> Diagnostic:
    title = "left unconverted"
    # Of a statement with a body, the header.
    at = getattr(stays.node, "test", None) or getattr(stays.node, "iter", stays.node)
    location = Location.of(at, source.filename)
    fix = f"to let a tensor decide it: {stays.instead}"
    return Diagnostic("AG106", title, stays.why, location, fix, source.text)


# --- functions ------------------------------------------------------------------------


def convert_tree(
    function: FunctionType,
    options: ConversionOptions = DEFAULT,
    library: dict[str, bool] | None = None,
) -> tuple[Definition, Conversion]:
    """The definition of a function object, and its converted form.

    `library` collects which names were found to be of library code.
    """
    with recursion_room():
        found = find_function(function)
    namer = Namer(found.node)
    library = {} if library is None else library
    context = Context(
        ag=namer.fresh(ALIAS),
        staged=namer.fresh(STAGED),
        called_as_is=_resolved_in(function, options, library),
        recursive=options.recursive,
        shadowed=shadowed_builtins(function.__globals__),
        enclosing=frozenset(function.__code__.co_freevars),
    )
    tree = _converted(found.node, found.source, context, namer)
    return found, Conversion(found.source, found.node, tree, context)


@recursion_room()
def convert_callable(
    function: FunctionType, options: ConversionOptions = DEFAULT
) -> Callable[[FunctionType], FunctionType]:
    """What turns a function object with this code into its converted form.

    Raises:
        SourceError: its source is not available.
        ConversionError: it cannot be converted.
    """
    from .operators.calls import operators

    code = fill_placeholder(convert_code(function, options).code, operators(options))
    return lambda original: bind(code, original)


def staying_at(code: CodeType, line: int) -> Stays | None:
    """What is left unconverted at a line of a function with this code, if any.

    Raises SourceError where the text of the code is not found.
    """
    for stays in staying_in(find_function(code).node):
        is_statement = isinstance(stays.node, gast.stmt)
        if not is_statement or stays.node.lineno <= line <= stays.node.end_lineno:
            return stays
    return None


class ConvertedCode:
    """What takes the place of a function's code, and what it was made of."""

    def __init__(self, code: CodeType, source: str, library: dict[str, bool]) -> None:
        #: With a placeholder for the operators: see `autograph.source.code_objects`.
        self.code = code
        self.source = source
        #: Which dotted names were found to be of library code, and which not.
        self.library = library


def convert_code(
    function: FunctionType, options: ConversionOptions = DEFAULT
) -> ConvertedCode:
    """The code to put in place of a function's own: it has the same free variables.

    Raises:
        SourceError: its source is not available.
        ConversionError: it cannot be converted.
    """
    library: dict[str, bool] = {}
    found, conversion = convert_tree(function, options, library)
    context = conversion.context
    with _with_room(found.source, found.node):
        tree = put_placeholder(conversion.executed, context.ag)
        code = compile_function(tree, function, context.helpers, found.mangling_class)
    return ConvertedCode(code, found.source.text, library)


def uses_of(function: FunctionType | CodeType) -> tuple[str, tuple[Use, ...]]:
    """The text of the file of a function, and the names that the function uses.

    Raises:
        SourceError: its source is not available.
    """
    found = find_function(function)
    with _with_room(found.source, found.node):
        class_name = found.mangling_class
        node = mangle(found.node, class_name) if class_name else found.node
        return found.source.text, uses_in(node)


def _resolved_in(
    function: FunctionType, options: ConversionOptions, library: dict[str, bool]
) -> Callable[[gast.AST], bool]:
    """Whether an expression names library code, as seen from a function object.

    The answers are collected in `library`.
    """

    def is_library(node: gast.AST) -> bool:
        parts: list[str] = []
        while isinstance(node, gast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, gast.Name):
            return False
        path = ".".join([node.id, *reversed(parts)])
        if path not in library:
            library[path] = names_library(path, function, options)
        return library[path]

    return is_library


# --- modules --------------------------------------------------------------------------


@no_collection()
def convert_module(source: Source, options: ConversionOptions = DEFAULT) -> Conversion:
    """The converted form of a module's text. Nothing of it is executed.

    The functions, methods and lambdas of the module are converted; else its top level
    and the bodies of its classes stand as they are. A function that cannot be converted
    stands as it was, with a diagnostic.

    Raises:
        SourceError: the text is not valid Python.
    """
    tree = parse_module(source)
    context = Context(
        ag=_free_name(ALIAS, tree, source),
        staged=_free_name(STAGED, tree, source),
        called_as_is=_imported_in(tree, options),
        variables=bound_names(
            [s for s in tree.body if not isinstance(s, _DEFINITIONS)]
        ),
        recursive=options.recursive,
        shadowed=shadowed_builtins(bound_names(tree.body)),
        functions=local_functions(tree.body),
    )
    converter = _ModuleConverter(source, context)
    body = [converter.statement(statement) for statement in tree.body]
    new = tree
    if any(map(operator.is_not, body, tree.body)):
        new = clone(tree, body=_with_import(body, context.ag, options))
    diagnostics = tuple(converter.diagnostics)
    return Conversion(source, tree, new, context, diagnostics)


class _ModuleConverter(Transformer):
    """Converts the outermost functions of a module, and its lambdas."""

    def __init__(self, source: Source, context: Context) -> None:
        self._source = source
        self._context = context
        self.diagnostics: list[Diagnostic] = []

    def statement(self, node: Any) -> Any:
        """A statement of the module; as it was if its blocks are nested too deeply."""
        if not all_blocks(node) and not _has_lambda(node):
            return node
        try:
            with _with_room(self._source, node):
                return self.visit(node)
        except SourceError as error:
            self.diagnostics.extend(error.diagnostics)
            return node

    def generic_visit(self, node: Any) -> Any:
        # Other expressions may be nested however deeply.
        if _has_lambda(node):
            return super().generic_visit(node)
        old = all_blocks(node)
        new = [self.visit_list(block) for block in old]
        return with_blocks(node, new) if any(map(operator.is_not, new, old)) else node

    def visit_FunctionDef(self, node: Any) -> Any:
        args = self.visit(node.args)
        decorators = self.visit_list(node.decorator_list)
        new = self.visit_Lambda(node)
        if args is node.args and decorators is node.decorator_list:
            return new
        return clone(new, args=args, decorator_list=decorators)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> Any:
        try:
            return _converted(node, self._source, self._context)
        except AutographError as error:
            self.diagnostics.extend(error.diagnostics)
            return node


def _has_lambda(node: Any) -> bool:
    """Whether what a node evaluates has a lambda that is in no function."""
    return any(isinstance(part, gast.Lambda) for part in walk_scope(node))


def _imported_in(
    tree: gast.Module, options: ConversionOptions
) -> Callable[[gast.AST], bool]:
    """Whether an expression names library code, by the module's own imports."""
    origins: dict[str, str] = {}
    for node in statements_in(tree.body):
        if isinstance(node, gast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                origins[name] = alias.name
        elif isinstance(node, gast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                origins[alias.asname or alias.name] = node.module

    @functools.cache
    def bound() -> Counter[str]:
        """How many statements bind a name: asked for by the first call, if any."""
        return Counter(name for node in tree.body for name in bound_names([node]))

    def is_library(node: gast.AST) -> bool:
        is_random, last = False, getattr(node, "attr", getattr(node, "id", ""))
        while isinstance(node, gast.Attribute):
            is_random |= node.attr == "random"
            node = node.value
        if not isinstance(node, gast.Name):
            return False
        origin = origins.get(node.id)
        if origin is not None and bound()[node.id] == 1:
            if is_random or origin in TAKING_TENSORS or may_be_impure(origin, last):
                return False
            return is_library_module(origin) and not may_be_included(origin, options)
        if node.id in bound() or node.id in ("input", "open"):
            return False
        return hasattr(builtins, node.id)

    return is_library


def _with_import(
    body: list[gast.AST], alias: str, options: ConversionOptions
) -> list[gast.AST]:
    """The statements with the import of the operators, as early as it may stand."""
    position = len(nodes.split_docstring(body)[0])
    while position < len(body) and _is_future(body[position]):
        position += 1
    at = body[min(position, len(body) - 1)]
    name = nodes.located(gast.alias("autograph.operators", alias), at)
    statements = [nodes.located(gast.Import([name]), at)]
    if options.include or options.exclude:
        statements.append(_scoped(alias, options, at))
    return [*body[:position], *statements, *body[position:]]


def _scoped(alias: str, options: ConversionOptions, at: gast.AST) -> gast.AST:
    """``ag = ag.scoped(include='…', exclude='…')``."""
    keywords = {
        name: nodes.constant(", ".join(patterns), at)
        for name, patterns in (
            ("include", options.include),
            ("exclude", options.exclude),
        )
        if patterns
    }
    function = nodes.attribute(nodes.name(alias, at), "scoped", at)
    value = nodes.call(function, [], at, **keywords)
    return nodes.located(gast.Assign([nodes.target(alias, at)], value, None), at)


def _is_future(statement: gast.AST) -> bool:
    return isinstance(statement, gast.ImportFrom) and statement.module == "__future__"


# --- both -----------------------------------------------------------------------------


def _free_name(base: str, tree: gast.Module, source: Source) -> str:
    """A name that the module does not use: `base` where its text does not show it."""
    text = source.text
    if not text.isascii():
        text = normalize("NFKC", text)  # as Python does with names
    if (
        re.search(rf"{base}\b(?<!\w{base})", text) is None
    ):  # much faster than `\b` first
        return base
    return Namer(tree).fresh(base)


@contextmanager
def _with_room(source: Source, tree: gast.AST) -> Iterator[None]:
    """Room for walks over a tree; one that needs more raises AG105."""
    try:
        with recursion_room():
            yield
    except RecursionError as error:
        raise too_deep(source, tree) from error


def _converted(
    node: Any, source: Source, context: Context, namer: Namer | None = None
) -> Any:
    """Convert a definition; what goes wrong inside is our bug, and says so."""
    try:
        with _with_room(source, node):
            return convert_function(node, context, namer=namer)
    except (AutographError, BrokenTree):
        raise
    except Exception as error:
        raise ConversionError(
            Diagnostic(
                "AG199",
                "the compiler failed",
                f"converting this function raised {type(error).__name__}: {error}",
                Location.of(node, source.filename),
                "this is a bug in autograph: please report it with the function",
                source.text,
            )
        ) from error
