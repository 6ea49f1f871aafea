"""Programs that change more than a statement assigns itself: helpers and methods do.

Each is called with one number, and must give the same in plain Python and staged.
"""

from __future__ import annotations

import dataclasses
import functools
import types

total = 0
config = {"step": 1}


def bump(by=1):
    global total
    total += by


class Meter:
    made = 0

    def __init__(self):
        self.value = 0
        self.log = [0, 0]

    def up(self, by=1):
        self.value += by

    def note(self, x):
        self.log[0] = self.log[0] + x

    def __iadd__(self, by):
        self.value += by
        return self

    @classmethod
    def count(cls):
        cls.made = cls.made + 1


class Slotted:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 1

    def double(self):
        self.value *= 2


@dataclasses.dataclass
class Point:
    x: int
    y: int

    def move(self, by):
        self.x += by
        self.y -= by


def nonlocal_in_a_branch(n):
    def add():
        nonlocal count
        count = count + 5

    count = 0
    if n > 5:
        add()
    return count


def nonlocal_that_the_branch_reads(n):
    def add():
        nonlocal count
        count += 1

    count = last = 0
    if n > 5:
        add()
        last = count * 10
    return count + last


def nonlocal_in_a_loop(n):
    def add(k):
        nonlocal total
        total += k

    total = i = 0
    while i < n:
        add(i)
        i += 1
    return total


def nonlocal_in_nested_statements(n):
    def add(k):
        nonlocal total
        total += k

    total = 0
    for i in range(n):
        if i % 2 == 0:
            add(i)
            if i > 3:
                add(100)
        else:
            add(1)
    return total


def nonlocal_through_two_helpers(n):
    def outer(k):
        def inner():
            nonlocal total
            total += k

        inner()

    total = 1
    if n > 3:
        outer(n)
    return total


def nonlocal_unbound_before(n):
    def assign():
        nonlocal value
        value = n + 1

    if n > 3:
        assign()
    else:
        value = 0
    return value


def global_in_a_branch(n):
    global total
    total = 0
    if n > 5:
        bump()
    return total


def global_in_a_loop(n):
    global total
    total = 10
    i = 0
    while i < n:
        total += i
        bump(2)
        i += 1
    return total


def global_dict(n):
    config["step"] = 1

    def faster():
        config["step"] = config["step"] * 2

    while n > 0:
        faster()
        n -= 1
    return config["step"]


def module_attribute(n):
    module = types.SimpleNamespace(count=0)

    def helper():
        module.count += 2

    if n > 5:
        helper()
    return module.count


def function_attribute(n):
    def helper():
        helper.calls = helper.calls + 1

    helper.calls = 0
    for i in range(n):
        helper()
    return helper.calls


def method_in_a_branch(n):
    meter = Meter()
    if n > 5:
        meter.up()
    return meter.value


def method_in_a_loop(n):
    meter = Meter()
    for i in range(n):
        meter.up(i)
    return meter.value


def bound_method(n):
    meter = Meter()
    up = meter.up
    if n > 5:
        up(3)
    return meter.value


def partial_of_a_method(n):
    meter = Meter()
    up = functools.partial(meter.up, 4)
    if n > 5:
        up()
    return meter.value


def helper_changes_an_argument(n):
    def change(m):
        m.value = m.value + 7

    meter = Meter()
    if n > 5:
        change(meter)
    return meter.value


def list_of_an_object(n):
    meter = Meter()
    for i in range(n):
        meter.note(i)
    return meter.log[0]


def objects_in_a_list(n):
    meters = [Meter(), Meter()]
    for meter in meters:
        if n > 5:
            meter.up(n)
    if n > 7:
        meters[1].up()
    return meters[0].value * 100 + meters[1].value


def nested_objects(n):
    outer = types.SimpleNamespace(inner=types.SimpleNamespace(meter=Meter()))

    def helper():
        outer.inner.meter.up(n)

    while n > 5:
        helper()
        n -= 1
    return outer.inner.meter.value


def object_is_replaced(n):
    first, second = Meter(), Meter()
    second.value = 50
    holder = types.SimpleNamespace(meter=first)

    def helper():
        holder.meter.up()

    if n > 5:
        helper()
    holder.meter = second
    if n > 6:
        helper()
    return first.value * 100 + holder.meter.value


def class_attribute(n):
    Meter.made = 0
    if n > 5:
        Meter.count()
    meter = Meter()
    for i in range(n):
        meter.count()
    return Meter.made


def slots(n):
    item = Slotted()
    for i in range(n):
        item.double()
    return item.value


def dataclass_instance(n):
    point = Point(1, 2)
    if n > 5:
        point.move(n)
    return point.x * 100 + point.y


def dataclass_replaced(n):
    point = Point(1, 2)
    other = point
    while n > 3:
        point = dataclasses.replace(point, x=point.x + n)
        n -= 1
    return point.x * 100 + other.x


def attribute_alias(n):
    owner = Meter()
    alias = owner
    for i in range(n):
        alias.value += i
    return owner.value


