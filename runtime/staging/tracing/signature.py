"""`Signature`: the parameters of a Python function, and calls in canonical form.

`Function` makes one; binding, error messages and names of inputs use it. It follows the
defaults of the function, which a program may change.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any
from weakref import ref


class Signature:
    """The parameters of a Python function."""

    def __init__(self, fn: Callable[..., Any], name: str) -> None:
        self.name = name
        try:
            self.parameters = parameters_of(fn)
        except (TypeError, ValueError):
            # Some builtins have no signature: accept any arguments.
            self.parameters = inspect.signature(lambda *args, **kwargs: None)
        self._function = _function_of(fn)
        self._partial = ref(fn) if isinstance(fn, partial) else None
        self._known: dict[str, Any] = {}
        self._known = self._now()
        self._seen: object = ...  # the defaults at the last call
        self._read()

    def _read(self) -> None:
        kinds = inspect.Parameter
        self.positional = [
            name
            for name, parameter in self.parameters.parameters.items()
            if parameter.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        ]
        self.variadic = next(
            (
                name
                for name, parameter in self.parameters.parameters.items()
                if parameter.kind is kinds.VAR_POSITIONAL
            ),
            "args",
        )
        self._defaults: list[tuple[str, Any]] | None = None
        if all(
            parameter.kind is kinds.POSITIONAL_OR_KEYWORD
            for parameter in self.parameters.parameters.values()
        ):
            self._defaults = [
                (name, parameter.default)
                for name, parameter in self.parameters.parameters.items()
            ]

    def _now(self) -> dict[str, Any]:
        """The present defaults of the function."""
        function = None if self._function is None else self._function()
        if function is None:
            return self._known  # no program can change them any more
        values = function.__defaults__ or ()
        code = function.__code__
        names = code.co_varnames[: code.co_argcount][-len(values) :] if values else ()
        defaults = {**dict(zip(names, values)), **(function.__kwdefaults__ or {})}
        outer = None if self._partial is None else self._partial()
        return defaults if outer is None else {**defaults, **outer.keywords}

    def _renew(self) -> None:
        """Update the parameters if the defaults of the function changed."""
        function = None if self._function is None else self._function()
        if function is None:
            return
        defaults = function.__defaults__
        if defaults is self._seen and not (function.__kwdefaults__ or self._partial):
            return  # the same tuple has the same values
        self._seen = defaults
        now, old = self._now(), self._known
        if now.keys() == old.keys() and all(now[n] is old[n] for n in now):
            return
        self._known = now
        self.parameters = self.parameters.replace(
            parameters=[
                parameter.replace(default=now.get(name, inspect.Parameter.empty))
                for name, parameter in self.parameters.parameters.items()
            ]
        )
        self._read()

    def bind(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call in canonical form: all it can be is positional, defaults filled in.

        Raises TypeError as Python does for arguments that do not fit.
        """
        if self._function is not None:
            self._renew()
        if self._defaults is not None and len(args) <= len(self._defaults):
            # The same as `Signature.bind` of Python below, but ten times faster.
            values = [
                kwargs.get(name, default)
                for name, default in self._defaults[len(args) :]
            ]
            names = [name for name, _ in self._defaults[len(args) :]]
            missing = inspect.Parameter.empty
            if kwargs.keys() <= set(names) and not any(v is missing for v in values):
                return (*args, *values), {}
        try:
            bound = self.parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}() {error}") from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def name_of(self, index: int) -> str:
        """The name of a positional argument."""
        if index < len(self.positional):
            return self.positional[index]
        return f"{self.variadic}_{index - len(self.positional)}"

    def named(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        """The arguments of a canonical call by name, in the order of `nest`."""
        for index, value in enumerate(args):
            yield self.name_of(index), value
        for key in sorted(kwargs):
            yield key, kwargs[key]


def parameters_of(fn: Callable[..., Any]) -> inspect.Signature:
    """The parameters that a callable is called with.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `fn` has no signature, as some builtins.
    """
    return inspect.signature(fn, follow_wrapped=_follows(fn))


def _follows(fn: Any) -> bool:
    """Whether a callable takes the parameters of the function that it wraps.

    `inspect` assumes so of any decorated function; here a wrapper with parameters or
    defaults of its own keeps them.
    """
    function = fn.__func__ if isinstance(fn, MethodType) else fn
    if not isinstance(function, FunctionType):
        return True
    takes_any = function.__code__.co_flags & (
        inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    )
    return bool(takes_any) and not (function.__defaults__ or function.__kwdefaults__)


def _function_of(fn: Any) -> ref[FunctionType] | None:
    """The function whose parameters a callable has; None if there is none."""
    if isinstance(fn, partial):
        fn = fn.func
    function = fn.__func__ if isinstance(fn, MethodType) else fn
    if _follows(fn):
        function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        function = getattr(type(function), "__call__", None)
    return ref(function) if isinstance(function, FunctionType) else None
