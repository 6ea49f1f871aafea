"""Lists whose length a tensor decides do what Python's lists do."""

from __future__ import annotations

import collections
import functools
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, reject, settings

import autograph
import runtime as tf
from runtime.core.errors import (
    InvalidArgumentError,
    StagedStateError,
    SymbolicTensorError,
)
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify
from runtime.staging.state.branches import stage_cond
from runtime.staging.state.loop_state import stage_loop

Pair = collections.namedtuple("Pair", "left right")


def plain(value: Any) -> Any:
    """A result with its tensors as Python values."""
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf, value
    )


def outcome(function: Any, *args: Any) -> Any:
    """What a call gives, or the exception that it raises."""
    try:
        return plain(function(*args))
    except Exception as error:
        text = str(error).splitlines()[0]
        return type(error), text


@functools.lru_cache(maxsize=1)  # the inputs of a program follow each other
def traced(function: Any, *specs: tf.TensorSpec) -> Any:
    concrete = tf.function(function).get_concrete_function(*specs)
    verify(concrete.graph)
    return concrete


def staged_outcomes(function: Any, *args: Any) -> list[Any]:
    """What the two executors give for a traced function."""
    tensors = [tf.constant(arg) for arg in args]
    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors]
    concrete = traced(function, *specs)

    def interpreted(*arrays: Any) -> Any:
        found = interpreter.run(concrete.graph, [array.numpy() for array in arrays])
        return concrete._trace.results.pack(list(map(tf.constant, found)))

    return [outcome(concrete, *tensors), outcome(interpreted, *tensors)]


def check(function: Any, *args: Any) -> None:
    expected = outcome(function, *args)
    for found in staged_outcomes(function, *args):
        assert found == expected


def check_unless_refused(function: Any, *args: Any) -> None:
    """A Python list of tensors cannot be sorted or searched by Python."""
    try:
        check(function, *args)
    except SymbolicTensorError as error:
        if error.code != "AG301":
            raise
        reject()


# --- lists that are assigned ----------------------------------------------------------


def squares(n):
    result = []
    for i in range(n):
        result = result + [i * i]
    return result


def longer_in_a_branch(n):
    items = [1, 2]
    if n > 3:
        items = items + [n]
    return items, len(items), items[-1], sum(items)


def count_down(n):
    stack = [n]
    total = 0
    while stack:
        top = stack[-1]
        stack = stack[:-1]
        total = total + top
        if top > 0:
            stack = stack + [top - 1]
    return total


def pairs(n):
    found = []
    for i in range(n):
        found = found + [(i, (i * 0.5, i > 2))]
    total = 0.0
    for i, (half, big) in found:
        if big:
            total = total + half + i
    return found, total


def named_pairs(n):
    found = [Pair(0, 1)]
    for _ in range(n):
        last = found[-1]
        found = found + [Pair(last.right, last.left + last.right)]
    return found[-1].left, found


def in_a_dict(n):
    state = {"items": [], "n": 0}
    while state["n"] < n:
        state = {"items": state["items"] + [state["n"]], "n": state["n"] + 1}
    return state["items"]


def in_a_tuple(n):
    state = (0, [5])
    for i in range(n):
        count, items = state
        state = (count + 1, [i] + items)
    return state


def builtins(n):
    items = [3, 1]
    for i in range(n):
        items = items + [i * 3 - 4]
    return (
        len(items),
        sum(items),
        min(items),
        max(items),
        any(items),
        all(items),
        sorted(items),
        sorted(items, reverse=True),
    )


def loops(n):
    items = [1]
    for i in range(n):
        items = items + [i]
    total = 0
    for place, item in enumerate(items):
        total = total + place * item
    for item, other in zip(items, reversed(items)):
        total = total * 2 + item - other
    return total


def slices(n):
    items = []
    for i in range(n):
        items = items + [i]
    return items[1:], items[:-1], items[::2], items[::-1], items[n:], items[1:3]


def compared(n):
    items = [0]
    for i in range(n):
        items = items + [i + 1]
    first = 1 if items == [0, 1, 2] else 0
    second = 1 if items != [0] else 0
    return first, second


