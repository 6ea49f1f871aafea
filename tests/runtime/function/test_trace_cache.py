"""The cache of traces: what finds which trace, what is dropped, and threads."""

from __future__ import annotations

import collections
import dataclasses
import gc
import random
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runtime as tf
from runtime.function import cache
from runtime.function.function import Function

often = pytest.mark.filterwarnings("ignore::runtime.core.errors.RetracingWarning")
Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: Any
    y: Any
    norm: Any = dataclasses.field(init=False, default=None)


class Attrs:
    """As the classes of attrs are."""

    __attrs_attrs__ = (type("Attribute", (), {"name": "_x", "init": True})(),)

    def __init__(self, x: Any) -> None:
        self._x = x


def leaves(*args: Any, **kwargs: Any) -> Any:
    """The sum of the numbers in the arguments, each with its own weight."""
    found = tf.nest.flatten((args, kwargs))
    return sum((i + 1) * tf.cast(leaf, tf.float64) for i, leaf in enumerate(found))


def traced(fn: Any, **options: Any) -> Function:
    return tf.function(fn, autograph=False, **options)


# --- calls as they are written --------------------------------------------------------

ONE, TWO = tf.constant(1.0), tf.constant(2.0)

CALLS: list[tuple[Any, Any]] = [
    ([ONE, TWO], [TWO, ONE]),
    ((ONE, [TWO, 3]), (TWO, [TWO, 3])),
    ({"b": ONE, "a": TWO}, {"b": TWO, "a": TWO}),
    ({1: ONE, 0: TWO}, {1: TWO, 0: TWO}),
    (collections.OrderedDict(b=ONE, a=TWO), collections.OrderedDict(b=TWO, a=TWO)),
    (Pair(ONE, 2.5), Pair(TWO, 2.5)),
    (Point(ONE, [TWO]), Point(TWO, [ONE])),
    (Attrs(ONE), Attrs(TWO)),
    (np.array([1.0, 2.0]), np.array([2.0, 2.0])),
    (np.float32(1), np.float32(2)),
    ([np.int64(1), ONE], [np.int64(5), TWO]),
]


@pytest.mark.parametrize(("first", "second"), CALLS)
def test_calls_of_one_form_share_a_trace(first: Any, second: Any) -> None:
    f = traced(leaves)
    for call in (first, second, first, second):
        expected = np.asarray(leaves(call))
        assert np.allclose(f(call).numpy(), expected)
        assert np.allclose(f(extra=call).numpy(), expected)

    assert f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize(("first", "second"), CALLS)
def test_the_second_call_is_known_as_it_is_written(
    first: Any, second: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = traced(leaves)
    f(first)
    monkeypatch.setattr(f, "_call", None)

    assert np.allclose(f(second).numpy(), np.asarray(leaves(second)))


POOL = [tf.constant(float(n)) for n in range(3)] + [tf.constant([1.0, 2.0])]
PARTS = st.recursive(
    st.sampled_from([*POOL, 1, 2, 1.5, np.float32(3), np.ones(2)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(Point, inner, inner)
        | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3)
    ),
    max_leaves=4,
)
WRITTEN = st.tuples(
    st.lists(PARTS, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from("ab"), PARTS, max_size=2),
)


@often
@settings(max_examples=settings().max_examples // 3, deadline=None)
@given(st.lists(WRITTEN, min_size=2, max_size=4))
def test_whatever_is_called_gives_what_python_gives(calls: Any) -> None:
    f = traced(leaves)
    for args, kwargs in [*calls, *calls]:
        expected = np.asarray(leaves(*args, **kwargs))
        assert np.allclose(f(*args, **kwargs).numpy(), expected)


@often
def test_values_that_are_equal_and_differ_have_traces_of_their_own() -> None:
    f = traced(lambda x: tf.constant(str(x)))
    values = [0.0, -0.0, 1.0, float("nan"), {1: "a"}, {True: "a"}, [1], [True], [1.0]]
    values += [(1,), Pair(1, 2), (1, 2), {"a": 1, "b": 2}, 1j, 1]
    for value in [*values, *values]:
        assert f(value).numpy().decode() == str(value)


def test_equal_dicts_share_a_trace() -> None:
    f = traced(lambda x: x["a"] - x["b"])
    one, ten = tf.constant(1), tf.constant(10)
    for _ in range(2):
        assert int(f({"a": ten, "b": one})) == 9
        assert int(f({"b": ten, "a": one})) == -9

    assert f.experimental_get_tracing_count() == 1


def test_lists_and_dicts_with_tensors_and_numbers_are_not_confused() -> None:
    f = traced(lambda *args, **kwargs: tf.constant(f"{args}{kwargs}"))
    calls: list[Any] = [((1,), {"a": 1}), ((1, {"a": 1}), {}), (([1], 1), {})]
    for args, kwargs in calls * 2:
        assert f(*args, **kwargs).numpy().decode() == f"{args}{kwargs}"


def test_a_tensor_as_default_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    default = tf.constant(10)
    f = traced(lambda x, y=default: x - y)
    assert int(f(tf.constant(1))) == -9
    monkeypatch.setattr(f, "_entry", None)

    assert int(f(tf.constant(2))) == -8
    assert int(f(tf.constant(2), tf.constant(1))) == 1


def test_arrays_that_a_signature_converts_are_converted_on_each_call() -> None:
    f = traced(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.float32)])
    for value in (np.array([1.0, 2.0]), [1, 2], tf.constant([1.0, 2.0])):
        for _ in range(2):
            assert f(value).dtype == tf.float32
            assert f(value).numpy().tolist() == [2.0, 4.0]
    assert f.experimental_get_tracing_count() == 1


