"""Which code is the user's own, and which is library code that is called as it is.

The standard library, installed packages and libraries that registered themselves are
library code; everything else is converted when converted code calls it.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import itertools
import os
import site
import sys
import sysconfig
from abc import ABCMeta
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from fnmatch import fnmatchcase
from types import (
    BuiltinFunctionType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

from .diagnostics import Location
from .frames import frame_at, outwards
from .options import DEFAULT, ConversionOptions, matches

_MARK = "__autograph_do_not_convert__"
#: The attribute of a function converted in place: the pair of it (wrappers copy
#: attributes, so compare) and a function with the old code.
ORIGINAL = "__autograph_original__"
#: The attribute of a function that holds its converted form: itself, if it is one.
CONVERTED = "__autograph_converted__"
_packages = {"autograph"}
#: The folders of the standard library and of installed packages, which Debian calls
#: otherwise than `sysconfig` says.
_ROOTS = (
    *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
    *site.getsitepackages(),
)

#: The code that all functions made by `functools.singledispatch` share.
_DISPATCHER = getattr(functools.singledispatch(lambda _: None), "__code__")  # noqa: B009
_method = functools.singledispatchmethod(lambda _: None).__get__(object())
#: What all methods made by `functools.singledispatchmethod` share: their class from
#: Python 3.14 on, and their code before.
_METHOD_DISPATCHER = getattr(_method, "__code__", type(_method))
#: Modules with functions and classes that a tensor library may answer for, by what
#: these say that they are from.
_TAKING_TENSORS = {
    **{name: name for name in ("cmath", "decimal", "fractions", "heapq", "itertools")},
    **{name: name for name in ("math", "numpy", "numpy.fft", "numpy.linalg")},
    "statistics": "statistics",
    **{f"_{name}": name for name in ("bisect", "functools", "heapq", "operator")},
}
TAKING_TENSORS = frozenset(_TAKING_TENSORS.values())
#: Kinds of callables that may be such functions; NumPy has kinds of its own.
_LIBRARY_KINDS = frozenset({BuiltinFunctionType, FunctionType, type, ABCMeta})


class Rule(Enum):
    """Why a function is converted where converted code calls it, or is not.

    >>> Rule.OWN.converts, Rule.LIBRARY.converts
    (True, False)
    """

    OWN = "your own code"
    INCLUDED = "included by a pattern"
    BUILTIN = "builtin"
    C_CODE = "written in C"
    LIBRARY = "library module"
    REGISTERED = "registered library"
    MARKED = "marked do_not_convert, or called with unconverted()"
    EXCLUDED = "excluded by a pattern"
    CONVERTED_MODULE = "converted with its module"
    NO_SOURCE = "no source"
    REFUSED = "cannot be converted"
    UNNAMED = "Python or a library called it, and no variable leads to it"
    STAYS = "has code that stands as it was written"
    UNKNOWN = "decided when it is called"

    @property
    def converts(self) -> bool:
        """Whether what the rule applies to runs as converted code."""
        return self in (Rule.OWN, Rule.INCLUDED, Rule.CONVERTED_MODULE)


def add_library(package: str) -> None:
    """Treat a package as library code: its functions are called as they are."""
    _packages.add(package)
    is_library_module.cache_clear()


def do_not_convert(function: Any) -> Any:
    """Mark a function, method or class to be called as it is from converted code.

    The mark is on the object, wherever it is called from; `unconverted` is for one
    call. That of a class is on its functions too.

    >>> @do_not_convert
    ... def helper(x):
    ...     return x
    >>> needs_no_conversion(helper)
    True
    """
    setattr(function, _MARK, True)
    if isinstance(function, type):
        for member in list(vars(function).values()):
            for part in functions_of(member):
                setattr(part, _MARK, True)
    return function


class Unconverted:
    """A callable that stays as it is: made by `unconverted`."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.__qualname__ = type(function).__qualname__
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, and what it calls, as they are."""
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"unconverted({self._function!r})"


def unconverted(function: Any) -> Any:
    """What to call where one call of a function is not to be converted.

    Unlike `do_not_convert` it leaves the function alone: other calls are converted.

    >>> def size(x):
    ...     return len(x)
    >>> unconverted(size)([1, 2])
    2
    """
    return Unconverted(as_written(function))


def as_written(function: Any) -> Any:
    """The function that a converted one was made of; any other function itself."""
    if isinstance(function, MethodType):
        return MethodType(as_written(function.__func__), function.__self__)
    attributes = getattr(function, "__dict__", {})
    owner, original = attributes.get(ORIGINAL, (None, None))
    if owner is function:
        return original
    is_converted = attributes.get(CONVERTED) is function
    return attributes["__wrapped__"] if is_converted else function


def functions_of(member: Any) -> Iterator[FunctionType]:
    """The Python functions that a function-like object, or a member of a class, runs.

    >>> [f.__name__ for f in functions_of(vars(Rule)["converts"])]
    ['converts']
    """
    if isinstance(member, FunctionType):
        yield member
    elif isinstance(member, property):
        for part in (member.fget, member.fset, member.fdel):
            yield from functions_of(part)
    elif isinstance(member, (staticmethod, classmethod, MethodType)):
        yield from functions_of(member.__func__)
    elif isinstance(
        member, (functools.cached_property, functools.partial, functools.partialmethod)
    ):
        yield from functions_of(member.func)
    elif isinstance(member, functools._lru_cache_wrapper):
        yield from functions_of(member.__wrapped__)
    elif isinstance(member, functools.singledispatchmethod):
        for implementation in member.dispatcher.registry.values():
            yield from functions_of(implementation)


@functools.cache
def is_library_module(name: str) -> bool:
    """Whether a module belongs to the standard library or an installed package.

    The module is not imported; one that cannot be found is taken for the user's own.
    So is ``__main__``, which may be run by a tool that is installed, as a notebook is.
    """
    if name == "__main__":
        return False
    package = name.partition(".")[0]
    if package == "__main__":  # whatever file it is said to be from
        return False
    if package in _packages or package in sys.stdlib_module_names:
        return True
    module = sys.modules.get(package)
    # Not getattr: a module may have code for names that it has not.
    path = vars(module).get("__file__") if isinstance(module, ModuleType) else None
    if path is None:
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError, AttributeError):
            return False
        if spec is None:
            return False
        path = spec.origin or next(iter(spec.submodule_search_locations or ()), "")
    return is_library_path(path)


def is_library_path(path: str) -> bool:
    """Whether a file belongs to the standard library or an installed package."""
    # Elsewhere a package may be that somebody else's Python has installed.
    return "site-packages" in path.split(os.sep) or any(
        path.startswith(os.path.join(root, "")) for root in _ROOTS
    )


def user_location() -> Location | None:
    """The expression of the user's code that is running, outside of all libraries."""
    frame = next(filter(is_user_frame, outwards(frame_at(1))), None)
    return None if frame is None else _position(frame)


