"""Objects that a staged branch or loop would change behind the graph's back."""

from __future__ import annotations

import array
import contextvars
import io
import itertools
import random
import re
from collections import ChainMap, UserDict

import numpy as np
import pytest

import runtime as tf
from autograph import AutographWarning, StagingError
from autograph.operators.state import snapshot, variables
from runtime.core.errors import StagedStateError

total = 0


def bump():
    global total
    total += 1


class Meter:
    def __init__(self):
        self.value = 0
        self.log = []

    def up(self):
        self.value += 1

    def note(self, x):
        self.log.append(x)


def list_in_a_branch(n):
    items = [1, 2]
    if n > 5:
        items += [3]
    return len(items)


def list_in_a_loop(n):
    items = []
    for i in range(n):
        items.append(i)
    return len(items)


def nested_dict(n):
    config = {"inner": {"a": 1}}
    if n > 5:
        config["inner"].update(b=2)
    return len(config["inner"])


def method_of_an_object(n):
    meter = Meter()
    if n > 5:
        meter.up()
    return meter.value


def bound_method(n):
    meter = Meter()
    up = meter.up
    if n > 5:
        up()
    return meter.value


def list_of_an_object(n):
    meter = Meter()
    for i in range(n):
        meter.note(i)
    return len(meter.log)


def helper_with_a_captured_variable(n):
    count = 0

    def add():
        nonlocal count
        count = count + 1

    if n > 5:
        add()
    return count


def helper_with_a_global(n):
    if n > 5:
        bump()
    return total


def mutable_default(n):
    def remember(x, seen=[]):
        seen.append(x)
        return len(seen)

    if n > 5:
        n = remember(n)
    return n


def loop_over_python_values(n):
    items = []
    for i in range(3):
        if i < n:
            items.append(i)
    return len(items)


def iterator_in_a_loop(n):
    numbers = iter([1, 2, 3])
    while n > 5:
        n -= next(numbers)
    return n


def generator_in_a_branch(n):
    def count():
        yield 1
        yield 2

    numbers = count()
    return next(numbers) if n > 5 else n


def enumerated(n):
    pairs = enumerate("abc")

    def take():
        return next(pairs)[0]

    if n > 5:
        n = take()
    return n


def bytes_in_a_branch(n):
    data = bytearray(b"ab")
    if n > 5:
        data.extend(b"c")
    return len(data)


MERGED = [
    list_in_a_branch,
    list_in_a_loop,
    method_of_an_object,
    bound_method,
    list_of_an_object,
    helper_with_a_captured_variable,
    helper_with_a_global,
    loop_over_python_values,
]
REFUSED = [
    (iterator_in_a_loop, "the list_iterator `numbers` is advanced where", 3),
    (generator_in_a_branch, "the generator `numbers` is advanced where", 6),
    (enumerated, "the enumerate `pairs` is advanced by `take`", 6),
    (bytes_in_a_branch, "the bytearray `data` is changed where", 3),
]


class Endless:
    def __getitem__(self, index):
        return index


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: itertools.count(), "count"),
        (lambda: itertools.cycle([1]), "cycle"),
        (lambda: itertools.islice([1, 2], 2), "islice"),
        (lambda: itertools.chain([1], [2]), "chain"),
        (lambda: zip([1], [2]), "zip"),
        (lambda: map(abs, [1]), "map"),
        (lambda: iter({1: 2}.items()), "dict_itemiterator"),
        (lambda: reversed([1, 2]), "list_reverseiterator"),
        (lambda: iter("ab"), "str_.*iterator"),
        (lambda: iter(range(3)), "range_iterator"),
        (lambda: reversed(range(3)), "range_iterator"),
        (lambda: iter(range(2**70, 2**71)), "longrange_iterator"),
        (lambda: enumerate(range(3)), "enumerate"),
        (lambda: zip(range(3), range(3)), "zip"),
        (lambda: map(abs, range(3)), "map"),
        (lambda: filter(None, range(3)), "filter"),
        (lambda: itertools.takewhile(bool, range(1, 3)), "takewhile"),
        (lambda: itertools.zip_longest(range(3), [1]), "zip_longest"),
        (lambda: itertools.islice(itertools.repeat(1), 3), "islice"),
        (lambda: enumerate(itertools.repeat(1)), "enumerate"),
        (lambda: itertools.cycle(x for x in [1, 2]), "cycle"),
        (lambda: iter(array.array("i", [1])), "arrayiterator"),
        (lambda: iter(Endless()), "iterator"),
        (lambda: np.zeros(3).flat, "flatiter"),
        (lambda: np.ndenumerate(np.zeros(3)), "flatiter"),
        (lambda: np.ndindex(3), "product"),
    ],
)
def test_an_iterator_is_advanced_by_a_helper(make, kind):
    def f(n):
        def take():
            next(items)

        if n > 5:
            take()
        return n

    items = make()
    what = f"the {kind} `items` is advanced(, or may be,)? by `take`"
    if kind == "product" and np.lib.NumpyVersion(np.__version__) < "2.4.0":
        what = "the nditer `items` is advanced"  # which does not say how far it is
    with pytest.raises(StagingError, match=what):
        tf.function(f)(tf.constant(3))


