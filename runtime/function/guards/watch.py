"""What a trace may read of Python's state, noted before the trace can change it.

`function.tracer` makes a `Watch` for each trace. It begins with the function that is
traced and its arguments, and looks at the global and captured variables that the code
names, and at the attributes, of the names that the code reads, of the objects that it
finds in them. A function that is called is looked at before it runs. So each value is
the one from before the trace; what differs afterwards was changed by the trace.
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
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

from runtime.core.location.user_code import function_behind
from runtime.core.types.classes import defines
from runtime.function.guards import values
from runtime.function.guards.attributes import Owner, special_methods
from runtime.function.guards.names import definition_of, names_of
from runtime.function.guards.reads import Guards, Places, Read, Step
from runtime.function.guards.values import is_library, is_open
from runtime.staging import compiler

#: Values that are looked at for one trace: enough for programs.
LIMIT = 10_000
_DEFAULTS = ("__defaults__", "__kwdefaults__")
#: Names that count as read by all functions.
_ALWAYS = ("__class__", "__bases__", *_DEFAULTS)
#: What converted code calls, which is noted then, and what other code calls.
_CALLED = (FunctionType, MethodType, classmethod, staticmethod)
_DESCRIPTORS = (property, cached_property, partialmethod, _lru_cache_wrapper)
_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(
    function: Any, arguments: Iterable[tuple[str, Any]], tells: bool
) -> Iterator[Watch]:
    """Within the block what a function, and what it calls, may read is noted.

    ``tells`` says whether calls are noted that the function makes.
    """
    watch = Watch(function, arguments, tells)
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

    def __init__(
        self, function: Any, arguments: Iterable[tuple[str, Any]], tells: bool
    ) -> None:
        #: What has reads, by its id, and of that what was not met in a value.
        self._owners: dict[int, Owner] = {}
        self._roots: list[Owner] = []
        #: The objects in what is read at a place.
        self._contents: dict[Read, list[Owner]] = {}
        #: The attributes to look at, those that may be missing, those that are asked of
        #: bases by `super`, and those that patterns read by their position.
        self._names: dict[str, None] = {}
        self._probed: set[str] = set()
        self._of_bases: set[str] = set()
        self._matched: set[str] = set()
        #: Names whose functions may be called unnoticed, and the functions of others.
        self._silent = {""}
        self._methods: dict[str, list[FunctionType]] = {}
        #: The functions that may run, and whether they tell what they call; those that
        #: were noted when they were called; those that were met in a value.
        self._functions: dict[int, tuple[FunctionType, bool]] = {}
        self._noted: list[FunctionType] = []
        self._linked: dict[int, FunctionType] = {}
        #: Those whose names count.
        self._readers: list[FunctionType] = []
        #: What cached properties have not kept yet.
        self._uncached: list[Read] = []
        self._pending: deque[Callable[[], None]] = deque()
        self._budget = LIMIT
        #: What was not looked at first, since there was too much, and its name.
        self._left_out: tuple[str, str] | None = None
        #: Where those that ran read a name, and how they do but for calls.
        self._lines: dict[str, tuple[str, int]] = {}
        self._ways: dict[str, set[str]] = {}
        self._tells = tells
        self._traced = function
        #: The names of arguments.
        self._arguments: set[str] = set()
        #: The function that is traced, and what it wraps.
        self._bound = {function} if isinstance(function, FunctionType) else set()
        for label, value in arguments:
            self._root(value, label)
        if self._bound:
            self._add(function, tells)
        else:
            self._root(function, type(function).__name__)
        self._look()

    # --- from outside -----------------------------------------------------------------

    def note(self, function: Any) -> None:
        """Note that a function is about to be called: as written, or converted."""
        function = function_behind(function) or function
        written = compiler.conversion.as_written(function)
        if isinstance(written, FunctionType):
            self._noted.append(written)
            # What was not found anywhere is made by the trace, as its cells are.
            is_met = id(function) in self._linked or id(written) in self._linked
            self._add(written, written is not function, is_met)
            self._look()

    def guards(self, changed: Places, called: Iterable[Any] = ()) -> Guards | None:
        """The guards of the trace that was made; None if there is nothing to check.

        The places that this trace changed are added to those that others did. What only
        the functions read that the graph calls when it runs (`called`) is not checked.
        """
        called = list(called) if self._tells else []
        before = [*self._all()]
        for read in self._uncached:
            if not read.holds():
                self._fill(read)  # What a cached property keeps now, the trace read.
        self._look()
        compared = self._note_names(called)
        same = {read for read in self._all() if read.holds()}
        for read in before:
            if read not in same:
                changed.add(read)
        checked = [r for r in self._reached(same, called) if r not in changed]
        for read in checked:
            if read.key in compared and read.expected not in (None, values.ABSENT):
                read.expected = values.with_identity(read.expected, read.current())
        return Guards(checked, self._lines) if checked else None

    @property
    def left_out(self) -> tuple[str, str, int] | None:
        """The first of what is not watched, since there is too much; and its line."""
        if self._left_out is None or self._left_out[1] not in self._lines:
            return None
        label, name = self._left_out
        return label, *self._lines[name]

    # --- what is checked --------------------------------------------------------------

    def _note_names(self, called: list[Any]) -> set[str]:
        """Note what was read by the functions that ran.

        Gives the names of what may be asked whether it is the same object.
        """
        later = {*map(definition_of, called)} - {*map(definition_of, self._noted)}
        compared: set[str] = set()
        for function in self._readers:
            if later and definition_of(function) in later:
                continue
            names = names_of(function, later)
            code = compiler.conversion.as_written(function).__code__
            free = [n for n in code.co_freevars if not later or n in names.lines]
            variables = (*names.globals, *free)
            for name in (*names.lines, *free, *_ALWAYS):
                line = names.lines.get(name, code.co_firstlineno)
                self._lines.setdefault(name, (code.co_filename, line))
            for name in (*variables, *_ALWAYS):
                self._ways.setdefault(name, set())
            for name, ways in names.ways.items():
                self._ways.setdefault(name, set()).update(ways)
            if names.compares:
                compared.update(variables, names.attributes)
        for name in self._matched:
            self._lines.setdefault(name, self._lines["__match_args__"])
            self._ways.setdefault(name, set())
        # An argument may be looked into only by functions that run later.
        hidden: set[str] = set()
        for one in called:
            if (definition := definition_of(one)) and definition in later:
                hidden.update(names_of(one).lines.keys() - self._ways.keys())
        starts = map(definition_of, (self._traced, *self._readers))
        filename, line, _ = next(filter(None, starts), ("", 0, ""))
        for name in self._arguments - hidden:
            self._lines.setdefault(name, (filename, line))
            self._ways.setdefault(name, set())
        return compared

    def _reached(self, same: set[Read], called: list[Any]) -> Iterator[Read]:
        """What was read by what ran, of what is the same as before the trace.

        What is only reached through something that changed is of no use either.
        """
        methods = [f for f in called if isinstance(f, BuiltinMethodType)]
        owners = dict.fromkeys(self._roots)
        pending = [(read, False) for owner in owners for read in owner.reads.values()]
        for read, is_part in pending:
            is_read = read.key in self._lines
            is_argument = read.argument is None
            if read not in same or not (is_read or is_argument):
                continue
            expected = read.expected
            if expected is not values.ABSENT and self._is_only_called(read, methods):
                continue
            # What is only called is no number: another's attribute was meant.
            is_meant = expected is None or expected.is_object
            is_meant |= is_part or read.key in self._ways
            if is_meant and is_read and expected is not None:
                yield read
            pending += [(part, is_meant) for part in read.parts]
            for met in self._contents.get(read, ()):
                for owner in (met, *met.classes):
                    if owner not in owners:
                        owners[owner] = None
                        pending += [
                            (r, r.argument != r.key) for r in owner.reads.values()
                        ]

    def _is_only_called(self, read: Read, methods: list[BuiltinMethodType]) -> bool:
        """Whether only a method of an object is read, which the graph calls.

        That is ``hist`` in ``tf.py_function(hist.append, [x], [])``.
        """
        if not methods:
            return False
        names = {f".{m.__name__}" for m in methods if m.__self__ is read.current()}
        return bool(names) and self._ways.get(read.key, names) <= names

    def _all(self) -> Iterator[Read]:
        pending = [r for owner in self._owners.values() for r in owner.reads.values()]
        for read in pending:
            yield read
            pending += read.parts

    # --- functions --------------------------------------------------------------------

    def _look(self) -> None:
        while self._pending:
            self._pending.popleft()()

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
        if is_library(function) and (not tells or _is_ours(function)):
            self._look_behind(function, tells)
            return
        self._readers.append(function)
        # The code may have been converted in place.
        names, free = names_of(function), function.__code__.co_freevars
        space = function.__globals__
        every = {*names.attributes, *names.globals, *free}
        for name in (names.ways.keys() if tells else every) - self._silent:
            self._silent.add(name)
            for method in self._methods.pop(name, ()):
                self._add(method)
        for name in names.globals:
            if name in space or not hasattr(builtins, name):
                self._read(space, Step.ITEM, name, name, name, "global `{}`")
        self._look_at_modules(names.imports, function)
        for index, name in enumerate(free if with_cells else ()):
            form = "captured variable `{}`"
            self._read(function, Step.CELL, index, name, name, form)
        for name in _DEFAULTS:
            if getattr(function, name):
                form, label = "the defaults of `{}`", function.__qualname__
                self._read(function, Step.ATTRIBUTE, name, name, label, form)
        if names.of_bases - self._of_bases:
            self._of_bases |= names.of_bases
            self._look_for(self._names)
        self._look_for(
            [
                name
                for name in names.attributes
                if name not in self._names or name in names.probed - self._probed
            ],
            names.probed,
        )

    def _look_at_modules(self, names: Iterable[str], function: FunctionType) -> None:
        """Look at the modules that a function imports when it runs."""
        package = function.__globals__.get("__package__")
        for name in names:
            for full in (name, f"{package}.{name}".rstrip(".")):
                if full in sys.modules:
                    self._root(sys.modules[full], full)

    def _look_behind(self, function: FunctionType, tells: bool) -> None:
        """Look at the user's function that a function of a library wraps."""
        wrapped = vars(function).get("__wrapped__")
        if isinstance(wrapped, FunctionType):
            if function in self._bound:
                self._bound.add(wrapped)
            self._add(wrapped, tells and _is_ours(function))
        instance = vars(function).get("instance")
        if callable(instance) and function in self._bound:
            self._root(instance(), "self")

    # --- values -----------------------------------------------------------------------

    def _root(self, value: Any, label: str) -> None:
        """Look at an argument, which is known by its identity, or what is called."""
        if not values.is_plain(value):
            key = label.partition("[")[0].partition(".")[0]
            self._arguments.add(key)
            self._silent.add(key)
            step = Step.BYTES if type(value) is bytearray else Step.SELF
            self._read(value, step, None, key, label)

    def _read(
        self, value: Any, step: str, argument: Any, key: str, label: str, *form: str
    ) -> None:
        """Look at what is read of a namespace, a function or an argument."""
        owner = self._owner(value, label)
        self._roots.append(owner)
        if (argument, key) not in owner.reads:
            self._fill(owner.add(step, argument, key, label, *form))

    def _fill(self, read: Read) -> None:
        """Note what is there now, if there is something."""
        try:
            value = read.current()
        except Exception:
            return
        self._describe(read, value, 0)

    def _describe(self, read: Read, value: Any, depth: int) -> None:
        """Note what is expected at a place, in the parts of a value, and in objects."""
        self._budget -= 1
        kind: Any = type(value)
        if values.is_plain(value):
            read.expected = values.Expected(values.same, (value,))
            return
        like = values.container_kind(kind)
        if like is None or is_open(kind):
            self._meet(value, read, read.key)
        if like is None:
            # An argument is known by its identity, and libraries do not change.
            is_module = issubclass(kind, ModuleType) and is_library(value)
            is_known = is_module or read.step is Step.SELF
            read.expected = None if is_known else values.expected_object(value)
            return
        budget = self._budget if depth <= values.DEPTH else -1
        read.expected, parts = values.expected_container(value, budget)
        if parts is None:
            self._left_out = self._left_out or (read.label, read.key)
            return
        if parts == () and like is not set:
            self._budget -= len(value)
        step = Step.ITEM if like is list else Step.LOOKUP
        for key, item in parts:
            part = read.part(step, key, f"[{values.shown(key)}]")
            self._describe(part, item, depth + 1)

    def _meet(self, value: Any, read: Read, name: str) -> None:
        """Look into a value that is read under a name, if it is the user's."""
        # Not isinstance: it asks the value for its class, which may run its code.
        if issubclass(type(value), weakref.ref):
            self._fill(read.part(Step.GONE, None, "()"))
            value = value()
        cls: Any = type(value)
        if issubclass(cls, (*_CALLED, *_DESCRIPTORS)):
            for function in compiler.conversion.functions_of(value):
                self._linked[id(function)] = function
                key = name if issubclass(cls, _CALLED) else ""
                if key in self._silent or is_library(function):
                    self._add(function)
                else:
                    self._methods.setdefault(key, []).append(function)
        if cls is MethodType:
            self._meet(value.__self__, read, name)
        elif issubclass(cls, partial):
            self._object(value, read, "func", "args", "keywords")
        elif defines(cls, "python_function"):
            self._meet(value.python_function, read, name)
        elif defines(cls, "bound_function"):
            self._meet(value.__self__, read, name)
        elif values.is_wrapper(cls):
            self._object(value, read, "data")
        elif issubclass(cls, (FunctionType, ModuleType, type)):
            if not is_library(value) and not values.is_enum(value):
                self._object(value, read)
        elif is_open(cls):
            self._object(value, read)

    # --- objects ----------------------------------------------------------------------

    def _object(self, value: Any, read: Read, *parts: str) -> None:
        """Note an object that was met: all names are looked for in it."""
        label, key = read.label, read.key
        owner = self._owner(value, label)
        self._contents.setdefault(read, []).append(owner)
        for part in parts:
            if (part, key) not in owner.reads:
                step = Step.ATTRIBUTE
                self._fill(owner.add(step, part, key, f"{label}.{part}"))
        if owner.is_met:
            return
        owner.is_met = True
        if is_open(type(value)):
            owner.expect(
                Step.CLASS, "__class__", type(value), f"the class of `{label}`"
            )
        self._pending.append(lambda: self._look_at_new(owner))

    def _owner(self, value: Any, label: str) -> Owner:
        """What is read of an object, or of a class that is only one of its classes."""
        owner = self._owners.get(id(value))
        if owner is None:
            owner = self._owners[id(value)] = Owner(value, label)
            if issubclass(type(value), type):
                for method in special_methods(value):
                    self._add(method)
                if not all(map(is_library, value.__bases__)):
                    label, bases = value.__qualname__, value.__bases__
                    title = f"the bases of `{label}`"
                    owner.expect(Step.ATTRIBUTE, "__bases__", bases, title)
        return owner

    def _look_at_new(self, owner: Owner) -> None:
        classes = owner.user_classes()
        owner.classes = [self._owner(cls, cls.__qualname__) for cls in classes]
        self._look_at_object(owner, self._names)

    def _look_for(self, names: Iterable[str], probed: Iterable[str] = ()) -> None:
        """Look for names in all objects that were met, and that will be."""
        self._names.update(dict.fromkeys(names))
        self._probed.update(probed)
        for owner in list(self._owners.values()) if names else ():
            self._look_at_object(owner, names)

    def _look_at_object(self, owner: Owner, names: Iterable[str]) -> None:
        if not owner.is_met:
            return
        wanted = {*names}
        here = owner.present(wanted) | (wanted & self._probed)
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
        if (name, name) not in owner.reads:
            read = owner.find(name)
            if read is None:
                return False
            if self._budget <= 0:
                self._left_out = self._left_out or (read.label, name)
                return False
            owner.reads[name, name] = read
            self._fill(read)
            if read.expected is values.ABSENT:
                if owner.keeps_result(name):
                    self._uncached.append(read)
            elif name == "__match_args__":
                self._matched.update(read.current())
                self._pending.append(lambda: self._look_for(read.current()))
        return owner.reads[name, name].expected is not values.ABSENT


def _is_ours(function: FunctionType) -> bool:
    """Whether a function is a wrapper that the runtime made."""
    return str(function.__globals__.get("__name__")).startswith("runtime.")
