"""Read-only copies of lists, dicts and objects that a graph cannot keep themselves.

A copy is used as the object is, as long as that makes no difference. Where it would
make one, AG210 says so: where the copy is read and one of its sources has changed
since, and where the copy is changed.

How a container is copied, and which of its methods read, its kind says (`kinds`): a
container of a kind that has no copies is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import is_
from typing import Any, ClassVar, NoReturn, Protocol, cast

from runtime.core.location.frames import frame_at
from runtime.core.location.user_code import state_error
from runtime.core.types import nest
from runtime.core.types.classes import derived
from runtime.staging.objects.kinds import (
    AROUND,
    STALE,
    Kind,
    attributes_of,
    can_change,
    contents_of,
    has_changed,
    identical,
    in_place_of,
    is_in_place,
    is_mutable,
    kind_of,
    unlike,
)

#: What was done to a copy that cannot be, and the advice.
_Why = tuple[str, str]

ELEMENT: _Why = (
    "an element of a list whose length a tensor decides was changed; what is read "
    "from such a list is a copy, and the list would not change",
    "change a copy of the element (`list(item)`), and assign it: `items[i] = item`",
)
CHOSEN: _Why = (
    "a list or dict that a tensor chose among several was changed; in a graph it is "
    "a copy, and those that it was chosen from would not change",
    "change it in the branches of an `if`, by the name that it has there, or begin "
    "with a copy that is meant to be one: `chosen = list(chosen)`",
)
_UNTOLD: _Why = (
    "`is` asks which list, dict or object one is that is a copy in the graph",
    "give them numbers, and compare those",
)


# --- what a copy is a copy of ---------------------------------------------------------


class Checked(Protocol):
    """Tells whether a copy is still like its sources."""

    def check(self) -> None:
        """Raise AG210 if it is not."""


class Origin:
    """The objects that something may be a copy of, and what is in them now.

    What is a copy itself, or has copies in it, is one of their sources, too.
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        self.objects = list(objects)
        #: By the ids of an object and of what was in it: at two times, maybe.
        self._seen: dict[tuple[int, ...], tuple[Any, list[Any]]] = {}
        self._others: list[Checked] = []
        for value in list(self.objects):
            for part in _inside(value):
                self._see(part)

    def _see(self, value: Any) -> None:
        if can_change(value):
            parts = contents_of(value)
            self._seen[(id(value), *map(id, parts))] = value, parts
        if issubclass(type(value), Copy):
            self._join(watch_of(value).origin)

    def _join(self, other: Checked | None) -> None:
        if isinstance(other, Origin):
            known = set(map(id, self.objects))
            self.objects += (v for v in other.objects if id(v) not in known)
            self._seen.update(other._seen)
            for check in other._others:
                self._join(check)
        elif other is not None and all(other is not known for known in self._others):
            self._others.append(other)

    def beside(self, other: Checked | None) -> Origin:
        """The objects of both, each with what was in it then."""
        both = Origin(())
        both._join(self)
        both._join(other)
        return both

    def check(self) -> None:
        """Raise AG210 if one of the objects was changed since."""
        for value, parts in self._seen.values():
            if has_changed(value, parts):
                raise state_error("AG210", *STALE)
        for other in self._others:
            other.check()


class Watch:
    """What is refused of a copy besides changes: reading it when it is stale."""

    __slots__ = ("origin",)

    def __init__(self, origin: Checked | None = None) -> None:
        self.origin = origin

    def reading(self) -> None:
        """Refuse to read a copy whose sources have changed."""
        if self.origin is not None:
            self.origin.check()

    def beside(self, other: Watch) -> Watch:
        """What either of two watches refuses."""
        if self.origin is None or other.origin is None:
            return Watch(self.origin or other.origin)
        return Watch(Origin(()).beside(self.origin).beside(other.origin))


_ALWAYS = Watch()


def _inside(value: Any) -> Iterator[Any]:
    """A value, and what is in it; copies are looked into without reading them."""
    met: dict[int, Any] = {}
    pending = [value]
    for part in pending:
        if type(part) in nest.leaf_types:
            yield part
            continue
        if id(part) in met:
            continue
        met[id(part)] = part
        yield part
        for base in AROUND:
            if issubclass(type(part), base):
                AROUND[base](part, _into(pending))
        if can_change(part):
            pending += contents_of(part)
        else:
            pending += (inner for _, inner in nest.children(part) or ())


def _into(found: list[Any]) -> Callable[[Any], Any]:
    """What notes the values that it is called with, and gives them."""

    def note(value: Any) -> Any:
        found.append(value)
        return value

    return note


def sources_in(value: Any) -> list[Any]:
    """What the copies within a value may be copies of."""
    found: dict[int, Any] = {}
    for part in _inside(value):
        if issubclass(type(part), ChosenCopy):
            objects = getattr(watch_of(part).origin, "objects", ())
            found.update((id(source), source) for source in objects)
    return list(found.values())


# --- copies ---------------------------------------------------------------------------