def method_and_alias(n):
    owner = Meter()
    alias = owner
    if n > 5:
        alias.up(2)
        owner.value += 3
    return alias.value * 100 + owner.value


def object_made_in_the_branch(n):
    value = 0
    if n > 5:
        meter = Meter()
        meter.up(n)
        value = meter.value
    return value


def attribute_set_on_both_sides(n):
    meter = Meter()

    def keep(x):
        meter.last = x

    if n > 5:
        keep(n)
    else:
        keep(-1)
    return meter.last


def key_set_on_both_sides(n):
    found = {}

    def keep(key, x):
        found[key] = x

    if n > 5:
        keep("a", n)
    else:
        keep("a", 0 - n)
    return found["a"] + len(found)


def key_from_a_variable(n):
    counts = {"a": 0, "b": 10}
    for key in ("a", "b", "a"):
        if n > 5:
            counts[key] += n
    while n > 0:
        counts[key] = counts[key] + 1
        n -= 1
    return counts["a"] * 100 + counts["b"]


def dict_updated(n):
    counts = {"a": 0, "b": 10}
    if n > 5:
        counts.update(a=n)
    return counts["a"] * 100 + counts["b"]


def item_by_a_helper(n):
    items = [1, 2, 3]

    def swap():
        items[0], items[2] = items[2], items[0]

    for i in range(n):
        swap()
    return items[0] * 100 + items[1] * 10 + items[2]


def list_sorted_in_a_branch(n):
    items = [3, 1, 2]
    same = items
    if n > 5:
        items.sort()
    return same[0] * 100 + items[2]


def list_alias(n):
    items = [1, 2]
    same = items
    if n > 5:
        items[0] = n
        items += []
    same[1] = same[1] + items[0]
    return items[0] * 100 + items[1]


def list_rebound_in_a_loop(n):
    items = [1, 2]
    same = items
    while n > 5:
        items = [items[1], items[0] + 1]
        n -= 1
    return items[1] * 1000 + same[0]


def nested_list(n):
    rows = [[1, 2], [3, 4]]
    row = rows[0]

    def helper(k):
        rows[0][1] += k
        rows[1] = [k, k]

    for i in range(n):
        helper(i)
    return row[1] * 100 + rows[1][0]


def swapped_rows(n):
    rows = [[1, 2], [3, 4]]
    first = rows[0]
    if n > 5:
        rows.reverse()
        first[0] = 7
    return rows[0][0] * 10 + rows[1][0]


def list_grows_on_both_sides(n):
    items = [1]
    same = items
    if n > 5:
        items.append(n)
    else:
        items.append(-1)
    return same[1] * 10 + len(same)


def cached_property(n):
    class Lazy:
        @functools.cached_property
        def size(self):
            return 12

    lazy, x = Lazy(), 0
    if n > 5:
        x = lazy.size
    return x + lazy.size


def attribute_that_a_class_calls_a_cache(n):
    class Reader:
        __autograph_caches__ = ("is_open",)
        is_open, seen = False, 0

        def read(self):
            if not self.is_open:
                self.is_open = True
            self.seen += 1
            return 12 + self.seen

    reader, x = Reader(), 0
    while x < n:
        x += reader.read()
    return x * 100 + reader.seen + reader.read()


def rest_of_a_python_loop(n):
    meter = Meter()
    for i in range(6):
        meter.up(i)
        if i > n:
            break
    return meter.value


def objects_of_a_python_loop(n):
    meters = [Meter() for _ in range(4)]
    for meter in meters:
        meter.up(3)
        if meters[0].value + n > 8:
            break
        n += 2
    return sum([m.value for m in meters])


def change_then_raise(n):
    meter = Meter()

    def check():
        meter.up()
        raise ValueError("no")

    if n > 100:
        check()
    return meter.value


def conditional_expression(n):
    meter = Meter()

    def up():
        meter.up(2)
        return 1

    x = up() if n > 5 else 0
    return x * 10 + meter.value


def elif_branches(n):
    meter = Meter()
    if n > 7:
        meter.up(1)
    elif n > 5:
        meter.up(2)
    elif n > 3:
        meter.up(3)
    return meter.value


def operand_that_changes(n):
    meter = Meter()

    def up(by):
        meter.up(by)
        return meter.value < 5

    both = n > 3 and up(n) and up(1)
    either = n > 6 or up(2)
    x = 1 if both else 2
    return x * 100 + (10 if either else 20) + meter.value


def test_that_changes(n):
    meter = Meter()

    def goes_on():
        meter.up()
        return meter.value < n

    while goes_on():
        if meter.value * 2 > n + 2:
            break
        meter.up()
    return meter.value


def chain_that_changes(n):
    meter = Meter()

    def up():
        meter.up()
        return meter.value

    return (1 if 3 < n < up() + 6 else 0) * 10 + meter.value


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if isinstance(value, types.FunctionType) and name != "bump"
]
VALUES = (0, 1, 3, 4, 6, 7, 8, 9)
