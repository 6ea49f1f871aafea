"""Whether a traced program may change containers in place, as its code tells.

A library of arrays chooses between two dicts leaf by leaf: the result is a copy of one
of them. That is what Python has as long as nobody changes the copy or the dicts. So
the code of the user's functions that run in the trace, and of those that they reach, is
searched for what changes such objects, or tells them apart.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ...frames import frame_at, outwards
from ...ownership import is_library_module, is_registered, is_user_frame
from ..activity import has_written_form
from .frames import has_handed_over, named_globals, variables_of
from .snapshot import Snapshot

#: Methods that change a dict, or a list.
_DICT = frozenset(
    {"clear", "move_to_end", "pop", "popitem", "setdefault", "update", "|="}
    | {"__delitem__", "__init__", "__ior__", "__setitem__"}
)
_LIST = frozenset(
    {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"}
    | {"+=", "*=", "__delitem__", "__iadd__", "__imul__", "__init__", "__setitem__"}
)
#: What tells the order of the keys of a dict.
_ORDERED = frozenset({"items", "keys", "popitem", "values"})
#: Functions and attributes by which any object can be changed, or told from its copy.
_FUNCTIONS = frozenset(
    {"__delattr__", "__dict__", "__setattr__", "delattr", "delitem", "eval", "exec"}
    | {"getattr", "iadd", "id", "imul", "ior", "methodcaller", "setattr", "setitem"}
    | {"shuffle", "vars"}
)
_NAMES = _DICT | _LIST | _ORDERED | _FUNCTIONS
_ITERATING = frozenset({"enumerate", "iter", "list", "map", "reversed", "tuple", "zip"})
_SYMBOLS = {"INPLACE_OR": "|=", "INPLACE_ADD": "+=", "INPLACE_MULTIPLY": "*="}
#: Libraries, beside those that are registered, whose functions change no dict or list
#: that they are given. Code that refers to another one may change anything.
_HARMLESS = frozenset(
    {"abc", "autograph", "builtins", "chex", "cmath", "collections", "contextlib"}
    | {"dataclasses", "einops", "enum", "equinox", "flax", "functools", "itertools"}
    | {"jaxtyping", "math", "numbers", "numpy", "optax", "time", "types", "typing"}
    | {"warnings"}
)
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
    ways = {"import", "is", *_FUNCTIONS, *(_DICT if dicts else ())}
    ways |= _LIST if lists else set()
    if any(not _is_frozen(value) for value in objects):
        ways.add(".")

    def matters(use: _Use) -> bool:
        if use.what == "import":
            return not _is_harmless(str(use.key))
        is_key = use.key is _UNKNOWN or type(use.key) is str
        return (is_key or not texts) if use.what == "[]" else use.what in ways

    known = {id(value) for value in objects}

    def is_meant(value: Any) -> bool:
        return id(value) in known or isinstance(value, type)  # `dict.update(c, …)`

    return _does(matters, is_meant, _refers_to_unknown)


def may_see_order() -> bool:
    """Whether the program that is traced may see in which order dicts have keys."""
    ways = {"iter", *_ORDERED, *_ITERATING}

    def is_dict(value: Any) -> bool:
        return isinstance(value, (dict, type))

    return _does(lambda use: use.what in ways, is_dict, lambda _: False)


def _is_frozen(value: Any) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    return isinstance(value, (dict, list)) or bool(parameters and parameters.frozen)


def _refers_to_unknown(values: Iterable[Any]) -> bool:
    """Whether one of the objects that code refers to is of a library that may change
    what it is given.
    """
    for value in values:
        is_module = isinstance(value, ModuleType)
        name = value.__name__ if is_module else getattr(value, "__module__", None)
        is_code = is_module or callable(value)
        if is_code and isinstance(name, str) and not _is_harmless(name):
            return True
    return False


def _is_harmless(module: str) -> bool:
    root = module.partition(".")[0]
    is_own = not is_library_module(module)
    return is_own or root in _HARMLESS or is_registered(module)


def _does(
    matters: Callable[[_Use], bool],
    is_meant: Callable[[Any], bool],
    is_unknown: Callable[[Iterable[Any]], bool],
) -> bool:
    """Whether the program does what matters to an object that may be meant.

    A use counts for nothing where its variable is assigned once, and has another object
    now. Code also does what matters if it refers to something unknown.
    """
    frames = _frames_in_trace()
    inner = {code for f in frames for code in _within(f.f_code)[1:]}
    inside = set[CodeType]()
    roots: list[tuple[str, Any]] = []
    for frame in frames:
        if frame.f_code in inner:
            continue
        codes = _within(frame.f_code)
        own = [(one, variables_of(one)) for one in frames if one.f_code in codes]
        globals_ = dict(named_globals(frame.f_code, frame.f_globals))
        roots += [*(pair for _, found in own for pair in found.items())]
        roots += globals_.items()
        inside.update(codes)
        stores = [name for code in codes for name in _uses(code)[1]]
        once = 2 if has_written_form(frame.f_code) else 1
        for code in codes:
            for use in filter(matters, _uses(code)[0]):
                value = _value_in(code, use.variable, own, globals_)
                is_other = value is not _UNKNOWN and not is_meant(value)
                if not is_other or stores.count(use.variable) > once:
                    return True
    if is_unknown(value for _, value in roots):
        return True
    for function in Snapshot(roots).functions():
        module = function.__globals__.get("__name__") or ""
        if function.__code__ not in inside and not is_library_module(module):
            if _function_does(function, matters, is_meant, is_unknown):
                return True
    return False


def _function_does(
    function: FunctionType,
    matters: Callable[[_Use], bool],
    is_meant: Callable[[Any], bool],
    is_unknown: Callable[[Iterable[Any]], bool],
) -> bool:
    """As `_does`, for a function that does not run: only its globals are known."""
    globals_ = dict(named_globals(function.__code__, function.__globals__))
    if is_unknown(globals_.values()):
        return True
    for code in _within(function.__code__):
        bound = {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
        for use in filter(matters, _uses(code)[0]):
            value = globals_.get(use.variable, _UNKNOWN)
            if use.variable in bound or value is _UNKNOWN or is_meant(value):
                return True
    return False


def _value_in(
    code: CodeType,
    name: str,
    running: list[tuple[FrameType, dict[str, Any]]],
    globals_: dict[str, Any],
) -> Any:
    """What a variable of code is now; unknown where it has no value yet, or several.

    ``running`` are the frames of the function and those inside of it, with variables.
    """
    if name in code.co_varnames or name in code.co_cellvars:
        forms = {code}
        if any(f.f_code is code and has_handed_over(f) for f, _ in running):
            # The variables are those of the staged form, which is a constant of it.
            forms = {part for part in code.co_consts if isinstance(part, CodeType)}
        scopes = [found for frame, found in running if frame.f_code in forms]
    elif name in code.co_freevars:
        scopes = [
            found
            for frame, found in running
            if name in frame.f_code.co_cellvars or name in frame.f_code.co_freevars
        ]
    else:
        scopes = [globals_]
    values = [scope.get(name, _UNKNOWN) for scope in scopes] or [_UNKNOWN]
    return values[0] if all(one is values[0] for one in values) else _UNKNOWN


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
    names = ("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME")
    is_variable = step.opname.startswith(names)
    return str(step.argval) if is_variable else ""


@functools.lru_cache(maxsize=1000)
def _uses(code: CodeType) -> tuple[tuple[_Use, ...], tuple[str, ...]]:
    """What code does, without functions inside of it; the variables that it assigns, as
    often as it does.
    """
    import dis  # not at once: a program's first call would wait for it

    found: list[_Use] = []
    stores: list[str] = []
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    after = [*steps[2:], steps[-1]]
    for before, step, later in zip(steps, steps[1:], after):
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
            if step.argval in _NAMES:
                variable = "" if step.argval in _FUNCTIONS else _loaded(before)
                found.append(_Use(step.argval, variable=variable))
        elif name == "IMPORT_NAME":
            found.append(_Use("import", step.argval))
        elif name == "LOAD_GLOBAL" and step.argval in (*_FUNCTIONS, *_ITERATING):
            found.append(_Use(step.argval, variable=_loaded(later)))
        elif name in ("GET_ITER", "UNPACK_SEQUENCE", "UNPACK_EX"):
            found += [_Use("iter", variable=_loaded(before))] if _loaded(before) else []
        elif symbol in ("|=", "+=", "*=") and not isinstance(constant, (int, float)):
            found.append(_Use(symbol))
    return tuple(found), tuple(stores)
