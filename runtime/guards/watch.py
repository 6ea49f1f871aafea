"""What a trace may read of Python's state, noted before the trace can change it.

A `Watch` begins with the function that is traced and its arguments. It looks at the
global and captured variables that the code names, and at the attributes, of the names
that the code reads, of the objects that it finds in them. A function that is called is
looked at before it runs. So each value is the one from before the trace; what the trace
changed is told afterwards: it is no longer what it was.
"""

from __future__ import annotations

import builtins
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import _lru_cache_wrapper, cached_property, partial, partialmethod
from types import FunctionType, MethodType, ModuleType
from typing import Any

from runtime import compiler
from runtime.guards import reads
from runtime.guards.attributes import (
    Owner,
    keeps_result,
    present,
    special_methods,
    user_classes,
)
from runtime.guards.checks import Guards, Places
from runtime.guards.expected import (
    Expected,
    Reference,
    expect,
    with_identity,
)
from runtime.guards.kinds import is_enum, is_library, is_open, is_ours
from runtime.guards.names import Names, names_of
from runtime.guards.reads import Read
from runtime.guards.unguarded import needed
from runtime.location.user_code import function_behind
from runtime.types.classes import defines

__all__ = ["LIMIT", "note", "watching"]

#: Values that are looked at for one trace: enough for programs.
LIMIT = 10_000
_DEFAULTS = ("__defaults__", "__kwdefaults__")
_CLASSES = ("__class__", "__bases__")
_DESCRIPTORS = (property, cached_property, partialmethod)
_NO_INSTANCES = (FunctionType, ModuleType, type)
_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(
    function: Any, arguments: Iterable[tuple[str, Any]], tells: bool
) -> Iterator[Watch]:
    """Within the block what a function, and what it calls, may read is noted.

    ``tells`` says whether calls are noted that the function makes.
    """
    watch = Watch()
    for name, value in arguments:
        watch.root(value, name)
    watch.start(function, tells)
    token = _current.set(watch)
    try:
        yield watch
    finally:
        _current.reset(token)


def note(function: Any) -> None:
    """Note that a function is about to be called in the trace that is made now."""
    watch = _current.get()
    if watch is not None:
        watch.note(function)


