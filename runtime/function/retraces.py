"""Why a function was traced again, said so that it can be mended."""

from __future__ import annotations

import reprlib
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from runtime.errors import RetracingWarning
from runtime.function.cache import TraceCache
from runtime.function.call import Call, ObjectRef, Specs
from runtime.location.user_code import calling_place
from runtime.tracing.signature import Signature
from runtime.types import nest
from runtime.types.specs import TensorSpec

__all__ = ["Change", "Retrace", "RetraceLog"]

#: A file and a line of it.
Place = tuple[str, int]

#: So many traces in so many calls are worth a warning.
TRACES, CALLS = 5, 8
#: With how many of the last calls that were traced a new one is compared.
RECENT = 8

#: The dtypes that Python numbers get as tensors.
_NUMBERS = {bool: "bool", int: "int32", float: "float32"}


@dataclass(frozen=True)
class Change:
    """One difference between a call and those that have a trace."""

    #: The argument with the path in it (``x['a'][0]``), or what guards call it.
    name: str
    #: shape, dtype, value, number, type, constant, object, structure or state.
    kind: str
    old: str
    new: str
    #: Where it was read, for Python's state.
    place: str | None = None

    def __str__(self) -> str:
        read = f" (read at {self.place})" if self.place else ""
        kind = "" if self.kind in ("state", "number", "type") else f"{self.kind} "
        return f"{self.name}: {kind}{self.old} -> {self.new}{read}"


@dataclass(frozen=True)
class Retrace:
    """Why a function was traced last; readable when printed."""

    function: str
    #: Which trace of the function it is: 1 is the first, 0 that there is none.
    number: int
    #: The call, as ``file:line``.
    place: str | None
    #: How the call differs from the most similar of the last ones.
    changes: tuple[Change, ...] = ()
    #: What can be done, one way a line.
    fixes: tuple[str, ...] = ()

    def __str__(self) -> str:
        at = f" by the call at {self.place}" if self.place else ""
        if not self.number:
            return f"{self.function!r} was not traced yet"
        if self.number == 1:
            return f"{self.function!r} was traced once{at}"
        lines = [f"{self.function!r} was traced again (trace {self.number}){at}:"]
        return "\n".join([*lines, *self.reasons()])

    __repr__ = __str__

    def reasons(self) -> list[str]:
        """The changes and the fixes, one a line."""
        changes = [f"  {change}" for change in self.changes]
        return [
            *(changes or ["  its trace for these arguments was no longer kept"]),
            *(f"  fix: {fix}" for fix in self.fixes),
        ]

    def to_json(self) -> str:
        """The record for machines."""
        import json  # seldom asked for

        return json.dumps(asdict(self), indent=2)