def test_an_array_that_changes_is_read_on_each_call() -> None:
    f = traced(lambda x: tf.identity(x))
    array = np.array([1, 2])
    first = f(array)
    array[0] = 5

    assert first.numpy().tolist() == [1, 2]
    assert f(array).numpy().tolist() == [5, 2]


def test_a_trace_for_unknown_dimensions_takes_all_that_fit() -> None:
    f = traced(lambda x, n: x * n)
    wide = f.get_concrete_function(tf.TensorSpec([None, 2], tf.float32), 3)
    for rows in (1, 2, 3):
        assert f(tf.ones([rows, 2]), 3).numpy().tolist() == [[3.0, 3.0]] * rows

    assert f.experimental_get_tracing_count() == 1
    assert f.get_concrete_function(tf.ones([5, 2]), 3) is wide
    for others in ((tf.ones([2, 3]), 3), (tf.ones([2, 2]), 4), (tf.ones([2]), 3)):
        f(*others)
    assert f.experimental_get_tracing_count() == 4


def test_dimensions_are_relaxed_for_each_argument() -> None:
    shapes: list[Any] = []
    f = traced(lambda x, y: shapes.append((x.shape, y[0].shape)), reduce_retracing=True)
    for rows in (1, 2, 3):
        f(tf.ones([rows, 4]), [tf.ones([3])])
    f(tf.ones([3, 4]), [tf.ones([5])])
    f(tf.ones([7, 4]), [tf.ones([7])])

    assert shapes == [
        ([1, 4], [3]), ([None, 4], [3]), ([None, 4], [None])
    ]  # fmt: skip


# --- the bound ------------------------------------------------------------------------


def limited(limit: int) -> Function:
    return traced(lambda x, n: x * n, max_traces=limit)


@often
def test_the_traces_that_were_used_last_are_kept() -> None:
    f = limited(2)
    x = tf.constant(1)
    for n in (1, 2, 1, 3, 1):
        assert int(f(x, n)) == n
    assert f.experimental_get_tracing_count() == 3
    f(x, 2)

    assert f.experimental_get_tracing_count() == 4
    assert len(f._cache) == 2
    assert f.pretty_printed_concrete_signatures().count("Returns:") == 2


def test_dropping_traces_is_said_once() -> None:
    f = limited(1)
    x = tf.constant(1)
    f(x, 1)
    with pytest.warns(tf.errors.RetracingWarning) as caught:
        f(x, 2)
    f(x, 3)

    assert str(caught[0].message) == (
        "AG321: '<lambda>' keeps 1 traces (max_traces), and drops those that were not "
        "used for longest. The last one was made for:\n"
        "  n: value 1 -> 2\n"
        "  fix: pass n as a tensor: tf.constant(2)\n"
        "  fix: tf.function(input_signature=[tf.TensorSpec(shape=[], dtype=tf.int32), "
        "tf.TensorSpec(shape=[], dtype=tf.int32)])"
    )
    assert caught[0].filename == __file__


