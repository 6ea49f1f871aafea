"""The operators with a choice of which calls are converted.

Converted code reaches the operators by one name, ``ag``. Code with patterns of modules
to include or exclude has another namespace under that name: the same operators but for
``ag.call``, which goes by the patterns.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any

from ..options import ConversionOptions
from ..options import patterns as checked
from .calls import call

_PACKAGE = "autograph.operators"


def scoped(include: str = "", exclude: str = "") -> ModuleType:
    """The operators whose ``call`` goes by patterns of modules, separated by commas.

    >>> ag = scoped(include="statistics")
    >>> ag.call(len), ag is scoped(include="statistics")
    (<built-in function len>, True)
    """
    return operators(
        ConversionOptions(include=_split(include), exclude=_split(exclude))
    )


def _split(text: str) -> tuple[str, ...]:
    return checked(filter(None, text.replace(",", " ").split()), "scoped()")


def operators(options: ConversionOptions) -> ModuleType:
    """What converted code with these options knows as ``ag``."""
    if not (options.include or options.exclude):
        return importlib.import_module(_PACKAGE)
    return _operators(options._replace(recursive=True))


@functools.cache
def _operators(options: ConversionOptions) -> ModuleType:
    package = importlib.import_module(_PACKAGE)
    namespace = ModuleType(_PACKAGE, package.__doc__)
    vars(namespace).update(vars(package))
    vars(namespace)["call"] = functools.partial(call, options=options)
    return namespace


def are_operators(value: Any) -> bool:
    """Whether a value is what converted code knows as ``ag``."""
    return type(value) is ModuleType and value.__name__ == _PACKAGE
