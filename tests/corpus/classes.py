"""Objects: attributes, methods, properties, operators, inheritance."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

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
