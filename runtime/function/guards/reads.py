"""Guards: what a trace read of Python's state, and one check of all of it.

A `Read` is a chain of attributes and items that begins at an object or a namespace.
`watch` makes the reads of a trace and says what is expected there; `Guards` compiles
the comparison, which `function.cache` asks before each call. Nothing here changes what
is read.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from runtime.function.guards.values import (
    ABSENT,
    Expected,
    Reference,
    is_alike,
    same,
    same_object,
)

# --- steps ----------------------------------------------------------------------------


class Step:
    """The steps of chains, as source: from a value `o` by an argument `k`."""

    SELF = "{o}"
    #: A variable of a namespace, or an item of a list; an item of a dict.
    ITEM = "{o}[{k}]"
    LOOKUP = "lookup({o}, {k})"
    #: An attribute, and a variable of an object or class itself. The special ones run
    #: no code of the user's where a class has a `__getattribute__`.
    ATTRIBUTE = "getattr({o}, {k})"
    SPECIAL_ATTRIBUTE = "plain({o}, {k})"
    VARIABLE = "{o}.__dict__[{k}]"
    SPECIAL_VARIABLE = "variables({o})[{k}]"
    #: A captured variable of a function, by its index.
    CELL = "{o}.__closure__[{k}].cell_contents"
    CLASS = "type({o})"
    #: The bytes of a `bytearray`; whether the referent of a weak reference is gone.
    BYTES = "bytes({o})"
    GONE = "({o}() is None)"


#: The source that says that nothing is there.
_ABSENT = {
    Step.ITEM: "{k} not in {o}",
    Step.ATTRIBUTE: "lacks({o}, {k})",
    Step.SPECIAL_ATTRIBUTE: "lacks({o}, {k})",
    Step.VARIABLE: "{k} not in {o}.__dict__",
    Step.SPECIAL_VARIABLE: "{k} not in variables({o})",
}


def variables(value: Any) -> Any:
    """The variables of an object or class; None if it has no dictionary."""
    access = type if issubclass(type(value), type) else object
    try:
        return access.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def _lacks(owner: Any, name: str) -> bool:
    """Whether an object has no such attribute, as Python's own access finds it."""
    try:
        object.__getattribute__(owner, name)
    except AttributeError:
        return True
    return False


#: What steps call.
_HELPERS = {
    "lacks": _lacks,
    "lookup": dict.get,
    "plain": object.__getattribute__,
    "variables": variables,
}


@functools.cache
def _getter(step: str) -> Callable[[Any, Any], Any]:
    """A step as a function."""
    getter: Callable[[Any, Any], Any]
    getter = eval(f"lambda o, k: {step.format(o='o', k='k')}", _HELPERS)
    return getter


# --- reads ----------------------------------------------------------------------------


class Read:
    """A place that is read, and what is expected there."""

    __slots__ = (
        "argument",
        "expected",
        "form",
        "key",
        "label",
        "parent",
        "parts",
        "step",
    )

    def __init__(
        self,
        parent: Read | Reference,
        step: str,
        argument: Any,
        key: str,
        label: str,
        form: str = "`{}`",
    ) -> None:
        #: Another read, or a reference to an object or namespace.
        self.parent = parent
        self.step = step
        #: What the step takes: an index, or a name.
        self.argument = argument
        #: The variable or attribute in the text of functions.
        self.key = key
        #: The source of the value, and how messages introduce it.
        self.label = label
        self.form = form
        #: None: whatever is there will do.
        self.expected: Expected | None = ABSENT
        #: What is read of the value itself.
        self.parts: list[Read] = []

    def part(self, step: str, argument: Any, text: str = "") -> Read:
        """Add a read of the value of this one."""
        label = self.label + text
        read = Read(self, step, argument, self.key, label, self.form)
        self.parts.append(read)
        return read

    @property
    def name(self) -> str:
        """How it is called in messages: "global `scale`"."""
        return self.form.format(self.label)

    @property
    def root(self) -> Reference:
        """The object or namespace in which it begins."""
        parent = self.parent
        return parent.root if isinstance(parent, Read) else parent

    @property
    def place(self) -> tuple[Any, ...]:
        """The same for reads of one place as long as its root lives."""
        parent = self.parent
        start = parent.place if isinstance(parent, Read) else (id(parent.get()),)
        return (*start, self.argument)

    @property
    def is_gone(self) -> bool:
        """Whether nobody can read it any more: who refers to its root is compared."""
        may_go = self.root.is_function or self.step is Step.CLASS
        return may_go and self.root.get() is None

    def current(self) -> Any:
        """What is there now. Raises what Python raises where there is nothing."""
        parent = self.parent
        value = parent.current() if isinstance(parent, Read) else parent.get()
        return _getter(self.step)(value, self.argument)

    def holds(self) -> bool:
        """Whether it is as it was."""
        try:
            value = self.current()
        except Exception:
            return self.expected is ABSENT
        return self.expected is None or self.expected.holds(value)


class Places:
    """Places that traces of one function change: no change of the user's."""

    def __init__(self) -> None:
        self._reads: dict[tuple[Any, ...], Read] = {}

    def add(self, read: Read) -> None:
        """Note a place by what was read of it."""
        self._reads[read.place] = read

    def __contains__(self, read: Read) -> bool:
        changed = self._reads.get(read.place) if self._reads else None
        if changed is None:
            return False
        return changed.root.get() is read.root.get() is not None


