"""What docs/limitations.md says that graphs do otherwise, where no code tells of it."""

# mypy: ignore-errors

from __future__ import annotations

import functools
import itertools
import math
import os
import statistics
import sys
import types
from dataclasses import dataclass

import numpy as np
import pytest

import autograph
import runtime as tf

ONE = tf.constant(1)


def times_traced(function, change, *args):
    """How many traces two calls make, with a change between them."""
    traced = tf.function(function)
    traced(*args)
    change()
    traced(*args)
    return traced.experimental_get_tracing_count()


def test_dicts_share_a_trace_whatever_the_order_of_their_keys():
    @tf.function
    def joined(items):
        return [items[key] for key in items]

    first = joined({"a": tf.constant(1), "b": tf.constant(2)})
    second = joined({"b": tf.constant(2), "a": tf.constant(1)})

    assert joined.experimental_get_tracing_count() == 1
    assert list(map(int, first)) == list(map(int, second))


# --- guards ---------------------------------------------------------------------------


def test_what_libraries_keep_is_not_seen(monkeypatch):
    monkeypatch.setenv("LIMITATION", "a")

    def reads(x):
        return x + len(os.environ["LIMITATION"])

    assert times_traced(reads, lambda: os.environ.update(LIMITATION="bb"), ONE) == 1


def test_changes_within_large_arrays_are_not_seen():
    small, large = np.zeros(4), np.zeros(1000)

    def reads(x, of):
        return tf.cast(x, tf.float64) + of[0]

    def change(array):
        array[0] += 1

    held = types.SimpleNamespace(small=small, large=large)
    of_small, of_large = (
        (lambda x: reads(x, held.small)),
        (lambda x: reads(x, held.large)),
    )
    assert times_traced(of_small, lambda: change(small), ONE) == 2
    assert times_traced(of_large, lambda: change(large), ONE) == 1


class Settings:
    rate = 1


def test_attributes_whose_names_are_computed_are_not_seen():
    settings = Settings()
    name = "".join(["ra", "te"])

    def reads(x):
        return x + getattr(settings, name.lower())

    assert times_traced(reads, lambda: setattr(settings, "rate", 2), ONE) == 1


class Named:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


def test_texts_that_python_makes_are_not_seen():
    named = Named("one")

    def reads(x):
        return x + len("{n}".format_map({"n": named}))

    assert times_traced(reads, lambda: setattr(named, "name", "three"), ONE) == 1


def test_numbers_of_long_lists_are_told_by_their_values_alone():
    many, few = [1] * 300, [1] * 3

    def reads(x, numbers):
        return x + len(numbers)

    def of(numbers):
        return times_traced(
            lambda x: reads(x, numbers), lambda: numbers.__setitem__(0, 1.0), ONE
        )

    assert (of(few), of(many)) == (2, 1)


def test_what_a_trace_changes_itself_is_not_read_again():
    state = {"first": True}

    def changes(x):
        if state["first"]:
            state["first"] = False
            return x + 1
        return x + 2

    traced = tf.function(changes)
    assert int(traced(ONE)) == 2
    state["first"] = True
    assert int(traced(ONE)) == 2


@dataclass
class Pair:
    first: tf.Tensor


def test_an_argument_is_no_object_from_elsewhere():
    pair = Pair(ONE)
    registry = [pair]

    @tf.function
    def found(one, other):
        return registry[0] is one, one is other, one.first

    assert found(pair, pair)[:2] == (False, True)


def test_an_attribute_that_was_missing_is_not_noticed_when_it_comes():
    settings = Settings()

    def reads(x):
        try:
            return x + settings.offset
        except AttributeError:
            return x

    assert times_traced(reads, lambda: setattr(settings, "offset", 5), ONE) == 1


def test_converted_functions_keep_the_code_that_they_were_made_of():
    def function(x):
        return x + 1

    def other(x):
        return x + 2

    converted = autograph.convert(function)
    converted(1)
    function.__code__ = other.__code__
    assert (converted(1), function(1)) == (2, 3)