class Watch:
    """Collects what a trace may read, while it is made."""

    def __init__(self) -> None:
        #: Where what ran reads a name.
        self.places: dict[str, tuple[str, int]] = {}
        #: What is read of namespaces and functions; objects have their own reads.
        self._reads: dict[Any, Read] = {}
        #: The objects in what is read at a place.
        self._contents: dict[Read, list[Owner]] = {}
        self._roots: list[Owner] = []
        self._owners: dict[int, Owner] = {}
        #: The attributes to look at, and those that may be missing.
        self._names: dict[str, None] = {}
        self._probed: set[str] = set()
        #: Names that are read otherwise than to be called at once.
        self._valued: set[str] = set()
        #: Names whose functions may be called unnoticed, and the functions of others.
        self._silent: set[str] = set()
        self._methods: dict[str, list[FunctionType]] = {}
        #: The functions that run, and whether they tell what they call.
        self._functions: dict[int, tuple[FunctionType, bool]] = {}
        #: Those that were noted when they were called, if that can be said of all.
        self._noted: list[FunctionType] = []
        self._tells = False
        #: The attributes that functions ask of bases by `super`.
        self._of_bases: set[str] = set()
        #: What cached properties have not kept yet.
        self._uncached: set[Read] = set()
        #: The functions that were met in a value.
        self._linked: dict[int, FunctionType] = {}
        #: What the contents of arguments are called.
        self._arguments: set[str] = set()
        #: The function that is traced, and what it wraps.
        self._bound: set[FunctionType] = set()
        #: Names of containers that may be asked whether they are the same object.
        self._compared: set[str] = set()
        self._pending: deque[Callable[[], None]] = deque()
        self._budget = LIMIT
        #: What was not looked at, since there was too much: the first, and the name
        #: that it was found under.
        self._left_out: tuple[str, str] | None = None

    # --- from outside -----------------------------------------------------------------

    def note(self, function: Any) -> None:
        """Note that a function is about to be called: as written, or converted."""
        while isinstance(function, (MethodType, partial)):
            if isinstance(function, MethodType):
                function = function.__func__
            else:
                function = function.func
        written = compiler.conversion.as_written(function)
        if isinstance(written, FunctionType):
            self._noted.append(written)
            # What was not found anywhere is made by the trace, as its cells are.
            is_met = id(function) in self._linked or id(written) in self._linked
            self._add(written, written is not function, is_met)
            self._look()

    def root(self, value: Any, name: str) -> None:
        """Look at an argument, which is known by its identity, or what is called."""
        self._roots += self._expect(value, name, True, name)[1]
        read = reads.contents(value, name)
        if read is not None:
            self._add_read((id(value), read.key), read)
            self._arguments.add(read.key)
        self._look()

    def start(self, function: Any, tells: bool) -> None:
        """Look at the function that is traced."""
        self._tells = tells
        if isinstance(function, FunctionType):
            self._bound.add(function)
            self._add(function, tells)
            self._look()
        else:
            self.root(function, type(function).__name__)
        behind = function_behind(function)
        if behind is not None:
            code = compiler.conversion.as_written(behind).__code__
            for key in self._arguments:
                self.places[key] = code.co_filename, code.co_firstlineno
            self._valued |= self._arguments

    def _reached(self, same: set[Read]) -> Iterator[Read]:
        """What was read by what ran, of what is the same as before the trace.

        What is only reached through something that changed is of no use either.
        """
        owners = dict.fromkeys(self._roots)
        pending = [*owners]

        def reach(reads: Iterable[Read]) -> Iterator[Read]:
            for read in reads:
                if read not in same:
                    continue
                add(self._contents.get(read, ()))
                # What is only called is no number: another's attribute was meant.
                is_meant = read.key in self._valued or not read.is_data
                if read.key in self.places and read.expected is not None and is_meant:
                    yield read

        def add(new: Iterable[Owner]) -> None:
            new = [owner for owner in new if owner not in owners]
            owners.update(dict.fromkeys(new))
            pending.extend(new)

        yield from reach(self._reads.values())
        for owner in pending:
            add(owner.classes)
            yield from reach(owner.reads)

    def guards(self, changed: Places, called: Iterable[Any] = ()) -> Guards | None:
        """The guards of the trace that was made; None if there is nothing to check.

        The places that this trace changed are added to those that others did. What only
        the functions read that the graph calls when it runs (`called`) is not checked.
        """
        before = [*self._all()]
        self._look_at_cached()
        same = {read for read in self._all() if read.holds()}
        for read in before:
            if read not in same:
                changed.add(read)
        checked = [read for read in self._reached(same) if read not in changed]
        for read in checked:
            if read.key in self._compared and read.expected not in (None, reads.ABSENT):
                read.expected = with_identity(read.expected, read.current())
        if self._tells:
            functions = (function for function, _ in self._functions.values())
            checked = needed(checked, list(called), self._noted, functions)
        return Guards(checked, self.places) if checked else None

    def _look_at_cached(self) -> None:
        """Expect what cached properties kept while the trace was made: it read that."""
        for read in self._uncached:
            if not read.holds():
                self._fill(read, read.current(), read.name, True)
        self._look()

    def _all(self) -> Iterator[Read]:
        yield from self._reads.values()
        for owner in self._owners.values():
            yield from owner.reads

    def _look(self) -> None:
        while self._pending:
            self._pending.popleft()()

    # --- functions --------------------------------------------------------------------

    def _add(
        self, function: FunctionType, tells: bool = False, with_cells: bool = True
    ) -> None:
        """Look at what a function reads, which may run.

        With ``tells`` the functions that it calls are noted when they are called.
        """
        _, told = self._functions.get(id(function), (function, None))
        if told is None or (told and not tells):
            self._functions[id(function)] = (function, tells)
            self._pending.append(
                lambda: self._look_at_function(function, tells, with_cells)
            )

    def _look_at_function(
        self, function: FunctionType, tells: bool, with_cells: bool
    ) -> None:
        if is_library(function) and (not tells or is_ours(function)):
            self._look_behind(function, tells)
            return
        # The code may have been converted in place.
        names = names_of(compiler.conversion.as_written(function))
        quiet = names.values if tells else {*names.attributes, *names.globals}
        if names.compares:
            self._compared |= {*names.globals, *names.attributes}
            self._compared |= {*function.__code__.co_freevars}
        for name in names.globals:
            self._look_at_global(function.__globals__, name, name in quiet)
        self._look_at_modules(names.imports, function)
        reference = Reference(function)
        cells = function.__code__.co_freevars if with_cells else ()
        for index, name in enumerate(cells):
            read = reads.cell(function, reference, index)
            self._add_read((id(function), name), read)
        for kind in _DEFAULTS:
            values = getattr(function, kind) or {}
            if kind == "__kwdefaults__":
                values = tuple(values.values())
            if values:
                label = f"the defaults of `{function.__qualname__}`"
                read = reads.defaults(reference, kind, label)
                self._add_read((id(function), kind), read)
        self._note_places(function, names)
        if names.of_bases - self._of_bases:
            self._of_bases |= names.of_bases
            for owner in list(self._owners.values()):
                self._look_at_object(owner, self._names)
        self._look_for(names, quiet)

    def _look_at_modules(self, names: Iterable[str], function: FunctionType) -> None:
        """Look at the modules that a function imports when it runs."""
        package = function.__globals__.get("__package__")
        for name in names:
            for full in (name, f"{package}.{name}".rstrip(".")):
                module = sys.modules.get(full)
                if isinstance(module, ModuleType) and not is_library(module):
                    self._roots.append(self._object(module, full))

    def _look_behind(self, function: FunctionType, tells: bool) -> None:
        """Look at the user's function that a function of a library wraps."""
        wrapped = vars(function).get("__wrapped__")
        if isinstance(wrapped, FunctionType):
            if function in self._bound:
                self._bound.add(wrapped)
            self._add(wrapped, tells and is_ours(function))
        instance = vars(function).get("instance")
        if callable(instance) and function in self._bound:
            self._roots += self._expect(instance(), "self", True, "self")[1]

    def _note_places(self, function: FunctionType, names: Names) -> None:
        code = compiler.conversion.as_written(function).__code__
        self._valued |= {*names.values, *names.globals, *code.co_freevars, *_DEFAULTS}
        for name in (*names.lines, *code.co_freevars, *_DEFAULTS, *_CLASSES):
            line = names.lines.get(name, code.co_firstlineno)
            self.places.setdefault(name, (code.co_filename, line))

    def _look_for(self, names: Names, quiet: set[str]) -> None:
        """Look for the names of a function in the objects that were met."""
        for name in (quiet & names.attributes.keys()) - self._silent:
            self._silent.add(name)
            for method in self._methods.pop(name, ()):
                self._add(method)
        self._look_for_names(names.attributes, names.probed)

    def _look_for_names(self, names: Iterable[str], probed: set[str]) -> None:
        new = [
            name
            for name in names
            if name not in self._names or (name in probed and name not in self._probed)
        ]
        self._names.update(dict.fromkeys(new))
        self._probed |= probed
        if new:
            for owner in list(self._owners.values()):
                self._look_at_object(owner, new)

    def _look_at_global(self, namespace: Any, name: str, quiet: bool) -> None:
        if name in namespace or not hasattr(builtins, name):
            read = reads.variable(namespace, name)
            self._add_read((id(namespace), name), read, quiet)

    def _add_read(self, key: Any, read: Read, quiet: bool = True) -> None:
        first = self._reads.setdefault(key, read)
        if first is not read and not quiet:
            return
        try:
            value = first.current()
        except Exception:
            self._contents.setdefault(first, [])
            return
        self._fill(first, value, first.key, quiet)

    # --- values -----------------------------------------------------------------------

    def _fill(self, read: Read, value: Any, label: str, quiet: bool) -> None:
        """Note what is expected at a place: what is there now, when first seen."""
        expected, owners = self._expect(value, label, quiet, read.key)
        if read not in self._contents:
            self._contents[read] = owners
            read.expected = expected

    def _expect(
        self, value: Any, label: str, quiet: bool, name: str
    ) -> tuple[Expected | None, list[Owner]]:
        owners: list[Owner] = []

        def meet(part: Any, step: str) -> None:
            owners.extend(self._meet(part, label + step, quiet, name))

        expected, used, is_whole = expect(value, meet, self._budget)
        self._budget -= used
        if not is_whole:
            self._leave_out(label, name)
        return expected, owners

    def _leave_out(self, label: str, name: str) -> None:
        if self._left_out is None:
            self._left_out = label, name

    @property
    def left_out(self) -> tuple[str, str, int] | None:
        """The first of what is not watched, since there is too much; and its line."""
        if self._left_out is None or self._left_out[1] not in self.places:
            return None
        label, name = self._left_out
        return label, *self.places[name]

    def _meet(self, value: Any, label: str, quiet: bool, name: str) -> Iterator[Owner]:
        """Look into a value that is read under a name, if it is the user's."""
        # Not isinstance: it asks the value for its class, which may run its code.
        if issubclass(type(value), weakref.ref):
            value = value()
        cls: Any = type(value)
        if reads.is_wrapper(cls):
            self._object(value, label)  # It lives as long as its number is used.
            self._add_read((id(value), name), reads.data(value, name, label))
        if cls is MethodType:
            self._meet_function(value.__func__, quiet, name)
            yield from self._meet(value.__self__, label, quiet, name)
        elif issubclass(cls, partial):
            self._object(value, label)  # It lives as long as its number is used.
            self._add_read((id(value), name), reads.call_of(value, name, label))
        elif defines(cls, "python_function"):
            yield from self._meet(value.python_function, label, False, name)
        elif defines(cls, "bound_function"):
            yield from self._meet(value.__self__, label, quiet, name)
        elif cls is _lru_cache_wrapper:
            self._meet_function(value.__wrapped__, True, name)
        elif cls in (classmethod, staticmethod):
            self._meet_function(value.__func__, quiet, name)
        elif issubclass(cls, _NO_INSTANCES):
            self._meet_function(value, quiet, name)
            if not is_library(value) and not is_enum(value):
                yield self._object(value, label)
        elif is_open(cls):
            yield self._object(value, label)
        if issubclass(cls, _DESCRIPTORS):
            for function in compiler.conversion.functions_of(value):
                self._add(function)

    def _meet_function(self, function: Any, quiet: bool, name: str) -> None:
        if isinstance(function, FunctionType):
            self._linked[id(function)] = function
            if quiet or name in self._silent or is_library(function):
                self._add(function)
            else:
                self._methods.setdefault(name, []).append(function)

    # --- objects ----------------------------------------------------------------------

    def _object(self, value: Any, name: str) -> Owner:
        """What is read of an object that was met: all names are looked for in it."""
        owner = self._owner(value, name)
        if not owner.is_met:
            owner.is_met = True
            cls = type(value)
            if is_open(cls):
                owner.reads.append(reads.class_of(owner.reference, cls, name))
            self._pending.append(lambda: self._look_at_new(owner))
        return owner

    def _owner(self, value: Any, name: str) -> Owner:
        """What is read of an object, or of a class that is only one of its classes."""
        owner = self._owners.get(id(value))
        if owner is None:
            owner = self._owners[id(value)] = Owner(value, name)
            if issubclass(type(value), type):
                for method in special_methods(value):
                    self._add(method)
                if not all(map(is_library, value.__bases__)):
                    owner.reads.append(reads.bases_of(value))
        return owner

    def _look_at_new(self, owner: Owner) -> None:
        classes = user_classes(owner.value)
        owner.classes = [self._owner(cls, cls.__qualname__) for cls in classes]
        self._look_at_object(owner, self._names)

    def _look_at_object(self, owner: Owner, names: Iterable[str]) -> None:
        if not owner.is_met:
            return
        wanted = {*names}
        here = present(owner.value, wanted) | (wanted & self._probed)
        asks_all = owner.has_metaclass or "" in self._of_bases
        for name in names if here else ():
            if name in here:
                for part in (owner, *owner.classes):
                    # Python looks no further than to the first that has it.
                    is_last = not asks_all and name not in self._of_bases
                    if self._has_attribute(part, name) and is_last:
                        break

    def _has_attribute(self, owner: Owner, name: str) -> bool:
        """Look at what an object or class itself has of a name, if it has it."""
        if name not in owner.seen:
            if self._budget <= 0:
                self._leave_out(f"{owner.name}.{name}", name)
                return False
            owner.seen[name] = self._look_at_attribute(owner, name)
        return owner.seen[name]

    def _look_at_attribute(self, owner: Owner, name: str) -> bool:
        read = owner.read(name)
        if read is None:
            return False
        owner.reads.append(read)
        try:
            value = read.current()
        except Exception:
            if keeps_result(owner.value, name):
                self._uncached.add(read)
            return False
        self._fill(read, value, f"{owner.name}.{name}", name in self._silent)
        if name == "__match_args__":
            for part in value:
                self.places.setdefault(part, self.places[name])
            self._valued |= {*value}
            self._look_for_names(value, set())
        return True