class Copy:
    """A copy of a container or an object; each class of these has one for its copies.

    ``__autograph_plain__`` is the class of what it is a copy of. No name is one that
    the class of an object may have, too.
    """

    __autograph_plain__: ClassVar[Any]
    __autograph_why__: ClassVar[_Why]
    __autograph_watch__: Watch = _ALWAYS

    def __autograph_type__(self) -> type:
        plain: type = type(self).__autograph_plain__
        of_graph: Any = getattr(super(), "__autograph_type__", None)
        return plain if of_graph is None else of_graph()

    def __autograph_is__(self, other: Any) -> Any:
        """``self is other``: False, or refused where the other may be meant."""
        if can_change(other):
            raise state_error("AG210", *_UNTOLD)
        if hasattr(type(other), "__autograph_is__"):
            return identical(other, self)
        return False

    def __plain__(self) -> Any:
        """The same, as a container or object that can be changed."""
        watch_of(self).reading()
        return _plain_copy(self)

    def __like_me__(self, value: Any) -> Any:
        """Another value as a copy of the same kind."""
        if issubclass(type(self), ElementCopy):
            return copied(value, ElementCopy, watch_of(self))
        return copied(value, ChosenCopy)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _itself, (self.__plain__(),)  # what the user copies can be changed


def _plain_copy(copy: Copy) -> Any:
    return _made(type(copy).__autograph_plain__, copy, _itself)


def _itself(value: Any) -> Any:
    return value


class ElementCopy(Copy):
    """A copy of an element of a list in a graph: it cannot be changed."""

    __autograph_why__ = ELEMENT


class ChosenCopy(Copy):
    """A copy of one of several objects that a tensor chooses among."""

    __autograph_why__ = CHOSEN

    def __autograph_check__(self) -> None:
        """Raise AG210 if one of its sources was changed."""
        watch_of(self).reading()

    def __autograph_sources__(self) -> list[Any]:
        """What it, or a copy within it, may be a copy of."""
        return sources_in(self)


def watch_of(copy: Any) -> Watch:
    """What is refused of a copy."""
    watch: Watch = object.__getattribute__(copy, "__autograph_watch__")
    return watch


def changed(copy: Any, *_: Any, **__: Any) -> None:
    """Refuse to change a copy."""
    raise state_error("AG210", *type(copy).__autograph_why__)


def plain_class(value: Any) -> type:
    """The class of a value, or of what it is a copy of."""
    cls = type(value)
    return cls.__autograph_plain__ if issubclass(cls, Copy) else cls


def _read(original: Any) -> Any:
    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        watch_of(self).reading()
        return original(self, *args, **kwargs)

    return read


#: Methods that Python itself calls to make an object, to find its class and so on.
_OF_ANY = frozenset(vars(object)) - {
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
} | {"__class_getitem__"}


def _watched_as_before(original: Any) -> Any:
    def remade(self: Any, *args: Any) -> Any:
        made = original(self, *args)
        made.__autograph_watch__ = watch_of(self)
        return made

    return remade


def _added_to(self: Any, other: Any) -> Any:
    """``other + self``, for which Python would look into the list by itself."""
    if not isinstance(other, list) or is_in_place(frame_at(1)):
        return NotImplemented
    return [*other, *self]


def _by_the_other(name: str, kinds: tuple[type, ...]) -> Any:
    """An operator of lists that leaves other operands to their own class."""
    read = _read(getattr(list, name))

    def operator(self: Any, other: Any) -> Any:
        return read(self, other) if isinstance(other, kinds) else NotImplemented

    return operator


def _guards(copies: type[Copy], cls: type, kind: Kind) -> dict[str, Any]:
    """The methods of a container, which look at the watch before they do anything."""
    guards: dict[str, Any] = {}
    guards.update(dict.fromkeys(kind.copies & set(dir(cls)), Copy.__plain__))
    if kind.changes is not None and copies is ElementCopy:
        for name in ("_unflatten", "__copy__"):
            guards[name] = _watched_as_before(getattr(cls, name))
    if issubclass(cls, list):
        guards["__radd__"] = _added_to
        guards["__add__"] = _by_the_other("__add__", (list,))
        for name in ("__mul__", "__rmul__"):
            guards[name] = _by_the_other(name, (int,))
    own = frozenset(guards)
    for base in cls.__mro__[-2::-1]:
        for name, method in vars(base).items():
            is_change = name not in _OF_ANY
            if kind.changes is not None:
                is_change = name in kind.changes
            if name in own:
                continue
            if name in kind.reads:
                guards[name] = _read(method)
            elif is_change and callable(method) and not isinstance(method, type):
                guards[name] = changed
    if "__hash__" in vars(cls):
        guards["__hash__"] = None  # to define == has it dropped
    return guards