# --- variables ------------------------------------------------------------------------


def test_a_variable_that_is_only_handed_on_is_local():
    def outer(x):
        def inner():
            return y

        if x > 100:
            y = 1
        return inner()

    with pytest.raises(NameError):
        outer(1)
    with pytest.raises(UnboundLocalError):
        tf.function(outer)(ONE)


def test_objects_are_the_same_on_all_paths():
    settings, other = Settings(), Settings()

    def chosen(x, second):
        found = settings
        if x > 0:
            found = second
        return x + found.rate

    assert int(tf.function(lambda x: chosen(x, settings))(ONE)) == 2
    with pytest.raises(Exception, match="AG201"):
        tf.function(lambda x: chosen(x, [other]))(ONE)


def test_a_python_number_has_the_dtype_that_it_is_computed_with():
    dtypes = []

    @tf.function
    def total(n):
        total = 0.5
        for _ in range(n):
            total += 0.25
        dtypes.append(total.dtype)
        return total

    assert total(ONE).dtype == tf.float32
    assert dtypes == [tf.float64]


# --- containers -----------------------------------------------------------------------


def test_members_of_a_set_come_in_the_order_in_which_they_were_added():
    @tf.function
    def members(xs):
        seen = set()
        for x in xs:
            seen.add(x)
        first = seen.pop()
        return first, [x for x in seen]

    first, rest = members(tf.constant([7, 3, 7, 5]))
    assert (int(first), list(map(int, rest))) == (7, [3, 5])


def test_many_keys_are_found():
    @tf.function
    def counted(xs):
        counts = {}
        for x in xs:
            counts[x] = counts.get(x, 0) + 1
        return len(counts)

    assert int(counted(tf.constant(np.arange(2000) % 1000))) == 1000


def test_rows_of_a_table_are_refused_once_the_table_has_changed():
    @tf.function
    def stale(n):
        table = [[0] * n for _ in range(n)]
        row = table[0]
        table[1][0] = 5
        return row[0]

    with pytest.raises(Exception, match="AG210"):
        stale(tf.constant(3))


def test_items_that_a_tensor_chooses_are_numbers_texts_or_tensors():
    @tf.function
    def chosen(i):
        return (1, 2, 3)[i], "abc"[i], range(5, 9)[i], {0: 4.5, 1: 5.5}[i]

    assert [r.numpy() for r in chosen(ONE)] == [2, b"b", 6, 5.5]


def test_elements_of_a_tensor_array_have_one_shape():
    @tf.function
    def filled(n):
        array = tf.TensorArray(tf.int32, size=2, infer_shape=False)
        array = array.write(0, [1, 2]).write(1, [1, 2, 3])
        return array.stack() + n

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        filled(ONE)


# --- loops, comprehensions, matching --------------------------------------------------


def test_a_loop_runs_in_python_until_its_test_is_a_tensor(capsys):
    @tf.function
    def loop(n):
        x, count = 0, 0
        while x < 9:
            print("round", type(x).__name__)
            count += 1
            x = count if count < 4 else x + n
        return x

    assert int(loop(ONE)) == 9
    assert capsys.readouterr().out.count("round int\n") == 4


def test_any_computes_no_more_items_than_python():
    seen = tf.Variable(0)

    def asked(x):
        seen.assign_add(1)
        return x > 1

    assert bool(
        tf.function(lambda xs: any(asked(x) for x in xs))(tf.constant([0, 2, 5]))
    )
    assert int(seen) == 2


def test_comprehensions_with_functions_unroll_tensors():
    @tf.function
    def functions(xs):
        return [lambda: x for x in xs][0]()

    assert int(functions(tf.constant([4, 6]))) == 6


class Point:
    __match_args__ = ("x",)

    def __init__(self, x):
        self.x = x


def test_a_tensor_is_no_int_inside_of_an_object():
    @tf.function
    def kind(n):
        match Point(n):
            case Point(x=int()):
                return 1
            case Point(x=m) if m > 0:
                return 2
        return 3

    assert int(kind(ONE)) == 2


