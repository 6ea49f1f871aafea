"""What converted code calls: constructors as Python has them, and which callees."""

from __future__ import annotations

import colorsys
import functools
import gc
import inspect
import json
import statistics
import sys
import threading
import weakref
from abc import ABC, abstractmethod
from enum import Enum
from types import ModuleType

import pytest

import autograph
from autograph import SourceError
from autograph.options import ConversionOptions
from autograph.ownership import Rule, rule_for


def is_converted(function) -> bool:
    return getattr(function, "__autograph_converted__", None) is function


def outcome(function, *args, **kwargs):
    """The result, or the type and text of the exception."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


# --- constructors ---------------------------------------------------------------------


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y=0, *, log=None):
        if x < 0:
            x = 0
        self.x, self.y = x, y


class Wrong:
    def __init__(self, x):
        return x


class Number(int):
    def __new__(cls, value, *rest):
        if value > 9:
            value = 9
        return super().__new__(cls, value)


class Plain:
    pass


class OnlyNew:
    def __new__(cls, x):
        return super().__new__(cls) if x else x

    def __init__(self, x):
        self.x = x


class Replaced:
    """Whose `__new__` gives an instance of a class below."""

    def __new__(cls, x):
        return super().__new__(Below)

    def __init__(self, x):
        self.x = 1


class Below(Replaced):
    def __init__(self, x):
        self.x = 2 if x else 3


class Virtual(ABC):
    """Whose subclass check says yes to all: that is not what decides on `__init__`."""

    @classmethod
    def __subclasshook__(cls, other):
        return True

    def __new__(cls, x):
        return x if x else super().__new__(cls)

    def __init__(self, x):
        self.x = x

    @abstractmethod
    def area(self): ...


class Colour(Enum):
    RED = 1
    BLUE = 2

    def __init__(self, value):
        self.dark = value > 1


class Partial:
    def prepare(self, a, b):
        self.sum = a + b if a else b

    __init__ = functools.partialmethod(prepare, 1)


class Mine(ValueError):
    def __init__(self, x):
        super().__init__(f"not {x}" if x else "nothing")


class Once(type):
    made = None

    def __call__(cls, *args):
        if cls.made is None:
            cls.made = super().__call__(*args)
        return cls.made


class Single(metaclass=Once):
    def __init__(self, x):
        self.x = x if x else -1


def make(cls, *args, **kwargs):
    return cls(*args, **kwargs)


CALLS = [
    (Point, (-3,), {}),
    (Point, (3, 4), {"log": []}),
    (Point, (), {}),
    (Point, (1,), {"z": 1}),
    (Point, (1, 2, 3), {}),
    (Wrong, (1,), {}),
    (Wrong, (None,), {}),
    (Number, (12, 1), {}),
    (Plain, (), {}),
    (Plain, (1,), {}),
    (OnlyNew, (0,), {}),
    (OnlyNew, (1,), {}),
    (Replaced, (0,), {}),
    (Virtual, (1,), {}),
    (Virtual, (0,), {}),
    (Colour, (2,), {}),
    (Colour, (3,), {}),
    (Partial, (4,), {}),
    (Partial, (4, 5), {}),
    (Mine, (0,), {}),
    (Single, (0,), {}),
    (dict, (), {"a": 1}),
    (type, (1,), {}),
    (type, ("T", (), {}), {}),
]


def described(value):
    state = [getattr(value, name, None) for name in ("x", "y", "sum", "dark", "args")]
    if isinstance(value, type) and value.__name__ == "T":
        return "T"
    return type(value), state, value if isinstance(value, (int, dict, tuple)) else None


@pytest.mark.parametrize(("cls", "args", "kwargs"), CALLS)
def test_constructors_do_what_python_does(cls, args, kwargs) -> None:
    expected = described(outcome(make, cls, *args, **kwargs))
    Single.made = None

    assert described(outcome(autograph.convert(make), cls, *args, **kwargs)) == expected


def test_the_class_stays_as_it_is() -> None:
    before = dict(vars(Point))
    point = autograph.convert(make)(Point, 1)

    assert type(point) is Point
    assert dict(vars(Point)) == before
    assert not is_converted(Point.__init__)


def test_a_replaced_initializer_is_found(monkeypatch) -> None:
    converted = autograph.convert(make)
    converted(Plain)
    monkeypatch.setattr(
        Plain, "__init__", lambda self, x: setattr(self, "x", x or 1), raising=False
    )

    assert converted(Plain, 0).x == 1


def test_classes_are_not_kept_alive() -> None:
    class Local:
        def __init__(self):
            self.x = 1 if self else 0

    empty = type("Empty", (), {})
    autograph.convert(make)(Local)
    autograph.convert(make)(empty)
    references = [weakref.ref(Local), weakref.ref(empty)]
    del Local, empty
    gc.collect()
    assert [reference() for reference in references] == [None, None]


# --- in place -------------------------------------------------------------------------


def fresh():
    """A function of its own."""

    def sign(x, *, low=-1):
        """Of x."""
        return 1 if x > 0 else low

    return sign


def test_conversion_in_place_leaves_everything_else() -> None:
    sign = fresh()
    held, attributes = [sign], inspect.signature(sign)
    code = sign.__code__

    assert autograph.convert_in_place(sign)
    assert not autograph.convert_in_place(sign)
    assert held == [sign]
    assert sign.__code__ is not code
    assert (sign(3), sign(-3, low=-2), sign.__doc__) == (1, -2, "Of x.")
    assert inspect.signature(sign) == attributes
    assert autograph.convert(sign) is sign
    assert "ag.cond" in autograph.to_code(sign)
    assert "ag" not in sign.__code__.co_freevars + sign.__code__.co_names
    assert inspect.getsource(sign).lstrip().startswith("def sign")


def test_in_place_with_closures_and_super() -> None:
    factor = 2

    class Base:
        def scaled(self, x):
            return x * factor if x > 0 else 0

    class Child(Base):
        def scaled(self, x):
            if x > 1:
                x = super().scaled(x)
            return x

    assert autograph.convert_in_place(Child.scaled)
    assert autograph.convert_in_place(Base.scaled)
    assert [Child().scaled(x) for x in (-1, 1, 4)] == [-1, 1, 8]
    factor = 3
    assert Child().scaled(4) == 12


def test_wrappers_of_what_was_converted_in_place_are_themselves() -> None:
    sign = fresh()
    autograph.convert_in_place(sign)

    @functools.wraps(sign)
    def wrapper(x):
        return sign(x) * 2

    assert autograph.convert(wrapper)(3) == 2
    assert autograph.unconverted(wrapper)(3) == 2
    assert autograph.convert(wrapper).__wrapped__ is wrapper


def test_in_place_needs_source() -> None:
    namespace: dict = {}
    exec("def f(x): return x", namespace)

    with pytest.raises(SourceError):
        autograph.convert_in_place(namespace["f"])


def test_in_place_from_several_threads() -> None:
    sign = fresh()
    barrier = threading.Barrier(8)
    results = []

    def work() -> None:
        barrier.wait()
        changed = autograph.convert_in_place(sign)
        results.append((changed, [sign(x) for x in range(-2, 3)]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(changed for changed, _ in results) == [False] * 7 + [True]
    assert all(values == [-1, -1, -1, 1, 1] for _, values in results)


# --- members of classes ---------------------------------------------------------------


def test_converting_a_class_converts_all_kinds_of_members() -> None:
    class Kinds:
        @property
        def a(self):
            return 1 if self else 2

        @functools.cached_property
        def b(self):
            return 1 if self else 2

        @staticmethod
        def c(x):
            return 1 if x else 2

        @classmethod
        def d(cls):
            return 1 if cls else 2

        def e(self, x):
            return x if x else 2

        f = functools.partialmethod(e, 3)

        @functools.lru_cache
        def g(self):
            return 1 if self else 2

        @functools.singledispatchmethod
        def h(self, x):
            return 1 if x else 2

        @autograph.do_not_convert
        def raw(self):
            return 1 if self else 2

    cached = Kinds.__dict__["g"]
    assert autograph.convert(Kinds) is Kinds
    members = vars(Kinds)

    assert members["g"] is cached
    for function in (
        members["a"].fget,
        members["b"].func,
        members["c"].__func__,
        members["d"].__func__,
        members["e"],
        members["f"].func,
        members["g"].__wrapped__,
        members["h"].func,
    ):
        assert is_converted(function)
    assert not is_converted(members["raw"])
    kinds = Kinds()
    results = kinds.a, kinds.b, kinds.c(0), kinds.d(), kinds.f(), kinds.g(), kinds.h(0)
    assert results == (1, 1, 2, 1, 3, 1, 2)


# --- the choice of callees ------------------------------------------------------------


def helper(x):
    return sys._getframe().f_code is helper.__code__


@autograph.do_not_convert
def marked(x):
    return sys._getframe().f_code is marked.__code__


def calls_helper():
    return helper(1), autograph.unconverted(helper)(1), marked(1)


def test_one_call_is_left_unconverted() -> None:
    assert autograph.convert(calls_helper)() == (False, True, True)
    assert autograph.unconverted(autograph.convert(calls_helper))() == (True,) * 3


def test_what_was_converted_in_place_can_be_called_as_it_was() -> None:
    sign = fresh()
    code = sign.__code__
    autograph.convert_in_place(sign)
    written = autograph.ownership.as_written(sign)

    assert written.__code__ is code
    assert autograph.unconverted(sign)(-3, low=-2) == written(-3, low=-2) == -2


def test_a_marked_class_is_left_alone() -> None:
    @autograph.do_not_convert
    class Marked:
        def __init__(self, x):
            self.code = sys._getframe().f_code

        def method(self):
            return sys._getframe().f_code

        @property
        def item(self):
            return 1 if self else 0

    marked = autograph.convert(make)(Marked, 1)
    method = autograph.convert(lambda thing: thing.method())(marked)

    assert marked.code is Marked.__init__.__code__
    assert method is Marked.method.__code__
    assert rule_for(vars(Marked)["item"].fget) is Rule.MARKED


def test_excluded_modules_are_called_as_they_are() -> None:
    excluded = autograph.convert(calls_helper, exclude=[__name__])

    assert excluded() == (True, True, True)
    assert autograph.convert(calls_helper)() == (False, True, True)
    assert autograph.convert(calls_helper, exclude=[__name__]) is excluded
    assert "ag.call(helper)" not in autograph.to_code(calls_helper, exclude=[__name__])


def hue(red):
    return colorsys.rgb_to_hsv(red, 0, 0)[0], colorsys.hsv_to_rgb


def test_included_modules_are_converted() -> None:
    included = autograph.convert(hue, include=["colorsys"])

    assert included(1) == (0.0, colorsys.hsv_to_rgb)
    assert "ag.call(colorsys.rgb_to_hsv)" in autograph.to_code(
        hue, include=["colorsys"]
    )
    assert "ag.call" not in autograph.to_code(hue)
    rules = {c.name: c.rule for c in included.converted_callees()}
    assert rules["rgb_to_hsv"] is Rule.INCLUDED


def calls_inner():
    def inner():
        return helper(1)

    return inner()


def test_callees_inherit_the_patterns() -> None:
    assert autograph.convert(lambda: calls_inner(), exclude=["nothing"])() is False
    pattern = f"{__name__.rpartition('.')[0]}.*" if "." in __name__ else __name__
    assert autograph.convert(lambda: calls_inner(), exclude=[pattern])() is True


@pytest.mark.parametrize("bad", [[1], [None], [b"a"]])
def test_patterns_are_strings(bad) -> None:
    with pytest.raises(TypeError, match="patterns of module names"):
        autograph.convert(hue, include=bad)


def test_libraries_that_registered_are_never_included() -> None:
    options = ConversionOptions(include=("*",))

    assert rule_for(autograph.convert, options) is Rule.REGISTERED
    assert rule_for(statistics.median, options) is Rule.INCLUDED
    assert rule_for(len, options) is Rule.BUILTIN
    assert rule_for(helper, ConversionOptions(exclude=("*",))) is Rule.EXCLUDED


# --- converted_callees ----------------------------------------------------------------


class Box:
    def __init__(self, x):
        self.x = absolute(x)

    def size(self):
        return self.half() + super().__hash__()

    def half(self):
        return json.dumps(self.x)


def absolute(x):
    return x if x > 0 else -x


@functools.lru_cache
def cached(x):
    return marked(absolute(x))


def calls_all(x, function):
    def local(v):
        return absolute(v)

    box = Box(x)
    return local(x), box.size(), cached(x), function(x), len([x]), Box.half(box)


def test_callees_are_listed_with_their_rules() -> None:
    found = {c.name: c for c in autograph.convert(calls_all).converted_callees()}

    rules = {name: callee.rule for name, callee in found.items()}
    assert rules == {
        "Box": Rule.OWN,
        "Box.half": Rule.OWN,
        "absolute": Rule.OWN,
        "cached": Rule.OWN,
        "box.size": Rule.UNKNOWN,
        "function": Rule.UNKNOWN,
        "len": Rule.BUILTIN,
        "marked": Rule.MARKED,
        "dumps": Rule.LIBRARY,
    }
    line = inspect.getsourcelines(absolute)[1]
    assert (found["absolute"].filename, found["absolute"].line) == (__file__, line)


def test_callees_are_readable_and_json() -> None:
    callees = autograph.convert(calls_all).converted_callees()
    converted, skipped = callees.converted, callees.skipped
    line = inspect.getsourcelines(absolute)[1]

    assert f"converted  absolute ({__name__}:{line}): your own code" in str(callees)
    assert "skipped    len (builtins): builtin" in str(callees)
    assert "unknown    box.size: decided when it is called" in str(callees)
    assert (len(converted), len(skipped), len(callees)) == (4, 3, 9)
    records = json.loads(callees.to_json())
    assert [r["name"] for r in records if r["converted"]] == [c.name for c in converted]
    assert {r["rule"] for r in records} >= {"own", "marked", "builtin", "unknown"}


def test_callees_of_methods() -> None:
    method = autograph.convert(Box(1).size)
    rules = {c.name: c.rule for c in method.converted_callees()}

    assert rules["Box.half"] is Rule.OWN
    assert rules["object.__hash__"] is Rule.C_CODE


def test_callees_without_source_or_from_converted_modules() -> None:
    namespace = {"__name__": __name__}
    exec("def generated(x): return x", namespace)
    generated = namespace["generated"]
    module: ModuleType = autograph.import_module("heapq")
    from_module = module.nsmallest
    rules = {
        c.name: c.rule
        for c in autograph.convert(
            lambda x: from_module(1, [generated(x)])
        ).converted_callees()
    }

    assert rules["generated"] is Rule.NO_SOURCE
    assert rules["nsmallest"] is Rule.LIBRARY