def truth(n):
    items = []
    if n > 2:
        items = [n]
    return (1 if items else 0), (1 if not items else 0), (2 if items and n > 5 else 3)


def float_joins(n):
    items = [1]
    for i in range(n):
        items = items + [0.5]
    return items, sum(items)


def texts(n):
    words = ["a"]
    for i in range(n):
        words = words + ["b"]
    return words


def rows(n):
    items = []
    for i in range(n):
        items = items + [tf.fill([2], i)]
    return items, tf.stack(items) if n > -1 else None


def repeated(n):
    items = [0]
    if n > 1:
        items = [1, 2]
    return items * 2, 3 * items, items * n


def nested(n):
    items = []
    for i in range(n):
        inner = [i]
        for j in range(i):
            inner = inner + [j]
        items = items + [sum(inner), len(inner)]
    return items


def unbound_before(n):
    for i in range(n):
        if i == 0:
            items = [i]
        else:
            items = items + [i]
    return items


def returned_early(n):
    items = []
    for i in range(10):
        if i == n:
            return items
        items = items + [i]
    return items


def out_of_range(n):
    items = [1]
    if n > 3:
        items = items + [n]
    return items[n]


PROGRAMS = [
    (squares, [0, 1, 5]),
    (longer_in_a_branch, [1, 7]),
    (count_down, [0, 4]),
    (pairs, [0, 1, 5]),
    (named_pairs, [0, 3]),
    (in_a_dict, [0, 3]),
    (in_a_tuple, [0, 3]),
    (builtins, [0, 1, 4]),
    (loops, [0, 1, 4]),
    (slices, [0, 1, 5]),
    (compared, [0, 1, 2, 3]),
    (truth, [0, 3, 9]),
    (float_joins, [0, 2]),
    (repeated, [0, 1, 3]),
    (nested, [0, 3]),
    (unbound_before, [1, 4]),
    (returned_early, [0, 3, 12]),
    (out_of_range, [0, 1, 2, 5]),
]


@pytest.mark.parametrize(
    ("function", "argument"),
    [(function, argument) for function, inputs in PROGRAMS for argument in inputs],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_staged_equals_python(function, argument):
    check(function, argument)


# --- lists that are changed in place --------------------------------------------------

Step = Any


@autograph.convert
def when(test: Any, change: Any, items: Any) -> Any:
    """The list after ``change(items)``, which is done if the test holds."""
    if test:
        change(items)
    return items


def times(count: Any, change: Any, items: Any) -> Any:
    """``for i in range(count): change(items, i)``, as converted code has it staged."""
    if not isinstance(count, tf.Tensor) or hasattr(count, "numpy"):
        for i in range(int(count)):
            change(items, i)
        return items

    def step(state: Any) -> Any:
        i, inside = state
        change(inside, i)
        return i + 1 < count, (i + 1, inside)

    start = tf.constant(0)
    return stage_loop(start < count, step, (start, items), ("i", "items"))[1]


def deleted(place):
    def change(items):
        del items[place]

    return change


def assigned(place, value):
    def change(items):
        items[place] = value

    return change


def doubled(items):
    items *= 2


def joined(*values):
    def change(items):
        items += list(values)

    return change


_places = st.integers(-4, 4)
_values = st.integers(-9, 9)
_bounds = st.none() | _places
_changes = st.one_of(
    _values.map(lambda v: (f"append {v}", lambda items: items.append(v))),
    _values.map(lambda v: (f"append {v}", lambda items: items.append(v))),
    st.lists(_values, max_size=3).map(
        lambda v: (f"extend {v}", lambda items: items.extend(v))
    ),
    st.lists(_values, max_size=3).map(lambda v: (f"+= {v}", joined(*v))),
    st.just(("pop", lambda items: items.pop())),
    _places.map(lambda p: (f"pop {p}", lambda items: items.pop(p))),
    st.tuples(_places, _values).map(
        lambda pair: (f"insert {pair}", lambda items: items.insert(*pair))
    ),
    st.tuples(_places, _values).map(lambda pair: (f"set {pair}", assigned(*pair))),
    _places.map(lambda p: (f"del {p}", deleted(p))),
    _values.map(lambda v: (f"remove {v}", lambda items: items.remove(v))),
    st.tuples(_bounds, _bounds, st.lists(_values, max_size=3)).map(
        lambda t: (f"slice {t}", assigned(slice(*t[:2]), t[2]))
    ),
    st.tuples(_bounds, _bounds).map(lambda t: (f"del {t}", deleted(slice(*t)))),
    st.just(("reverse", lambda items: items.reverse())),
    st.just(("sort", lambda items: items.sort())),
    st.just(("clear", lambda items: items.clear())),
    st.just(("double", doubled)),
)


@settings(max_examples=120, deadline=None)
@given(
    start=st.lists(_values, max_size=3),
    changes=st.lists(_changes, min_size=1, max_size=5),
    data=st.data(),
)
def test_random_changes_under_random_conditions(start, changes, data):
    """Any sequence of changes gives the list, or the error, that it gives in Python."""
    count = len(changes)
    flags = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))

    def program(tests):
        items = list(start)
        for number, (_, change) in enumerate(changes):
            items = when(tests[number], change, items)
        return items

    check_unless_refused(program, flags)


