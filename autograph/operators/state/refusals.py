"""What to tell about changes that a graph cannot carry: the object, the line, the code.

Nothing here runs unless a statement is refused, or warned of.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import (
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
)
from typing import Any, TypeVar, cast
from weakref import WeakSet

from ...diagnostics import Diagnostic, Location
from ...errors import AutographWarning, StagingError
from ...frames import frame_at
from ...ownership import is_library_module, user_location
from ..classes import attributes_of, defines, remembered
from ..dispatch import PYTHON, backend_of, is_around_trace
from .frames import outer_frames, user_frames, variables_of
from .slots import Slot
from .snapshot import Change, Snapshot

_F = TypeVar("_F", bound=Callable[..., Any])
_HANDLERS = frozenset({"PUSH_EXC_INFO", "SETUP_FINALLY"})
#: The last one from Python 3.14 on.
_WITH = frozenset({"BEFORE_WITH", "SETUP_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"})
_CONTAINERS = (dict, list, tuple, CellType, FrameType)
_ITERATORS: tuple[type, ...] = (type(iter([])), type(reversed([])))
#: What has no iterator that another one uses.
_NO_ITERATORS = (list, dict, set, frozenset, type, ModuleType, FunctionType)
#: Objects that are looked at for the iterators behind one.
_PARTS = 1_000
_TITLE = "a staged branch changes what a graph cannot carry"


def refusal(
    changes: Sequence[Change],
    rerun: Callable[[Callable[[Callable[[], Any]], Any]], Any],
    bodies: Sequence[CodeType],
) -> StagingError:
    """The error AG207 for objects that a body changed.

    ``rerun(watch)`` runs the body once more, from where it began, by ``watch(body)``;
    ``bodies`` are the codes of the statement itself.
    """
    watch = _Watch(changes)
    # An error may come again, before or after the line.
    with contextlib.suppress(BaseException):
        rerun(watch)
    own = set(_with_inner(bodies))
    where = user_location()
    found = zip(changes, watch.found, strict=True)
    # An iterator may advance others.
    return StagingError(
        *dict.fromkeys(_diagnostic(*pair, where, own) for pair in found)
    )


def _diagnostic(
    change: Change,
    found: tuple[CodeType, int] | None,
    where: Location | None,
    own: set[CodeType],
) -> Diagnostic:
    verb = change.seen.kind.verb
    by = ""
    if found is not None:
        code, line = found
        if code in own:
            where = Location(code.co_filename, line)
        else:
            name = getattr(code, "co_qualname", code.co_name)
            name = name.rpartition("<locals>.")[2]
            file = os.path.basename(code.co_filename)
            by = f" by `{name}` (line {line} of {file})"
    kind = type(change.seen.value).__name__
    what = change.describe()
    if verb == "advanced":
        outer = change.seen.outermost()
        what = f"the {type(outer.value).__name__} `{outer.name()}`"
        fix = "take its items before the statement, or loop over them with `for`"
    else:
        fix = f"change the {kind} outside of the statement, or use a list or a variable"
    return Diagnostic(
        "AG207",
        _TITLE,
        f"{what} is {verb}{by} where a tensor decides whether that "
        "happens, and a graph cannot do it later",
        where,
        fix,
    )


class _Watch:
    """Runs a function and notes the lines in which objects change."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.found: list[tuple[CodeType, int] | None] = [None] * len(changes)
        self._changes = changes
        self._before: list[Any] = []
        self._last: tuple[CodeType, int] | None = None

    def __call__(self, run: Callable[[], Any]) -> Any:
        """Run the function."""
        self._before = [change.seen.read() for change in self._changes]
        traced = sys.gettrace()
        sys.settrace(self._called)
        try:
            return run()
        finally:
            sys.settrace(traced)
            self._compare()

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        if is_library_module(frame.f_globals.get("__name__", "")):
            return None
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, _: Any) -> Any:
        self._compare()
        if event == "line":
            self._last = frame.f_code, frame.f_lineno
        elif event == "return":
            caller = next(outer_frames(frame.f_back), None)
            if caller is not None:
                self._last = caller.f_code, caller.f_lineno
        return self._stepped

    def _compare(self) -> None:
        for index, change in enumerate(self._changes):
            if self.found[index] is None and change.seen.changed(self._before[index]):
                self.found[index] = self._last


def _with_inner(codes: Sequence[CodeType]) -> Iterator[CodeType]:
    for code in codes:
        yield code
        yield from _with_inner([c for c in code.co_consts if isinstance(c, CodeType)])


# --- lists that are used elsewhere ----------------------------------------------------