class RetraceLog:
    """The last traces of one function, to tell why another was made."""

    def __init__(self, signature: Signature, relaxes: bool, cache: TraceCache) -> None:
        self._signature = signature
        self._cache = cache
        cache.listen(self._add)
        self._relaxes = relaxes
        #: The arguments of the last traces; the last of them is to be explained.
        self._recent: deque[Specs] = deque(maxlen=RECENT + 1)
        self._state: list[Change] = []
        #: The numbers of the last calls that made a trace.
        self._calls: deque[int] = deque(maxlen=TRACES)
        self._number = 0
        self._place: Place | None = None
        self._said_often = False
        self._said_dropped = False

    def _add(self, call: Call, state: Sequence[Any]) -> None:
        """Note that a call was traced.

        `state` holds the records of the guards that no longer held: it is all that
        changed.
        """
        self._number += 1
        self._place = calling_place()
        self._state = [_of_state(record) for record in state]
        self._recent.append(call.specs)

    def count(self) -> None:
        """Note that the last trace was made by a call: others were asked for."""
        self._calls.append(self._cache.calls)

    @property
    def last(self) -> Retrace:
        """What is to say of the last trace."""
        name, place = self._signature.name, self._place
        at = f"{place[0]}:{place[1]}" if place else None
        *before, specs = list(self._recent) or [((), {})]
        if not before:
            return Retrace(name, self._number, at)
        changes = self._state
        if not changes:
            found = [list(self._between(old, specs)) for old in reversed(before)]
            changes = min(found, key=len)
        fixes = self._fixes(changes, before, specs)
        return Retrace(name, self._number, at, tuple(changes), tuple(fixes))

    def warn(self) -> None:
        """Warn, once, if the function is traced too often or drops traces.

        Raises RetracingWarning where warnings are errors.
        """
        for text in (self._often(), self._dropped()):
            if text is not None:
                lines = [text, *self.last.reasons()]
                filename, line = self._place or ("<unknown>", 1)
                warnings.warn_explicit(
                    "\n".join(lines), RetracingWarning, filename, line
                )

    def _often(self) -> str | None:
        if self._said_often or len(self._calls) < TRACES:
            return None
        # Calls of several threads at once may be counted as one.
        count = max(TRACES, self._cache.calls - self._calls[0] + 1)
        if count > CALLS:
            return None
        self._said_often = True
        name = self._signature.name
        return (
            f"AG321: {TRACES} of the last {count} calls of {name!r} traced it. "
            "The last one:"
        )

    def _dropped(self) -> str | None:
        if self._said_dropped or not self._cache.is_full:
            return None
        self._said_dropped = True
        return (
            f"AG321: {self._signature.name!r} keeps {self._cache.limit} traces "
            "(max_traces), and drops those that were not used for longest. The last "
            "one was made for:"
        )

    # --- what differs -----------------------------------------------------------------

    def _between(self, old: Specs, new: Specs) -> Iterator[Change]:
        before = dict(self._signature.named(*old))
        for name, value in self._signature.named(*new):
            if name in before:
                yield from _differences(name, before.pop(name), value)
            else:
                yield Change(name, "structure", "not given", _short(value))
        for name, value in before.items():
            yield Change(name, "structure", _short(value), "not given")

    # --- what to do -------------------------------------------------------------------

    def _fixes(
        self, changes: Sequence[Change], before: Sequence[Specs], specs: Specs
    ) -> Iterator[str]:
        kinds = {change.kind for change in changes}
        for change in changes:
            fix = _FIXES.get(change.kind)
            if fix is not None:
                yield fix.format(name=change.name, old=change.old, new=change.new)
        if "state" in kinds:
            yield "tf.function(guards=False), if changes do not matter"
        if "shape" in kinds and not self._relaxes:
            yield "tf.function(reduce_retracing=True)"
        if kinds and kinds <= {"shape", "value"}:
            signature = _input_signature([*before, specs])
            if signature is not None:
                yield f"tf.function(input_signature={signature})"
        if not changes:
            yield "a larger tf.function(max_traces=...)"


def _input_signature(calls: Sequence[Specs]) -> str | None:
    """Specs, as they are written, for all of the calls; None if they are no help."""
    if any(kwargs or len(args) != len(calls[0][0]) for args, kwargs in calls):
        return None
    columns = list(zip(*[args for args, _ in calls]))
    while columns and _is_constant(columns[-1]):
        columns.pop()  # Most likely a default.
    try:
        return f"[{', '.join([_spec_text(values) for values in columns])}]"
    except ValueError:
        return None