@pytest.mark.parametrize(
    "make",
    [
        lambda: iter(range(3)),
        lambda: iter(array.array("i", [1])),
        lambda: itertools.islice(itertools.repeat(1), 3),
        lambda: itertools.cycle(x for x in [1, 2]),
        lambda: np.arange(3).flat,
    ],
)
def test_an_iterator_that_nobody_advances_is_no_change(make):
    def f(n):
        kept = n
        if n > 5:
            kept = n + len([items])
        return kept

    items = make()
    assert tf.function(f)(tf.constant(7)).numpy() == 8
    assert next(items) == next(make())


@pytest.mark.parametrize(
    "make",
    [
        lambda: re.finditer("a", "aaa"),
        lambda: zip(re.finditer("a", "aaa")),
        lambda: iter(memoryview(b"abc")),
        lambda: np.nditer(np.zeros(3)),
    ],
)
def test_an_iterator_that_does_not_say_how_far_it_is(make):
    def f(n):
        found = -1
        if n > 5:
            found = next(items)
        return found is not None

    items = make()
    with pytest.raises(
        StagingError, match=r"`items(\[0\])?` is advanced, or ma"
    ) as caught:
        tf.function(f)(tf.constant(3))
    assert caught.value.code == "AG207"


@pytest.mark.filterwarnings("error")
def test_an_iterator_that_does_not_say_how_far_it_is_may_be_read_elsewhere():
    @tf.function
    def f(n):
        found = [items]
        if n > 0:
            n = n + 1
        return n + len(found)

    items = re.finditer("a", "aaa")
    assert f(tf.constant(1)).numpy() == 3


class Ids:
    def __init__(self):
        self.ids = iter(range(10))

    def first(self, n):
        found = -1
        if n > 0:
            for found in self.ids:
                break
        return found, next(self.ids)


def test_an_iterator_over_a_range_of_an_object():
    with pytest.raises(StagingError, match=r"range_iterator `self\.ids` is advanced"):
        tf.function(Ids().first)(tf.constant(0))


def test_an_iterator_over_a_range_is_not_advanced_behind_a_graph():
    def f(n):
        ids = iter(range(10))
        a = -1
        if n > 0:
            a = next(ids)
        return a, next(ids)

    with pytest.raises(StagingError, match="the range_iterator `ids` is advanced"):
        tf.function(f)(tf.constant(0))


def test_an_array_is_changed_by_a_helper():
    def f(n):
        def put():
            numbers[1] = 5
            more.append(1)

        if n > 5:
            put()
        return n

    numbers, more = np.zeros((2, 3), np.float32), array.array("i", [1])
    what = "the ndarray `numbers` is changed where a tensor"
    with pytest.raises(StagingError, match=what) as info:
        tf.function(f)(tf.constant(3))
    assert "the array `more` is changed by `put`" in str(info.value)
    assert numbers.tolist() == [[0.0] * 3] * 2
    assert more.tolist() == [1]


@pytest.mark.parametrize("function", MERGED, ids=lambda f: f.__name__)
def test_change_that_can_be_carried(function, monkeypatch):
    monkeypatch.setitem(globals(), "total", 0)
    expected = [function(3), function(7)]
    monkeypatch.setitem(globals(), "total", 0)
    staged = tf.function(function)

    assert [staged(tf.constant(3)), staged(tf.constant(7))] == expected
    assert staged.experimental_get_tracing_count() == 1


