"""Whether a traced program may change containers in place, as its code tells.

A library of arrays chooses between two dicts leaf by leaf: the result is a copy of one
of them. That is what Python has as long as nobody changes the copy or the dicts. So
the code of the user's functions that run in the trace, and of those that they reach, is
searched for what changes such objects, or tells them apart.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from types import CodeType, FrameType
from typing import Any, NamedTuple

from ...frames import frame_at, outwards
from ...ownership import is_library_module, is_registered, is_user_frame
from ..activity import has_written_form
from .frames import named_globals, variables_of
from .snapshot import Snapshot

#: Methods that change a dict or a list. Those that give None are statements.
_STATEMENTS = frozenset(
    {"append", "clear", "extend", "insert", "move_to_end", "remove", "reverse"}
    | {"sort", "update"}
)
_DICT = {"clear", "move_to_end", "pop", "popitem", "setdefault", "update", "|="}
_LIST = {*_STATEMENTS, "pop", "+=", "*="} - {"move_to_end", "update"}
#: What tells the order of the keys of a dict.
_ORDERED = frozenset({"items", "keys", "popitem", "values"})
#: Functions that do it, or that give a method by its name.
_FUNCTIONS = frozenset({"delitem", "getattr", "iadd", "ior", "setattr", "setitem"})
_OTHERS = frozenset({"pop", "setdefault"}) | _ORDERED | _FUNCTIONS
_ITERATING = frozenset({"enumerate", "iter", "list", "map", "reversed", "tuple", "zip"})
_SYMBOLS = {"INPLACE_OR": "|=", "INPLACE_ADD": "+=", "INPLACE_MULTIPLY": "*="}
_CALLS = frozenset({"CALL", "CALL_FUNCTION", "CALL_METHOD", "PRECALL"})
_UNKNOWN = object()


class _Use(NamedTuple):
    """What code does: the name of a method or an operator, ``[]`` for the assignment of
    an item, a dot for that of an attribute; its key and variable, if they are plain.
    """

    what: str
    key: Any = _UNKNOWN
    variable: str = ""


def may_change(objects: Collection[Any]) -> bool:
    """Whether the program that is traced may change one of some objects.

    A variable that is assigned once has the object that it has now.
    """
    dicts = [value for value in objects if isinstance(value, dict)]
    lists = [value for value in objects if isinstance(value, list)]
    texts = not lists and all(type(k) is str for keys in dicts for k in keys)
    ways = {"is", *_FUNCTIONS, *(_DICT if dicts else ()), *(_LIST if lists else ())}
    if any(not _is_frozen(value) for value in objects):
        ways.add(".")

    def matters(use: _Use) -> bool:
        is_key = use.key is _UNKNOWN or type(use.key) is str
        return (is_key or not texts) if use.what == "[]" else use.what in ways

    known = {id(value) for value in objects}
    return _does(matters, lambda value: id(value) in known)


def may_see_order() -> bool:
    """Whether the program that is traced may see in which order dicts have keys."""
    ways = {"iter", *_ORDERED, *_ITERATING}
    return _does(lambda use: use.what in ways, lambda value: isinstance(value, dict))


def _is_frozen(value: Any) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    return isinstance(value, (dict, list)) or bool(parameters and parameters.frozen)


def _does(matters: Callable[[_Use], bool], is_meant: Callable[[Any], bool]) -> bool:
    """Whether the program does what matters, but for what it does to variables that
    surely have an object which is not meant.
    """
    frames, inside = _frames_in_trace(), set[CodeType]()
    inner = {c for f in frames for c in _within(f.f_code)[1:]}
    roots: list[tuple[str, Any]] = []
    for frame in frames:
        if frame.f_code in inner:
            continue
        codes = _within(frame.f_code)
        variables: dict[str, Any] = {}
        for other in frames:
            variables |= variables_of(other) if other.f_code in codes else {}
        roots += [*variables.items(), *named_globals(frame.f_code, frame.f_globals)]
        inside.update(codes)
        uses, stores = _uses(frame.f_code)
        once = 2 if has_written_form(frame.f_code) else 1
        for use in filter(matters, uses):
            value = variables.get(use.variable, _UNKNOWN)
            is_other = value is not _UNKNOWN and not is_meant(value)
            if not is_other or stores.count(use.variable) > once:
                return True
    for function in Snapshot(roots).functions():
        module = function.__globals__.get("__name__") or ""
        if function.__code__ not in inside and not is_library_module(module):
            if any(map(matters, _uses(function.__code__)[0])):
                return True
    return False


def _frames_in_trace() -> list[FrameType]:
    """The frames of the user's functions within the outermost call of a library that
    is registered, such as `jax.jit`.
    """
    found, inside = list[FrameType](), 0
    for frame in outwards(frame_at(1)):
        module = frame.f_globals.get("__name__") or ""
        if is_user_frame(frame):
            found.append(frame)
        elif is_registered(module) and module.partition(".")[0] != "autograph":
            inside = len(found)
    return found[:inside] if inside else found


def _within(code: CodeType) -> list[CodeType]:
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return [code, *(found for part in inner for found in _within(part))]


def _loaded(step: Any) -> str:
    """The variable that an instruction loads; an empty text if it loads none."""
    is_variable = step.opname.startswith(("LOAD_FAST", "LOAD_DEREF"))
    return str(step.argval) if is_variable else ""


@functools.lru_cache(maxsize=1000)
def _uses(code: CodeType) -> tuple[tuple[_Use, ...], tuple[str, ...]]:
    """What code, and functions inside of it, do; the variables that are assigned, as
    often as they are.
    """
    import dis  # not at once: a program's first call would wait for it

    found: list[_Use] = []
    stores: list[str] = []
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    lines, line = [], None
    for step in steps:
        starts: Any = step.starts_line  # a bool from Python 3.13 on
        line = getattr(step, "line_number", None) if starts is True else starts or line
        lines.append(line)
    dropped = {line for line, step in zip(lines, steps) if step.opname == "POP_TOP"}
    after = [*steps[2:], steps[-1]]
    for line, before, step, later in zip(lines[1:], steps, steps[1:], after):
        name, symbol = step.opname, _SYMBOLS.get(step.opname, step.argrepr)
        constant = before.argval if before.opname.startswith("LOAD_CONST") else _UNKNOWN
        if name.startswith("STORE_") and name.endswith(("FAST", "DEREF", "NAME")):
            stores += step.argval if type(step.argval) is tuple else (step.argval,)
        elif name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
            is_key = before.opname not in ("BUILD_SLICE", "BUILD_TUPLE")
            found.append(_Use("[]", constant if is_key else ()))
        elif name == "IS_OP" or step.argval in ("is_", "is_not"):
            # Not of None, or of a class, which is global.
            is_class = before.opname == "LOAD_GLOBAL" or before.argval == "__class__"
            if constant is _UNKNOWN and not is_class:
                found.append(_Use("is"))
        elif name in ("STORE_ATTR", "DELETE_ATTR"):
            own = code.co_varnames[:1] if code.co_name == "__init__" else ()
            found += [] if before.argval in own else [_Use(".")]
        elif name.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            is_called = name == "LOAD_METHOD" or "NULL|self" in step.argrepr
            is_called |= later.opname in (
                "PRECALL",
                "CALL",
                "CALL_FUNCTION",
                "CALL_METHOD",
            )
            is_statement = line in dropped or not is_called
            if (step.argval in _STATEMENTS and is_statement) or step.argval in _OTHERS:
                variable = "" if step.argval in _FUNCTIONS else _loaded(before)
                found.append(_Use(step.argval, variable=variable))
        elif name == "LOAD_GLOBAL" and step.argval in (*_FUNCTIONS, *_ITERATING):
            found.append(_Use(step.argval, variable=_loaded(later)))
        elif name in ("GET_ITER", "UNPACK_SEQUENCE", "UNPACK_EX"):
            found += [_Use("iter", variable=_loaded(before))] if _loaded(before) else []
        elif symbol in ("|=", "+=", "*=") and not isinstance(constant, (int, float)):
            found.append(_Use(symbol))
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found += _uses(part)[0]
            stores += _uses(part)[1]
    return tuple(found), tuple(stores)
