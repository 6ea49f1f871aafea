"""The names that a function reads, as the compiler finds them in its text."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime import compiler
from runtime.types.classes import remembered

if TYPE_CHECKING:
    from autograph.loading.name_uses import NameUses

__all__ = ["Names", "names_in", "names_of", "uses_of"]

#: Functions that read attributes whose names are texts, and those that read all.
_BY_TEXT = {"__getattribute__", "attrgetter", "getattr", "hasattr", "methodcaller"}
_ALL = {"asdict", "astuple", "vars"}


class Names(NamedTuple):
    """The names in a function and those inside it."""

    #: Global variables, and attributes of whatever object.
    globals: dict[str, None]
    attributes: dict[str, None]
    #: Attributes that are asked of bases; an empty name stands for any.
    of_bases: set[str]
    #: Modules that are imported.
    imports: set[str]
    #: Attributes that are asked for by a text, so that they may be missing.
    probed: set[str]
    #: Those that are read otherwise than to be called at once. (Of a global variable
    #: something else may be called: `handlers["x"]()`.)
    values: set[str]
    #: The first line that reads a name, and does not only assign it.
    lines: dict[str, int]
    #: Whether it asks if two objects are one.
    compares: bool


def names_of(function: FunctionType) -> Names:
    """The names in a function as it was written."""
    return _names(compiler.conversion.name_uses(function))


def uses_of(function: FunctionType) -> tuple[Any, ...]:
    """Each way in which a function uses a name: see `autograph.analysis.name_uses`."""
    return compiler.conversion.name_uses(function).uses


@remembered
def _names(uses: NameUses) -> Names:
    return names_in(uses.uses)


def names_in(uses: Iterable[Any]) -> Names:
    """The names of some uses, in their order."""
    names = Names({}, {}, set(), set(), set(), set(), {}, False)
    texts: dict[str, int] = {}
    for kind, name, how, _, line in uses:
        if kind == "is":
            names = names._replace(compares=True)
        elif kind == "super":
            names.of_bases.add(name)
        elif kind == "import":
            names.imports.add(name)
        elif kind == "text":
            texts.setdefault(name, line)
        else:
            if kind != "variable":
                (names.globals if kind == "global" else names.attributes)[name] = None
            if how != "stored":
                names.lines.setdefault(name, line)
                if how != "called":
                    names.values.add(name)
    if not _BY_TEXT & names.lines.keys():
        texts = {}
    names.probed.update(texts)
    for name in _ALL & names.lines.keys():
        texts["__dict__"] = names.lines[name]
    names.attributes.update(dict.fromkeys(texts))
    names.values.update(texts)
    names.lines.update({**texts, **names.lines})
    return names