def is_user_frame(frame: FrameType) -> bool:
    """Whether a frame is of a function of the user's, and not of a library."""
    if frame.f_code.co_filename == "<string>" and "__name__" not in frame.f_globals:
        return False  # what a library made of a text
    return not is_library_module(frame.f_globals.get("__name__", ""))


def _position(frame: FrameType) -> Location:
    line = Location(frame.f_code.co_filename, frame.f_lineno)
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:  # Python 3.10 knows lines
        return line
    found = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    if found is None or found[0] != line.lineno or found[2] is None:
        return line
    _, end_lineno, col, end_col = found
    return Location(line.filename, line.lineno, col, end_lineno, end_col)


def library_key() -> str:
    """What the answers of `is_library_module` depend on, for keys of caches."""
    return repr((sorted(_packages), sorted(_ROOTS)))


def is_registered(name: str) -> bool:
    """Whether a module is of a library that called `add_library`, or of this one."""
    return name.partition(".")[0] in _packages


def may_be_included(name: str, options: ConversionOptions) -> bool:
    """Whether something that the module offers may be converted by request.

    What a module offers may be defined anywhere in its package.
    """
    package = name.partition(".")[0]
    return not is_registered(name) and any(
        fnmatchcase(package, pattern.partition(".")[0]) for pattern in options.include
    )


def is_marked(obj: Any) -> bool:
    """Whether somebody decorated it with `do_not_convert`."""
    try:
        return getattr(obj, _MARK, False) is True
    except Exception:  # of an object that answers for its attributes itself
        return False


def is_dispatcher(obj: Any) -> bool:
    """Whether an object is what `functools.singledispatch` makes of a function."""
    return getattr(obj, "__code__", None) is _DISPATCHER


