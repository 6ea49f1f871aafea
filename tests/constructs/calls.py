"""Functions that are called, and what they are."""

from __future__ import annotations

import functools

from tests.support import construct


def clip(x, low=0, *, high=10):
    if x < low:
        return low
    if x > high:
        return high
    return x


@construct("function", (5,), (-5,), (50,))
def calls_function(x):
    return clip(x) + clip(x, 2) + clip(x, high=7)


@construct("`*args`, `**kwargs`", (5,), (50,))
def calls_with_stars(x):
    args, kwargs = (x, 1), {"high": 8}
    return clip(*args, **kwargs)


class Account:
    count = 0
    limit = 3

    def __init__(self, balance):
        if balance < 0:
            balance = 0
        self.balance = balance
        self.__secret = 7

    def deposit(self, amount):
        if amount > 0:
            self.balance = self.balance + amount
        return self.balance

    def __key(self):
        return self.__secret

    def key(self):
        if self.balance > 3:
            return self.__key()
        return 0

    @property
    def status(self):
        if self.balance > 3:
            return 1
        return 0

    @classmethod
    def of(cls, x):
        if x > cls.limit:
            x = cls.limit
        return cls(x)

    @staticmethod
    def fee(x):
        return 1 if x > 3 else 0

    def __add__(self, other):
        if other > 0:
            return Account(self.balance + other)
        return self

    def __getitem__(self, i):
        if i > 0:
            return self.balance
        return -self.balance

    def __call__(self, x):
        if x > 0:
            return x
        return self.balance


class Saving(Account):
    def deposit(self, amount):
        if amount > 3:
            amount = amount * 2
        return super().deposit(amount)


@construct("constructor", (5,), (-5,))
def constructor(x):
    return Account(x).balance


@construct("method", (5,), (-5,))
def method(x):
    account = Account(1)
    account.deposit(x)
    return account.balance


@construct("class and static method", (5,), (-5,))
def class_methods(x):
    return Account.of(x).balance + Account.fee(x)


@construct("property", (5,), (-5,))
def reads_property(x):
    return Account(x).status


@construct("operator methods", (5,), (-5,))
def operators(x):
    account = Account(2) + x
    return account.balance + account[x]


@construct("callable object", (5,), (-5,))
def callable_object(x):
    return Account(9)(x)


@construct("`super()` without arguments", (5,), (-5,))
def uses_super(x):
    return Saving(1).deposit(x)


@construct("`__private` names", (5,), (-5,))
def private(x):
    return Account(x).key()


@construct("`functools.partial`", (5,), (-5,))
def partial(x):
    return functools.partial(clip, low=1)(x)


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        if x > 3:
            return function(x) * 2
        return function(x)

    return wrapper


@doubled
def decorated(x):
    if x < 0:
        return -x
    return x


@construct("decorated function", (5,), (-5,))
def calls_decorated(x):
    return decorated(x)


@functools.lru_cache
def cached(x):
    if x > 3:
        return 3
    return x


@construct("`functools.lru_cache`", (5,), (-5,))
def calls_cached(x):
    return cached(x)


@construct("lambda", (5,), (-5,))
def calls_lambda(x):
    f, g = (lambda v: v if v > 0 else 0), (lambda v: v if v < 0 else 0)
    return f(x) * 10 + g(x)


@construct("function given to `functools.reduce`", ([3, 1, 4],))
def reduced(xs):
    a, b, c = xs
    return functools.reduce(lambda p, q: p if p > q else q, [a, b, c])


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@construct("recursion", (5,), (0,))
def recursion(n):
    return factorial(n)


def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@construct("mutual recursion", (4,), (7,))
def mutual_recursion(n):
    return is_even(n)


@construct("`locals()`, where no tensor decides", (5,))
def uses_locals(x):
    y = x + 1
    return sorted(locals())


@construct("`locals()`, where a tensor decides", (5,), (-5,))
def decides_beside_locals(x):
    if x > 0:
        x = x + 1
    return x, len(locals())


@construct("`eval`, `exec`, where a tensor decides", (5,), (-5,))
def decides_beside_eval(x):
    if x > 0:
        return eval("x + 1")
    return x


@construct("`locals()` in a function that is called, and decides nothing", (5,), (-5,))
def calls_one_with_locals(x):
    if x > 0:
        x = uses_locals(x)
        return len(x)
    return 0


def numbers(limit):
    for i in range(3):
        yield i + limit


def positive_numbers(limit):
    for i in range(-2, 3):
        if i + limit > 0:
            yield i + limit


def numbers_up_to(limit):
    for i in range(limit):
        yield i


def counted(limit):
    count = 0
    if limit > 3:
        count = limit
    yield count
    yield limit


@construct("generator function, where no tensor decides", (5,), (-5,))
def uses_generator(x):
    total = 0
    for number in numbers(x):
        total += number
    if total > 3:
        return total
    return 0


@construct("generator function, where a tensor decides about `yield`", (1,), (-5,))
def uses_deciding_generator(x):
    total = 0
    for number in positive_numbers(x):
        total += number
    return total


@construct("generator function, where a tensor decides how often", (3,), (0,))
def uses_generator_of_tensor(x):
    total = 0
    for number in numbers_up_to(x):
        total += number
    return total


@construct("generator function, where a tensor decides beside `yield`", (5,), (-5,))
def uses_generator_that_decides_beside(x):
    total = 0
    for number in counted(x):
        total += number
    return total

