"""Functions of higher rooms and of the compiler that `core` and `ops` call.

A lower room cannot import a higher one. `runtime.staging.compiler.install` assigns to
the attributes of `hooks`. Until then the defaults stand, which suit programs that only
run what was traced before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any


@dataclass
class Hooks:
    """The functions by name; those without a default are called by tracing alone."""

    #: Called before an operation of a graph is built.
    begin: Callable[[], None] = lambda: None
    #: Called when no more operations of a graph follow for now.
    end: Callable[[], None] = lambda: None
    #: Whether a flag is on, where the tests around it tell; otherwise None.
    fact: Callable[[Any], bool | None] = lambda flag: None
    #: The package `runtime.export`, which writes graphs in other forms.
    exports: Any = None
    #: The functions of `autograph.handlers`, which find the ``except`` clauses around.
    statements_at: Callable[[FrameType, int], Iterator[Any]] = field(init=False)
    statements_around: Callable[[str, str, int], Iterator[Any]] = field(init=False)
    catching: Callable[[Any, BaseException, FrameType], Any] = field(init=False)
    classes_named: Callable[[Any, FrameType], Iterator[Any]] = field(init=False)
    #: Whether the code of a function has an unstaged form beside its staged form.
    has_written_form: Callable[[CodeType], bool] = lambda code: False
    #: The method of `str` by name, for a tensor that stands for one; None without.
    method_of_text: Callable[[Any, str], Any] = lambda tensor, name: None
    #: The method of `list` by name, for a tensor that stands for one.
    method_of_list: Callable[[Any, str], Any] = field(init=False)
    #: ``items * times`` of a list or text in a graph.
    repeated: Callable[[Any, Any], Any] = field(init=False)
    #: ``tensor is value``, where the tensor may be None.
    is_same: Callable[[Any, Any], Any] = field(init=False)
    #: The tensor that stands for another where an operation reads it.
    as_read: Callable[[Any], Any] = field(init=False)
    #: Whether a name that the program reads is a local or a global variable.
    scope_of: Callable[[str], str] = field(init=False)


hooks = Hooks()