@settings(max_examples=60, deadline=None)
@given(
    start=st.lists(_values, max_size=3),
    changes=st.lists(_changes, min_size=1, max_size=2),
    count=st.integers(0, 4),
)
def test_random_changes_in_a_loop(start, changes, count):
    """The same, in each iteration of a loop that also appends its counter."""

    def body(items, i):
        items.append(i)
        for _, change in changes:
            change(items)

    def program(n):
        return times(n, body, list(start))

    check_unless_refused(program, count)


# --- dicts of other keys --------------------------------------------------------------


def test_a_dict_of_other_keys_is_refused_by_the_key():
    @tf.function
    def branch(x):
        d = {"a": x}
        if x > 2:
            d = {"a": x, "b": x}
        return d["a"]

    @tf.function
    def loop(x):
        d = {"a": x}
        for i in range(x):
            d = {**d, "b": i}
        return d["a"]

    with pytest.raises(StagedStateError, match=r"AG201.*have the key 'b' in the dict"):
        branch(tf.constant(1))
    with pytest.raises(StagedStateError, match=r"AG202.*the key 'b' .*: `d\['b'\] = "):
        loop(tf.constant(1))


# --- what a list in a graph cannot do -------------------------------------------------


def open_list(n):
    items = [0]
    for i in range(n):
        items = items + [i]
    return items


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda x, items: items + [tf.ones([2])],
            r"'items'.*int64\[\] and float32\[2\]",
        ),
        (
            lambda x, items: items + [(x, x)],
            r"'items'.* and tuple\(int32\[\], int32\[\]\)",
        ),
        (lambda x, items: items + [True], r"'items'.* and bool\[\]"),
        (lambda x, items: items + [None], "'items'.* and None"),
        (
            lambda x, items: items + [{1, 2}],
            "'items'.* was given a Python object of type set",
        ),
        (lambda x, items: items.append(items), "'items'.*several kinds.* list"),
        (
            lambda x, items: [object(), object()][x],
            "object.*; use each in a branch of its own",
        ),
        (lambda x, items: items < [1], "be ordered"),
        (lambda x, items: len(items), None),
    ],
)
def test_what_a_list_cannot_do_is_refused(use, message):
    @tf.function
    def f(x):
        items = open_list(x)
        use(x, items)

    if message is None:
        f(tf.constant(1))
        return
    with pytest.raises(
        StagedStateError, match=rf"test_staged_list.py:\d+: AG210.*{message}"
    ):
        f(tf.constant(1))


def test_a_value_that_may_be_none_is_not_searched_for():
    def count(values, n):
        wanted = values[0] if n > 0 else None
        return values.count(wanted)

    with pytest.raises(StagedStateError, match=r"AG210: .* cannot be searched"):
        tf.function(count)(tf.constant([2, 2, 1]), tf.constant(1))


