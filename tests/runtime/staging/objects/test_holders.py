"""A list that a branch changes, wherever it is held: as in Python, or refused."""

from __future__ import annotations

import argparse
import collections
import contextvars
import dataclasses
import enum
import functools
import itertools
import random
import threading
import types
import weakref
from unittest import mock

import networkx
import numpy as np
import pytest

import runtime as tf
from autograph import AutographError
from runtime.core.errors import TracingError
from tests.turns import by_turns

pytestmark = pytest.mark.filterwarnings("ignore::runtime.core.errors.TracingWarning")


class Plain:
    def __init__(self, held):
        self.held = held


class Slotted:
    __slots__ = ("__weakref__", "held")

    def __init__(self, held):
        self.held = held


class Failure(ValueError):
    pass


class Descriptor:
    def __init__(self, held):
        self.held = held

    def __get__(self, instance, owner):
        return self.held


NAMELESS: dict[str, type] = {}
exec(
    "class Plain:\n"
    "    def __init__(self, held):\n"
    "        self.held = held\n"
    "class Holding:\n"
    "    def get(self):\n"
    "        return HELD[0]\n",
    NAMELESS,
)
Record = dataclasses.make_dataclass("Record", [("held", list)])
Pair = collections.namedtuple("Pair", "held other")


def with_referent(make, held):
    """A weak reference, and what keeps its object alive."""
    kept = Plain(held)
    return make(kept), kept


def in_array(held):
    array = np.empty(1, object)
    array[0] = held
    return array


def in_graph(held):
    graph = networkx.Graph()
    graph.add_node(1, held=held)
    graph.add_edge(1, 2, held=held)
    return graph


def in_cache(held):
    @functools.lru_cache(maxsize=3)
    def cached(key):
        return held

    cached(0)
    return cached


def in_singledispatch(held):
    @functools.singledispatch
    def get(*keys):
        return held

    return get


def of_global(held):
    namespace = {**NAMELESS, "HELD": [held]}
    exec("class Holding:\n    def get(self):\n        return HELD[0]\n", namespace)
    return namespace["Holding"]()


def of_class(held, make):
    return make("Made", (), {"held": held})()


def of_generator(held):
    def items():
        while True:
            yield held

    return items()


def of_enum(held):
    return enum.Enum("Held", {"ONE": Plain(held)})


def of_thread(held):
    found = threading.local()
    found.held = held
    return found


#: What holds a list, and how the list is had from it.
HOLDERS = {
    "namespace": (lambda x: argparse.Namespace(held=x), lambda o: o.held),
    "make_dataclass": (Record, lambda o: o.held),
    "exec": (lambda x: NAMELESS["Plain"](x), lambda o: o.held),
    "method of exec": (of_global, lambda o: o.get()),
    "new_class": (
        lambda x: types.new_class("Made", (), {}, lambda d: d.update(held=x))(),
        lambda o: o.held,
    ),
    "error": (ValueError, lambda o: o.args[0]),
    "attribute of an error": (
        lambda x: setattr(e := Failure(1), "held", x) or e,
        lambda o: o.held,
    ),
    "error of a class": (Failure, lambda o: o.args[0]),
    "mappingproxy": (lambda x: types.MappingProxyType({"a": x}), lambda o: o["a"]),
    "SimpleNamespace": (lambda x: types.SimpleNamespace(held=x), lambda o: o.held),
    "OrderedDict": (lambda x: collections.OrderedDict(a=x), lambda o: o["a"]),
    "Counter": (lambda x: collections.Counter({"a": x}), lambda o: o["a"]),
    "defaultdict": (lambda x: collections.defaultdict(list, a=x), lambda o: o["a"]),
    "factory": (
        lambda x: collections.defaultdict(lambda: x),
        lambda o: o.default_factory(),
    ),
    "key": (lambda x: {Plain(x): 1}, lambda o: next(iter(o)).held),
    "UserDict": (lambda x: collections.UserDict(a=x), lambda o: o["a"]),
    "UserList": (lambda x: collections.UserList([x]), lambda o: o[0]),
    "ChainMap": (lambda x: collections.ChainMap({"a": x}), lambda o: o["a"]),
    "deque": (lambda x: collections.deque([x]), lambda o: o[0]),
    "namedtuple": (lambda x: Pair(x, 0), lambda o: o.held),
    "frozenset": (lambda x: frozenset([Plain(x)]), lambda o: next(iter(o)).held),
    "partial": (lambda x: functools.partial(print, x), lambda o: o.args[0]),
    "keywords": (lambda x: functools.partial(dict, a=x), lambda o: o.keywords["a"]),
    "partialmethod": (lambda x: functools.partialmethod(len, x), lambda o: o.args[0]),
    "method": (lambda x: x.__repr__, lambda o: o.__self__),
    "iterator": (lambda x: iter([x]), lambda o: o.__reduce__()[1][0][0]),
    "slice": (lambda x: slice(x), lambda o: o.stop),
    "repeat": (itertools.repeat, next),
    "generator": (of_generator, next),
    "view": (lambda x: {"a": x}.values(), lambda o: next(iter(o))),
    "context variable": (
        lambda x: contextvars.ContextVar("variable", default=x),
        lambda o: o.get(),
    ),
    "weak reference": (
        lambda x: with_referent(weakref.ref, x),
        lambda o: o[0]().held,
    ),
    "weak proxy": (lambda x: with_referent(weakref.proxy, x), lambda o: o[0].held),
    "weak dict": (
        lambda x: (weakref.WeakValueDictionary({0: (kept := Plain(x))}), kept),
        lambda o: o[0][0].held,
    ),
    "lambda in a dict": (lambda x: {"get": lambda: x}, lambda o: o["get"]()),
    "class": (lambda x: of_class(x, type), lambda o: o.held),
    "descriptor": (lambda x: of_class(Descriptor(x), type), lambda o: o.held),
    "slots": (Slotted, lambda o: o.held),
    "enum": (of_enum, lambda o: o.ONE.value.held),
    "mock": (lambda x: mock.Mock(held=x), lambda o: o.held),
    "magic mock": (lambda x: mock.MagicMock(held=x), lambda o: o.held),
    "lru_cache": (in_cache, lambda o: o(0)),
    "singledispatch": (in_singledispatch, lambda o: o(0)),
    "array of objects": (in_array, lambda o: o[0]),
    "graph": (lambda x: networkx.Graph(held=x), lambda o: o.graph["held"]),
    "node": (in_graph, lambda o: o.nodes[1]["held"]),
    "edge": (in_graph, lambda o: o.edges[1, 2]["held"]),
    "thread": (of_thread, lambda o: o.held),
}
#: Ways to change a list; the first keep its length.
CHANGES = {
    "item": lambda x: x.__setitem__(0, 7),
    "reverse": lambda x: x.reverse(),
    "inner": lambda x: x[2].__setitem__(0, 8),
    "append": lambda x: x.append(4),
    "extend": lambda x: x.extend([5, 6]),
    "insert": lambda x: x.insert(0, 3),
    "pop": lambda x: x.pop(),
    "clear": lambda x: x.clear(),
    "slice": lambda x: x.__setitem__(slice(0, 1), [1, 2]),
}
#: What holds the list in what Python cannot change refuses it another length, and to
#: ask a generator for it advances that.
REFUSED = {"append": "AG210", "generator": "AG207"}