def test_inside_of_an_object_only_pythons_true_is_true():
    @tf.function
    def told(n):
        match Point(n > 0):
            case Point(x=True):
                return 1
        return 2

    assert int(told(ONE)) == 2


# --- recursion, variables and graphs --------------------------------------------------


def test_an_argument_that_recursion_returns_is_a_copy():
    @tf.function
    def program(n):
        items = [n, n]

        def handed_on(m, items):
            if m <= 0:
                return items
            return handed_on(m - 1, items)

        return handed_on(n, items)

    assert list(map(int, program(tf.constant(2)))) == [2, 2]


def test_slices_of_variables_are_added_to():
    variable = tf.Variable([1, 2, 3])
    variable[0].assign_add(5)
    variable[1:].assign_sub([1, 1])
    assert variable.numpy().tolist() == [6, 1, 2]


def test_captured_inputs_are_the_variables():
    variable, tensor = tf.Variable(1), tf.constant([2.0])
    concrete = tf.function(
        lambda x: (x + variable, tensor * 2.0)
    ).get_concrete_function(ONE)

    assert len(concrete.captured_inputs) == 1


def test_a_branch_that_returns_needs_no_flag():
    @tf.function
    def sign(x):
        if x > 0:
            return 1
        return -1

    graph = str(sign.get_concrete_function(ONE).graph)
    assert graph.count(" = If(") == 1
    assert "did_return" not in graph


# --- another result, without an error -------------------------------------------------


def divided(n):
    x = 1.0
    for _ in range(n):
        x = x / 0.0
    return x


def test_floats_divided_by_zero_are_infinite():
    with pytest.raises(ZeroDivisionError):
        divided(1)
    assert tf.function(divided)(ONE).numpy() == np.inf


def test_numbers_that_leave_the_function_are_narrow():
    largest = tf.constant(2**31 - 1)
    assert int(tf.function(lambda n: n + 1)(largest)) == -(2**31)
    assert tf.function(lambda n: 0.1 if n > 0 else 0.2)(ONE).dtype == tf.float32


def mixed(x):
    return f"{1 if x > 0 else 2.5}"


def mean(x):
    return str(statistics.mean([x, x]))


def second_name(x):
    array = np.add(np.zeros(2), x)
    other = array
    array += 1
    return str(int(other[0]))


def same_tuple(x):
    one, two = (1, 2), (3, 4)
    chosen = one if x > 0 else two
    return str(chosen is one)


def zipped_after_break(x):
    items = []
    for i in range(3 * x):
        items.append(i)
    pairs = zip(items, items)
    for i, _ in pairs:
        if i == x:
            break
    total = 0
    for i, _ in pairs:
        total += i
    return str(total)


def zipped_before_a_change(x):
    items = []
    for i in range(2 * x):
        items.append(i)
    pairs = zip(items, items)
    items[0] = 7
    for first, _ in pairs:
        return str(first)
    return ""


def taken(x):
    asked = []

    def small(y):
        asked.append(y)
        return y < 3

    for y in itertools.takewhile(small, [x, x + 1, x + 2]):
        if y >= x:
            break
    return str(len(asked))


@autograph.do_not_convert
def is_missing(x):
    return x is None


def asked_elsewhere(x):
    value = None
    if x > 5:
        value = x
    return str(is_missing(value))


class Shown:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Shown({self.x})"


def shown(x):
    return f"{[Shown(x)]}"


OTHERWISE = {
    mixed: ("1", "1.0"),
    mean: ("1", "1.0"),
    second_name: ("2", "1"),
    same_tuple: ("True", "False"),
    zipped_after_break: ("2", "3"),
    zipped_before_a_change: ("7", "0"),
    taken: ("1", "3"),
    asked_elsewhere: ("True", "False"),
    shown: ("[Shown(1)]", '[Shown(Tensor("x:0", shape=(), dtype=int32))]'),
}


@pytest.mark.parametrize("program", OTHERWISE, ids=lambda program: program.__name__)
def test_a_graph_says_otherwise(program):
    given = tf.constant(1, tf.float64) if program is second_name else ONE
    found = tf.function(program)(given).numpy().decode()

    assert (program(1), found) == OTHERWISE[program]


