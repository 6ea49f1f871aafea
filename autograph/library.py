"""Which code is the user's own, and which is library code that is called as it is.

The standard library, installed packages and libraries that registered themselves are
library code; everything else is converted when converted code calls it.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import sysconfig
from types import FunctionType, MethodType, ModuleType
from typing import Any

_MARK = "__autograph_do_not_convert__"
_packages = {"autograph"}
_ROOTS = tuple(
    {sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")}
)


def add_library(package: str) -> None:
    """Treat a package as library code: its functions are called as they are."""
    _packages.add(package)
    is_library_module.cache_clear()


def do_not_convert(function: Any) -> Any:
    """Mark a function, method or class to be called as it is from converted code.

    >>> @do_not_convert
    ... def helper(x):
    ...     return x
    >>> needs_no_conversion(helper)
    True
    """
    setattr(function, _MARK, True)
    return function


@functools.cache
def is_library_module(name: str) -> bool:
    """Whether a module belongs to the standard library or an installed package.

    The module is not imported; one that cannot be found is taken for the user's own.
    """
    package = name.partition(".")[0]
    if package in _packages or package in sys.stdlib_module_names:
        return True
    module = sys.modules.get(package)
    path = getattr(module, "__file__", None)
    if path is None:
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError, AttributeError):
            return False
        if spec is None:
            return False
        path = spec.origin or next(iter(spec.submodule_search_locations or ()), "")
    return _is_library_path(path)


def _is_library_path(path: str) -> bool:
    return "site-packages" in path or path.startswith(_ROOTS)


def is_marked(obj: Any) -> bool:
    """Whether somebody decorated it with `do_not_convert`."""
    return getattr(obj, _MARK, False) is True


def needs_no_conversion(obj: Any) -> bool:
    """Whether a callable is library code, written in C, or marked `do_not_convert`."""
    if is_marked(obj):
        return True
    if isinstance(obj, MethodType):
        return needs_no_conversion(obj.__func__)
    if isinstance(obj, functools.partial):
        return needs_no_conversion(obj.func)
    if isinstance(obj, FunctionType):
        return is_library_module(obj.__globals__.get("__name__") or "__main__")
    if isinstance(obj, type):
        return is_library_module(obj.__module__)
    return not isinstance(getattr(type(obj), "__call__", None), FunctionType) or (
        is_library_module(type(obj).__module__)
    )


def is_library(obj: Any) -> bool:
    """Whether what an expression names is surely called without conversion."""
    return not isinstance(obj, ModuleType) and needs_no_conversion(obj)
