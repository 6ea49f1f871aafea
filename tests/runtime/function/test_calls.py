"""Whatever way a function is called, a tensor in it decides as a number does.

Each program runs as it is, converted, on tensors outside of a graph, and staged. Calls
that the text does not show (properties, operators, callbacks of libraries) count too.
"""

from __future__ import annotations

import functools
import itertools
import operator
from abc import ABC, abstractmethod
from collections import UserDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import autograph
import runtime as tf

PROGRAMS: list[Callable[..., Any]] = []
VALUES = [-7, -3, 0, 2, 3, 11]


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(function)
    return function


def plain(value: Any) -> Any:
    """The result with numbers in place of tensors."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "item"):
        value = value.item()
    return value.decode() if isinstance(value, bytes) else value


# --- constructors ---------------------------------------------------------------------


class Clipped:
    __slots__ = ("x",)

    def __init__(self, x, limit=5):
        if x > limit:
            x = limit
        self.x = x


class Shrunk(Clipped):
    def __init__(self, x):
        if x > 1:
            x = x - 1
        super().__init__(x, limit=8)


@program
def initializer(x):
    return Clipped(x).x, Clipped(limit=2, x=x).x, type(Clipped(x)) is Clipped


@program
def inherited_initializer(x):
    shrunk = Shrunk(x)
    return shrunk.x, isinstance(shrunk, Clipped)


@dataclass
class Range:
    low: Any
    high: Any = 4
    seen: list = field(default_factory=list)

    def __post_init__(self):
        if self.low > self.high:
            self.low, self.high = self.high, self.low


@dataclass(frozen=True)
class Frozen:
    x: Any

    def __post_init__(self):
        object.__setattr__(self, "size", self.x if self.x > 0 else -self.x)


@program
def dataclasses(x):
    both = Range(x)
    return both.low, both.high, both.seen, Frozen(x).size, Range(x, 1).low


class Cached:
    known: dict[str, Any] = {}

    def __new__(cls, name, x):
        found = cls.known.get(name)
        if found is None:
            found = super().__new__(cls)
        return found

    def __init__(self, name, x):
        self.x = x if x > 0 else -x


@program
def constructor_with_new(x):
    return Cached("a", x).x


class Other:
    def __new__(cls, x):
        if cls is Other:
            return x
        return super().__new__(cls)

    def __init__(self, x):
        raise AssertionError("not an instance of Other")


@program
def constructor_of_something_else(x):
    return Other(x)


class Doubling(type):
    def __call__(cls, x):
        made = super().__call__(x)
        if made.x > 4:
            made.x = made.x * 2
        return made


class Doubled(metaclass=Doubling):
    def __init__(self, x):
        self.x = x if x > 0 else 0


class Shape(ABC):
    @abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, x):
        if x < 0:
            x = -x
        self.x = x

    def area(self):
        return self.x * self.x if self.x > 2 else self.x


@program
def metaclasses(x):
    return Doubled(x).x, Square(x).area()


Pair = namedtuple("Pair", "a b")


class Sorted(Pair):
    def __new__(cls, a, b):
        low, high = (a, b) if a < b else (b, a)
        return super().__new__(cls, low, high)


@program
def named_tuples(x):
    pair = Sorted(x, 1)
    return pair.a, pair.b, Pair(x, 2)


# --- members that Python calls --------------------------------------------------------


class Weight:
    def __init__(self, x):
        self.x = x
        self.reads = 0

    @property
    def size(self):
        if self.x > 0:
            return self.x
        return -self.x

    @size.setter
    def size(self, value):
        self.x = value if value > 1 else 1

    @functools.cached_property
    def cached(self):
        return self.x * 2 if self.x > 0 else 0

    def __add__(self, other):
        if other > 2:
            result = self.x + other
        else:
            result = self.x - other
        return Weight(result)

    def __radd__(self, other):
        return self.x if self.x > other else other

    def __neg__(self):
        return -self.x if self.x > 0 else self.x

    def __iadd__(self, other):
        if other > 0:
            self.x = self.x + other
        return self

    def __lt__(self, other):
        return self.x < other if self.x > 0 else other > 0

    def __eq__(self, other):
        return self.x == other if other > 0 else other == 0

    __hash__ = None

    def __getitem__(self, index):
        if self.x > index:
            return self.x
        return index

    def __setitem__(self, index, value):
        self.x = value if index == 0 or value > 3 else self.x

    def __call__(self, y):
        return y if y > self.x else self.x

    def __enter__(self):
        if self.x > 3:
            self.x = self.x - 3
        return self

    def __exit__(self, *exc_info):
        self.x = self.x + 1 if self.x > 0 else 0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.x + 1 if self.x > 0 else self.x - 1

    def __iter__(self):
        first = self.x if self.x > 0 else 0
        return iter([first, 1])

    def __abs__(self):
        return self.x if self.x > 0 else -self.x


@program
def properties(x):
    weight = Weight(x)
    before = weight.size
    weight.size = x - 1
    return before, weight.x, weight.cached, weight.cached


@program
def operators(x):
    weight = Weight(x)
    total = weight + x
    weight += x
    return total.x, x + Weight(2), -weight, weight.x, weight[2]


@program
def comparisons(x):
    weight = Weight(x)
    smaller, same = weight < 3, weight == x
    return (1 if smaller else 2), (1 if same else 2)


@program
def items_and_attributes(x):
    weight = Weight(x)
    weight[0] = x + 1
    weight[1] = x * 2
    return weight.x, weight.missing, abs(weight)


@program
def callable_object(x):
    return Weight(x)(2), Weight(2)(x)


@program
def context_manager(x):
    with Weight(x) as weight:
        inside = weight.x
    return inside, weight.x


@program
def iteration(x):
    total = 0
    for part in Weight(x):
        total = total + part
    return total, [part * 2 for part in Weight(x)]


class Attribute:
    def __get__(self, instance, owner=None):
        return instance.value if instance.value > 0 else 0

    def __set__(self, instance, value):
        instance.value = value if value < 9 else 9


class Described:
    part = Attribute()


@program
def descriptors(x):
    described = Described()
    described.part = x
    return described.part


class Kinds:
    limit = 4

    def __init__(self, x):
        self.__x = x

    @staticmethod
    def static(x):
        return x if x > 0 else -x

    @classmethod
    def of_class(cls, x):
        return x if x < cls.limit else cls.limit

    def __private(self):
        return self.__x if self.__x > 0 else 1

    def public(self):
        return self.__private() + self.__x

    def times(self, factor, x):
        return x * factor if x > 0 else self.__x

    twice = functools.partialmethod(times, 2)

    @functools.singledispatchmethod
    def show(self, x):
        return x if x > 0 else 0

    @show.register
    def _(self, x: str):
        return x

    @functools.lru_cache(maxsize=4)
    def kept(self, x):
        return x if x > 0 else 5


class Heir(Kinds):
    limit = 2

    def public(self):
        return super().public() + super(Heir, self).of_class(3)  # noqa: UP008


@program
def methods(x):
    kinds = Kinds(x)
    return Kinds.static(x), kinds.static(x), Kinds.of_class(x), kinds.public()


@program
def inherited_methods(x):
    return Heir(x).public(), Heir.of_class(x), Kinds.public(Heir(x))


@program
def methods_of_functools(x):
    kinds = Kinds(x)
    return kinds.twice(x), kinds.show(x), kinds.show("a")


# --- functions ------------------------------------------------------------------------


def absolute(x, /, scale=1, *, offset=0):
    if x > 0:
        return x * scale + offset
    return -x * scale + offset


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        if result > 5:
            result = 5
        return result

    return wrapper


@traced
@traced
def decorated(x):
    return x + 1 if x > 0 else x


calls: list[Any] = []


@functools.lru_cache
def remembered(x):
    calls.append(type(x))
    return x * 3 if x > 0 else x


@functools.singledispatch
def dispatched(x):
    return x if x > 0 else 0


@dispatched.register
def _(x: str):
    return x.upper()


@program
def plain_functions(x):
    shifted = functools.partial(absolute, scale=2)
    arguments, options = [x], {"offset": 1}
    return absolute(x), shifted(x, offset=3), absolute(*arguments, **options)


@program
def functions_of_functools(x):
    return decorated(x), remembered(4), dispatched(x), dispatched("a")


@program
def lambdas(x):
    first, second = (lambda v: v if v > 0 else 0), (lambda v: 1 if v > 3 else v)
    return first(x), second(x), (lambda v, /, *rest: v if v > 1 else rest)(2, x)


@program
def defaults_and_stars(x):
    def collect(first, *rest, last=x if x > 0 else 0, **named):
        total = first
        for value in rest:
            total = total + value if value > 0 else total
        return total + last + named.get("extra", 0)

    return collect(x), collect(1, x, 2), collect(x, last=1, extra=x)


@program
def callbacks_of_libraries(x):
    largest = functools.reduce(lambda a, b: a if a > b else b, [x, 1, 2])
    clipped = list(map(lambda v: v if v < 3 else 3, [x, 5]))
    sums = list(itertools.accumulate([x, 1], lambda a, b: a + b if b > a else a))
    return largest, clipped, sums, list(itertools.starmap(absolute, [(x, 2)]))


@program
def callers_of_operator(x):
    weight = Weight(x)
    return operator.add(weight, x).x, operator.attrgetter("size")(weight)


class Settings(UserDict):
    def __getitem__(self, key):
        value = super().__getitem__(key)
        return value if value > 0 else 0


@program
def class_of_a_library(x):
    settings = Settings({"a": x})
    return settings["a"], settings.get("a")


@program
def generators(x):
    def parts(limit):
        yield limit
        yield 1

    def clipped(v):
        return v if v > 0 else 0

    total = 0
    for part in parts(clipped(x)):
        total = total + part
    return total, list(parts(x)), sum(parts(x))


@program
def decorated_inside(x):
    @traced
    def inner(v):
        return v * 2 if v > 0 else v

    return inner(x)


def test_staged_arguments_are_no_keys_of_a_cache() -> None:
    @tf.function
    def program(x: Any) -> Any:
        return remembered(x), remembered(20), Kinds(x).kept(x)

    calls.clear()
    assert plain(program(tf.constant(2))) == [6, 60, 2]
    assert plain(program(tf.constant(-2))) == [-2, 60, 5]
    assert plain(program(tf.constant(-2.0))) == [-2.0, 60, 5.0]
    assert calls.count(int) == 1


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_calls(function: Callable[..., Any]) -> None:
    expected = [plain(function(value)) for value in VALUES]
    converted = autograph.convert(function)
    staged = tf.function(function)

    assert [plain(converted(value)) for value in VALUES] == expected
    assert [plain(function(tf.constant(value))) for value in VALUES] == expected
    assert [plain(converted(tf.constant(value))) for value in VALUES] == expected
    assert [plain(staged(tf.constant(value))) for value in VALUES] == expected
    assert staged.experimental_get_tracing_count() == 1
    # What was converted in place means the same on Python values.
    assert [plain(function(value)) for value in VALUES] == expected