class _ObjectCopy:
    """A copy of an object of a class of the user's."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return plain_class(self)

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if name == "__dict__":  # of the object, which nothing watches
            return {n: v for n, v in found.items() if n != "__autograph_watch__"}
        if not name.startswith("__"):
            watch_of(self).reading()
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        raise state_error("AG210", *cast(Any, type(self)).__autograph_why__)

    def __delattr__(self, name: str) -> None:
        raise state_error("AG210", *cast(Any, type(self)).__autograph_why__)


def _not_identical(one: Any, other: Any) -> Any:
    return unlike(identical(one, other))


def _no_hash(copy: Any) -> NoReturn:
    raise state_error(
        "AG210",
        f"a {plain_class(copy).__name__} that a tensor chose among several is a key of "
        "a dict or in a set, where a graph cannot look for it",
        "give the objects numbers, and have those for keys",
    )


def _classes_of(copies: type[Copy]) -> Callable[[type], type]:
    """What gives the class of the copies of objects of a class."""

    @derived
    def class_of(cls: type) -> type:
        kind = kind_of(cls)
        own: dict[str, Any] = {"__autograph_plain__": cls, "__module__": __name__}
        if kind is None:
            if cls.__eq__ is cast(Any, object.__eq__):
                own.update(__eq__=identical, __ne__=_not_identical, __hash__=_no_hash)
            return type(cls.__name__, (copies, _ObjectCopy, cls), own)
        guards = _guards(copies, cls, kind)
        return type(cls.__name__, (copies, cls), {**guards, **own})

    return class_of


_CLASS_OF: dict[type[Copy], Callable[[type], type]] = {
    copies: _classes_of(copies) for copies in (ElementCopy, ChosenCopy)
}


def copy_classes(cls: type) -> list[type]:
    """The classes of copies of objects of a class, for libraries of structures."""
    return [class_of(cls) for class_of in _CLASS_OF.values()]


def _made(cls: Any, value: Any, copy: Callable[[Any], Any]) -> Any:
    """An object of a class with what is in another one."""
    kind = kind_of(plain_class(value))
    if kind is not None:
        return kind.make(cls, value, copy)
    made = cls.__new__(cls)
    for name, part in attributes_of(value).items():
        object.__setattr__(made, name, copy(part))
    return made


def copied(value: Any, copies: type[Copy], watch: Watch = _ALWAYS) -> Any:
    """A copy of a value, and of the containers in it; other values themselves.

    What it is a copy of is no copy, but that object itself. Copies in it stay watched
    for what they were watched for.

    Raises:
        StagedStateError: AG210, it is a container of a kind that has no copies.
    """
    sources = getattr(watch.origin, "objects", ())

    def copy(value: Any) -> Any:
        if any(value is source for source in sources):
            return value
        if issubclass(type(value), copies):
            inner = watch_of(value)
            both = watch if inner in (watch, _ALWAYS) else watch.beside(inner)
            return copied(value, copies, both)
        if type(value) is plain_class(value):
            return copied(value, copies, watch)
        return value

    cls = plain_class(value)
    for base in AROUND.keys() & set(cls.__mro__):
        return AROUND[base](value, copy)
    if kind_of(cls) is None and not is_mutable(cls):
        inside = nest.children(value)
        if inside is None:
            return value
        parts = [copy(part) for _, part in inside]
        same = all(map(is_, parts, (part for _, part in inside)))
        return value if same else nest.rebuild(value, parts)
    made = _made(_CLASS_OF[copies](cls), value, copy)
    object.__setattr__(made, "__autograph_watch__", watch)
    return made


def element_copy(value: Any, origin: Checked | None = None) -> Any:
    """A copy of an element of a list in a graph, which ``origin`` tells about."""
    return copied(value, ElementCopy, Watch(origin))


def chosen(value: Any, sources: Iterable[Any] = ()) -> Any:
    """The copy with what would make a difference refused, by AG210.

    That is a change of it, and to read it after one of the ``sources`` was changed.
    """
    objects = list(map(in_place_of, sources))
    watch = Watch(Origin(objects) if objects else None)
    copies = ElementCopy if issubclass(type(value), ElementCopy) else ChosenCopy
    if issubclass(type(value), copies):  # it is watched for other reasons, too
        watch = watch.beside(watch_of(value))
    return copied(value, copies, watch)


def frozen(value: Any, sources: Sequence[Any]) -> Any:
    """The value; frozen if there are objects that it may be a copy of."""
    return chosen(value, sources) if sources else value


def unwatched(value: Any) -> Any:
    """A copy as an ordinary container or object; other values themselves."""
    if not issubclass(type(value), ChosenCopy):
        return value
    return nest.plain(value) if nest.is_nested(value) else value.__plain__()


def check_fresh(value: Any) -> None:
    """Raise AG210 if there is a copy in a value whose sources have changed."""
    for part in _inside(value):
        if issubclass(type(part), ChosenCopy):
            watch_of(part).reading()


def in_one_kind(one: Any, other: Any) -> tuple[Any, ...] | None:
    """Two values of which one is a copy, and the other may be changed: as copies both.

    None for other values.
    """
    kinds = [type(value) for value in (one, other) if issubclass(type(value), Copy)]
    if not kinds or plain_class(one) is not plain_class(other):
        return None
    if kind_of(plain_class(one)) is None:
        # The compiler watches what is made of the two.
        return unwatched(one), unwatched(other)
    if type(one) is type(other):
        return None
    copies = ElementCopy if issubclass(kinds[0], ElementCopy) else ChosenCopy
    pair = (
        v if issubclass(type(v), copies) else copied(v, copies) for v in (one, other)
    )
    return next(pair), next(pair)
