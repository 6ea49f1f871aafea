"""Why a function was traced again, with fixes.

`Function` keeps a `RetraceLog`: its `TraceCache` reports each trace to the log, which
warns of too many (AG321) and answers `explain_retrace`.
"""

from __future__ import annotations

import reprlib
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from runtime.core.errors import RetracingWarning
from runtime.core.location.user_code import calling_line
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.function.cache import TraceCache
from runtime.function.call import Call, ObjectRef, Specs
from runtime.staging.tracing.signature import Signature

#: A file and a line of it.
SourceLine = tuple[str, int]

#: So many traces in so many calls are worth a warning.
TRACES, CALLS = 5, 8
#: The number of earlier traced calls that a new one is compared with.
RECENT = 8

#: The dtypes that Python numbers get as tensors.
_NUMBERS = {bool: "bool", int: "int32", float: "float32"}


@dataclass(frozen=True)
class Change:
    """One difference between a call and those that have a trace."""

    #: The argument with the path in it (``x['a'][0]``), or the name that guards use.
    name: str
    #: shape, dtype, value, number, type, constant, object, structure or state.
    kind: str
    old: str
    new: str
    #: The line that read it, for Python's state.
    place: str | None = None

    def __str__(self) -> str:
        read = f" (read at {self.place})" if self.place else ""
        kind = "" if self.kind in ("state", "number", "type") else f"{self.kind} "
        return f"{self.name}: {kind}{self.old} -> {self.new}{read}"


@dataclass(frozen=True)
class Retrace:
    """Why a function was last traced; readable when printed."""

    function: str
    #: The number of the trace: 1 for the first, 0 if there is none.
    number: int
    #: The call, as ``file:line``.
    place: str | None
    #: The differences from the most similar of the recent calls.
    changes: tuple[Change, ...] = ()
    #: Possible fixes, one a line.
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
    """The recent traces of one function, to explain the last one."""

    def __init__(self, signature: Signature, relaxes: bool, cache: TraceCache) -> None:
        self._signature = signature
        self._cache = cache
        cache.listen(self._add)
        self._relaxes = relaxes
        #: The arguments of the recent traces, the last one included.
        self._recent: deque[Specs] = deque(maxlen=RECENT + 1)
        self._state: list[Change] = []
        #: The numbers of the last calls that made a trace.
        self._calls: deque[int] = deque(maxlen=TRACES)
        self._number = 0
        self._place: SourceLine | None = None
        self._said_often = False
        self._said_dropped = False

    def _add(self, call: Call, state: Sequence[Any]) -> None:
        """Note that a call was traced.

        `state` holds the records of the guards that no longer held; if there are any,
        they are the whole explanation.
        """
        self._number += 1
        self._place = calling_line()
        self._state = [_of_state(record) for record in state]
        self._recent.append(call.specs)

    def count(self) -> None:
        """Count the last trace as made by a call, not by `get_concrete_function`."""
        self._calls.append(self._cache.calls)

    @property
    def last(self) -> Retrace:
        """The explanation of the last trace."""
        name, line = self._signature.name, self._place
        at = f"{line[0]}:{line[1]}" if line else None
        *earlier, specs = list(self._recent) or [((), {})]
        if not earlier:
            return Retrace(name, self._number, at)
        changes = self._state
        if not changes:
            candidates = [list(self._between(old, specs)) for old in reversed(earlier)]
            changes = min(candidates, key=len)
        fixes = self._fixes(changes, earlier, specs)
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

    # --- differences ------------------------------------------------------------------

    def _between(self, old: Specs, new: Specs) -> Iterator[Change]:
        old_arguments = dict(self._signature.named(*old))
        for name, value in self._signature.named(*new):
            if name in old_arguments:
                yield from _differences(name, old_arguments.pop(name), value)
            else:
                yield Change(name, "structure", "not given", _short(value))
        for name, value in old_arguments.items():
            yield Change(name, "structure", _short(value), "not given")

    # --- fixes ------------------------------------------------------------------------

    def _fixes(
        self, changes: Sequence[Change], earlier: Sequence[Specs], specs: Specs
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
            signature = _input_signature([*earlier, specs])
            if signature is not None:
                yield f"tf.function(input_signature={signature})"
        if not changes:
            yield "a larger tf.function(max_traces=...)"


def _input_signature(calls: Sequence[Specs]) -> str | None:
    """The text of specs that all of the calls fit; None if they would not help."""
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
    old_children, new_children = nest.children(old), nest.children(new)
    if old_children is None and new_children is None:
        change = _of_leaves(path, old, new)
        if change is not None:
            yield change
        return
    if _form(old, old_children) != _form(new, new_children):
        yield Change(path, "structure", _outline(old), _outline(new))
        return
    for (step, left), (_, right) in zip(old_children or (), new_children or ()):
        yield from _differences(path + step, left, right)


def _form(value: Any, children: Sequence[tuple[str, Any]] | None) -> Any:
    paths = None if children is None else [path for path, _ in children]
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
        # A `__repr__` of the user's may raise; the explanation must not.
        return f"<{type(value).__name__}>"


def _outline(value: Any) -> str:
    """A structure in few characters: a long one by the number of its items."""
    text = _short(value)
    children = nest.children(value)
    if children is None or not text.endswith("..."):
        return text
    return f"{type(value).__name__} of {len(children)}"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Text:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _is_constant(values: Sequence[Any]) -> bool:
    """Whether all values are the same Python value."""
    return len({(type(v), _short(v)) for v in values}) == 1 and not any(
        isinstance(leaf, TensorSpec) for leaf in nest.flatten(values[0])
    )


def _spec_text(values: Sequence[Any]) -> str:
    """The text of a spec that all the values fit; ValueError if there is none."""
    value = values[0]
    children = nest.children(value)
    if children is not None:
        if type(value) not in (list, tuple):
            raise ValueError
        if len({(type(v), len(v)) for v in values}) > 1:
            raise ValueError
        texts = [_spec_text(column) for column in zip(*values)]
        return (
            f"[{', '.join(texts)}]" if type(value) is list else f"({', '.join(texts)},)"
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