# --- the check ------------------------------------------------------------------------


class Change(NamedTuple):
    """Something that a trace read and that is not as it was."""

    #: As it is called in messages: "global `scale`".
    name: str
    old: str
    new: str
    #: ``file:line`` where it is read.
    place: str

    def __str__(self) -> str:
        return (
            f"{self.name} changed from {self.old} to {self.new} (read at {self.place})"
        )


class Guards:
    """What a trace read of Python's state, with the values that it had."""

    def __init__(self, reads: list[Read], lines: dict[str, tuple[str, int]]) -> None:
        self._reads = reads
        #: Where each name is read.
        self._lines = {read.key: lines[read.key] for read in reads}
        self._compile()

    def _compile(self) -> None:
        check = _Check(self._reads)
        exec(_code(check.source), check.values)
        #: Whether all of it still has those values.
        self.holds: FunctionType = check.values["holds"]

    def __len__(self) -> int:
        return len(self._reads)

    def is_like(self, other: Guards) -> bool:
        """Whether other guards check the same: traces of one state share theirs."""
        if self.holds.__code__ is not other.holds.__code__:
            return False  # Equal sources are compiled once.
        own, others = self.holds.__globals__, other.holds.__globals__
        return all(
            is_alike(value, others[name])
            for name, value in own.items()
            if name[1:].isdigit()
        )

    def forget(self, places: Places) -> None:
        """Check no longer what is read of some places."""
        others = [read for read in self._reads if read not in places]
        if len(others) < len(self._reads):
            self._reads = others
            self._compile()

    def texts(self) -> Iterator[str]:
        """What is compared, for people: not what leads to something else."""
        parents = {read.parent for read in self._reads}
        for read in self._reads:
            if read not in parents and read.expected is not None:
                line = "{}:{}".format(*self._lines[read.key])
                yield f"{read.name} is {read.expected.text} (read at {line})"

    def changes(self) -> list[Change]:
        """What has another value now; not what was read of that value."""
        changed: set[int] = set()
        found = []
        for read in self._reads:
            is_same = read.is_gone or read.holds()
            if id(read.parent) in changed or not is_same:
                changed.add(id(read))
            if id(read) in changed and id(read.parent) not in changed:
                found.append(self._change(read))
        return found

    def _change(self, read: Read) -> Change:
        assert read.expected is not None
        try:
            new = read.expected.told(read.current())
        except Exception:
            new = "nothing"
        line = "{}:{}".format(*self._lines[read.key])
        return Change(read.name, read.expected.text, new, line)


@functools.lru_cache(maxsize=1_000)
def _code(source: str) -> CodeType:
    """The compiled source: the traces of a function mostly have the same."""
    return compile(source, "<guards>", "exec")


class _Check:
    """The source of a function that compares reads, and what it refers to by names."""

    def __init__(self, reads: list[Read]) -> None:
        self.values: dict[str, Any] = {**_HELPERS, "same": same}
        self._names: dict[int, str] = {}
        #: The variables with the values that other reads begin with.
        self._variables: dict[Read, str] = {}
        parents = {read.parent for read in reads}
        groups: dict[Reference, list[str]] = {}
        for read in reads:
            check = self._check(read, read in parents)
            groups.setdefault(read.root, []).append(check)
        lines = ["def holds():", "    try:"]
        for root, checks in groups.items():
            # See `Read.is_gone`.
            alive = "o is not None and " if root.is_function else ""
            lines.append(f"        o = {self._object(root)}")
            lines.append(
                f"        if {alive}not ({' and '.join(checks)}): return False"
            )
        lines += ["        return True", "    except Exception:"]
        self.source = "\n".join([*lines, "        return False"])

    def _name(self, value: Any) -> str:
        name = self._names.setdefault(id(value), f"k{len(self._names)}")
        self.values[name] = value
        return name

    def _object(self, reference: Reference) -> str:
        if reference.is_weak:
            return f"{self._name(reference.get)}()"
        return self._name(reference.get())

    def _value(self, read: Read | Reference) -> str:
        """The source of what is there now."""
        if not isinstance(read, Read):
            return "o"
        if read in self._variables:
            return self._variables[read]
        step, argument, parent = read.step, read.argument, self._value(read.parent)
        if step is Step.ATTRIBUTE and argument.isascii() and argument.isidentifier():
            if not keyword.iskeyword(argument):
                return f"{parent}.{argument}"
        key = self._name(argument) if step is Step.LOOKUP else repr(argument)
        return step.format(o=parent, k=key)

    def _check(self, read: Read, is_parent: bool) -> str:
        """The source that says whether what is there is expected."""
        assert read.expected is not None
        test, arguments, _ = read.expected
        if read.expected is ABSENT:
            parent = self._value(read.parent)
            return _ABSENT[read.step].format(o=parent, k=repr(read.argument))
        first = again = self._value(read)
        if is_parent:
            again = self._variables[read] = f"v{len(self._variables)}"
            first = f"({again} := {first})"
        if test is same_object:
            alive = " is not None" if arguments[0].is_weak else ""
            gone = "o is None or " if read.step is Step.CLASS else ""
            return f"({gone}{self._object(arguments[0])} is {first}{alive})"
        names = [self._name(argument) for argument in arguments]
        if test is same:
            return f"({first} is {names[0]} or same({again}, {names[0]}))"
        self.values[test.__name__] = test
        return f"{test.__name__}({', '.join((first, *names))})"
