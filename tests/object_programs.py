"""Programs of objects that change through methods, properties and helpers.

Each is called with one number, and must give the same in plain Python and staged.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import types


class Best:
    def __init__(self):
        self.best = None
        self.n = 0

    def see(self, x):
        self.n += 1
        if self.best is None or x > self.best:
            self.best = x


def largest(n):
    a = Best()
    for i in range(n):
        a.see(i * 3 % 7)
    return -1 if a.best is None else a.best * 10 + a.n


@dataclasses.dataclass(frozen=True)
class Pair:
    x: int
    y: int


class Stepper:
    def __init__(self):
        self.p = Pair(0, 1)

    def step(self, k):
        self.p = dataclasses.replace(self.p, x=self.p.x + k)


def frozen_dataclass(n):
    q = Stepper()
    old = q.p
    for i in range(n):
        q.step(i)
    if n > 3:
        q.step(100)
    return q.p.x * 10 + old.x


class Base:
    __slots__ = ("__dict__", "a")


class Derived(Base):
    __slots__ = ("b",)

    def go(self, k):
        self.a += k
        self.b = self.b * 2
        self.c += 1


def slotted(n):
    d = Derived()
    d.a = 1
    d.b = 1
    d.c = 0
    while n > 2:
        d.go(n)
        n -= 1
    return d.a * 10000 + d.b * 100 + d.c


def swap_objects(n):
    a, b = Best(), Best()
    a.n = 1
    b.n = 2
    h = types.SimpleNamespace(a=a, b=b)

    def up():
        h.a.n += 10

    if n > 4:
        up()
    h.a, h.b = h.b, h.a
    if n > 5:
        up()
    return a.n * 100 + b.n


def counter(n):
    c = collections.Counter(a=0, b=0)

    def see(k):
        c[k] += 1

    for i in range(n):
        if i % 2 == 0:
            see("a")
        else:
            see("b")
    return c["a"] * 10 + c["b"]


def default_dict(n):
    c = collections.defaultdict(int)
    c["x"]

    def see(k):
        c[k] += 1

    if n > 5:
        see("x")
    return c["x"]


def matrix(n):
    m = [[0] * 3 for _ in range(2)]

    def put(i, j, v):
        m[i][j] = v

    for k in range(n):
        put(0, 1, k)
        put(1, 2, m[0][1] + m[1][2])
    return m[0][1] * 100 + m[1][2]


def closure_counter(n):
    def make():
        c = 0

        def inc():
            nonlocal c
            c += 1
            return c

        return inc

    f, g = make(), make()
    t = 0
    while t < n:
        t += f()
        if t > 5:
            g()
    return f() * 100 + g() * 10 + t


def state_machine(n):
    class M:
        def __init__(self):
            self.state = 0
            self.log = []

        def go(self):
            if self.state == 0:
                self.a()
            elif self.state == 1:
                self.b()
            else:
                self.c()

        def a(self):
            self.state = 1
            self.log.append(1)

        def b(self):
            self.state = 2
            self.log.append(2)

        def c(self):
            self.state = 0
            self.log.append(3)

    m = M()
    for i in range(n):
        m.go()
    return m.state * 1000 + len(m.log) * 10 + (sum(m.log))


def try_inside(n):
    a = Best()

    def up():
        try:
            a.n += 1
        except Exception:
            pass
        finally:
            a.n += 1

    try:
        if n > 4:
            up()
    except BaseException:
        a.n = 99
    return a.n


def with_inside(n):
    a = Best()

    @contextlib.contextmanager
    def scope():
        a.n += 1
        yield
        a.n *= 2

    if n > 4:
        with scope():
            a.n += 3
    return a.n


def property_of_an_object(n):
    class T:
        def __init__(self):
            self._v = 1

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, x):
            self._v = x

        def up(self):
            self.v = self.v + 1

    t = T()
    for i in range(n):
        t.up()
    if n > 3:
        t.v = t.v * 2
    return t.v


def linked(n):
    class Node:
        def __init__(self, v, nxt=None):
            self.v = v
            self.nxt = nxt

    c = Node(3)
    b = Node(2, c)
    a = Node(1, b)

    def bump(node):
        while node is not None:
            node.v += n
            node = node.nxt

    if n > 4:
        bump(a)
    return a.v + b.v * 10 + c.v * 100


def call_counter(n):
    calls = [0]

    def f(x):
        calls[0] = calls[0] + 1
        return x * 2

    if n > 4:
        y = f(n)
    else:
        y = f(f(n))
    return y * 10 + calls[0]


def swapcells(n):
    x, y = 1, 2

    def swap():
        nonlocal x, y
        x, y = y, x

    for i in range(n):
        swap()
    return x * 10 + y


def delete(n):
    o = types.SimpleNamespace(t=1, u=2)

    def drop():
        del o.t

    if n > 4:
        drop()
    else:
        drop()
    return 1 if hasattr(o, "t") else o.u


class Tally:
    def __init__(self):
        self.n = 0
        self.items = []

    def up(self, x):
        self.n += 1
        return x + self.n

    def add(self, x):
        self.items.append(x)
        return x


def comprehension(n):
    m = Tally()
    xs = [m.up(i) for i in range(n)]
    return m.n * 100 + len(xs)


def filtered_comprehension(n):
    m = Tally()
    xs = [i for i in range(n) if m.up(i) % 2 == 0]
    return m.n * 100 + len(xs)


def sum_of_a_generator(n):
    m = Tally()
    s = sum(m.up(i) for i in range(n))
    return m.n * 100 + s


def any_of_generator(n):
    m = Tally()
    s = any(m.up(i) > 3 for i in range(n))
    return m.n * 100 + (1 if s else 0)


def loop_over_map(n):
    m = Tally()
    s = 0
    for y in map(m.up, range(n)):
        s += y
    return m.n * 100 + s


def comprehension_that_appends(n):
    m = Tally()
    [m.add(i) for i in range(n)]
    return len(m.items)


def matched(n):
    m = Tally()
    match n:
        case 3:
            m.up(1)
        case 4 | 5:
            m.up(1)
            m.up(1)
        case _ if m.up(n) > 8:
            m.up(1)
        case _:
            pass
    return m.n


def asserted(n):
    m = Tally()
    assert m.up(n) > 0
    return m.n


def membership(n):
    m = Tally()
    if m.up(n) in [2, 4, 6]:
        m.up(1)
    return m.n


def mixed_operands(n):
    m = Tally()
    y = -1 if n > 3 and (m.up(1) > 0 or m.up(2) > 0) else m.up(3)
    return y * 10 + m.n


def walrus(n):
    m = Tally()
    if (k := m.up(n)) > 4 and n < 8:
        m.up(k)
    return m.n * 10 + k


def loop_over_a_generator(n):
    m = Tally()
    s = 0
    for y in (m.up(i) for i in range(n)):
        s += y
    return m.n * 100 + s


def loop_over_zip_and_map(n):
    m = Tally()
    s = 0
    for a, y in zip(range(n), map(m.up, range(n))):
        s += y * a
    return m.n * 100 + s


def loop_over_enumerate_and_map(n):
    m = Tally()
    s = 0
    for a, y in enumerate(map(lambda x: m.up(x) + 1, range(n))):
        s += y * a
        if s > 20:
            break
    return m.n * 100 + s


PROGRAMS = [
    value for value in list(globals().values()) if isinstance(value, types.FunctionType)
]