@pytest.mark.parametrize(
    ("function", "what", "line"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED]
)
def test_change_is_refused_with_its_object_and_line(function, what, line):
    with pytest.raises(StagingError, match=what) as caught:
        tf.function(function)(tf.constant(3))

    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "AG207"
    assert diagnostic.location.filename == __file__
    assert diagnostic.location.lineno == function.__code__.co_firstlineno + line


def test_list_that_cannot_be_replaced_everywhere():
    with pytest.raises(StagingError, match=r"AG210(.|\n)*remember.__defaults__\[0\]"):
        tf.function(mutable_default)(tf.constant(3))


def test_list_that_a_running_function_refers_to():
    @tf.function
    def f(n):
        items = []
        meter = Meter()
        meter.log = items
        for i in range(n):
            meter.note(i)
        return len(items)

    with pytest.raises(StagingError, match=r"AG210(.|\n)*`items` of `f`"):
        f(tf.constant(3))


@pytest.mark.parametrize(
    "function", [*MERGED, *(f for f, *_ in REFUSED)], ids=lambda f: f.__name__
)
def test_python_and_eager_values_are_not_concerned(function, monkeypatch):
    monkeypatch.setitem(globals(), "total", 0)
    expected = [function(0), function(7)]
    monkeypatch.setitem(globals(), "total", 0)
    converted = tf.autograph.to_graph(function)

    assert [converted(tf.constant(0)), converted(tf.constant(7))] == expected


def test_new_items_and_attributes_are_refused_by_name():
    @tf.function
    def item(n):
        d = {"a": 1}
        if n > 5:
            d["b"] = 2
        return len(d)

    @tf.function
    def attribute(n):
        meter = Meter()
        while n > 5:
            meter.extra = n
            n -= 1
        return n

    with pytest.raises(StagedStateError, match=r"AG201.*d\['b'\]"):
        item(tf.constant(3))
    with pytest.raises(StagedStateError, match=r"AG202.*'meter\.extra'"):
        attribute(tf.constant(3))
    with pytest.raises(StagedStateError, match=r"AG201.*config\['inner'\]\['b'\]"):
        tf.function(nested_dict)(tf.constant(3))


def test_what_a_statement_assigns_itself_is_merged():
    @tf.function
    def f(n):
        meter, counts = Meter(), {"a": 0}
        if n > 5:
            meter.value = 10
            counts["a"] += n
        while n > 0:
            meter.value += 1
            n -= 1
        return meter.value, counts["a"]

    assert [int(x) for x in f(tf.constant(7))] == [17, 7]
    assert [int(x) for x in f(tf.constant(3))] == [3, 0]


def test_variables_and_outside_objects_may_change():
    """Effects of the runtime run with the graph; Python's own, outside of branches."""
    v, log = tf.Variable(0), []

    @tf.function
    def f(n):
        log.append("traced")
        if n > 5:
            v.assign_add(n)
        return v + 0

    assert (f(tf.constant(7)), f(tf.constant(1))) == (7, 7)
    assert log == ["traced"]


class Level(int):
    """A number that can have attributes."""


def zero_of_another_sign(n):
    meter = Meter()
    meter.value = 0.0

    def negate():
        meter.value = -0.0

    if n > 5:
        negate()
    return 1.0 / (tf.constant(1.0) * meter.value)


def attribute_of_a_number(n):
    level = Level(3)
    level.label = 1

    def relabel():
        level.label = 2

    if n > 5:
        relabel()
    return level.label


@pytest.mark.parametrize("program", [zero_of_another_sign, attribute_of_a_number])
def test_what_looks_the_same_has_changed(program):
    traced = tf.function(program)

    with np.errstate(divide="ignore"):
        found = [float(traced(tf.constant(n))) for n in (3, 9)]
        assert found == [float(program(n)) for n in (3, 9)]
        assert found[0] != found[1]


class Labelled(set):
    """A set whose class might have methods of its own."""


def set_of_a_class_of_the_users(n):
    seen = Labelled()
    if n > 5:
        seen.add(1)
    return len(seen)


