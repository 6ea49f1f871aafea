"""Objects: attributes, methods, properties, operators, inheritance."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property, partialmethod, singledispatchmethod

from tests.corpus_loader import cases

Pair = namedtuple("Pair", "left right")


@dataclass
class Account:
    """Money, with a limit."""

    balance: int = 0
    __limit = 100

    def deposit(self, amount):
        if amount < 0:
            raise ValueError("negative deposit")
        self.balance += amount
        if self.balance > self.__limit:
            self.balance = self.__limit
        return self.balance

    def __clamp(self, value):
        return value if value < self.__limit else self.__limit

    def clamped(self, value):
        if value > 0:
            return self.__clamp(value)
        return 0

    @property
    def is_rich(self):
        return self.balance > 50 or self.balance == self.__limit

    @classmethod
    def opened(cls, amount):
        account = cls()
        if amount:
            account.deposit(amount)
        return account

    @staticmethod
    def fee(amount):
        return 1 if amount < 10 else 2


class Base:
    """The class at the root."""

    def __init__(self, x):
        if x < 0:
            x = 0
        self.x = x

    def describe(self, deep):
        if deep:
            return f"base {self.x}"
        return "base"


class Derived(Base):
    """One that extends its methods."""

    def __init__(self, x):
        if x > 10:
            super().__init__(10)
        else:
            super().__init__(x)
        self.extra = x

    def describe(self, deep):
        if deep:
            return "derived " + super().describe(self.x > 1)
        return super().describe(deep)


class Vector:
    """A number that is not a number."""

    def __init__(self, *parts):
        self.parts = list(parts)

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(*[a + b for a, b in zip(self.parts, other.parts)])

    def __getitem__(self, index):
        if index >= len(self.parts):
            raise IndexError(index)
        return self.parts[index]

    def __len__(self):
        return len(self.parts)

    def __bool__(self):
        return any(self.parts)

    def __eq__(self, other):
        return isinstance(other, Vector) and self.parts == other.parts

    def __call__(self, factor):
        if factor == 0:
            return Vector()
        return Vector(*[part * factor for part in self.parts])


@cases((5,), (500,), (-5,))
def call_method(amount):
    account = Account()
    account.deposit(amount)
    return account.balance


@cases((60,), (10,))
def read_property(amount):
    account = Account(amount)
    if account.is_rich:
        return "rich"
    return "poor"


@cases((0,), (20,), (200,))
def class_and_static_methods(amount):
    account = Account.opened(amount)
    return account.balance, Account.fee(amount), account.fee(amount + 5)


@cases((5,), (500,), (-1,))
def private_names(value):
    return Account().clamped(value)


@cases((3,), (30,), (-3,))
def inheritance(x):
    thing = Derived(x)
    return thing.describe(True), thing.describe(False), thing.extra


@cases((3,), (0,))
def operators_of_class(n):
    left = Vector(n, 1)
    total = left + Vector(1, 2)
    if left and total[0] > 2:
        return total.parts, len(total)
    return total == left


@cases((3,), (0,))
def iterate_object(n):
    out = []
    for part in Vector(n, n + 1, n + 2):
        if part % 2:
            out.append(part)
    return out


@cases((3,), (0,))
def callable_object(n):
    scale = Vector(1, 2)
    return scale(n).parts


@cases((5,), (0,))
def attribute_state(n):
    account = Account()
    for i in range(n):
        if i % 2:
            account.balance += i
        else:
            account.balance -= 1
    return account.balance


@cases((5,), (-5,))
def attribute_in_branch(x):
    account = Account(10)
    if x > 0:
        account.balance = x
        account.note = "set"
    return account.balance, hasattr(account, "note")


@cases((5,), (-5,))
def attribute_changed_by_method(x):
    account = Account()
    if x > 0:
        account.deposit(x)
    return account.balance


@cases((3,), (1,))
def aliases(n):
    account = Account()
    same = account
    for i in range(n):
        same.balance += i
    return account.balance, same is account


@cases((3,), (-3,))
def namedtuple_state(x):
    pair = Pair(0, x)
    if x > 0:
        pair = pair._replace(left=x)
    else:
        pair = Pair(*pair[::-1])
    return pair


@cases((4,), (0,))
def namedtuple_in_loop(n):
    pair = Pair(0, 1)
    while pair.left < n:
        pair = Pair(pair.left + 1, pair.right * 2)
    return pair.right


@cases((2,), (-2,))
def delete_attribute(x):
    account = Account(x)
    if x > 0:
        del account.balance
    return account.balance


@cases((3,), (0,))
def nested_attributes(n):
    class Node:
        def __init__(self, following):
            self.following = following
            self.value = 0

    node = Node(Node(None))
    for i in range(n):
        node.following.value += i
        if node.following.following is None:
            node.value = i
    return node.value, node.following.value


@cases((3,), (0,))
def linked_list(n):
    head = None
    for i in range(n):
        head = (i, head)
    total = 0
    while head is not None:
        value, head = head
        if value != 1:
            total += value
    return total


class Registered(type):
    """A metaclass that counts instances and limits what they hold."""

    def __call__(cls, x):
        made = super().__call__(x)
        if made.x > 10:
            made.x = 10
        return made


class Limited(metaclass=Registered):
    """Made by its metaclass."""

    def __init__(self, x):
        self.x = x if x > 0 else 0


@cases((5,), (50,), (-5,))
def made_by_a_metaclass(x):
    limited = Limited(x)
    return limited.x, type(limited) is Limited


class Digit(int):
    """A number that is limited when it is made."""

    def __new__(cls, value):
        if value > 9:
            value = 9
        return super().__new__(cls, value)

    def __add__(self, other):
        return Digit(super().__add__(other)) if other > 0 else self


@cases((5,), (50,))
def constructor_with_new(x):
    digit = Digit(x)
    return digit, digit + 3, digit + -1, type(digit + 3) is Digit


@dataclass
class Interval:
    """Two numbers in order, from a generated ``__init__``."""

    low: int
    high: int = 3

    def __post_init__(self):
        if self.low > self.high:
            self.low, self.high = self.high, self.low

    def __contains__(self, x):
        return self.low <= x and x <= self.high

    def __len__(self):
        return self.high - self.low if self.high > self.low else 0

    def __iter__(self):
        for number in range(self.low, self.high):
            if number % 2:
                yield number


@cases((5,), (1,), (3,))
def dataclass_with_post_init(x):
    interval = Interval(x)
    return interval, 4 in interval, 9 not in interval, len(interval), list(interval)


@cases((5,), (3,))
def objects_that_decide(x):
    interval = Interval(x)
    if interval:
        kind = "long"
    else:
        kind = "empty"
    return kind, not interval, bool(interval), "a" if interval else "b"


class Managed:
    """A context manager that may swallow what is raised in it."""

    def __init__(self, x):
        self.x = x
        self.log = []

    def __enter__(self):
        if self.x > 2:
            self.log.append("large")
        return self.log

    def __exit__(self, kind, error, traceback):
        if kind is not None and self.x > 2:
            self.log.append(kind.__name__)
            return True
        return False


@cases((3,), (1,))
def context_manager_that_swallows(x):
    managed = Managed(x)
    try:
        with managed as log:
            log.append("in")
            if x > 0:
                raise KeyError(x)
    except KeyError:
        managed.log.append("out")
    return managed.log


class Converted:
    """Descriptors of several kinds."""

    def __init__(self, x):
        self._x = x

    @property
    def x(self):
        return self._x if self._x > 0 else 0

    @x.setter
    def x(self, value):
        if value > 5:
            value = 5
        self._x = value

    @x.deleter
    def x(self):
        self._x = -1 if self._x else -2

    @cached_property
    def double(self):
        return self.x * 2 if self.x else None

    def shifted(self, by, x):
        return x + by if x > 0 else x - by

    up = partialmethod(shifted, 1)

    @singledispatchmethod
    def show(self, value):
        return "positive" if value > 0 else "other"

    @show.register
    def _(self, value: str):
        return value if value else "empty"


@cases((9,), (-9,), (0,))
def descriptors(x):
    converted = Converted(x)
    before = converted.x, converted.double, converted.double
    converted.x = x + 1
    middle = converted.x, converted.up(x), converted.show(x), converted.show("")
    del converted.x
    return before, middle, converted._x


class Node:
    """Attributes that are computed."""

    def __getattr__(self, name):
        if name.startswith("missing"):
            raise AttributeError(name)
        return len(name)

    def __setattr__(self, name, value):
        if value is not None:
            super().__setattr__(name, value)

    def __reversed__(self):
        return iter([1, 2]) if self.abc > 2 else iter([])

    def __missing__(self, key):
        return key


@cases((3,), (None,))
def computed_attributes(x):
    node = Node()
    node.own = x
    return node.own, node.other, hasattr(node, "missing"), list(reversed(node))


@cases((1,), (0,))
def constructor_errors(x):
    out = []
    for args in ((), (1, 2), (x,), ("text",)):
        try:
            out.append(Base(*args).x)
        except TypeError as error:
            out.append(str(error))
    return out