def check_replaced(value: Any) -> None:
    """Refuse to go on where a running function has a list that was replaced.

    Raises:
        StagingError: AG210.
    """
    for frame in user_frames():
        for name, other in variables_of(frame).items():
            if other is value:
                raise used_elsewhere(value, name, frame)
    for owner in _owners(value):
        raise used_elsewhere(value, f"{type(owner).__name__} object")


def _owners(value: Any) -> Iterator[Any]:
    """The objects of the user's that have a value as an attribute.

    Those that a variable leads to follow the list. A `with` statement has one that
    nobody may have a name for.
    """
    if not any(_WITH & _instructions(frame.f_code) for frame in _frames_of_trace()):
        return
    holders = referrers(value)
    # Up to 3.10, and where somebody asked for it, an object's dict has it. To search
    # takes long: once for all dicts.
    dicts = [holder for holder in holders if type(holder) is dict]
    for owner in (*holders, *(referrers(*dicts) if dicts else ())):
        if type(owner) in _CONTAINERS or is_library_module(type(owner).__module__):
            continue
        attributes = (attributes_of(owner) or {}).values()
        if any(attribute is value for attribute in attributes):
            yield owner


def check_rebound(
    before: Sequence[Any], after: Sequence[Any], replaced: Sequence[Any]
) -> None:
    """Refuse to go on where a loop runs over a list that a variable no longer has.

    ``replaced`` are objects that others stand for now.

    Raises:
        StagingError: AG210.
    """
    pairs = zip(before, after, strict=True)
    rebound = (old for old, new in pairs if type(old) is list and new is not old)
    check_not_iterated(*rebound, *replaced)


def check_not_iterated(*values: Any) -> None:
    """Refuse to go on where a loop runs over a value that another is to stand for.

    Raises:
        StagingError: AG210.
    """
    if not values:
        return
    iterated = [value for frame in _frames_of_trace() for value in _iterated(frame)]
    # The iterators of `for` statements as written are in no variable. To search for
    # them takes long: it asks every object that there is. So all values are searched at
    # once.
    if any(value is _UNKNOWN for value in iterated):
        iterated += map(_behind, referrers(*values))
    for one in iterated:
        if any(one is value for value in values):
            raise used_elsewhere(one, "for ... in")


def referrers(*values: Any) -> list[Any]:
    """The objects that refer to one of these.

    Servers freeze the heap before they fork; Python does not search what is frozen, and
    what is not found would go on as if nothing had changed. So it thaws.
    """
    if gc.get_freeze_count():
        gc.unfreeze()
    return gc.get_referrers(*values)


def _frames_of_trace() -> Iterator[FrameType]:
    """The frames of the user and of our operators, out to where the trace begins."""
    frame: FrameType | None = frame_at(1)
    while frame is not None and not is_around_trace(frame.f_code):
        name = frame.f_globals.get("__name__", "")
        if not is_library_module(name) or frame.f_code in _item_loops:
            yield frame
        frame = frame.f_back


#: What a loop runs over that only a search can tell.
_UNKNOWN = object()
_RANGE = "range()"
#: The operators whose own loops run over the items of the user's, and the parameters
#: that have these.
_item_loops: dict[CodeType, str] = {}


def loops_over_items(operator: _F) -> _F:
    """Mark an operator whose own loop stands for one of the user's, over its first
    argument.
    """
    code = cast(Any, operator).__code__
    _item_loops[code] = code.co_varnames[0]
    return operator


def _iterated(frame: FrameType) -> Iterator[Any]:
    """What the `for` statements run over that a function may be in the body of."""
    names = [_item_loops.get(frame.f_code, "")]
    if not names[0]:
        loops = _loops(frame.f_code)
        names = [name for first, last, name in loops if first <= frame.f_lasti < last]
    for name in names:
        items = variables_of(frame).get(name, _UNKNOWN)
        if name == _RANGE:
            items = frame.f_globals.get("range", range)
        if type(items) in PYTHON or items is _UNKNOWN:
            yield items
        # What a library iterates over has no iterator of Python's.
        elif items is not range and backend_of(items) is None:
            yield from _inside(items)


def _behind(iterator: Any) -> Any:
    """The list that an iterator runs over, if it does."""
    if type(iterator) not in _ITERATORS:
        return None
    _, (iterated, *_), *_ = iterator.__reduce__()
    return iterated


