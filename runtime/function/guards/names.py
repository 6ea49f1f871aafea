"""The names that a function reads, as the compiler finds them in its text."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime.core.location.user_code import function_behind
from runtime.core.types.classes import remembered
from runtime.staging import compiler

if TYPE_CHECKING:
    from autograph.loading.name_uses import NameUses

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
    #: The ways in which each is read, other than to be called at once.
    ways: dict[str, set[str]]
    #: The first line that reads a name, and does not only assign it.
    lines: dict[str, int]
    #: Whether it asks if two objects are one.
    compares: bool


#: A file and, in it, the first line of a function, and its name.
Definition = tuple[str, int, str]


def names_of(function: Any, later: Collection[Definition | None] = ()) -> Names:
    """The names in a function, or one behind methods and partials, as it was written.

    Those in functions inside it that only run `later` are left out.
    """
    written = compiler.conversion.as_written(function_behind(function))
    uses = compiler.conversion.name_uses(written)
    if not later:
        return _names(uses)
    filename = written.__code__.co_filename
    return _names_in(
        use
        for use in uses.uses
        if not any((filename, *scope) in later for scope in use[3])
    )


def definition_of(function: Any) -> Definition | None:
    """Where a function, as it was written, begins: the same for its converted form."""
    behind = function_behind(function)
    if behind is None:
        return None
    code = compiler.conversion.as_written(behind).__code__
    return code.co_filename, code.co_firstlineno, code.co_name


@remembered
def _names(uses: NameUses) -> Names:
    return _names_in(uses.uses)


def _names_in(uses: Iterable[Any]) -> Names:
    """The names of some uses, in their order: see `autograph.analysis.name_uses`."""
    names = Names({}, {}, set(), set(), set(), {}, {}, False)
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
                    names.ways.setdefault(name, set()).add(how)
    if not _BY_TEXT & names.lines.keys():
        texts = {}
    names.probed.update(texts)
    for name in _ALL & names.lines.keys():
        texts["__dict__"] = names.lines[name]
    names.attributes.update(dict.fromkeys(texts))
    names.ways.update({text: {"read"} for text in texts})
    names.lines.update({**texts, **names.lines})
    return names
