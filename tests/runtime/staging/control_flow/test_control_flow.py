"""`cond`, `case`, `switch_case`, `while_loop`: eagerly, staged, and misused."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf


def staged(fn: Callable[..., Any], *args: Any) -> Any:
    """The result of a function as a graph."""
    return tf.function(fn, autograph=False)(*map(tf.constant, args))


def trace(fn: Callable[..., Any], *specs: tf.TensorSpec) -> Any:
    return tf.function(fn, autograph=False).get_concrete_function(*specs)


INT = tf.TensorSpec([], tf.int32)
BOOL = tf.TensorSpec([], tf.bool)


# --- cond -----------------------------------------------------------------------------


def test_a_known_condition_traces_one_branch() -> None:
    def fail() -> Any:
        raise AssertionError("must not be traced")

    def f(x: Any) -> Any:
        y = tf.cond(True, lambda: x + 1, fail)
        y = tf.cond(tf.constant(2) > 3, fail, lambda: y)
        return tf.cond(np.bool_(True), lambda: y * 2, fail)

    with tf.init_scope():
        assert int(f(tf.constant(1))) == 4
    with pytest.raises(AssertionError):
        # Within the graph `tf.constant(2) > 3` is a symbolic tensor.
        trace(f, INT)


def test_numbers_are_conditions() -> None:
    for run in (lambda f, x: f(tf.constant(x)), staged):
        assert int(run(lambda x: tf.cond(x, lambda: 1, lambda: 2), 5)) == 1
        assert int(run(lambda x: tf.cond(x, lambda: 1, lambda: 2), 0.0)) == 2
        assert int(run(lambda x: tf.cond(x, lambda: 1, lambda: 2), [[True]])) == 1


def test_conditions_that_make_no_sense() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is ambiguous"):
        trace(lambda x: tf.cond(x, lambda: 1, lambda: 2), tf.TensorSpec([2], tf.bool))
    for shape in ([None], None):
        f = tf.function(
            lambda x: tf.cond(x, lambda: 1, lambda: 2),
            input_signature=[tf.TensorSpec(shape, tf.bool)],
        )
        assert int(f([True])) == 1
        for value in ([], [True, True]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Op:Reshape"):
                f(tf.constant(value, tf.bool))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a bool tensor"):
        trace(
            lambda x: tf.cond(x, lambda: 1, lambda: 2), tf.TensorSpec(None, tf.string)
        )
    with pytest.raises(TypeError, match="needs both true_fn and false_fn"):
        tf.cond(True, lambda: 1)


def test_branches_return_one_structure() -> None:
    result = staged(
        lambda x: tf.cond(
            x > 0, lambda: {"a": x, "b": (None, 1)}, lambda: {"a": 0, "b": (None, x)}
        ),
        -5,
    )
    assert int(result["a"]) == 0
    assert result["b"][0] is None
    assert int(result["b"][1]) == -5
    for other in (lambda: (1, 2), lambda: None, lambda: [1]):
        with pytest.raises(
            (TypeError, ValueError), match="true_fn and false_fn return"
        ):
            trace(lambda c: tf.cond(c, lambda: (1,), other), BOOL)


def test_branches_without_results() -> None:
    assert staged(lambda x: tf.cond(x > 0, lambda: None, lambda: None), 1) is None


def test_branches_of_two_dtypes() -> None:
    with pytest.raises(TypeError, match="has two dtypes: int32 and float32"):
        trace(
            lambda c: tf.cond(c, lambda: tf.constant(1), lambda: tf.constant(1.0)), BOOL
        )


def test_shapes_are_joined() -> None:
    concrete = trace(
        lambda c: tf.cond(c, lambda: tf.ones([2, 3]), lambda: tf.ones([2, 4])), BOOL
    )
    assert concrete.structured_outputs.shape == [2, None]
    concrete = trace(
        lambda c: tf.cond(c, lambda: tf.ones([2, 3]), lambda: tf.constant(1.0)), BOOL
    )
    assert concrete.structured_outputs.shape.rank is None


def test_conditions_within_conditions_capture_from_far_outside() -> None:
    def f(x: Any, y: Any) -> Any:
        return tf.cond(
            x > 0,
            lambda: tf.cond(y > 0, lambda: x + y, lambda: x - y),
            lambda: tf.cond(x < -5, lambda: y, lambda: x),
        )

    points = [(1, 2), (1, -2), (-6, 3), (-1, 3)]
    assert [int(staged(f, x, y)) for x, y in points] == [3, 3, 3, -1]


# --- case and switch_case -------------------------------------------------------------


@pytest.mark.parametrize(("x", "expected"), [(-5, 0), (5, 1), (50, 2), (500, 3)])
def test_case(x: int, expected: int) -> None:
    def f(x: Any) -> Any:
        pairs = [(x < 0, lambda: 0), (x < 10, lambda: 1), (x < 100, lambda: 2)]
        return tf.case(pairs, default=lambda: 3)

    assert int(f(tf.constant(x))) == int(staged(f, x)) == expected


def test_case_without_default_needs_a_condition_that_holds() -> None:
    def f(x: Any) -> Any:
        return tf.case([(x < 0, lambda: 1), (x > 10, lambda: 2)])

    assert [int(f(tf.constant(x))) for x in (-1, 11)] == [1, 2]
    assert [int(staged(f, x)) for x in (-1, 11)] == [1, 2]
    for run in (lambda: f(tf.constant(5)), lambda: staged(f, 5)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="no condition holds"):
            run()


def test_exclusive_case() -> None:
    def f(x: Any, exclusive: bool = True) -> Any:
        pairs = {(x > 0).ref(): lambda: 1, (x > 1).ref(): lambda: 2}
        return tf.case(pairs, default=lambda: 3, exclusive=exclusive)

    for run in (f, tf.function(f)):
        assert [int(run(tf.constant(x))) for x in (0, 1)] == [3, 1]
        assert int(run(tf.constant(2), False)) == 1
    for twice in (lambda: f(tf.constant(2)), lambda: staged(f, 2)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="several conditions"):
            twice()


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        (lambda x: tf.case([]), ValueError, "at least one pair"),
        (lambda x: tf.case(3), TypeError, "must be a list of pairs"),
        (lambda x: tf.case([(x > 0, 1)]), TypeError, "pair 0 must be a condition and"),
        (lambda x: tf.case([(x > 0, abs)], 1), TypeError, "default must be callable"),
        (lambda x: tf.cond(x > 0, abs, 1), TypeError, "false_fn must be callable"),
        (lambda x: tf.switch_case(x, [abs, 1]), TypeError, r"there is \(1, 1\)"),
        (lambda x: tf.switch_case(x, [abs], 1), TypeError, "default must be callable"),
        (
            lambda x: tf.switch_case(x, [(1, abs), (1, abs)]),
            ValueError,
            "two functions for index 1",
        ),
        (lambda x: tf.switch_case(x / 2, [abs]), TypeError, "must be of integers"),
        (lambda x: tf.switch_case(True, [abs]), TypeError, "must be an integer"),
    ],
)
def test_choices_that_go_wrong(choice: Any, error: Any, message: str) -> None:
    for run in (choice, tf.function(choice, autograph=False)):
        with pytest.raises(error, match=message):
            run(tf.constant(1))


def test_results_that_differ_are_shown() -> None:
    with pytest.raises(ValueError, match=r"structures, {'a': int32\[\]} and int32\[\]"):
        trace(lambda x: tf.cond(x > 0, lambda: {"a": x}, lambda: x), INT)
    with pytest.raises(ValueError, match=r"None\) and \(int32\[\], 1\): what is None"):
        trace(lambda x: tf.cond(x > 0, lambda: (x, None), lambda: (x, 1)), INT)
    with pytest.raises(
        TypeError, match=r"at \['a'\] of function 0 and default has two"
    ):
        trace(lambda x: tf.case([(x > 0, lambda: {"a": x})], lambda: {"a": 1.5}), INT)
    with pytest.raises(TypeError, match="of branch 0 and branch 1 has two dtypes"):
        trace(lambda x: tf.switch_case(x, [lambda: x, lambda: x > 0]), INT)


def test_an_index_beyond_int32_is_none_of_the_others() -> None:
    def f(i: Any) -> Any:
        return tf.switch_case(i, [lambda: 10, lambda: 11], default=lambda: 99)

    for dtype in (tf.int64, tf.uint64, tf.uint8):
        index = tf.constant(1 if dtype is tf.uint8 else 2**32, dtype)
        expected = 11 if dtype is tf.uint8 else 99
        assert int(f(index)) == int(tf.function(f)(index)) == expected


@pytest.mark.parametrize(
    ("index", "expected"), [(0, 10), (1, 11), (2, 13), (3, 13), (-1, 99), (4, 99)]
)
def test_switch_case(index: int, expected: int) -> None:
    def f(i: Any) -> Any:
        functions = {0: lambda: 10, 1: lambda: 11, 3: lambda: 13, 2: lambda: 13}
        return tf.switch_case(i, functions, default=lambda: 99)

    assert int(f(tf.constant(index))) == int(staged(f, index)) == expected


def test_switch_case_without_default_runs_the_last() -> None:
    def f(i: Any) -> Any:
        return tf.switch_case(i, [lambda: 10, lambda: 11])

    assert [int(staged(f, i)) for i in (-1, 0, 1, 2)] == [11, 10, 11, 11]
    assert [int(f(tf.constant(i))) for i in (-1, 0, 1, 2)] == [11, 10, 11, 11]
    pairs = [(1, lambda: "one"), (0, lambda: "zero")]
    assert tf.switch_case(0, pairs) == "zero"


def test_switch_case_needs_functions() -> None:
    for functions in ([], {-1: lambda: 1}):
        with pytest.raises(ValueError, match="functions for indices from 0 on"):
            tf.switch_case(0, functions)


Point = namedtuple("Point", "x y")

# --- while_loop -----------------------------------------------------------------------


def test_loops_keep_the_structure_of_their_variables() -> None:
    def f(n: Any) -> Any:
        def body(i: Any, state: Any) -> Any:
            return i + 1, {"sum": state["sum"] + i, "none": None}

        return tf.while_loop(lambda i, s: i < n, body, (0, {"sum": 0, "none": None}))

    for result in (f(tf.constant(4)), staged(f, 4)):
        assert isinstance(result, tuple)
        assert int(result[0]) == 4
        assert int(result[1]["sum"]) == 6
        assert result[1]["none"] is None


def test_one_variable() -> None:
    def f(n: Any) -> Any:
        return tf.while_loop(lambda i: i < 10, lambda i: i * 2, [n])

    for result in (f(tf.constant(3)), staged(f, 3)):
        assert isinstance(result, list)
        assert int(result[0]) == 12


def test_bodies_that_return_something_else() -> None:
    def f(n: Any, result: Any) -> Any:
        return tf.while_loop(lambda i, j: i < n, lambda i, j: result, (0, 1))

    message = "the body of while_loop"
    for wrong in ((1,), (1, 2, 3), {"i": 1}, ((1, 2), 3)):
        with pytest.raises((TypeError, ValueError), match=message):
            f(tf.constant(1), wrong)
        with pytest.raises((TypeError, ValueError), match=message):
            trace(lambda n, w=wrong: f(n, w), INT)
    with pytest.raises(
        ValueError, match="what is None in one must be None in the other"
    ):
        trace(lambda n: f(n, (1, None)), INT)


def test_a_variable_that_changes_its_dtype() -> None:
    def f(n: Any) -> Any:
        body = lambda i, x: (i + 1, tf.cast(x, tf.float32))  # noqa: E731
        return tf.while_loop(lambda i, x: i < n, body, (0, 1))

    with pytest.raises(TypeError, match="'x' has two dtypes: int32 and float32"):
        trace(f, INT)


def test_shapes_that_change_become_unknown() -> None:
    traced: list[str] = []

    def f(n: Any) -> Any:
        def body(i: Any, x: Any, y: Any) -> Any:
            traced.append(str(x.shape))
            return i + 1, tf.concat([x, x], 0), y + 1.0

        return tf.while_loop(
            lambda i, x, y: i < n, body, (0, tf.ones([1, 2]), tf.ones([3]))
        )[1:]

    concrete = trace(f, INT)
    x, y = concrete.structured_outputs
    assert (x.shape, y.shape) == ([None, 2], [3])
    assert traced == ["(1, 2)", "(None, 2)"]
    assert concrete(tf.constant(3))[0].shape == [8, 2]


def test_shape_invariants() -> None:
    traced: list[str] = []

    def f(n: Any, shape: Any) -> Any:
        def body(i: Any, x: Any) -> Any:
            traced.append(str(x.shape))
            return i + 1, tf.concat([x, x], 0)

        shapes = (tf.TensorShape([]), shape)
        return tf.while_loop(
            lambda i, x: i < n, body, (0, tf.ones([1])), shape_invariants=shapes
        )[1]

    assert trace(lambda n: f(n, [None]), INT)(tf.constant(2)).shape == [4]
    trace(lambda n: f(n, tf.TensorSpec([None])), INT)
    assert traced == ["(None,)", "(None,)"]
    with pytest.raises(
        ValueError, match=r"shape invariant \(2,\) of 'x' does not hold"
    ):
        trace(lambda n: f(n, [2]), INT)


@pytest.mark.parametrize(
    ("loop", "error", "message"),
    [
        (
            lambda i: tf.while_loop(
                lambda i, x: i < 3,
                lambda i, x: (i + 1, tf.concat([x, x], 0)),
                (i, tf.ones([2, 3])),
                shape_invariants=(None, [2, None]),
            ),
            ValueError,
            r"invariant \(2, None\) of 'x' .* the shape is \(4, .*\); "
            r"give shape_invariants=\(None, None\)",
        ),
        (
            lambda i: tf.while_loop(lambda i: i < 3, lambda i: i / 2, [i]),
            TypeError,
            "'i' has two dtypes: int32 and float64",
        ),
        (
            lambda i: tf.while_loop(
                lambda i: i < 3, lambda i: i, [i], shape_invariants=[[], []]
            ),
            ValueError,
            "shape_invariants must be in the structure of loop_vars",
        ),
        (
            lambda i: tf.while_loop(lambda i, j: i < 3, lambda i, j: (i, j, j), (i, i)),
            ValueError,
            r"returns \(int32\[\], int32\[\], int32\[\]\), which has another",
        ),
        (lambda i: tf.while_loop(True, abs, [i]), TypeError, "cond must be callable"),
        (lambda i: tf.while_loop(abs, None, [i]), TypeError, "body must be callable"),
        (lambda i: tf.while_loop(abs, abs, i), TypeError, r"one variable is \[x\]"),
        (lambda i: tf.while_loop(abs, abs, []), ValueError, "no loop variables"),
        (
            lambda i: tf.while_loop(abs, abs, [i], maximum_iterations=1.5),
            TypeError,
            "maximum_iterations must be an integer",
        ),
    ],
)
def test_loops_that_go_wrong(loop: Any, error: Any, message: str) -> None:
    for run in (loop, tf.function(loop, autograph=False)):
        with pytest.raises(error, match=message):
            run(tf.constant(1))


def test_structures_that_stand_for_each_other() -> None:
    def f(n: Any) -> Any:
        found = tf.while_loop(
            lambda i, p: i < n, lambda i, p: [i + 1, [p.y, p.x]], (0, Point(1, 2))
        )
        (alone,) = tf.while_loop(
            lambda d: d["i"] < n, lambda d: {"i": d["i"] + 1}, [{"i": 0}]
        )
        (point,) = tf.while_loop(
            lambda p: p.x < n, lambda p: Point(p.x + 1, p.x), [Point(0, 0)]
        )
        return found, alone, point

    for found in (f(tf.constant(3)), staged(f, 3)):
        assert tf.nest.map_structure(int, found) == (
            (3, Point(2, 1)),
            {"i": 3},
            Point(3, 2),
        )


def test_python_numbers_take_the_dtypes_of_their_variables() -> None:
    def f(x: Any) -> Any:
        return tf.while_loop(lambda x: x > 1, lambda x: 1, [x])[0]

    for found in (f(tf.constant(2.5)), tf.function(f)(tf.constant(2.5))):
        assert (float(found), found.dtype) == (1.0, tf.float32)


@pytest.mark.parametrize("limit", [0, 3, 100])
def test_maximum_iterations(limit: int) -> None:
    def f(n: Any, m: Any) -> Any:
        return tf.while_loop(
            lambda i: i < n, lambda i: (i + 1,), (0,), maximum_iterations=m
        )[0]

    expected = min(limit, 5)
    assert int(f(tf.constant(5), limit)) == expected
    assert int(f(tf.constant(5), tf.constant(limit))) == expected
    assert int(staged(lambda n: f(n, limit), 5)) == expected
    assert int(staged(f, 5, limit)) == expected
    assert int(staged(lambda n: f(n, n - n + limit), 5)) == expected


def test_a_loop_that_does_not_run() -> None:
    def f(n: Any) -> Any:
        return tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(7)])

    assert int(f(tf.constant(0))[0]) == int(staged(f, 0)[0]) == 7


def test_python_state_runs_in_the_body_once_while_tracing() -> None:
    calls: list[int] = []

    def f(n: Any) -> Any:
        def body(i: Any) -> Any:
            calls.append(1)
            return i + 1

        return tf.while_loop(lambda i: i < n, body, [0])

    staged(f, 10)
    assert len(calls) == 1
    f(tf.constant(10))
    assert len(calls) == 11


def test_tensor_arrays_in_loops() -> None:
    def f(n: Any) -> Any:
        rows = tf.TensorArray(tf.int32, size=n)

        def body(i: Any, rows: Any) -> Any:
            return i + 1, rows.write(i, i * i)

        _, rows = tf.while_loop(lambda i, rows: i < n, body, (0, rows))
        return rows.stack()

    assert f(tf.constant(4)).numpy().tolist() == [0, 1, 4, 9]
    assert staged(f, 4).numpy().tolist() == [0, 1, 4, 9]


def test_variables_are_conditions_and_state() -> None:
    limit = tf.Variable(3)

    def f() -> Any:
        (i,) = tf.while_loop(lambda i: i < limit, lambda i: i + 1, (0,))
        return tf.cond(limit, lambda: i, lambda: -i)

    traced = tf.function(f, autograph=False)
    assert int(traced()) == int(f()) == 3
    limit.assign(0)
    assert int(traced()) == int(f()) == 0