def plain(value):
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf, value
    )


def outcome(program, n):
    """What a call of a program gives, or the code of its error."""
    try:
        return plain(program(n))
    except (AutographError, TracingError) as error:
        return error.code


def branch(holders, change):
    """A program that changes what some holders, each within the last, hold."""

    def make():
        held = [1, 2, [3]] if change in ("inner", "reverse") else [1, 2]
        outer = held
        for make, _ in holders:
            outer = make(outer)
        getters = [get for _, get in reversed(holders)]

        def found():
            value = outer
            for get in getters:
                value = get(value)
            return value

        def program(n):
            if n > 0:
                CHANGES[change](found())
            return list(found())

        return program

    return make


@pytest.mark.parametrize("change", ["item", "append"])
@pytest.mark.parametrize("name", HOLDERS)
def test_a_branch_changes_a_list_as_in_python(name, change):
    make = branch([HOLDERS[name]], change)
    for n in (1, -1):
        found = outcome(tf.function(make()), tf.constant(n))
        if found not in (REFUSED.get(name), REFUSED.get(change)):
            assert found == make()(n)


@pytest.mark.parametrize("seed", by_turns(range(200)))
def test_what_holds_what_holds_a_list(seed):
    rng = random.Random(seed)
    names = rng.choices(list(HOLDERS), k=rng.randint(1, 3))
    change = rng.choice(list(CHANGES))
    make = branch([HOLDERS[name] for name in names], change)
    for n in (1, -1):
        found = outcome(tf.function(make()), tf.constant(n))
        if not str(found).startswith("AG2"):
            assert found == make()(n), (names, change)


#: Other things that can be changed: made, changed, and read.
OTHERS = {
    "key": (lambda: {"a": 1}, lambda x: x.update(a=2), lambda x: x["a"]),
    "new key": (lambda: {"a": 1}, lambda x: x.update(b=2), len),
    "set": (lambda: {1}, lambda x: x.add(5), len),
    "deque": (lambda: collections.deque([1]), lambda x: x.append(5), len),
    "attribute": (lambda: Plain(1), lambda x: setattr(x, "held", 3), lambda x: x.held),
    "slot": (lambda: Slotted(1), lambda x: setattr(x, "held", 3), lambda x: x.held),
    "array": (lambda: np.zeros(2), lambda x: x.fill(3), lambda x: float(x[0])),
    "bytearray": (lambda: bytearray(b"a"), lambda x: x.append(3), len),
    "count": (
        lambda: collections.Counter(a=1),
        lambda x: x.update("a"),
        lambda x: x["a"],
    ),
    "order": (
        lambda: collections.OrderedDict(a=1, b=2),
        lambda x: x.move_to_end("a"),
        list,
    ),
}


@pytest.mark.parametrize("what", OTHERS)
@pytest.mark.parametrize("name", by_turns(sorted(HOLDERS.keys() - {"method"})))
def test_what_holds_something_else(name, what):
    hold, get = HOLDERS[name]
    begin, change, read = OTHERS[what]

    def make():
        holder = hold(begin())

        def program(n):
            if n > 0:
                change(get(holder))
            return read(get(holder))

        return program

    for n in (1, -1):
        try:
            expected = make()(n)
        except TypeError:  # it cannot be held there
            return
        found = outcome(tf.function(make()), tf.constant(n))
        if not str(found).startswith("AG2"):
            assert found == expected
