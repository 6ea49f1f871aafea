"""What functions read by name, for libraries that look at it again before each call.

The text of a function says it (`analysis.name_uses`), and the disk cache keeps it. What
Python's own compiler lists as names of the code, and the text does not show, counts as
used in every way; so do all names of code without text. Instructions are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType
from weakref import ref

from .. import operators
from ..source.code_objects import codes_in
from .disk_cache import Use, uses_in_text
from .on_demand import is_generated


class NameUses:
    """The uses of names in a function and those inside it, and its free variables.

    Each is a tuple as `analysis.name_uses` describes it; in place of ``name`` it says
    ``global`` or ``variable``.
    """

    __slots__ = ("__weakref__", "uses")

    def __init__(self, uses: tuple[Use, ...]) -> None:
        self.uses = uses


def name_uses(function: FunctionType) -> NameUses:
    """The names that a function uses: the same object for all with the same code."""
    code = function.__code__
    key = id(code)
    if key not in _met:
        text = uses_in_text(function, is_generated(code))
        uses = NameUses(tuple(_complete(code, text)))
        _met[key] = ref(code, lambda _: _met.pop(key, None)), uses
    return _met[key][1]


#: By the id of code that lives: comparing code objects is slow.
_met: dict[int, tuple[ref[CodeType], NameUses]] = {}


def _complete(code: CodeType, uses: tuple[Use, ...]) -> Iterator[Use]:
    """The uses with those of names that the text does not show."""
    listed = {name for part in codes_in(code) for name in part.co_names}
    for kind, name, *rest in uses:
        if kind == "name":
            kind = "global" if name in listed else "variable"
        yield (kind, name, *rest)  # type: ignore[misc]
    shown = {name for kind, name, *_ in uses if kind in ("name", "attribute", "import")}
    if uses and is_generated(code):
        shown.update(dir(operators), dir(operators.staging), ("elsewhere",))
    yield from _listed(code, frozenset(shown), not uses)


def _listed(code: CodeType, shown: frozenset[str], is_all: bool) -> Iterator[Use]:
    """The names that are listed in code, used in every way."""
    line = code.co_firstlineno
    for name in code.co_names:
        if name not in shown:
            for kind in ("global", "attribute", "import"):
                yield kind, name, "read", (), line
    if is_all:
        yield "is", "", "read", (), line
        if "super" in code.co_names:
            yield "super", "", "read", (), line
        for name in (*code.co_freevars, *code.co_cellvars):
            yield "variable", name, "read", (), line
        for text in _texts(code.co_consts):
            yield "text", text, "read", (), line
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _listed(part, shown, is_all)


def _texts(constants: tuple[object, ...]) -> Iterator[str]:
    """The texts among constants that may be names."""
    for constant in constants:
        if isinstance(constant, str) and constant.isidentifier():
            yield constant
        elif isinstance(constant, tuple):
            yield from _texts(constant)
