"""Targets that are imported, with the arguments of a call: ``file.py::f(int32[])``."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import re
import sys
from functools import reduce
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic
from ..errors import TargetError
from .targets import TargetName, parse_target

if TYPE_CHECKING:
    from ..verification.library import Library

_CALL = re.compile(r"(?P<target>[^()]+)\((?P<arguments>.*)\)", re.DOTALL)


def is_call(target: str) -> bool:
    """Whether a target has arguments."""
    return _CALL.fullmatch(target) is not None


def split_call(target: str) -> tuple[TargetName, str]:
    """The function that a target names, and the text of its arguments.

    Raises:
        TargetError: AG403, it has no arguments.
    """
    match = _CALL.fullmatch(target)
    if match is None:
        title, name = f"`{target}` has no arguments", target
        if not parse_target(target).qualname:
            name = (
                f"{target}::function" if target.endswith(".py") else "file.py::function"
            )
        fix = f"write a call, in quotes: '{name}(int32[], 0.5)'"
        raise TargetError(Diagnostic("AG403", title, fix=fix))
    return parse_target(match["target"]), match["arguments"]


def library_specs(arguments: str) -> tuple[Library, Any]:
    """The tensor library that is installed, and the arguments by its specs.

    Raises:
        TargetError: AG411, there is no library; AG403, the arguments are none.
    """
    from ..verification.library import libraries

    library = next(iter(libraries().values()), None)
    if library is None:
        why = "no installed tensor library has an entry point `autograph.libraries`"
        raise TargetError(Diagnostic("AG411", "a library is missing", why))
    try:
        return library, library.specs(arguments)
    except ValueError as error:
        title, why = "the arguments cannot be read", str(error)
        raise TargetError(Diagnostic("AG403", title, why)) from error


def imported(target: TargetName) -> Any:
    """The function that a target names; its module is imported.

    Raises:
        TargetError: AG401 to AG403, it is not there.
    """
    try:
        module = _module(target)
    except (Exception, SystemExit) as error:  # whatever its top level raises
        title, why = (
            f"cannot import `{target.name}`",
            f"{type(error).__name__}: {error}",
        )
        raise TargetError(Diagnostic("AG402", title, why)) from error
    try:
        return reduce(getattr, target.qualname.split("."), module)
    except AttributeError as error:
        title = f"there is no `{target.qualname}` in {target.name}"
        near = difflib.get_close_matches(target.qualname, vars(module), n=1)
        fix = f"did you mean `{near[0]}`?" if near else ""
        raise TargetError(Diagnostic("AG403", title, fix=fix)) from error


def _module(target: TargetName) -> ModuleType:
    if target.kind == "module":
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(target.name)
    name = os.path.splitext(os.path.basename(target.name))[0]
    spec = importlib.util.spec_from_file_location(name, target.name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("it is no Python file")
    # What it imports from its folder is found as when it is run.
    sys.path.insert(0, os.path.dirname(os.path.abspath(target.name)))
    module = importlib.util.module_from_spec(spec)
    # Where pickles and dataclasses look it up, but in the place of no other module.
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module
