"""Conversion of the functions that are traced, and of the functions that they call.

`function.tracer` calls `convert` for the function to trace, and `repaired` to trace it:
that converts code which Python called implicitly, where it fails on a tensor.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
)
from typing import TYPE_CHECKING, Any, TypeVar, cast

import autograph
from autograph import ConversionError, SourceError, ownership
from autograph.diagnostics import Diagnostic, Location
from autograph.operators.dispatch import begins_trace
from autograph.operators.generators import StagedGenerator, element_code
from autograph.operators.unbound import scope_of
from autograph.options import DEFAULT, ConversionOptions, patterns
from autograph.ownership import Rule, as_written, is_marked
from runtime.core.errors import SymbolicTensorError, TracingError
from runtime.core.location.frames import user_frame

if TYPE_CHECKING:
    from autograph.loading.call_report import CalledFunctions, Callees
    from autograph.loading.name_uses import NameUses
    from autograph.loading.replace_code import Obstacle, Repair

_Result = TypeVar("_Result")

#: The code of the error for functions that are not written in Python.
_NOT_PYTHON = "AG101"
#: The code of the error for functions without source.
_NO_SOURCE = "AG102"


def options(include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Any:
    """The record of the patterns of modules to convert, and not to convert."""
    return ConversionOptions(
        include=patterns(include, "include"), exclude=patterns(exclude, "exclude")
    )


def _scope(options: Any) -> ConversionOptions:
    """The options, if they are the compiler's; TensorFlow's are passed over."""
    return options if isinstance(options, ConversionOptions) else DEFAULT


def convert(
    python_function: Callable[..., Any], options: Any = None
) -> Callable[..., Any]:
    """The converted function, or the function itself where it has no Python source.

    Without a conversion, Python control flow is exact, and control flow on tensors is
    an error that gives this reason.
    """
    try:
        if is_marked(python_function):
            return python_function
        return autograph.convert(python_function, **_scope(options)._asdict())
    except SourceError as error:
        return _unconverted(python_function, error.diagnostics[0])
    except ConversionError as error:
        if error.code != _NOT_PYTHON:
            raise
        return _unconverted(python_function, error.diagnostics[0])


def _unconverted(
    python_function: Callable[..., Any], diagnostic: Diagnostic
) -> Callable[..., Any]:
    @functools.wraps(python_function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        try:
            return python_function(*args, **kwargs)
        except SymbolicTensorError as error:
            message = _reason_first(error, reason)
            raise SymbolicTensorError(message, error.code, error.location) from None

    is_lost = diagnostic.code == _NO_SOURCE
    cause = "its source cannot be read" if is_lost else "it cannot be converted"
    reason = f"{cause}: {diagnostic.message}; {diagnostic.fix or 'write it in Python'}"
    return traced


def _reason_first(error: SymbolicTensorError, reason: str) -> str:
    """The message of an error, preceded by the reason that nothing was staged."""
    where = "{}:{}: ".format(*error.location) if error.location else ""
    details = str(error).removeprefix(f"{where}{error.code}: ")
    headline = f"{error.code}: nothing of this function is staged, since {reason}"
    return f"{where}{headline}\n  {details}"


def repaired(
    attempt: Callable[[Callable[..., Any]], _Result],
    function: Callable[..., Any],
    options: Any,
    called: CalledFunctions,
) -> _Result:
    """``attempt(function)``: a trace, repeated while the code that failed is converted.

    Python calls properties, operators and callbacks implicitly, so a converted function
    may run code that is not converted. Where that fails on a tensor, the code is
    converted in place; if it cannot be, the error names it. ``called`` collects the
    functions that are called.
    """
    scope = _scope(options)
    tried: set[CodeType] = set()
    while True:
        watched = _Watched(function, scope, called)
        try:
            return attempt(watched)
        except TracingError as error:
            repair = watched.repair
            if repair is None:  # it got past the user's own `except`
                repair = autograph.convert_raising(error, scope)
            codes = {as_written(function).__code__ for function in repair.converted}
            for converted in repair.converted:
                called.add(converted, scope)
            if codes <= tried:  # nothing that was not tried before
                if isinstance(error, SymbolicTensorError) and repair.obstacle:
                    error.args = (_explained(error, repair.obstacle), *error.args[1:])
                raise
            tried |= codes


class _Watched:
    """A function whose failure is repaired while the whole traceback is at hand."""

    def __init__(
        self,
        function: Callable[..., Any],
        scope: ConversionOptions,
        called: CalledFunctions,
    ) -> None:
        self.__wrapped__ = function
        self._scope = scope
        self._called = called
        self.repair: Repair | None = None

    @begins_trace
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        token = _called.set((self._called, self._scope))
        try:
            result = self.__wrapped__(*args, **kwargs)
            _refuse_suspended(result)
            return result
        except TracingError as error:
            self.repair = autograph.convert_raising(error, self._scope)
            raise
        finally:
            _called.reset(token)


_SUSPENDED: list[tuple[type, str, str, str]] = [
    (CoroutineType, "a coroutine", "cr_code", "await it outside"),
    (AsyncGeneratorType, "an asynchronous generator", "ag_code", "consume it outside"),
    (GeneratorType, "a generator", "gi_code", "trace the function that consumes it"),
    (StagedGenerator, "a generator", "element_code", "make it a list"),
]


def _refuse_suspended(result: Any) -> None:
    """Refuse a coroutine or generator: nothing of its function has run yet."""
    for cls, kind, attribute, fix in _SUSPENDED:
        if isinstance(result, cls):
            element = element_code(result)
            code: CodeType = element or getattr(result, attribute)
            if isinstance(result, (CoroutineType, GeneratorType)):
                cast(Any, result).close()  # so that Python does not warn of it
            maker = f"calling `{code.co_name}`" if element is None else "the expression"
            why = (
                f"{maker} runs nothing of it: it gives {kind}, and a graph has tensors "
                "to give"
            )
            location = Location(code.co_filename, code.co_firstlineno)
            title = f"{kind} is no result of a traced function"
            raise ConversionError(Diagnostic("AG215", title, why, location, fix))


def note(function: Any) -> None:
    """Note that a function is called in the trace in progress."""
    current = _called.get()
    if current is not None and isinstance(function, FunctionType):
        called, scope = current
        called.add(function, scope)


#: The functions called in the trace in progress, and its options.
_called: ContextVar[tuple[CalledFunctions, ConversionOptions] | None] = ContextVar(
    "called", default=None
)


def new_called_functions() -> CalledFunctions:
    """An empty collection of the functions that are called in traces."""
    return cast(
        "CalledFunctions",
        importlib.import_module("autograph.loading.call_report").CalledFunctions(),
    )


def converted_callees(function: Any, options: Any, called: CalledFunctions) -> Callees:
    """The functions that a function calls, with those that its traces called."""
    call_report = importlib.import_module("autograph.loading.call_report")
    return cast("Callees", call_report.callees(function, _scope(options), called))


def _explained(error: SymbolicTensorError, obstacle: Obstacle) -> str:
    if obstacle.rule is Rule.STAYS:
        text = str(error).replace(error.advice, obstacle.instead)
        return f"{text}\n  AG106: {obstacle.why}"
    fix = _FIXES.get(obstacle.rule, "")
    if obstacle.rule is not Rule.NO_SOURCE:
        return f"{error}\n  {obstacle}. {fix}".rstrip()
    why = f"the source of `{obstacle.name}` cannot be read; {fix}"
    return _reason_first(error, why)


_FIXES = {
    Rule.LIBRARY: "Write it with operations on tensors, or have the module converted: "
    "tf.autograph.options(include=[...])",
    Rule.EXCLUDED: "Do not exclude its module",
    Rule.MARKED: "Take the mark off, or let it get no tensor to decide on",
    Rule.UNNAMED: "Convert it where it is made: autograph.convert_in_place(function)",
    Rule.NO_SOURCE: "define it in a file or a notebook cell, or in a terminal (Python "
    "3.13 keeps the text of each prompt and of `python -c`)",
}


def to_code(entity: Any, recursive: bool) -> str:
    """The converted code of ``entity``, which may be a Function."""
    python_function = getattr(entity, "python_function", entity)
    return autograph.to_code(python_function, recursive=recursive)


def to_graph(entity: Any, recursive: bool) -> Any:
    """The converted form of ``entity``, which may be a Function."""
    python_function = getattr(entity, "python_function", entity)
    return autograph.convert(python_function, recursive=recursive)


def scope_of_variable(name: str) -> str:
    """The scope of a variable that the user's running function reads."""
    frame = user_frame()
    return "local" if frame is None else scope_of(name, frame)


def name_uses(function: FunctionType) -> NameUses:
    """The names that a function uses: see `autograph.loading.name_uses`."""
    uses = importlib.import_module("autograph.loading.name_uses")
    return cast("NameUses", uses.name_uses(function))


do_not_convert = autograph.do_not_convert
functions_of = ownership.functions_of
is_library_module = ownership.is_library_module
