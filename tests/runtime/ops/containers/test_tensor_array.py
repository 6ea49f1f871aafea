"""TensorArray: eager, in graphs, carried through loops and functions."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.passes.optimize.verify import verify


def numbers(tensor: Any) -> Any:
    return tensor.numpy().tolist()


def both(function: Any) -> list[Any]:
    """`function` run eagerly and traced."""
    return [function(), tf.function(function, autograph=False)()]


# --- reading and writing --------------------------------------------------------------


def test_write_read_stack_gather_size() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.int32, size=3)
        for i in range(3):
            array = array.write(i, [i, i * i])
        return (
            array.stack(),
            array.read(2),
            array.gather([2, 0]),
            array.size(),
            array.concat(),
        )

    for stacked, read, gathered, size, joined in both(program):
        assert numbers(stacked) == [[0, 0], [1, 1], [2, 4]]
        assert numbers(read) == [2, 4]
        assert numbers(gathered) == [[2, 4], [0, 0]]
        assert size.numpy() == 3
        assert numbers(joined) == [0, 0, 1, 1, 2, 4]


def test_indices_that_are_tensors() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.float32, tf.constant(2))
        array = array.write(tf.constant(1), 2.5).write(tf.constant(0, tf.int64), 1)
        return array.read(tf.constant(1)), array.stack()

    for read, stacked in both(program):
        assert read.numpy() == 2.5
        assert numbers(stacked) == [1.0, 2.5]


def test_an_older_version_stays_as_it_was() -> None:
    def program() -> Any:
        first = tf.TensorArray(tf.int32, 2).write(0, 1)
        second = first.write(1, 2)
        third = second.write(0, 3)
        return first.stack(), second.stack(), third.stack()

    for stacked in both(program):
        assert list(map(numbers, stacked)) == [[1, 0], [1, 2], [3, 2]]


def test_elements_never_written_are_zeros() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.float32, 3, element_shape=[2])
        return array.read(0), array.write(1, [1.0, 2.0]).stack(), array.stack()

    for read, stacked, empty in both(program):
        assert numbers(read) == [0, 0]
        assert numbers(stacked) == [[0, 0], [1, 2], [0, 0]]
        assert numbers(empty) == [[0, 0]] * 3


def test_growing() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        sizes = [array.size()]
        for i in (0, 1, 2, 7):
            array = array.write(i, i + 1)
            sizes.append(array.size())
        return array.stack(), sizes, array.read(7), array.gather([0, 7])

    for stacked, sizes, read, gathered in both(program):
        assert numbers(stacked) == [1, 2, 3, 0, 0, 0, 0, 8]
        assert list(map(numbers, sizes)) == [0, 1, 2, 3, 8]
        assert (numbers(read), numbers(gathered)) == (8, [1, 8])


def test_unstack_scatter_identity() -> None:
    def program() -> Any:
        rows = tf.constant([[1, 2], [3, 4]])
        array = tf.TensorArray(tf.int32, 2).unstack(rows)
        grown = (
            tf.TensorArray(tf.int32, 0, dynamic_size=True)
            .unstack(rows)
            .write(2, [5, 6])
        )
        scattered = tf.TensorArray(tf.int32, 3).scatter([2, 0], rows)
        longer = tf.TensorArray(tf.int32, 0, dynamic_size=True).scatter([1, 2], rows)
        return (
            array.identity().stack(),
            grown.stack(),
            scattered.stack(),
            longer.stack(),
        )

    for stacked in both(program):
        assert list(map(numbers, stacked)) == [
            [[1, 2], [3, 4]],
            [[1, 2], [3, 4], [5, 6]],
            [[3, 4], [0, 0], [1, 2]],
            [[0, 0], [1, 2], [3, 4]],
        ]


def test_scatter_keeps_what_is_there() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.int32, 3).write(1, 5)
        return array.scatter([0], [7]).stack()

    assert list(map(numbers, both(program))) == [[7, 5, 0], [7, 5, 0]]


def test_strings() -> None:
    def program() -> Any:
        return tf.TensorArray(tf.string, 2, element_shape=[]).write(1, "b").stack()

    assert list(map(numbers, both(program))) == [[b"", b"b"]] * 2


def test_different_shapes_in_eager_code() -> None:
    array = (
        tf.TensorArray(tf.int32, 2, infer_shape=False).write(0, [1]).write(1, [2, 3])
    )
    parts = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], [1, 2])

    assert numbers(array.concat()) == numbers(parts.concat()) == [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be equal"):
        array.stack()


def test_what_it_says_of_itself() -> None:
    array = tf.TensorArray("float32", 2, dynamic_size=True).write(0, [1.0])

    assert array.dtype is tf.float32
    assert array.element_shape == [1]
    assert array.dynamic_size
    assert repr(array) == "<tf.TensorArray dtype=float32, element_shape=(1,), size=2>"


# --- in graphs ------------------------------------------------------------------------


def test_static_shapes() -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([None, 3]))
        n = graph.add_input(TensorSpec([], tf.int32))
        fixed = tf.TensorArray(tf.float32, 4).write(n, x)
        sized = tf.TensorArray(tf.float32, n).write(0, x)
        growing = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(n, x)

        assert fixed.stack().shape.as_list() == [4, None, 3]
        assert fixed.read(n).shape.as_list() == [None, 3]
        assert fixed.gather([0, 1]).shape.as_list() == [2, None, 3]
        assert fixed.concat().shape.as_list() == [None, 3]
        assert sized.stack().shape.as_list() == [None, None, 3]
        assert growing.stack().shape.as_list() == [None, None, 3]
    verify(graph)


def test_an_rnn_over_time() -> None:
    """The guides: a loop that fills an array with the states of a recurrent network."""
    batch_size, seq_len, feature_size = 2, 3, 4

    def dynamic_rnn(input_data: Any, initial_state: Any) -> Any:
        input_data = tf.transpose(input_data, [1, 0, 2])
        max_seq_len = tf.shape(input_data)[0]
        states = tf.TensorArray(tf.float32, size=max_seq_len)
        state = initial_state
        for i in tf.range(max_seq_len):
            state = input_data[i] + state
            states = states.write(i, state)
        return tf.transpose(states.stack(), [1, 0, 2])

    x = (
        np.random.default_rng(0)
        .random((batch_size, seq_len, feature_size))
        .astype("float32")
    )
    staged = tf.function(dynamic_rnn)
    found = staged(tf.constant(x), tf.zeros([batch_size, feature_size]))
    unknown = staged.get_concrete_function(
        tf.TensorSpec([None, None, 4]), tf.TensorSpec([None, 4])
    )

    np.testing.assert_allclose(found.numpy(), np.cumsum(x, 1), rtol=1e-6)
    np.testing.assert_array_equal(found, unknown(x, tf.zeros([2, 4])))
    assert unknown.structured_outputs.shape.as_list() == [None, None, 4]


def test_growing_in_a_loop() -> None:
    @tf.function
    def collatz(n: Any) -> Any:
        steps = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        i = 0
        while n != 1:
            steps = steps.write(i, n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            i += 1
        return steps.stack()

    assert numbers(collatz(tf.constant(6))) == [6, 3, 10, 5, 16, 8, 4, 2]


def test_writing_in_a_branch() -> None:
    @tf.function
    def marked(x: Any) -> Any:
        array = tf.TensorArray(tf.int32, 2)
        if x > 0:
            array = array.write(0, x)
        else:
            array = array.write(1, -x)
        return array.stack()

    assert numbers(marked(tf.constant(3))) == [3, 0]
    assert numbers(marked(tf.constant(-4))) == [0, 4]


def test_into_and_out_of_functions() -> None:
    start = tf.TensorArray(tf.int32, 3).write(0, 7)

    @tf.function
    def filled(n: Any) -> Any:
        array = start
        for i in tf.range(1, n):
            array = array.write(i, i)
        return array

    result = filled(tf.constant(3))

    assert isinstance(result, tf.TensorArray)
    assert numbers(result.write(1, 9).stack()) == [7, 9, 2]
    assert numbers(start.read(0)) == 7


def test_a_growing_array_out_of_a_function() -> None:
    @tf.function
    def made() -> Any:
        return tf.TensorArray(tf.int32, 0, dynamic_size=True).write(1, 5)

    result = made()

    assert numbers(result.stack()) == [0, 5]
    assert numbers(result.write(2, 6).size()) == 3


def test_flatten_and_unflatten() -> None:
    array = tf.TensorArray(tf.int32, 2).write(0, 5)
    growing = tf.TensorArray(tf.int32, 0, dynamic_size=True).write(0, 5)

    assert list(map(numbers, array._flatten())) == [[5, 0]]
    assert list(map(numbers, growing._flatten())) == [[5], 1]
    assert numbers(array._unflatten(array._flatten()).stack()) == [5, 0]
    assert numbers(growing._unflatten(growing._flatten()).write(1, 6).stack()) == [5, 6]


def test_an_untouched_array_through_a_graph() -> None:
    empty = tf.TensorArray(tf.float32, 2)

    rebuilt = empty._unflatten(empty._flatten())

    assert numbers(rebuilt.write(1, [1.0]).stack()) == [[0.0], [1.0]]


# --- any program ----------------------------------------------------------------------

indices = st.integers(-1, 3)
steps = st.one_of(
    st.tuples(st.just("write"), indices, st.integers(0, 9)),
    st.tuples(st.just("scatter"), st.lists(indices, min_size=1, max_size=2)),
    st.tuples(st.sampled_from(["read", "size", "stack", "gather", "older"]), indices),
)


def run_steps(program: Any, dynamic: bool, where: Any) -> list[Any]:
    """What the steps see of an array; `where` makes their indices."""
    array = older = tf.TensorArray(tf.int32, 2, dynamic_size=dynamic, element_shape=[])
    seen = []
    for name, place, *value in program:
        if name == "write":
            older, array = array, array.write(where(place), *value)
        elif name == "scatter":
            older, array = array, array.scatter(where(place), place)
        elif name == "older":
            seen.append(older.stack())
        elif name == "gather":
            seen.append(array.gather([where(place), 0]))
        else:
            seen.append(getattr(array, name)(*[where(place)] * (name == "read")))
    return [*seen, array.stack()]


def outcome(function: Any) -> Any:
    try:
        return [numbers(tensor) for tensor in function()]
    except tf.errors.OpError as error:
        return type(error)


@settings(max_examples=20)
@given(st.lists(steps, max_size=5), st.booleans(), st.booleans())
def test_graphs_do_what_eager_arrays_do(
    program: Any, dynamic: bool, tensors: bool
) -> None:
    where = tf.constant if tensors else lambda place: place
    expected = outcome(lambda: run_steps(program, dynamic, where))
    zero = tf.constant(0)

    @tf.function(autograph=False)
    def staged(zero: Any) -> Any:
        return run_steps(program, dynamic, lambda place: where(place) + zero)

    assert outcome(lambda: staged(zero)) == expected


# --- what goes wrong ------------------------------------------------------------------


def test_a_dropped_write_is_an_error() -> None:
    array = tf.TensorArray(tf.int32, 2)
    array.write(0, 1)

    with pytest.raises(
        tf.errors.FailedPreconditionError, match=r"test_tensor_array.py:\d+"
    ):
        array.stack()
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"array = array.write"):
        array.write(1, 2)


def test_a_dropped_write_in_a_staged_loop() -> None:
    @tf.function
    def forgotten(n: Any) -> Any:
        array = tf.TensorArray(tf.int32, n)
        for i in tf.range(n):
            array.write(i, i)
        return array.stack()

    with pytest.raises(tf.errors.FailedPreconditionError, match="was dropped"):
        forgotten(tf.constant(3))


def in_a_loop(n: Any) -> Any:
    array = tf.TensorArray(tf.int32, n)
    for i in tf.range(n):
        array.write(i, i)
    return n


def in_a_branch(n: Any) -> Any:
    array = tf.TensorArray(tf.int32, 2)
    if n > 0:
        array = array.scatter([0], [n])
    return n


def straight(n: Any) -> Any:
    tf.TensorArray(tf.int32, 0, dynamic_size=True).unstack([n])
    return n


@pytest.mark.parametrize(
    ("function", "method"),
    [(in_a_loop, "write"), (in_a_branch, "scatter"), (straight, "unstack")],
)
def test_a_result_that_nobody_uses(function: Any, method: str) -> None:
    message = rf"result of TensorArray.{method} at .*test_tensor_array.py:\d+ was drop"
    with pytest.raises(tf.errors.FailedPreconditionError, match=message):
        tf.function(function)(tf.constant(2))


def test_arrays_that_helpers_change() -> None:
    """The helper is tried first, to see what it changes: that is no use of it."""

    class Log:
        def __init__(self) -> None:
            self.items = tf.TensorArray(tf.int32, 3)

        def add(self, i: Any) -> None:
            self.items = self.items.write(i, i * i)

    @tf.function
    def squares(n: Any) -> Any:
        log, more = Log(), {"x": tf.TensorArray(tf.int32, 3)}

        def add(i: Any) -> None:
            more["x"] = more["x"].write(i, -i)

        for i in tf.range(n):
            log.add(i)
            add(i)
        return log.items.stack(), more["x"]

    found, others = squares(tf.constant(3))
    assert (numbers(found), numbers(others.stack())) == ([0, 1, 4], [0, -1, -2])


def test_split() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.int32, 2).split(tf.range(6), [3, 3])
        return array.concat(), array.read(1)

    for joined, second in both(program):
        assert (numbers(joined), numbers(second)) == ([0, 1, 2, 3, 4, 5], [3, 4, 5])
    with pytest.raises(ValueError, match="2 elements do not make up"):
        tf.TensorArray(tf.int32, 3).split(tf.range(6), [3, 3])
    uneven = tf.function(lambda x: tf.TensorArray(tf.int32, 2).split(x, [1, 2]).size())
    with pytest.raises(tf.errors.UnimplementedError, match=r"lengths, \[1, 2\]"):
        uneven(tf.range(3))


def test_elements_of_several_tensors() -> None:
    def program() -> Any:
        one = tf.constant(1)
        return tf.TensorArray(tf.int32, 1).write(0, [one, 2, one + 2]).read(0)

    assert list(map(numbers, both(program))) == [[1, 2, 3]] * 2


def test_no_elements_of_a_known_shape() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.int32, 0, element_shape=[2, 3])
        return array.concat(), array.gather([]), array.stack()

    shapes = [[tensor.shape.as_list() for tensor in found] for found in both(program)]
    assert shapes == [[[0, 3], [0, 2, 3], [0, 2, 3]]] * 2


def test_gather_by_a_matrix_and_scatter_by_too_many() -> None:
    def gathered() -> Any:
        return tf.TensorArray(tf.int32, 2).unstack([5, 6]).gather([[0, 1], [1, 0]])

    def scattered() -> Any:
        return tf.TensorArray(tf.int32, 4).scatter([1, 2, 3], [5, 6]).stack()

    assert list(map(numbers, both(gathered))) == [[[5, 6], [6, 5]]] * 2
    for run in (scattered, tf.function(scattered)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="are 2 elements"):
            run()
    with pytest.raises(TypeError, match="indices must be of integers, not float32"):
        tf.TensorArray(tf.int32, 4).gather([1.5])


def test_strings_that_a_graph_writes() -> None:
    def program() -> Any:
        array = tf.TensorArray(tf.string, 2).write(0, "a").write(1, "bc")
        return array.stack(), array.read(1)

    for stacked, second in both(program):
        assert numbers(stacked) == [b"a", b"bc"]
        assert second.numpy() == b"bc"


def test_arrays_of_different_sizes_in_branches() -> None:
    @tf.function
    def written(n: Any) -> Any:
        if n > 0:
            array = tf.TensorArray(tf.int32, 3).write(0, n)
        else:
            array = tf.TensorArray(tf.int32, 2).write(1, n)
        return array.stack(), array.size()

    for n, expected in ((2, [2, 0, 0]), (-1, [0, -1])):
        stacked, size = written(tf.constant(n))
        assert (numbers(stacked), int(size)) == (expected, len(expected))


def test_arrays_that_graphs_cannot_choose_between() -> None:
    def sizes(n: Any) -> Any:
        array = tf.TensorArray(tf.int32, 3 if n > 0 else 2)
        return array.size()

    def kinds(n: Any) -> Any:
        one, other = tf.TensorArray(tf.int32, 1), tf.TensorArray(tf.float32, 1)
        return tf.cond(n > 0, lambda: one, lambda: other).size()

    def changed(n: Any) -> Any:
        other = tf.TensorArray(tf.int64, 1)
        return tf.while_loop(
            lambda i, array: i < n,
            lambda i, array: (i + 1, other),
            (0, tf.TensorArray(tf.int32, 1)),
        )[1].size()

    n = tf.constant(1)
    assert int(tf.function(sizes)(n)) == 3
    with pytest.raises(ValueError, match=r"dtype=int32.* and .*dtype=float32"):
        tf.function(kinds)(n)
    with pytest.raises(ValueError, match=r"differ at \[1\]: .*int32.* and .*int64"):
        tf.function(changed)(n)


def test_closing_and_what_there_is_not() -> None:
    array = tf.TensorArray(tf.int32, 1, tensor_array_name="a", clear_after_read=True)
    array = array.write(0, 5)
    array.close()

    assert numbers(array.read(0)) == numbers(array.read(0)) == 5
    with pytest.raises(tf.errors.UnimplementedError, match="no handle and no flow"):
        tf.TensorArray(tf.int32, 1, flow=tf.constant(0.0))


def test_an_argument_of_a_function_and_a_cond() -> None:
    @tf.function
    def marked(array: Any, i: Any) -> Any:
        return tf.cond(i > 0, lambda: array.write(1, i), lambda: array)

    start = tf.TensorArray(tf.int32, 2).write(0, 7)

    assert numbers(marked(start, tf.constant(5)).stack()) == [7, 5]
    assert numbers(marked(start, tf.constant(0)).stack()) == [7, 0]


def test_arguments_of_one_kind_share_a_trace() -> None:
    @tf.function
    def filled(arrays: dict[str, Any], i: Any) -> Any:
        return {name: array.write(i, 5) for name, array in arrays.items()}

    def fresh(dtype: Any) -> Any:
        growing = tf.TensorArray(dtype, 0, dynamic_size=True)
        return {"a": tf.TensorArray(dtype, 3).write(0, 1), "b": growing.write(0, 2)}

    start = fresh(tf.int32)
    arrays = start
    for i in range(3):
        arrays = filled(arrays, tf.constant(i))
        filled(fresh(tf.int32), tf.constant(i))

    assert [numbers(arrays[name].stack()) for name in "ab"] == [[5, 5, 5]] * 2
    assert [numbers(start[name].stack()) for name in "ab"] == [[1, 0, 0], [2]]
    found = filled.experimental_get_tracing_count()
    assert found <= 3  # the room of a growing array doubles
    filled(fresh(tf.float32), tf.constant(0))
    assert filled.experimental_get_tracing_count() == found + 1


def test_concrete_functions_take_arrays() -> None:
    @tf.function
    def total(array: Any) -> Any:
        return tf.reduce_sum(array.stack())

    made = tf.TensorArray(tf.int32, 2).write(0, 1)
    concrete = total.get_concrete_function(made)

    assert int(concrete(made.write(1, 6))) == 7
    assert "TensorArray(dtype=int32, parts=<1>)" in str(concrete)
    with pytest.raises(TypeError, match="another structure for 'array'"):
        concrete(tf.TensorArray(tf.int32, 3).write(0, 1))


@pytest.mark.parametrize(
    "made",
    [
        lambda: tf.TensorArray(tf.int32, 2),
        lambda: tf.TensorArray(tf.int32, 0, dynamic_size=True),
        tf.function(lambda: tf.TensorArray(tf.int32, 2)),
    ],
)
def test_an_argument_of_which_nothing_is_known(made: Any) -> None:
    @tf.function
    def pair(array: Any, x: Any) -> Any:
        return array.write(0, x).write(1, -x).stack()

    for x in (tf.constant(1), tf.constant([2, 3])):
        assert numbers(pair(made(), x)) == [numbers(x), numbers(-x)]


def test_a_version_that_was_used_may_go() -> None:
    array = tf.TensorArray(tf.int32, 2)
    stacked = array.write(0, 1).stack()
    gc.collect()

    assert numbers(stacked) == [1, 0]
    assert numbers(array.write(1, 2).stack()) == [0, 2]


OUTSIDE = [
    lambda array, i: array.write(i, 1),
    lambda array, i: array.read(i),
    lambda array, i: array.gather([i]),
    lambda array, i: array.scatter([i], [1]),
]


@pytest.mark.parametrize("use", OUTSIDE)
@pytest.mark.parametrize("index", [3, -1])
def test_indices_outside(use: Any, index: int) -> None:
    array = tf.TensorArray(tf.int32, 3, element_shape=[])

    with pytest.raises(
        tf.errors.OutOfRangeError, match=f"index {index} of a TensorArray of size 3"
    ):
        use(array, index)

    def program(i: Any) -> Any:
        result = use(tf.TensorArray(tf.int32, 3, element_shape=[]), i)
        return result.stack() if isinstance(result, tf.TensorArray) else result

    with pytest.raises(
        tf.errors.OutOfRangeError, match=f"index {index} of a TensorArray of size 3"
    ):
        tf.function(program, autograph=False)(tf.constant(index))


def test_elements_that_do_not_fit() -> None:
    def shapes() -> Any:
        return tf.TensorArray(tf.int32, 2).write(0, [1]).write(1, [1, 2]).stack()

    def dtypes() -> Any:
        return tf.TensorArray(tf.int32, 2).write(0, tf.constant(1.5)).stack()

    for run in (shapes, tf.function(shapes, autograph=False)):
        with pytest.raises(
            ValueError, match=r"shape \(2,\) does not go with the others"
        ):
            run()
    for run in (dtypes, tf.function(dtypes, autograph=False)):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="holds int32, the value is float32"
        ):
            run()


def test_shapes_that_only_a_run_knows() -> None:
    @tf.function(
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])], autograph=False
    )
    def pair(x: Any, y: Any) -> Any:
        return tf.TensorArray(tf.float32, 2).write(0, x).write(1, y).stack()

    assert pair([1.0], [2.0]).shape == [2, 1]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"shape \(2,\) does not go with"
    ):
        pair([1.0], [2.0, 3.0])


def test_nothing_written_and_nothing_known() -> None:
    def program() -> Any:
        return tf.TensorArray(tf.int32, 2).stack()

    for run in (program, tf.function(program, autograph=False)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="element_shape"):
            run()


def test_elements_of_unknown_rank() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None)], autograph=False)
    def program(x: Any) -> Any:
        fixed = tf.TensorArray(tf.float32, 2).write(0, x)
        growing = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(1, x)
        filled = tf.TensorArray(tf.float32, 1).unstack(x)
        scattered = tf.TensorArray(tf.float32, 2).scatter([1], x)
        return (
            fixed.stack(),
            fixed.gather([0]),
            fixed.read(0),
            growing.stack(),
            filled.stack(),
            scattered.stack(),
        )

    found = program([[1.0]])

    assert [numbers(item) for item in found] == [
        [[[1.0]], [[0.0]]],
        [[[1.0]]],
        [[1.0]],
        [[[0.0]], [[1.0]]],
        [[1.0]],
        [[0.0], [1.0]],
    ]


def test_joining_needs_the_shape_of_the_elements() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None)], autograph=False)
    def joined(x: Any) -> Any:
        return tf.TensorArray(tf.float32, 1).write(0, x).concat()

    @tf.function(input_signature=[tf.TensorSpec([None, None])], autograph=False)
    def rows(x: Any) -> Any:
        return tf.TensorArray(tf.float32, 1).write(0, x).concat()

    for program in (joined, rows):
        with pytest.raises(tf.errors.InvalidArgumentError, match="element_shape="):
            program([[1.0]])


def test_no_elements() -> None:
    def program() -> Any:
        return tf.TensorArray(tf.int32, 0, element_shape=[2]).stack()

    assert [result.shape.as_list() for result in both(program)] == [[0, 2]] * 2


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (
            lambda: tf.TensorArray(tf.int32, -1),
            tf.errors.InvalidArgumentError,
            "not be negative",
        ),
        (lambda: tf.TensorArray(tf.int32, 2).unstack([1]), ValueError, "size 2"),
        (
            lambda: tf.TensorArray(tf.int32, 2).unstack(1),
            ValueError,
            "scalar cannot be unstacked",
        ),
        (lambda: tf.TensorArray(tf.int32, 1.5), TypeError, "size must be an integer"),
    ],
)
def test_arguments(function: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        function()


def test_what_traced_arrays_cannot_do() -> None:
    def divided() -> Any:
        return tf.TensorArray(tf.int32, 2).split([1, 2, 3], [1, 2]).concat()

    with pytest.raises(tf.errors.UnimplementedError, match=r"\(tf.split\)"):
        tf.function(divided, autograph=False)()

    ragged = (
        tf.TensorArray(tf.int32, 2, infer_shape=False).write(0, [1]).write(1, [1, 2])
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be carried into"):
        tf.function(ragged.stack, autograph=False)()


def test_sizes_that_only_a_run_knows() -> None:
    @tf.function(autograph=False)
    def unstacked(n: Any, x: Any) -> Any:
        return tf.TensorArray(tf.float32, n).unstack(x).read(0)

    assert unstacked(tf.constant(2), tf.constant([1.0, 2.0])).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2 elements .* size 3"):
        unstacked(tf.constant(3), tf.constant([1.0, 2.0]))