def _differences(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The changes between two parts of arguments, with their paths."""
    before, after = nest.children(old), nest.children(new)
    if before is None and after is None:
        change = _of_leaves(path, old, new)
        if change is not None:
            yield change
        return
    if _form(old, before) != _form(new, after):
        yield Change(path, "structure", _outline(old), _outline(new))
        return
    for (step, left), (_, right) in zip(before or (), after or ()):
        yield from _differences(path + step, left, right)


def _form(value: Any, parts: Sequence[tuple[str, Any]] | None) -> Any:
    paths = None if parts is None else [path for path, _ in parts]
    return type(value), paths


def _of_leaves(path: str, old: Any, new: Any) -> Change | None:
    if isinstance(old, TensorSpec) and isinstance(new, TensorSpec):
        if old.dtype is not new.dtype:
            return Change(path, "dtype", old.dtype.name, new.dtype.name)
        if old.shape.dims == new.shape.dims:
            return None
        return Change(path, "shape", str(old.shape), str(new.shape))
    if isinstance(old, ObjectRef) and isinstance(new, ObjectRef):
        if old.get() is new.get() and new.get() is not None:
            return None
        return Change(path, "object", _short(old), _short(new))
    if type(old) is type(new):
        if repr(old) == repr(new):
            return None
        kind = "value" if type(new) in _NUMBERS else "constant"
        return Change(path, kind, _short(old), _short(new))
    kinds = {TensorSpec, *_NUMBERS}
    kind = "number" if {type(old), type(new)} <= kinds else "type"
    return Change(path, kind, _short(old), _short(new))


def _of_state(record: Any) -> Change:
    place = None if record.place is None else str(record.place)
    return Change(str(record.name), "state", str(record.old), str(record.new), place)


_FIXES = {
    "dtype": "pass {name} with one dtype: tf.cast({name}, tf.{old})",
    "value": "pass {name} as a tensor: tf.constant({new})",
    "number": "pass {name} as a tensor of one dtype: tf.constant({new}, ...)",
    "type": "pass {name} in one form",
    "constant": "let {name} take few values: each has a trace of its own",
    "object": "pass the same {name}: each object has traces of its own",
    "structure": "pass {name} in one form, or its parts as one tensor",
    "state": "keep {name} in a tf.Variable, or pass it as an argument",
}


# --- texts ----------------------------------------------------------------------------


def _short(value: Any) -> str:
    """A value in few characters; tensors as ``float32[2,3]``."""
    if isinstance(value, ObjectRef) and value.get() is not None:
        value = value.get()
        if getattr(type(value), "__repr__", None) is object.__repr__:
            return f"<{type(value).__name__} at {id(value):#x}>"
    try:
        if isinstance(value, str):
            return _cut(reprlib.repr(value))
        leaves = [
            _Text(leaf.describe()) if isinstance(leaf, TensorSpec) else leaf
            for leaf in nest.flatten(value)
        ]
        return _cut(repr(nest.pack_sequence_as(value, leaves)))
    except Exception:
        # What the user's own classes do may fail; that is no reason to.
        return f"<{type(value).__name__}>"


def _outline(value: Any) -> str:
    """A structure in few characters: a long one by how much is in it."""
    text = _short(value)
    inside = nest.children(value)
    if inside is None or not text.endswith("..."):
        return text
    return f"{type(value).__name__} of {len(inside)}"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Text:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _is_constant(values: Sequence[Any]) -> bool:
    """Whether they are one Python value, all of them."""
    return len({(type(v), _short(v)) for v in values}) == 1 and not any(
        isinstance(leaf, TensorSpec) for leaf in nest.flatten(values[0])
    )


def _spec_text(values: Sequence[Any]) -> str:
    """A spec as it is written that all the values fit; ValueError if there is none."""
    value = values[0]
    inside = nest.children(value)
    if inside is not None:
        if type(value) not in (list, tuple):
            raise ValueError
        if len({(type(v), len(v)) for v in values}) > 1:
            raise ValueError
        parts = [_spec_text(column) for column in zip(*values)]
        return (
            f"[{', '.join(parts)}]" if type(value) is list else f"({', '.join(parts)},)"
        )
    specs = [_as_spec(leaf) for leaf in values]
    shape = specs[0].shape
    for spec in specs[1:]:
        if spec.dtype is not specs[0].dtype:
            raise ValueError
        shape = shape.most_specific_common_shape(spec.shape)
    dims = None if shape.dims is None else list(shape.dims)
    return f"tf.TensorSpec(shape={dims}, dtype=tf.{specs[0].dtype.name})"


def _as_spec(leaf: Any) -> TensorSpec:
    if isinstance(leaf, TensorSpec):
        return leaf
    if type(leaf) not in _NUMBERS:
        raise ValueError
    return TensorSpec([], _NUMBERS[type(leaf)])