def test_dropped_traces_are_freed() -> None:
    f = limited(1)
    x = tf.constant(1)
    gone = weakref.ref(f.get_concrete_function(x, 1))
    f(x, 1)
    with pytest.warns(tf.errors.RetracingWarning):
        f(x, 2)
    gc.collect()

    assert gone() is None


def test_a_limit_is_a_positive_number() -> None:
    with pytest.raises(ValueError, match="max_traces must be 1 or more, not 0"):
        limited(0)


@often
def test_shapes_of_one_relaxed_trace_do_not_pile_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "FAST_CALLS", 16)
    f = traced(tf.size, reduce_retracing=True)
    for length in range(50):
        assert int(f(tf.zeros([length]))) == length

    assert f.experimental_get_tracing_count() == 2
    assert len(f._cache.fast) <= 16
    assert sum(len(entry.fast_keys) for entry in f._cache._all()) <= 16


# --- objects --------------------------------------------------------------------------


class Model:
    def __init__(self, weight: int) -> None:
        self.weight = weight


@often
def test_objects_in_structures_go_away_with_their_traces() -> None:
    f = traced(lambda models, x: models["m"][0].weight * x)
    x = tf.constant(2)
    for weight in range(8):
        model = Model(weight)
        for _ in range(2):
            assert int(f({"m": [model]}, x)) == 2 * weight
        assert len(f._cache) == 1
    del model
    gc.collect()

    assert len(f._cache) == len(f._cache.fast) == 0


# --- guards ---------------------------------------------------------------------------


@dataclasses.dataclass
class Scale:
    """Guards of a trace that read ``STATE["scale"]``."""

    known: int

    def holds(self) -> bool:
        return STATE["scale"] == self.known

    def changes(self) -> list[Any]:
        change = collections.namedtuple("change", "name old new place")
        return [change("the global scale", self.known, STATE["scale"], "model.py:3")]


STATE = {"scale": 1}


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Function:
    f = traced(lambda x: x * STATE["scale"], reduce_retracing=True)
    original = f._tracer.trace

    def trace(specs: Any) -> Any:
        concrete, _ = original(specs)
        return concrete, Scale(STATE["scale"])

    monkeypatch.setattr(f._tracer, "trace", trace)
    monkeypatch.setitem(STATE, "scale", 1)
    return f


def test_a_trace_whose_guards_hold_is_run(guarded: Function) -> None:
    x = tf.constant(5)
    for scale in (1, 2, 1, 1, 2):
        STATE["scale"] = scale
        assert int(guarded(x)) == int(guarded(x=x)) == 5 * scale

    assert guarded.experimental_get_tracing_count() == 2


def test_guards_of_relaxed_traces(guarded: Function) -> None:
    for length in (1, 2, 3):
        guarded(tf.ones([length]))
    STATE["scale"] = 3

    assert guarded(tf.ones([4])).numpy().tolist() == [3.0] * 4
    assert guarded.experimental_get_tracing_count() == 3


def test_a_change_of_state_is_explained(guarded: Function) -> None:
    guarded(tf.constant(5))
    STATE["scale"] = 2
    guarded(tf.constant(6))

    assert str(guarded.explain_retrace()).splitlines()[1:] == [
        "  the global scale: 1 -> 2 (read at model.py:3)",
        "  fix: keep the global scale in a tf.Variable, or pass it as an argument",
        "  fix: tf.function(guards=False), if changes do not matter",
    ]


@often
def test_few_states_are_kept_for_one_kind_of_arguments(guarded: Function) -> None:
    for scale in range(20):
        STATE["scale"] = scale
        assert int(guarded(tf.constant(5))) == 5 * scale

    assert len(guarded._cache) == 8


# --- threads --------------------------------------------------------------------------


@often
def test_many_threads_with_many_signatures() -> None:
    f = traced(lambda x, n: tf.size(x) * 1000 + n, max_traces=8)
    inputs = [tf.zeros([n]) for n in range(24)]
    wrong: list[Any] = []

    def work(seed: int) -> None:
        numbers = random.Random(seed)
        for _ in range(25):
            n = numbers.randrange(len(inputs))
            result = int(f(inputs[n], n % 3))
            if result != n * 1000 + n % 3:
                wrong.append((n, result))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert len(f._cache) <= 8
    assert len(f._cache.fast) <= 16
