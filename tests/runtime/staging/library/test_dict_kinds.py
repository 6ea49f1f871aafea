"""Counters, ordered dicts, what tensors choose: their own methods, and their text."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError, TracingError
from runtime.staging.library import tables
from tests import modes


def counts_are_added(xs):
    counts = Counter()
    for x in xs:
        counts[x] += 1
    counts.update({3: 10})
    counts.update([1, 2])
    counts.update(xs)
    counts.subtract({1: 5})
    del counts[99]
    return dict(counts), counts.total()


def most_common(xs, n):
    counts = Counter()
    for x in xs:
        counts[x] += 1
    return counts.most_common(2), counts.most_common(), counts.most_common(n)


def counters_are_added(xs):
    counts, others = Counter(), Counter()
    for x in xs:
        counts[x] += 1
        others[x + 1] += 2
    counts.update(others)
    plain = dict(counts)
    plain.update({3: 0})
    return counts, plain, counts.copy()[77]


def counters_of_dicts(xs):
    counts = Counter()
    for x in xs:
        counts[x] += 2
    again, keys = Counter(counts), Counter(set(counts))
    again[xs[0]] += 1
    return counts, again, keys, Counter(dict(again)), Counter(counts.values())


def least_recently_used(xs):
    known, missed = OrderedDict(), 0
    for x in xs:
        if x in known:
            known.move_to_end(x)
        else:
            missed += 1
            known[x] = missed
            if len(known) > 2:
                known.popitem(last=False)
    known.move_to_end(xs[0], last=False)
    return list(known.items()), missed, known.popitem()


def over_views(xs):
    counts = defaultdict(int)
    for x in xs:
        counts[x] += 1
    most = max(count for count in counts.values())
    return (
        sum(key * count for key, count in counts.items()),
        any(count > 1 for count in counts.values()),
        [key for key in counts.keys() if key > 1],
        {key: -count for key, count in counts.items()},
        most,
    )


def updated_by_pairs(xs):
    counts = {}
    counts.update(zip(xs, xs))
    return counts


def slices_of_a_row(xs):
    table = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 0, 0]]
    row = table[xs[0]]
    row[1:] = row[:2]
    return table, row


NUMBERS = [3, 1, 3, 2, 1, 3]


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        (counts_are_added, (NUMBERS,)),
        (most_common, (NUMBERS, 1)),
        (most_common, (NUMBERS, -1)),
        (counters_are_added, (NUMBERS,)),
        (counters_of_dicts, (NUMBERS,)),
        (least_recently_used, ([3, 1, 2, 3, 2, 2],)),
        (least_recently_used, ([1, 2, 1],)),
        (over_views, (NUMBERS,)),
        (updated_by_pairs, (NUMBERS,)),
    ],
)
def test_as_in_python(program, arguments):
    plain = modes.run(program, arguments, "plain")

    assert plain.error is None
    assert modes.same(modes.run(program, arguments, "staged"), plain)


def key_that_is_not_there(xs):
    known = OrderedDict()
    for x in xs:
        known[x] = 0
    known.move_to_end(9)


def nothing_left(xs):
    known = OrderedDict()
    for x in xs:
        known[x] = 0
    for x in xs:
        del known[x]
    known.popitem(last=False)


@pytest.mark.parametrize("program", [key_that_is_not_there, nothing_left])
def test_errors_are_those_of_python(program):
    plain = modes.run(program, ([1, 2],), "plain")

    assert plain.error == "KeyError"
    assert modes.run(program, ([1, 2],), "staged") == plain


@pytest.mark.parametrize(
    "use", [lambda c: c | Counter({1: 2}), lambda c: c + c, lambda c: c.elements()]
)
def test_what_leaves_counts_out_is_refused(use):
    @tf.function
    def program(xs):
        counts = Counter()
        for x in xs:
            counts[x] += 1
        return use(counts)

    with pytest.raises(StagedStateError, match="AG210"):
        program(tf.constant(NUMBERS))


# --- text -----------------------------------------------------------------------------


def text_of_kinds(xs):
    counts, sums = Counter(), defaultdict(int)
    for x in xs:
        counts[x] += 1
        sums[x] += x
    return f"{counts} {sums}"


def test_the_text_names_the_kind():
    staged = tf.function(text_of_kinds)(tf.constant([3, 1, 3]))
    text = staged.numpy().decode()

    assert text.startswith("Counter({")
    assert "defaultdict(<class 'int'>, {" in text


@dataclass
class Point:
    x: int


def test_slices_of_a_chosen_row_cannot_be_assigned():
    with pytest.raises(TracingError, match="AG210"):
        tf.function(slices_of_a_row)(tf.constant([1, 1, 1]))


def text_of_a_row(i):
    rows = [[1, 2], [3, 4]]
    row = rows[i]
    before = f"{row}"
    return before, str(row), "%s" % (row,), repr([row]), f"{row!r:>9}"  # noqa: UP031


def text_of_an_object(i):
    points = [Point(1), Point(2)]
    point = points[i]
    return f"{point}", str(point), f"{[{'x': 1}, {'x': 2}][i]}"


@pytest.mark.parametrize("program", [text_of_a_row, text_of_an_object])
@pytest.mark.parametrize("place", [0, 1])
def test_what_a_tensor_chooses_is_shown_as_it_is(program, place):
    plain = modes.run(program, (place,), "plain")

    assert modes.same(modes.run(program, (place,), "staged"), plain)


def text_of_what_is_inside(i):
    table, lists = [[1, 2], [3, 4]], {"a": [1]}
    for row in table:
        row[0] = i
    lists["a"].append(i)
    return f"{table} {lists}"


def test_tensors_inside_of_displays_are_shown_with_their_values():
    text = tf.function(text_of_what_is_inside)(tf.constant(7)).numpy().decode()

    assert text == text_of_what_is_inside(7)


@pytest.mark.parametrize("mode", ["eager", "staged"])
def test_what_is_inside_of_a_display_is_compared(mode):
    def program(i):
        table = [[1, 2], [3, 4]]
        row = table[0]
        row[0] = i
        return 1 if table == [[0, 2], [3, 4]] else 2

    assert modes.run(program, (0,), mode).value == 1
    assert modes.run(program, (1,), mode).value == 2


def reset_where(n, default):
    counts = defaultdict(int)
    for i in range(n):
        counts[i] += 1
        if i == 2:
            counts = default()
    counts[9] += 4
    return dict(counts)


@pytest.mark.parametrize("mode", modes.MODES[1:])
def test_an_equal_default_is_that_of_the_dict(mode):
    def program(n):
        start = 3
        counts = defaultdict(lambda: start)
        for i in range(n):
            fresh = defaultdict(lambda: start)
            fresh[i] += 1
            if i != 4:
                counts = fresh
        return dict(counts)

    expected = modes.run(program, (5,), "plain")

    assert modes.same(modes.run(program, (5,), mode), expected)


@pytest.mark.parametrize(
    "default",
    [
        dict,
        lambda: defaultdict(lambda: 5),
        lambda: defaultdict(lambda: 0.0),
        lambda: defaultdict(None),
    ],
)
def test_a_dict_with_another_default_is_refused(default):
    with pytest.raises(StagedStateError, match=r"AG20[12]"):
        tf.function(lambda n: reset_where(n, default))(tf.constant(5))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (int, int, True),
        (int, float, False),
        (lambda: 0, lambda: 0, True),
        (lambda: 0, lambda: 0.0, False),
        (lambda: 0, lambda: False, False),
        (lambda: [], lambda: [], True),
        (lambda x=1: x, lambda x=1: x, False),
        (None, None, True),
        (None, int, False),
    ],
)
def test_defaults_of_one_text_are_the_same(one, other, expected):
    assert tables.same_default(one, other) is expected
