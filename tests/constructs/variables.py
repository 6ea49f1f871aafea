"""Variables, closures and objects that a tensor-decided statement changes."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

from tests.support import construct

TOTAL = 0
Pair = namedtuple("Pair", "a b")


@construct("`nonlocal` written in a branch", (5,), (-5,))
def nonlocal_in_branch(x):
    count = 0

    def bump():
        nonlocal count
        if x > 0:
            count = x

    bump()
    return count


@construct("`nonlocal` written by a helper in a loop", (5,), (0,))
def nonlocal_by_helper(n):
    count = 0

    def bump(by):
        nonlocal count
        count += by

    for i in range(n):
        bump(i)
    return count


@construct("`global` written in a branch", (5,), (-5,))
def global_in_branch(x):
    global TOTAL
    TOTAL = 1
    if x > 0:
        TOTAL = x
    result = TOTAL
    TOTAL = 0
    return result


def add_to_total(x):
    global TOTAL
    TOTAL = TOTAL + x


@construct("`global` written by a helper in a loop", (5,), (0,))
def global_by_helper(n):
    global TOTAL
    TOTAL = 0
    for i in range(n):
        add_to_total(i)
    result = TOTAL
    TOTAL = 0
    return result


@construct("free variables", (5,), (-5,))
def free_variable(x):
    limit = 3

    def over():
        return x > limit

    if over():
        limit = x
    return limit


@construct("function that captures the loop variable", (4,), (3,))
def late_binding(x):
    functions = []
    for i in range(3):
        functions.append(lambda: i * x)
    if x > 3:
        i = 10
    return functions[0]()


@construct("nested function", (5,), (-5,))
def nested_function(x):
    def clip(v):
        if v > 3:
            return 3
        return v

    return clip(x) + clip(x - 4)


@construct("`del` in a branch", (5,), (-5,))
def deleted(x):
    y = 1
    if x > 0:
        del y
        y = 2
    return y


@construct("`del` in a branch, read afterwards", (5,), (-5,))
def deleted_and_read(x):
    y = 1
    if x > 0:
        del y
    return y


@construct("annotated assignment", (5,), (-5,))
def annotated(x):
    y: int = 0
    if x > 0:
        z: int = x
        y = z
    return y


@construct("augmented assignment", (5,), (-5,))
def augmented(x):
    y = 10
    if x > 0:
        y += x
        y *= 2
    y -= 1
    return y


@construct("tuple as state", (5,), (0,))
def tuple_state(n):
    pair = (0, 1)
    for _ in range(n):
        pair = (pair[1], pair[0] + pair[1])
    return pair


@construct("named tuple as state", (5,), (0,))
def namedtuple_state(n):
    pair = Pair(0, 1)
    while pair.a < n:
        pair = Pair(pair.a + 1, pair.b * 2)
    return pair.b


@construct("list of fixed length as state", (5,), (0,))
def list_state(n):
    items = [0, 1]
    for i in range(n):
        items[0] = items[0] + i
        items[1] += 2
    return items


@construct("dict as state", (5,), (0,))
def dict_state(n):
    d = {"sum": 0, "count": 0}
    for i in range(n):
        d["sum"] += i
        d["count"] = d["count"] + 1
    return d


@construct("dict whose key is a variable", (5,), (-5,))
def dict_key(x):
    d = {"a": 0}
    key = "a"
    if x > 0:
        d[key] = x
    return d["a"]


@construct("dict that gets a new key in a branch", (5,), (-5,))
def new_key(x):
    d = {}
    if x > 0:
        d["a"] = x
    return len(d)


@dataclass
class Point:
    x: int
    y: int = 0

    def move(self, by):
        self.x = self.x + by
        return self


@construct("dataclass as state", (5,), (-5,))
def dataclass_state(v):
    p = Point(1)
    if v > 0:
        p = Point(v, 2)
    return p.x + p.y


@construct("attribute as loop state", (5,), (0,))
def attribute_state(n):
    p = Point(0)
    for i in range(n):
        p.x += i
    return p.x


@construct("attribute changed by a method in a branch", (5,), (-5,))
def changed_by_method(x):
    p = Point(1)
    if x > 0:
        p.move(x)
    return p.x


def shift(point, by):
    point.y = point.y + by


@construct("attribute changed by a helper in a branch", (5,), (-5,))
def changed_by_helper(x):
    p = Point(1)
    if x > 0:
        shift(p, x)
    return p.y


@construct("aliases of an object", (5,), (-5,))
def alias(x):
    p = Point(1)
    q = p
    if x > 0:
        q.x += x
    return p.x


@construct("object made in a branch", (5,), (-5,))
def made_in_branch(x):
    if x > 0:
        p = Point(x)
        p.move(1)
        y = p.x
    else:
        y = 0
    return y


@construct("set changed in a branch", (5,), (-5,))
def set_changed(x):
    s = {1}
    if x > 0:
        s.add(2)
    return len(s)


@construct("iterator advanced in a branch", (5,), (-5,))
def iterator_advanced(x):
    it = iter([1, 2, 3])
    if x > 0:
        next(it)
    return next(it)


@construct("`:=` in a test", (5,), (-5,))
def walrus_in_if(x):
    if (y := x * 2) > 3:
        return y
    return -y


@construct("`:=` in a loop test", (5,), (0,))
def walrus_in_while(n):
    i = 0
    while (square := i * i) < n:
        i += 1
    return square


@construct("`:=` in an operand", (5,), (-5,))
def walrus_in_operand(x):
    y = 0
    if x > 0 and (y := x * 2) > 3:
        return y
    return y - 1


@construct("star assignment", ([1, 2, 3, 4],))
def star_assignment(xs):
    first, *rest = xs
    return first + rest[-1]


@construct("tuple assignment of a tensor", ([3, 4],))
def tuple_assignment(xs):
    a, b = xs
    if a < b:
        a, b = b, a
    return a - b


@construct("slices and items of a tensor", ([3, 4, 5, 6], 2))
def slices(xs, n):
    return sum(xs[:n]) * 100 + xs[n] * 10 + xs[-1]


@construct("list indexed by a tensor", (2,), (0,))
def list_index(i):
    return [10, 20, 30][i]


@construct("dict indexed by a tensor", (2,))
def dict_index(i):
    return {1: 10, 2: 20}[i]


@construct("item assignment", ([3, 4, 5], 1))
def item_assignment(xs, i):
    xs[i] = 0
    return sum(xs)


class Counter:
    count = 0
    last = None

    def add(self, x):
        if x > 0:
            self.count += 1
            self.last = x


@construct("`self.n += 1` with a value of the class", (2,), (0,))
def default_of_class(n):
    one, other = Counter(), Counter()
    for i in range(n):
        one.add(i)
    if n > 1:
        other.count = 0
    else:
        other.count = 5
    return one.count, one.last, other.count, Counter.count