def test_a_set_of_the_users_is_refused():
    with pytest.raises(StagingError, match="the Labelled `seen` is changed") as caught:
        tf.function(set_of_a_class_of_the_users)(tf.constant(9))

    assert caught.value.code == "AG207"


def lists_rebound_in_loops(n):
    meters = [Meter(), Meter()]

    def note(meter):
        if n > 5:
            meter.log = [n]

    for meter in meters:
        for _ in range(3):
            note(meter)
    return len(meters[0].log)


def test_loops_over_ranges_and_variables_are_told():
    traced = tf.function(lists_rebound_in_loops)

    assert int(traced(tf.constant(9))) == 1


def user_dict(n):
    settings = UserDict(a=1)
    if n > 5:
        settings.update(a=2)
    return settings["a"] * n


def chain_of_dicts(n):
    first, second = {"a": 1}, {"b": 5}
    chain = ChainMap(first, second)
    if n > 5:
        chain.update(b=7)
    return chain["b"] + len(first) * n


def test_containers_of_the_library_hold_what_their_attributes_hold():
    traced = tf.function(user_dict)

    assert [int(traced(tf.constant(n))) for n in (3, 9)] == [3, 18]
    with pytest.raises(StagedStateError, match=r"AG201.*'b'"):
        tf.function(chain_of_dicts)(tf.constant(3))


def stream_of_text(n):
    stream = io.StringIO()

    def note():
        stream.write("seen")

    if n > 5:
        note()
    return len(stream.getvalue())


def random_numbers(n):
    chance = random.Random(1)
    if n > 5:
        chance.random()
    return chance.random()


context = contextvars.ContextVar("context", default=0)


def context_variable(n):
    if n > 5:
        context.set(1)
    return context.get() * n


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (stream_of_text, r"the StringIO `stream` is changed by `note`"),
        (random_numbers, r"the Random `chance` is advanced"),
        (context_variable, r"the ContextVar `context` is changed"),
    ],
)
def test_state_of_the_library_is_refused(program, message):
    with pytest.raises(StagingError, match=message) as caught:
        tf.function(program)(tf.constant(3))

    assert caught.value.code == "AG207"


@pytest.mark.parametrize("make", [lambda: random.Random(3), random.SystemRandom])
def test_random_numbers_that_nobody_draws_are_no_change(make):
    chance = make()

    def get():
        return chance

    @tf.function
    def program(n):
        if n > 0:
            get()
            n = n + 1
        return n

    assert program(tf.constant(1)) == 2


class Counted:
    def __init__(self):
        self.value = 0


@pytest.mark.filterwarnings("ignore:AG324")
def test_an_object_among_very_many_is_put_back():
    objects = [Counted() for _ in range(15_000)]

    def change():
        objects[14_999].value = 1

    @tf.function
    def program(n):
        if n > 0:
            change()
        value, objects[14_999].value = objects[14_999].value, 0
        return value

    assert program(tf.constant(-1)) == 0
    assert program(tf.constant(1)) == 1
    assert objects[14_999].value == 0


def test_a_statement_that_reaches_very_many_objects_is_warned_of_once(monkeypatch):
    monkeypatch.setattr(variables, "_MANY", 100)
    few, many = [Counted()], [Counted() for _ in range(100)]

    def change():
        few[0].value = many[0].value

    def program(n):
        if n > 0:
            change()
        value, few[0].value = few[0].value, 0
        return value

    with pytest.warns(AutographWarning, match="AG217.*10. objects.*`many`") as found:
        tf.function(program)(tf.constant(1))
    assert found[0].filename == __file__
    tf.function(program)(tf.constant(1))  # a second warning would be an error


def test_a_walk_is_made_once_for_each_statement(monkeypatch):
    walks = []
    walk = snapshot.walk

    def counted(roots, known=()):
        found = list(walk(roots, known))
        walks.append(len(found))
        return iter(found)

    monkeypatch.setattr(snapshot, "walk", counted)
    objects = [Counted() for _ in range(1_000)]

    def change():
        objects[0].value, objects[1].value = 1, 2

    @tf.function
    def program(n):
        if n > 0:
            change()
        return n

    program(tf.constant(1))

    # One is of the statement, and one tells what the whole trace changes.
    assert sum(count > 1_000 for count in walks) == 2
