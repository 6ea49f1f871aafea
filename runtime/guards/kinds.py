"""Whose a function, class or module is."""

from __future__ import annotations

import sys
from enum import Enum
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from runtime import compiler
from runtime.types.classes import remembered
from runtime.variable import Module

__all__ = ["is_enum", "is_library", "is_open", "is_ours"]

#: Classes of libraries that keep what users give them.
_OPEN = (Module, SimpleNamespace)


def is_library(value: Any) -> bool:
    """Whether a function, class or module is no code of the user's."""
    if isinstance(value, FunctionType):
        # What `exec` made in a dict of the user's has no name.
        name = value.__globals__.get("__name__", "__main__")
    elif isinstance(value, ModuleType):
        name = value.__name__
    else:
        name = value.__module__
    return not isinstance(name, str) or compiler.conversion.is_library_module(name)


def is_ours(function: FunctionType) -> bool:
    """Whether a function is a wrapper that the runtime made."""
    return str(function.__globals__.get("__name__")).startswith("runtime.")


def is_enum(value: Any) -> bool:
    """Whether a value is an enumeration, whose members stay."""
    return isinstance(value, type) and issubclass(value, Enum)


@remembered
def is_open(cls: type) -> bool:
    """Whether the attributes of the instances of a class are looked at."""
    if issubclass(cls, (ModuleType, Enum)):
        return False
    if not is_library(cls) or issubclass(cls, _OPEN):
        return True
    # Imported by who has one, not for the question.
    argparse = sys.modules.get("argparse")
    return argparse is not None and issubclass(cls, argparse.Namespace)
