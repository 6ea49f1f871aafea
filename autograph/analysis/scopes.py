"""The names of one function, and whose they are."""

from __future__ import annotations

from autograph.analysis.events import (
    CAPTURED,
    DELETE,
    GLOBAL,
    LATER,
    WRITE,
    Log,
)
from autograph.analysis.nameset import NameSet

__all__ = ["Scope", "scope_of"]


class Scope:
    """The names of one function. ``str(scope)`` is stable.

    A name is in exactly one of `bound`, `globals`, `nonlocals` and `free`.
    """

    def __init__(
        self,
        *,
        params: tuple[str, ...],
        bound: NameSet,
        globals: NameSet,
        nonlocals: NameSet,
        free: NameSet,
        captured: NameSet,
        rebound_by_others: NameSet,
        uses_class: bool,
        enclosing: frozenset[str],
    ) -> None:
        #: Parameters: positional, ``*args``, keyword-only, ``**kwargs``.
        self.params = params
        #: All local names: parameters first, then in the order of their first binding.
        self.bound = bound
        #: Names declared ``global`` here.
        self.globals = globals
        #: Names declared ``nonlocal`` here.
        self.nonlocals = nonlocals
        #: Names read here, or by a nested scope, that are somebody else's: of an
        #: enclosing function, of the module, builtins.
        self.free = free
        #: Local and nonlocal names that a nested function, lambda, generator
        #: expression or class body mentions: their variables are shared cells.
        self.captured = captured
        #: Names that nested functions may bind or unbind whenever they are called.
        self.rebound_by_others = rebound_by_others
        #: ``super`` or ``__class__`` is used, here or in a nested function.
        self.uses_class = uses_class
        #: Names of enclosing functions, as far as the analysis was told.
        self.enclosing = enclosing

    def kind(self, name: str) -> str:
        """Whose the name is: ``'local'``, ``'nonlocal'`` or ``'global'``.

        Builtins are global names. KeyError: the function does not mention the name.
        """
        if name in self.bound:
            return "local"
        if name in self.nonlocals:
            return "nonlocal"
        if name in self.globals:
            return "global"
        if name in self.free:
            return "nonlocal" if name in self.enclosing else "global"
        raise KeyError(f"{name!r} is not a name of this function")

    def __str__(self) -> str:
        rows = [("params", self.params)]
        for row in ("bound", "globals", "nonlocals", "free", "captured"):
            rows.append((row, tuple(getattr(self, row))))
        if self.uses_class:
            rows.append(("uses", ("__class__",)))
        return "\n".join(f"{row}: {', '.join(names)}" for row, names in rows if names)


def scope_of(log: Log, enclosing: frozenset[str]) -> Scope:
    """The scope of a finished log; ``enclosing`` are the local names of the functions
    around the outermost one.
    """
    own = {**log.bound, **log.nonlocals}
    captured: dict[str, None] = {}
    rebound: dict[str, None] = {}
    free: dict[str, None] = {}
    uses_class = False
    for flags, name, _ in log.events:
        if not name or (flags & GLOBAL and name in own):
            continue
        if name in own:
            if flags & CAPTURED:
                captured[name] = None
            if flags & LATER and flags & (WRITE | DELETE):
                rebound[name] = None
        elif name not in log.globals:
            free[name] = None
        uses_class = uses_class or name in ("super", "__class__")
    return Scope(
        params=tuple(param.id for param in log.params),
        bound=NameSet(log.bound),
        globals=NameSet(log.globals),
        nonlocals=NameSet(log.nonlocals),
        free=NameSet(free),
        captured=NameSet(captured),
        rebound_by_others=NameSet(rebound),
        uses_class=uses_class,
        enclosing=_enclosing(log, enclosing),
    )


def _enclosing(log: Log, around: frozenset[str]) -> frozenset[str]:
    """The names of all functions around a scope, as a name in it would find them."""
    names: set[str] = set()
    declared_global: set[str] = set()
    names.update(log.hidden_around)
    outer = log.parent
    while outer is not None:
        if outer.kind != "class":
            names |= {*outer.bound, *outer.nonlocals} - declared_global
            declared_global |= set(outer.globals)
        names |= set(outer.hidden_around) - declared_global
        outer = outer.parent
    return frozenset(names | (around - declared_global))
