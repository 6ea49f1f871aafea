"""Updates of parts of variables: the same eagerly, as source, and interpreted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify

Slices = tf.IndexedSlices
Program = Callable[[Any, Any, Any], Any]


def outcome(v: Any, run: Callable[[], Any]) -> Any:
    """The result and the value of the variable afterwards, or the error."""
    try:
        result = run()
    except Exception as error:
        if isinstance(error, tf.errors.TracedArgumentError):
            error = tf.errors.InvalidArgumentError(str(error))
        return type(error), str(error).partition("\n")[0]
    if isinstance(result, list):
        (result,) = result
    return np.asarray(result).tolist(), v.numpy().tolist()


def everywhere(program: Program, start: Any, x: Any, i: Any) -> Any:
    """What a program does to a variable, which is the same however it is run."""
    v = tf.Variable(start)
    x, i = tf.constant(x), tf.constant(i)
    eager = outcome(v, lambda: program(v, x, i))
    v.assign(start)
    staged = tf.function(lambda x, i: program(v, x, i))
    assert outcome(v, lambda: staged(x, i)) == eager
    v.assign(start)
    try:
        concrete = staged.get_concrete_function(x, i)
    except tf.errors.OpError:
        return eager
    verify(concrete.graph)
    arrays = [x._array, i._array]
    assert outcome(v, lambda: interpreter.run(concrete.graph, arrays)) == eager
    return eager


ROWS = [[1, 2], [3, 4], [-5, 6]]


@pytest.mark.parametrize(
    ("method", "after"),
    [
        ("scatter_add", [[5, 8], [3, 4], [-3, 8]]),
        ("scatter_sub", [[-3, -4], [3, 4], [-7, 4]]),
        ("scatter_mul", [[3, 16], [3, 4], [-10, 12]]),
        ("scatter_div", [[0, 0], [3, 4], [-2, 3]]),
        ("scatter_min", [[1, 2], [3, 4], [-5, 2]]),
        ("scatter_max", [[3, 4], [3, 4], [2, 6]]),
        ("scatter_update", [[3, 4], [3, 4], [2, 2]]),
    ],
)
def test_slices_of_the_first_axis(method: str, after: Any) -> None:
    def program(v: Any, x: Any, i: Any) -> Any:
        return getattr(v, method)(Slices(x, i), use_locking=True, name="update")

    updates = [[1, 2], [3, 4], [2, 2]]
    assert everywhere(program, ROWS, updates, [0, 0, 2]) == (after, after)


def test_forms_of_slices() -> None:
    def update(v: Any, x: Any, i: Any) -> Any:
        return v.scatter_update(Slices(x, i))

    assert everywhere(update, [1, 2, 3], 7, [0, 2])[1] == [7, 2, 7]
    assert everywhere(update, [1, 2, 3], 7, 1)[1] == [1, 7, 3]
    assert everywhere(update, ROWS, [[[0, 0]], [[1, 1]]], [[0], [1]])[1][:2] == [
        [0, 0],
        [1, 1],
    ]
    assert everywhere(update, ["a", "b"], ["c"], [1])[1] == [b"a", b"c"]


def test_dividing() -> None:
    def divide(v: Any, x: Any, i: Any) -> Any:
        return v.scatter_div(Slices(x, i))

    assert everywhere(divide, [8.0, 1.0], [2.0, 2.0], [0, 0])[1] == [2, 1]
    assert everywhere(divide, [7, -7], [2, 2], [0, 1])[1] == [3, -3]


def test_batches() -> None:
    def update(v: Any, x: Any, i: Any) -> Any:
        return v.batch_scatter_update(Slices(x, i))

    start = [[1, 2, 3], [4, 5, 6]]
    after = [[1, 2, 10], [20, 5, 6]]
    assert everywhere(update, start, [[10], [20]], [[2], [0]]) == (after, after)
    error, message = everywhere(update, start, [[10]], [[2], [0]])
    assert error is tf.errors.InvalidArgumentError
    assert "indices (2, 1) and values (1, 1) do not name slices of (2, 3)" in message


@pytest.mark.parametrize(
    ("method", "after"),
    [
        ("scatter_nd_add", [[1, 12], [6, 8], [-5, 6]]),
        ("scatter_nd_sub", [[1, -8], [0, 0], [-5, 6]]),
        ("scatter_nd_update", [[1, 10], [3, 4], [-5, 6]]),
        ("scatter_nd_max", [[1, 10], [3, 4], [-5, 6]]),
        ("scatter_nd_min", [[1, 2], [3, 4], [-5, 6]]),
    ],
)
def test_elements_and_slices(method: str, after: Any) -> None:
    def element(v: Any, x: Any, i: Any) -> Any:
        getattr(v, method)(i, x)
        return getattr(v, method)([[1]], [[3, 4]])

    assert everywhere(element, ROWS, [10], [[0, 1]]) == (after, after)


def test_reading_parts() -> None:
    def read(v: Any, x: Any, i: Any) -> Any:
        return v.sparse_read(i) + v.gather_nd([[2, 1]]) + x

    assert everywhere(read, ROWS, 1, [1])[0] == [[10, 11]]


def assign(v: Any, x: Any, i: Any) -> Any:
    return v[i].assign(x)


@pytest.mark.parametrize(
    ("program", "x", "i", "after"),
    [
        (assign, [7, 8], 1, [[1, 2], [7, 8], [-5, 6]]),
        (lambda v, x, i: v[0, 1].assign(x), 9, 0, [[1, 9], [3, 4], [-5, 6]]),
        (lambda v, x, i: v[i:, 1].assign_add(x), [1, 1], 1, [[1, 2], [3, 5], [-5, 7]]),
        (
            lambda v, x, i: v[..., i].assign_sub(x),
            [1] * 3,
            0,
            [[0, 2], [2, 4], [-6, 6]],
        ),
        (
            lambda v, x, i: v[::-2].assign([[i, i], x]),
            [1, 1],
            0,
            [[1, 1], [3, 4], [0, 0]],
        ),
        (
            lambda v, x, i: v[i, tf.newaxis].assign([x]),
            [0, 0],
            0,
            [[0, 0], [3, 4], [-5, 6]],
        ),
        (
            lambda v, x, i: v[i].assign(x)[1, 1].assign(0),
            [7, 8],
            1,
            [[1, 2], [7, 0], [-5, 6]],
        ),
    ],
)
def test_parts_by_index(program: Program, x: Any, i: Any, after: Any) -> None:
    assert everywhere(program, ROWS, x, i) == (after, after)


def test_parts_in_a_loop() -> None:
    def program(v: Any, x: Any, n: Any) -> Any:
        for i in tf.range(n):
            v[i].assign(x)
            v[i, 1].assign_add(i)
        return v

    v = tf.Variable(ROWS)
    tf.function(program)(v, tf.constant([0, 0]), tf.constant(3))
    assert v.numpy().tolist() == [[0, 0], [0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("program", "x", "i", "message"),
    [
        (assign, 7, 1, "a value of shape () does not fit the slice of shape (2,)"),
        (assign, [7, 8], 3, "slice index 3 of dimension 0 out of bounds"),
        (
            lambda v, x, i: v.scatter_add(Slices(x, i)),
            [[1, 2, 3]],
            [1],
            "must have the shape (1, 2) for indices (1,) into (3, 2), not (1, 3)",
        ),
        (
            lambda v, x, i: v.scatter_add(Slices(x, i)),
            [[1, 2]],
            [3],
            "indices[0] = 3 is not in [0, 3)",
        ),
        (
            lambda v, x, i: v.scatter_nd_add(i, x),
            [1],
            [[0, 2]],
            "indices[0] = 2 is not in [0, 2)",
        ),
    ],
)
def test_what_does_not_fit(program: Program, x: Any, i: Any, message: str) -> None:
    v = tf.Variable(ROWS)
    x, i = tf.constant(x), tf.constant(i)
    for run in (program, tf.function(program)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            run(v, x, i)
        assert message in str(caught.value)
    assert v.numpy().tolist() == ROWS


def test_open_dimensions_are_checked_when_it_runs() -> None:
    v = tf.Variable([1, 2], shape=[None])
    add = tf.function(lambda x: v.assign_add(x))

    # NumPy would repeat the one value.
    for run in (add, v.assign_add):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"\(1,\) does not fit"
        ):
            run(tf.constant([1]))
    assert add(tf.constant([1, 1])).numpy().tolist() == [2, 3]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"for indices \(1,\) into"
    ):
        v.scatter_add(Slices([1, 2], [0]))
    scalar = tf.Variable(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no slices"):
        scalar.scatter_add(Slices([1], [0]))


def test_what_is_no_update() -> None:
    v = tf.Variable(ROWS)
    with pytest.raises(TypeError, match=r"takes tf\.IndexedSlices"):
        v.scatter_add([[1, 2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\+ is not for bool"):
        tf.Variable([True]).scatter_add(Slices([True], [0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="- is not for string"):
        tf.Variable(["a"])[0].assign_sub("a")
    with pytest.raises(
        tf.errors.ConversionError, match="mask picks cannot be assigned"
    ):
        v[v > 3].assign(0)
    with pytest.raises(TypeError, match=r"write v\[i\]\.assign\(value\)"):
        v[0] = [1, 2]
    with pytest.raises(AttributeError, match=r"as in v\[0\]\.assign\(x\)"):
        tf.constant(1).assign(2)  # type: ignore[operator]
    assert not hasattr(tf.constant(1), "assign_add")


def test_indexed_slices() -> None:
    slices = Slices([[1.0], [2.0], [3.0]], [2, 0, 2], [3, 1])

    assert slices.dtype is tf.float32
    assert slices.shape == [3, 1]
    assert tf.convert_to_tensor(slices).numpy().tolist() == [[2], [0], [4]]
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(slices._replace(dense_shape=None))
    # An argument and a result of functions, as any named tuple.
    same = tf.function(lambda given: given)(
        Slices(tf.constant([1.0]), tf.constant([0]))
    )
    assert isinstance(same, Slices)
    assert same.values.numpy() == 1.0


def test_graph_defs_name_the_variable() -> None:
    v = tf.Variable([1, 2], name="v")
    update = tf.function(lambda x: v.scatter_update(Slices(x, [0])))
    graph = update.get_concrete_function(tf.constant([5])).graph
    nodes = {node.op: node for node in graph.as_graph_def().node}

    assert nodes["ResourceScatterUpdate"].input[0] == nodes["VarHandleOp"].name == "v"