def test_a_break_leaves_nothing_of_an_iterator():
    def total(xs):
        items = iter(xs)
        for x in items:
            if x == 2:
                break
        rest = 0
        for x in items:
            rest += x
        return rest

    assert total([1, 2, 3, 4]) == 7
    assert int(tf.function(total)(tf.constant([1, 2, 3, 4]))) == 0


def test_a_path_gives_the_value_that_a_variable_has_at_its_end():
    def chosen(x):
        variable.assign(1)
        found = variable if x > 0 else tf.constant(5)
        variable.assign(9)
        return found + 0

    variable = tf.Variable(1)
    assert (int(chosen(ONE)), int(tf.function(chosen)(ONE))) == (9, 1)


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def test_a_context_manager_swallows_nothing_of_the_graph():
    def swallowed(x):
        with Swallows():
            if x > 0:
                raise KeyError("swallowed")
        return x

    assert swallowed(1) == 1
    with pytest.raises(KeyError, match="swallowed"):
        tf.function(swallowed)(ONE)


def test_outside_of_graphs_libraries_take_values():
    def root(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.convert_to_tensor(math.sqrt(x))
        return tape.gradient(y, x)

    assert root(tf.constant(4.0)) is None
    assert float(tf.function(root)(tf.constant(4.0))) == 0.25


def test_what_a_trace_that_begins_again_does_it_does_twice():
    calls = []

    class Account:
        @property
        def owed(self):
            return 1 if self.balance > 0 else 0

    def owed(x):
        calls.append(1)
        account = Account()
        account.balance = x
        return account.owed

    with pytest.warns(tf.errors.TracingWarning):
        tf.function(owed)(ONE)
    assert calls == [1, 1]


def test_the_contents_of_a_cache_are_no_state_of_a_branch():
    @functools.lru_cache
    def cached(n):
        return n

    def program(x):
        if x > 5:
            cached(3)
        return x

    tf.function(program)(ONE)
    assert cached.cache_info().currsize == 1


def test_bytes_that_are_no_utf8_are_printed_escaped(capfd):
    tf.print([b"a\xff"])
    assert "\\xff" in capfd.readouterr().err


def caller():
    return sys._getframe(1).f_code.co_name


def test_frames_are_those_of_converted_code():
    def named(x):
        name = "none"
        if x > 0:
            name = caller()
        return name

    assert named(1) == "named"
    assert tf.function(named)(ONE).numpy() != b"named"


def test_numpy_gives_no_warnings():
    divide = tf.function(lambda x: np.divide(1.0, x))
    assert divide(tf.constant(0.0, tf.float64)).numpy() == np.inf


def test_the_gradient_through_an_integer_is_none():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tape.gradient(y, x) is None


# --- left as it is --------------------------------------------------------------------


def with_yield(n):
    for i in range(n):
        if i > 1:
            return
        yield i


def with_locals(x):
    found = locals()
    if x > 0:
        return found["x"]
    return 0


def test_statements_that_yield_or_look_at_a_frame_stand():
    assert "if i > 1:\n            return" in autograph.to_code(with_yield)
    assert "ag." not in autograph.to_code(with_locals)
    with pytest.raises(Exception, match="AG301"):
        tf.function(with_locals)(ONE)


def test_the_top_level_and_bodies_of_classes_stand(tmp_path):
    from autograph.commandline.main import main

    path = tmp_path / "m.py"
    path.write_text("X = 1\nif X:\n    Y = 2\n\nclass A:\n    if X:\n        Z = 3\n")
    assert main(["show", str(path), "-o", str(tmp_path / "out.py")]) == 0
    assert (tmp_path / "out.py").read_text() == path.read_text()


def with_walrus(x):
    return (lambda y: y > 0 and (z := y) and z)(x)


def test_a_walrus_in_a_lambda_leaves_its_condition():
    assert "y > 0 and (z := y) and z" in autograph.to_code(with_walrus)