def dispatcher_of_method(function: Any) -> Callable[[type], Any] | None:
    """What finds the bound implementation for a class, if a function or an object that
    is called is a method made by `functools.singledispatchmethod`.
    """
    if type(function) is _METHOD_DISPATCHER:
        parts = vars(function)
        unbound = parts["_unbound"].dispatcher.dispatch
        return lambda cls: unbound(cls).__get__(parts["_obj"], parts["_cls"])
    if type(function) is not FunctionType:
        return None
    if function.__code__ is not _METHOD_DISPATCHER:
        return None
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    found = dict(zip(function.__code__.co_freevars, cells, strict=True))
    dispatch = found.get("dispatch")  # from Python 3.13 on
    dispatch = dispatch or found["self"].dispatcher.dispatch
    return lambda cls: dispatch(cls).__get__(found["obj"], found["cls"])


def rule_for_module(name: str, options: ConversionOptions = DEFAULT) -> Rule:
    """The rule by which the functions of a module are converted, or are not."""
    if is_registered(name):
        return Rule.REGISTERED
    if matches(name, options.exclude):
        return Rule.EXCLUDED
    if matches(name, options.include):
        return Rule.INCLUDED
    return Rule.LIBRARY if is_library_module(name) else Rule.OWN


def rule_for(obj: Any, options: ConversionOptions = DEFAULT) -> Rule:
    """The rule by which a callable is converted where it is called, or is not.

    >>> rule_for(len), rule_for(functools.wraps)
    (<Rule.BUILTIN: 'builtin'>, <Rule.LIBRARY: 'library module'>)
    """
    if is_marked(obj):
        return Rule.MARKED
    if isinstance(obj, (type, BuiltinFunctionType)) and obj.__module__ == "builtins":
        return Rule.BUILTIN
    if isinstance(obj, MethodType):
        return rule_for(obj.__func__, options)
    if isinstance(obj, functools.partial):
        return rule_for(obj.func, options)
    if isinstance(obj, functools._lru_cache_wrapper):
        return rule_for(obj.__wrapped__, options)
    if is_dispatcher(obj):
        return rule_for(vars(obj)["__wrapped__"], options)
    if isinstance(obj, FunctionType):
        module = obj.__globals__.get("__name__") or "__main__"
    elif isinstance(obj, type):
        module = obj.__module__
    elif isinstance(getattr(type(obj), "__call__", None), FunctionType):
        module = type(obj).__module__
    else:
        return Rule.C_CODE
    return rule_for_module(module, options)


def needs_no_conversion(obj: Any, options: ConversionOptions = DEFAULT) -> bool:
    """Whether a callable is library code, written in C, or marked `do_not_convert`."""
    return not rule_for(obj, options).converts


def shadowed_builtins(namespace: Iterable[str]) -> frozenset[str]:
    """The names of a module that are those of builtins, too."""
    return frozenset(vars(builtins)).intersection(namespace)


_UNKNOWN = object()


def names_library(
    path: str, function: FunctionType, options: ConversionOptions = DEFAULT
) -> bool:
    """Whether a dotted name is one of library code, as seen from a function object.

    Free variables are not looked into: other functions with the same code have others.

    >>> names_library("functools.wraps", names_library)
    True
    """
    root, *attributes = path.split(".")
    if root in function.__code__.co_freevars:
        return False
    default = getattr(builtins, root, _UNKNOWN)
    value = function.__globals__.get(root, default)
    for name in attributes:
        # Attributes of other objects may be computed: only modules are looked into.
        if not isinstance(value, ModuleType):
            return False
        value = vars(value).get(name, _UNKNOWN)
    if value is _UNKNOWN or isinstance(value, ModuleType):
        return False
    if takes_tensors(value) or is_impure(value):
        return False
    return needs_no_conversion(value, options)


_FILES = ("link", "mkdir", "remove", "rename", "replace", "rmdir", "symlink", "unlink")
#: Modules, and the functions in them that are not of the program and its arguments
#: alone: chance, time, a person or a file decides, or sees. None: all of them.
IMPURE: dict[str, frozenset[str] | None] = {
    "builtins": frozenset({"input"}),
    "datetime": frozenset({"now", "today", "utcnow"}),
    "io": frozenset({"open"}),
    "numpy": frozenset({"save", "savetxt", "savez", "savez_compressed"}),
    "numpy.random": None,
    "numpy.random.mtrand": None,
    **dict.fromkeys(
        ("nt", "posix"), frozenset({*_FILES, "putenv", "system", "truncate", "urandom"})
    ),
    "os": frozenset({"makedirs", "removedirs", "renames"}),
    "pathlib": frozenset({*_FILES, "open", "touch", "write_bytes", "write_text"}),
    "random": None,
    "secrets": None,
    "shutil": frozenset({"copy", "copy2", "copyfile", "copytree", "move", "rmtree"}),
    "subprocess": frozenset({"call", "check_call", "check_output", "run"}),
    "time": None,
    "uuid": frozenset({"uuid1", "uuid4"}),
}
#: What makes a generator of random numbers, which has a seed or draws one.
_MAKERS = ("Random", "SystemRandom", "RandomState", "default_rng")
#: Kinds of callables that may be such functions.
_FUNCTIONS = frozenset({BuiltinFunctionType, FunctionType, MethodType})