def _inside(iterator: Any) -> Iterator[Any]:
    """The lists that the iterators run over which an iterator takes its items from.

    It refers to them itself, or by tuples, attributes and variables of a generator;
    `_UNKNOWN` if that is not all that can be said.
    """
    met: dict[int, Any] = {}
    pending = [iterator]
    for part in pending:
        if id(part) in met:
            continue
        met[id(part)] = part  # so that its id stays its own
        runs = type(part) is GeneratorType and part.gi_running
        if len(met) > _PARTS or runs:
            yield _UNKNOWN  # what runs does not tell what it refers to
            return
        if type(part) in _ITERATORS:
            yield _behind(part)
        else:
            inside = (*gc.get_referents(part), *(attributes_of(part) or {}).values())
            pending += (other for other in inside if _may_iterate(other))


def _may_iterate(value: Any) -> bool:
    """Whether a value may be an iterator, or lead to one, that another one uses."""
    kind = type(value)
    if issubclass(kind, tuple) or kind is FrameType:  # that of a generator, up to 3.10
        return True
    if issubclass(kind, _NO_ITERATORS):
        return False
    return defines(kind, "__next__") or attributes_of(value) is not None


@remembered
def _loops(code: CodeType) -> list[tuple[int, float, str]]:
    """From where to where the loops of a function reach, and the local variable that
    each runs over, `_RANGE`, or "" for anything else.
    """
    import dis  # not at once: a program's first call would wait for it

    steps = list(dis.get_instructions(code))
    # Python moves handlers of exceptions to the end, out of the loops they are in.
    catches = any(step.opname in _HANDLERS for step in steps)
    found = []
    for number, step in enumerate(steps):
        if step.opname == "FOR_ITER":
            last = math.inf if catches else step.argval
            inside = [s for s in steps if step.offset <= s.offset < last]
            stored = (s for s in inside if s.opname.startswith(("STORE_", "DELETE_")))
            names = {name for s in stored for name in _names_in(s.argval)}
            name = _source(steps[:number])
            found.append((step.offset, last, "" if name in names else name))
    return found


def _names_in(argument: Any) -> Iterable[str]:
    """The variables of an instruction: some of 3.13 store two."""
    return argument if isinstance(argument, tuple) else (argument,)


def _source(steps: Sequence[Any]) -> str:
    """What a loop runs over that begins after some instructions: see `_loops`."""
    import dis

    if steps[-1].opname != "GET_ITER" or steps[-1].is_jump_target:
        return ""
    if steps[-2].opname.startswith("LOAD_FAST") and isinstance(steps[-2].argval, str):
        return steps[-2].argval
    pushed = 0
    for step in steps[-2::-1]:
        pushed += dis.stack_effect(step.opcode, step.arg, jump=False)
        if pushed > 0 and step.opname == "LOAD_GLOBAL" and step.argval == "range":
            return _RANGE
        if pushed > 0 or step.is_jump_target:
            break
    return ""


@remembered
def _instructions(code: CodeType) -> frozenset[str]:
    """The instructions that a function has, by name."""
    import dis

    return frozenset(step.opname for step in dis.get_instructions(code))


def used_elsewhere(value: Any, name: str, frame: FrameType | None = None) -> Exception:
    """The error AG210 for an object that cannot be replaced in all of its places."""
    where = ""
    if frame is not None:
        where = f" of `{frame.f_code.co_name}`"
    return StagingError(
        Diagnostic(
            "AG210",
            "a list whose length a tensor decides is also used elsewhere",
            f"after the statement it is another object, and `{name}`{where} would go "
            f"on referring to the {type(value).__name__} as it was before",
            user_location(),
            "refer to the list by one variable or attribute, or begin with a new one: "
            "`items = list(items)`",
        )
    )


def endless(slots: Sequence[Slot]) -> StagingError:
    """The error AG207 for a statement that changes another place each time."""
    return StagingError(
        Diagnostic(
            "AG207",
            _TITLE,
            "each time it is traced it changes other places"
            + "".join(f": at last `{slot.name}`" for slot in slots[-1:]),
            user_location(),
            "keep the variables, attributes and keys that it assigns the same",
        )
    )


#: The bodies whose statements have been warned of.
_warned: WeakSet[CodeType] = WeakSet()


def warn_of_many(reached: Snapshot, body: CodeType) -> None:
    """Warn once of a statement whose bodies can reach very many objects: AG217."""
    where = user_location()
    if where is None or body in _warned:
        return
    _warned.add(body)
    warnings.warn_explicit(
        f"AG217: tracing this statement compares all of the {len(reached):,} objects "
        f"that its branches can reach, most of them by `{reached.main_root()}`, which "
        "takes time. Keep numbers in tensors, or do what needs the objects outside of "
        "the statement",
        AutographWarning,
        where.filename,
        where.lineno,
    )
