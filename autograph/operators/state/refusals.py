"""What to tell about changes that a graph cannot carry: the object, the line, the code.

Apart from `check_replaced`, nothing here runs unless a statement is refused, or warned
of.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any
from weakref import WeakSet

from ...diagnostics import Diagnostic, Location
from ...errors import AutographWarning, StagingError
from ...ownership import user_location
from .frames import user_frames, variables_of
from .slots import Slot
from .snapshot import Change, Snapshot

_TITLE = "a staged branch changes what a graph cannot carry"


def refusal(
    changes: Sequence[tuple[Change, Sequence[tuple[CodeType, int]]]],
    bodies: Sequence[CodeType],
) -> StagingError:
    """The error AG207 for objects that a body changed.

    ``changes`` are given with the lines that made them, as far as converted code tells;
    ``bodies`` are the codes of the statement itself.
    """
    own = set(_with_inner(bodies))
    where = user_location()
    # An iterator may advance others.
    return StagingError(
        *dict.fromkeys(_diagnostic(*pair, where, own) for pair in changes)
    )


def _diagnostic(
    change: Change,
    lines: Sequence[tuple[CodeType, int]],
    where: Location | None,
    own: set[CodeType],
) -> Diagnostic:
    verb = change.seen.kind.verb
    by = ""
    if lines:
        code, line = lines[0]
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