def is_impure(obj: Any) -> bool:
    """Whether a function of a library gives another answer in each run, or writes.

    A call of `open` that reads is none, nor is a generator of random numbers that is
    made with a seed: `makes_generator` tells those.

    >>> import random, time
    >>> is_impure(random.random), is_impure(time.time), is_impure(len)
    (True, True, False)
    """
    if type(obj) not in _FUNCTIONS and type(obj).__module__ != "numpy":
        return makes_generator(obj)
    owner = getattr(obj, "__self__", None)
    if owner is None:
        module = getattr(obj, "__module__", "")
        if module == "random":  # what a method calls, of whichever generator
            return False
    elif isinstance(owner, (ModuleType, type)):
        module = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        module = module.removeprefix("_")
    else:
        module = type(owner).__module__.partition("._")[0]
        if module == "builtins":
            return False  # a method of a list, say: most of what is asked about
        # A generator that the program makes gives what its seed says.
        if module != "pathlib" and module in IMPURE and not _is_shared(owner):
            return False
    names = IMPURE.get(module, frozenset())
    return names is None or obj.__name__ in names


def may_be_impure(module: str, name: str) -> bool:
    """Whether what a module calls so may be such a function, before it is imported."""
    places = (module, "nt", "posix") if module == "os" else (module,)
    known = [IMPURE[place] for place in places if place in IMPURE]
    return any(names is None or name in names for names in known)


def makes_generator(obj: Any) -> bool:
    """Whether a class or function makes a generator of random numbers.

    >>> import random
    >>> makes_generator(random.Random), makes_generator(random.random)
    (True, False)
    """
    if type(obj) in _FUNCTIONS or getattr(obj, "__module__", "") not in IMPURE:
        return False
    name = getattr(obj, "__name__", "")
    module = sys.modules.get(obj.__module__)
    return name in _MAKERS and getattr(module, name, None) is obj


#: The modules with the generators whose methods are functions, and what they call them.
_GENERATORS = {"random": "_inst", "secrets": "_sysrand", "numpy.random.mtrand": "_rand"}


def _is_shared(generator: Any) -> bool:
    """Whether a generator of random numbers is one that belongs to a module."""
    loaded = ((sys.modules.get(name), place) for name, place in _GENERATORS.items())
    return any(getattr(module, place, None) is generator for module, place in loaded)


def library_name(obj: Any) -> str | None:
    """The name of what a tensor library may answer for, of a function or a class.

    None for all others. It takes numbers, arrays, or lists whose items it compares.

    >>> import bisect, itertools
    >>> library_name(bisect.bisect), library_name(itertools.chain.from_iterable)
    ('bisect.bisect_right', 'itertools.chain.from_iterable')
    """
    kind = type(obj)
    if kind is FunctionType:
        # Not its `__module__`, which wrappers copy.
        module = obj.__globals__.get("__name__")
    elif kind in _LIBRARY_KINDS or kind.__module__ == "numpy":
        owner = getattr(obj, "__self__", None)
        module = getattr(owner if isinstance(owner, type) else obj, "__module__", None)
    else:
        return None
    known = _TAKING_TENSORS.get(module) if isinstance(module, str) else None
    if known is None and kind is FunctionType:
        # NumPy defines its functions in modules of its own.
        known = _TAKING_TENSORS.get(obj.__module__)
    if known is None:
        return None
    name: str = getattr(obj, "__qualname__", "") or getattr(obj, "__name__", "")
    found: Any = sys.modules.get(known)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{known}.{name}" if found == obj else None


def takes_tensors(obj: Any) -> bool:
    """Whether a tensor library may answer for a function or class of a library."""
    return obj is Counter or obj is deque or library_name(obj) is not None