def test_elements_of_several_shapes_are_an_error_at_run_time():
    @tf.function
    def f(n):
        items = [tf.range(0)]
        for i in range(n):
            items = items + [tf.range(i)]
        return tf.stack(items)

    assert f(tf.constant(1)).shape == [2, 0]
    with pytest.raises(InvalidArgumentError, match=r"AG210: .*\(1,\).*\(0,\)"):
        f(tf.constant(2))


def test_an_element_that_is_read_cannot_be_changed():
    """The list would not see it: that is said."""

    @tf.function
    def changed(n):
        items = [[0, 1]]
        for i in range(n):
            items = items + [[i, i]]
        items[0].append(n)
        return items

    @tf.function
    def copied(n):
        items = [[0, 1]]
        for i in range(n):
            items = items + [[i, i]]
        items = list(items)
        items[0] = [items[0][0], n]
        last = list(items.pop())
        last.append(7)
        return items, last

    with pytest.raises(StagedStateError, match=r"AG210: an element .* was changed"):
        changed(tf.constant(2))
    assert plain(copied(tf.constant(2))) == ([[0, 2], [0, 0]], [1, 1, 7])


def test_a_list_ends_with_its_function():
    leaked = []

    @tf.function
    def f(n):
        leaked.append(open_list(n))
        return n

    f(tf.constant(1))

    with pytest.raises(
        StagedStateError, match=r"AG210.*function that made it has ended"
    ):
        leaked[0].append(1)

    @tf.function
    def g(n):
        return n + leaked[0][0]

    with pytest.raises(StagedStateError, match=r"AG210.*has ended"):
        g(tf.constant(1))


def test_a_loop_over_a_list_may_not_change_it():
    @tf.function
    def f(n):
        items = open_list(n)
        for item in items:
            items = items + [item]
        return items

    with pytest.raises(
        StagedStateError, match=r"AG210: a loop over .* changes the list"
    ):
        f(tf.constant(1))


def test_a_list_that_nothing_changes_stays_the_object_that_it_is():
    items = [1, 2]

    @tf.function(autograph=False)
    def f(x):
        assert when(x > 0, len, items) is items
        return x

    f(tf.constant(1))


def test_two_names_of_a_list_stay_names_of_one_list():
    @tf.function(autograph=False)
    def f(x):
        items = [x]

        def grow(state):
            state[0].append(x)
            return None, state

        _, (one, other) = stage_cond(
            x > 0, grow, lambda state: (None, state), (items, items), ("one", "other")
        )
        assert one is other
        return one

    assert plain(f(tf.constant(1))) == [1, 1]


def test_a_list_as_tensors():
    @tf.function
    def f(n):
        items = []
        for i in range(n):
            items = items + [tf.fill([2], i)]
        return (
            tf.stack(items, axis=1),
            tf.concat(items, 0),
            tf.reduce_sum(tf.convert_to_tensor(items)),
        )

    assert plain(f(tf.constant(3))) == ([[0, 1, 2], [0, 1, 2]], [0, 0, 1, 1, 2, 2], 6)


def test_numbers_stay_python_numbers():
    """Beside a tensor they take its dtype, as they would outside of the graph."""

    @tf.function
    def f(n, x):
        items = [1]
        for i in range(n):
            items = items + [2]
        return items[0] + x, sum(items) * x, len(items) * x, list(items).pop() * x

    x = tf.constant(0.5, tf.float64)
    found = f(tf.constant(2), x)
    assert plain(found) == (1.5, 2.5, 1.5, 1.0)
    assert {part.dtype for part in found} == {tf.float64}


def test_appending_copies_no_list():
    """Appending in a loop, under a condition too, takes time in proportion."""

    @tf.function(autograph=False)
    def f(n):
        def body(items, i):
            items.append(i)
            return when(i % 2 == 0, lambda inside: inside.append(i), items)

        def step(state):
            i, items = state
            return i + 1 < n, (i + 1, body(items, i))

        return stage_loop(n > 0, step, (tf.constant(0), []), ("i", "items"))[1]

    source = f.get_concrete_function(tf.TensorSpec([], tf.int32)).to_source()

    assert source.count("items = ListAppend(items,") == 2
    assert "ListAppend = kernel_in_place" in source
