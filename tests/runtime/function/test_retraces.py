"""Why functions are traced again: what is said of which change."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

import runtime as tf
from runtime.function.function import Function


def traced(**options: Any) -> Function:
    def f(x: Any, n: Any = 1, **more: Any) -> Any:
        return tf.constant(0)

    return tf.function(f, autograph=False, **options)


def place(test: Any, offset: int) -> str:
    """The place of a line of a test."""
    return f"{__file__}:{test.__code__.co_firstlineno + offset}"


ROWS = tf.ones([2, 3])


class Thing:
    pass


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no text")


SIGNATURE = (
    "tf.function(input_signature=[tf.TensorSpec(shape=[None, 3], dtype=tf.float32)])"
)

CASES: list[tuple[Any, Any, list[str]]] = [
    (
        (ROWS,),
        (tf.ones([3, 3]),),
        [
            "  x: shape (2, 3) -> (3, 3)",
            "  fix: tf.function(reduce_retracing=True)",
            f"  fix: {SIGNATURE}",
        ],
    ),
    (
        ({"a": [ROWS]},),
        ({"a": [tf.ones([2])]},),
        [
            "  x['a'][0]: shape (2, 3) -> (2,)",
            "  fix: tf.function(reduce_retracing=True)",
        ],
    ),
    (
        (ROWS,),
        (tf.cast(ROWS, tf.int32),),
        [
            "  x: dtype float32 -> int32",
            "  fix: pass x with one dtype: tf.cast(x, tf.float32)",
        ],
    ),
    (
        (ROWS, 1),
        (ROWS, 2),
        [
            "  n: value 1 -> 2",
            "  fix: pass n as a tensor: tf.constant(2)",
            "  fix: tf.function(input_signature=[tf.TensorSpec(shape=[2, 3], "
            "dtype=tf.float32), tf.TensorSpec(shape=[], dtype=tf.int32)])",
        ],
    ),
    (
        (ROWS, 1),
        (ROWS, 1.5),
        [
            "  n: 1 -> 1.5",
            "  fix: pass n as a tensor of one dtype: tf.constant(1.5, ...)",
        ],
    ),
    (
        (ROWS, "mean"),
        (ROWS, "sum"),
        [
            "  n: constant 'mean' -> 'sum'",
            "  fix: let n take few values: each has a trace of its own",
        ],
    ),
    (
        (ROWS, None),
        (ROWS, "sum"),
        ["  n: None -> 'sum'", "  fix: pass n in one form"],
    ),
    (
        ([ROWS],),
        ([ROWS, ROWS],),
        [
            "  x: structure [float32[2,3]] -> [float32[2,3], float32[2,3]]",
            "  fix: pass x in one form, or its parts as one tensor",
        ],
    ),
    (
        ([ROWS] * 30,),
        ([ROWS] * 31,),
        [
            "  x: structure list of 30 -> list of 31",
            "  fix: pass x in one form, or its parts as one tensor",
        ],
    ),
    (
        ((ROWS, 1),),
        ([ROWS, 1],),
        [
            "  x: structure (float32[2,3], 1) -> [float32[2,3], 1]",
            "  fix: pass x in one form, or its parts as one tensor",
        ],
    ),
]


@pytest.mark.parametrize(("first", "second", "expected"), CASES)
def test_what_changed(first: Any, second: Any, expected: list[str]) -> None:
    f = traced()
    f(*first)
    f(*second)

    lines = str(f.explain_retrace()).splitlines()
    assert lines[1:] == expected
    assert lines[0].startswith("'f' was traced again (trace 2) by the call at ")


def test_the_fixes_work_as_they_are_written() -> None:
    f = traced()
    f(ROWS)
    f(tf.ones([5, 3]))
    assert [eval(fix, {"tf": tf}) for fix in f.explain_retrace().fixes]

    g = tf.function(
        lambda x: tf.constant(0),
        autograph=False,
        input_signature=[tf.TensorSpec(shape=[None, 3], dtype=tf.float32)],
    )
    g(ROWS)
    g(tf.ones([5, 3]))
    assert g.experimental_get_tracing_count() == 1


def test_objects() -> None:
    f = traced()
    one, other = Thing(), Thing()
    f(one)
    f(other)
    change = f.explain_retrace().changes[0]
    assert change.kind == "object"
    assert change.old == f"<Thing at {id(one):#x}>"
    assert change.new == f"<Thing at {id(other):#x}>"

    unprintable = Unprintable()
    f(unprintable)
    assert f.explain_retrace().changes[0].new == "<Unprintable>"


def test_an_object_that_is_gone() -> None:
    f = traced()
    f(Thing())
    f(Thing())

    assert f.explain_retrace().changes[0].old == "<dead Thing>"


def test_keywords_that_come_and_go() -> None:
    f = traced()
    f(ROWS, a=1)
    f(ROWS, b=2)

    assert [str(change) for change in f.explain_retrace().changes] == [
        "b: structure not given -> 2",
        "a: structure 1 -> not given",
    ]


def test_the_most_similar_of_the_last_calls_is_compared() -> None:
    f = traced()
    f(ROWS, "sum")
    f(tf.ones([7]), 3)
    f(ROWS, "mean")

    assert [change.name for change in f.explain_retrace().changes] == ["n"]


def test_a_trace_that_was_dropped() -> None:
    f = traced(max_traces=1)
    f(ROWS, 1)
    with pytest.warns(tf.errors.RetracingWarning):
        f(ROWS, 2)
    f(ROWS, 1)

    assert str(f.explain_retrace()).splitlines()[1:] == [
        "  its trace for these arguments was no longer kept",
        "  fix: a larger tf.function(max_traces=...)",
    ]


def test_nothing_was_traced_again() -> None:
    f = traced()
    assert str(f.explain_retrace()) == "'f' was not traced yet"
    f(ROWS)
    f(ROWS)

    at = place(test_nothing_was_traced_again, 3)
    assert repr(f.explain_retrace()) == f"'f' was traced once by the call at {at}"


def test_records_for_machines() -> None:
    f = traced()
    f(ROWS, 1)
    f(ROWS, 2)

    found = json.loads(f.explain_retrace().to_json())
    assert found["place"] == place(test_records_for_machines, 3)
    assert found["changes"] == [
        {"name": "n", "kind": "value", "old": "1", "new": "2", "place": None}
    ]


def test_tracing_too_often_is_said_once() -> None:
    f = traced()
    x = tf.constant(1)
    for n in range(4):
        f(x, n)
        f(x, n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(10, 30):
            f(x, n)

    (found,) = caught
    assert found.category is tf.errors.RetracingWarning
    assert f"{found.filename}:{found.lineno}" == place(
        test_tracing_too_often_is_said_once, 9
    )
    assert str(found.message).splitlines()[:3] == [
        "AG321: 5 of the last 8 calls of 'f' traced it. The last one:",
        "  n: value 10 -> 11",
        "  fix: pass n as a tensor: tf.constant(11)",
    ]


def test_traces_that_are_asked_for_are_not_counted() -> None:
    f = traced()
    x = tf.constant(1)
    for n in range(6):
        f.get_concrete_function(x, n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(10):
            f(x, n % 6)
            f.get_concrete_function(x, 10 + n)
        for n in range(20, 24):
            f(x, n)
    with pytest.raises(tf.errors.RetracingWarning, match="5 of the last 5 calls"):
        f(x, 24)


def test_a_warning_that_is_an_error_leaves_the_trace() -> None:
    f = traced()
    x = tf.constant(1)
    for n in range(4):
        f(x, n)
    with pytest.raises(tf.errors.RetracingWarning):
        f(x, 4)

    assert int(f(x, 4)) == 0
    assert f.experimental_get_tracing_count() == 5


def test_relaxed_functions_are_not_told_to_relax() -> None:
    f = traced(reduce_retracing=True)
    f(ROWS)
    f(tf.ones([3, 3]))

    assert f.explain_retrace().fixes == (SIGNATURE,)
