"""The compiler under TensorFlow's names: ``tf.autograph``.

>>> import runtime as tf
>>> def double_positive(x):
...     if x > 0:
...         x = x * 2
...     return x
>>> print(tf.autograph.to_code(double_positive))
def double_positive(x):
    x = ag.cond(x > 0, lambda: x * 2, lambda: x)
    return x
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

from runtime.core.missing import Space
from runtime.staging import compiler
from runtime.staging.state.loop_options import set_loop_options

__all__ = [
    "do_not_convert",
    "experimental",
    "options",
    "set_verbosity",
    "to_code",
    "to_graph",
    "trace",
]


def to_code(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> str:
    """The converted code of a function, method, class, module or Function, as text.

    ``experimental_optional_features`` is accepted and not needed: there is one set of
    features, all on.

    Raises:
        autograph.SourceError: the source is not available.
        autograph.ConversionError: ``entity`` cannot be converted.
    """
    return compiler.conversion.to_code(entity, recursive)


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """The converted form of a function, method, class or module.

    Unlike `runtime.function` it does not trace: the result is a Python function that
    runs eagerly on values, and can be staged by whoever traces it. Arguments and errors
    are those of `to_code`.

    >>> def half(x):
    ...     return x // 2 if x % 2 == 0 else x
    >>> to_graph(half)(8)
    4
    """
    return compiler.conversion.to_graph(entity, recursive)


@overload
def do_not_convert(func: None = None) -> Callable[[Any], Any]: ...
@overload
def do_not_convert(func: Any) -> Any: ...
def do_not_convert(func: Any = None) -> Any:
    """Mark a function to be called as it is from converted code; also a decorator."""
    return do_not_convert if func is None else compiler.conversion.do_not_convert(func)


def options(include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Any:
    """What is converted of the code that a Function calls, by patterns of modules.

    For ``tf.function(experimental_autograph_options=…)``. By default that is your own
    code; `include` adds modules of libraries, `exclude` leaves out modules of yours.
    Raises TypeError for what is not a string.

    >>> options(include=["statistics"]).include
    ('statistics',)
    """
    return compiler.conversion.options(include, exclude)


def trace(*args: Any) -> None:
    """Print the arguments while a function is traced: tensors without their values.

    For what they are when the graph runs, use `tf.print`.

    >>> trace("rate", 0.5)
    rate 0.5
    """
    print(*args)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted and not needed: conversion writes no log.

    `to_code` shows what becomes of a function, ``Function.converted_callees()`` what
    was converted and why, and errors tell where and why on their own.
    """


class experimental(metaclass=Space):  # noqa: N801
    """TensorFlow's second home for these names."""

    _space = "tf.autograph.experimental"
    do_not_convert = staticmethod(do_not_convert)
    set_loop_options = staticmethod(set_loop_options)
