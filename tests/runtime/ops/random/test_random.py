"""Random tensors: distributions, seeds, graphs that draw anew, stateless functions."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.ops.random.state import RandomState
from runtime.ops.random.streams import draw_uniform


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    """Repeatable tests: at the fifth standard deviation luck plays no part."""
    tf.random.set_seed(1)
    yield
    tf.random.set_seed(None)


N = 20_000
SEED = [1, 2]
GENERATOR = tf.random.Generator.from_seed(1)


def near(sample: Any, mean: float, deviation: float) -> bool:
    return abs(float(np.mean(sample)) - mean) < 5 * deviation / np.sqrt(sample.size)


# --- distributions --------------------------------------------------------------------

UNIFORMS = {
    "uniform": tf.random.uniform,
    "stateless": lambda shape, *args, **kwargs: tf.random.stateless_uniform(
        shape, SEED, *args, **kwargs
    ),
    "generator": GENERATOR.uniform,
}
NORMALS = {
    "normal": tf.random.normal,
    "stateless": lambda shape, *args, **kwargs: tf.random.stateless_normal(
        shape, SEED, *args, **kwargs
    ),
    "generator": GENERATOR.normal,
}
TRUNCATED = {
    "truncated": tf.random.truncated_normal,
    "stateless": lambda shape, *args, **kwargs: tf.random.stateless_truncated_normal(
        shape, SEED, *args, **kwargs
    ),
    "generator": GENERATOR.truncated_normal,
}


@pytest.mark.parametrize("uniform", UNIFORMS.values(), ids=UNIFORMS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_uniform(uniform: Any, dtype: str) -> None:
    unit = uniform([N], dtype=dtype).numpy().astype(float)
    wide = uniform([N], -2, 6.0, dtype).numpy().astype(float)

    assert unit.min() >= 0
    assert unit.max() < 1
    assert near(unit, 0.5, 0.29)
    assert -2 <= wide.min() < -1.9
    assert 5.9 < wide.max() < 6
    assert uniform([2, 3], dtype=dtype).dtype == dtype


class Largest:
    """A stream of the largest number below 1."""

    def take(self, shape: Any) -> Any:
        return self

    def random(self, shape: Any, dtype: Any) -> Any:
        return np.full(shape, 1 - np.finfo(dtype).epsneg, dtype)

    def integers(self, low: int, high: int, shape: Any) -> Any:
        return np.full(shape, high - 1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_upper_bound_is_excluded_where_scaling_rounds_to_it(dtype: str) -> None:
    def largest(low: Any, high: Any) -> Any:
        ops = ("RandomUniform", "RandomUniformInt")
        found = draw_uniform(ops, [], low, high, dtype, None, state=Largest())
        return found.numpy()

    kind = np.dtype(dtype).type
    last = np.nextafter(kind(1001), kind(0))

    assert largest(1000, 1001) == largest(tf.constant(1000, dtype), 1001) == last
    assert largest(0, 1) == kind(1) - np.finfo(dtype).epsneg
    assert largest(5, 5) == 5
    assert largest(tf.constant(3, dtype), 1) <= 3


@pytest.mark.parametrize("uniform", UNIFORMS.values(), ids=UNIFORMS)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_uniform_integers(uniform: Any, dtype: str) -> None:
    found = uniform([N], 1, 7, dtype).numpy()

    assert np.unique(found).tolist() == [1, 2, 3, 4, 5, 6]
    assert near(found, 3.5, 1.71)
    assert found.dtype == dtype


@pytest.mark.parametrize("normal", NORMALS.values(), ids=NORMALS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normal(normal: Any, dtype: str) -> None:
    found = normal([N], 3.0, 2.0, dtype).numpy()

    assert found.dtype == dtype
    assert near(found.astype(float), 3, 2)
    assert abs(found.astype(float).std() - 2) < 0.1


@pytest.mark.parametrize("truncated", TRUNCATED.values(), ids=TRUNCATED)
def test_truncated_normal(truncated: Any) -> None:
    found = truncated([N], 1.0, 2.0).numpy()

    assert np.abs(found - 1).max() <= 4
    assert np.abs(found - 1).max() > 3.9
    assert near(found, 1, 2)


def test_categorical() -> None:
    logits = np.log([[0.5, 0.25, 0.25], [0.0001, 0.0001, 1.0]]).astype("float32")

    for found in (
        tf.random.categorical(logits, N),
        tf.random.stateless_categorical(logits, N, SEED),
    ):
        counts = np.stack([np.bincount(row, minlength=3) for row in found.numpy()]) / N
        np.testing.assert_allclose(counts[0], [0.5, 0.25, 0.25], atol=0.02)
        assert counts[1, 2] > 0.99
        assert (found.shape, found.dtype) == ([2, N], tf.int64)


def test_shuffle() -> None:
    x = tf.reshape(tf.range(200), [100, 2])

    for found in (
        tf.random.shuffle(x).numpy(),
        tf.random.stateless_shuffle(x, SEED).numpy(),
    ):
        assert (found != x.numpy()).any()
        np.testing.assert_array_equal(found[found[:, 0].argsort()], x.numpy())


def test_gamma_and_poisson() -> None:
    gamma = tf.random.gamma([N], [2.0, 8.0], 4.0).numpy()
    poisson = tf.random.poisson([N], [1.0, 9.0], tf.int32).numpy()

    assert gamma.shape == poisson.shape == (N, 2)
    assert near(gamma[:, 0], 0.5, 0.36)
    assert near(gamma[:, 1], 2.0, 0.71)
    assert near(poisson[:, 1], 9.0, 3.0)


# --- seeds ----------------------------------------------------------------------------


def draws(function: Any, times: int = 2) -> Any:
    return [function().numpy().tolist() for _ in range(times)]


def test_the_global_seed_repeats_the_whole_program() -> None:
    first = draws(lambda: tf.random.uniform([2]))
    tf.random.set_seed(1)
    again = draws(lambda: tf.random.uniform([2]))
    tf.random.set_seed(2)

    assert first == again
    assert first[0] != first[1]
    assert draws(lambda: tf.random.uniform([2])) != first


def test_the_global_seed_starts_traced_functions_anew() -> None:
    @tf.function
    def f() -> Any:
        return tf.random.uniform([2]), tf.random.normal([2], seed=3)

    def results() -> Any:
        return [part.numpy().tolist() for _ in range(2) for part in f()]

    first = results()
    tf.random.set_seed(1)
    assert results() == first
    assert results() != first


def test_threads_share_a_stream() -> None:
    """Each number of the stream goes to one thread."""
    alone = np.sort(np.concatenate(draws(lambda: tf.random.uniform([50]), 8)))
    tf.random.set_seed(1)
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: tf.random.uniform([50]).numpy(), range(8)))

    np.testing.assert_array_equal(np.sort(np.concatenate(drawn)), alone)


@pytest.mark.parametrize(
    "use",
    [
        lambda: tf.random.set_seed("a"),  # type: ignore[arg-type]
        lambda: tf.random.normal([2], seed="a"),
        lambda: tf.random.Generator.from_seed("a"),
    ],
)
def test_seeds_that_are_no_numbers_are_refused(use: Any) -> None:
    with pytest.raises(TypeError, match="a seed is made of integers, not of 'a'"):
        use()


def test_an_op_seed_has_a_stream_of_its_own() -> None:
    first = draws(lambda: tf.random.normal([2], seed=5))
    other = draws(lambda: tf.random.normal([2], seed=6))
    tf.random.set_seed(1)
    tf.random.uniform([7])
    tf.random.uniform([7], seed=5)
    tf.random.normal([7], dtype=tf.float64, seed=5)

    assert draws(lambda: tf.random.normal([2], seed=5)) == first
    assert first[0] != first[1]
    assert first != other


def test_without_a_seed_nothing_repeats() -> None:
    tf.random.set_seed(None)
    first = draws(lambda: tf.random.uniform([2]))
    tf.random.set_seed(None)

    assert draws(lambda: tf.random.uniform([2])) != first


def test_a_traced_function_draws_anew_at_each_call() -> None:
    """The guides: a random op of TensorFlow behaves the same traced and not."""

    @tf.function
    def noise() -> Any:
        return tf.random.uniform([2])

    first = draws(noise, 3)
    assert len({tuple(item) for item in first}) == 3

    @tf.function
    def like_it() -> Any:
        return tf.random.uniform([2])

    # Two functions that are alike draw alike: each is as a run of the program.
    assert draws(like_it, 3) == first


def test_ops_of_one_function_differ() -> None:
    @tf.function
    def pair(seed: Any = None) -> Any:
        return tf.stack([tf.random.uniform([]), tf.random.uniform([])])

    first, second = pair().numpy()

    assert first != second


def test_ops_with_one_seed_draw_alike() -> None:
    @tf.function
    def pair() -> Any:
        return tf.stack([tf.random.uniform([], seed=1), tf.random.uniform([], seed=1)])

    (a, b), (c, d) = draws(pair)

    assert a == b
    assert c == d
    assert a != c


def test_draws_in_a_loop_differ() -> None:
    @tf.function
    def walk(n: Any) -> Any:
        total = tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n):
            total = total.write(i, tf.random.uniform([]))
        return total.stack()

    assert len(set(walk(tf.constant(5)).numpy().tolist())) == 5


def test_a_copy_of_a_stream_starts_anew() -> None:
    state = RandomState((1, 2))
    first = state.generator.random()

    copy = pickle.loads(pickle.dumps(state))

    assert copy.generator.random() == first
    assert repr(RandomState()) == "<RandomState unseeded>"
    assert str(state.graph_text) == "seeds (1, 2)"


def test_stateless_distributions() -> None:
    gamma = tf.random.stateless_gamma([N, 2], SEED, [2.0, 8.0], 4.0).numpy()
    poisson = tf.random.stateless_poisson([N, 2], SEED, [1.0, 9.0]).numpy()
    binomial = tf.random.stateless_binomial([N, 2], SEED, [4.0, 9.0], 0.25).numpy()

    assert gamma.shape == poisson.shape == binomial.shape == (N, 2)
    assert (poisson.dtype, binomial.dtype) == (np.int32, np.int32)
    assert near(gamma[:, 1], 2.0, 0.71)
    assert near(poisson[:, 1], 9.0, 3.0)
    assert near(binomial[:, 1], 2.25, 1.3)
    assert set(np.unique(binomial[:, 0]).tolist()) == {0, 1, 2, 3, 4}


# --- stateless functions --------------------------------------------------------------


def test_stateless_functions_depend_on_the_seed_alone(agree: Any) -> None:
    uniform, integers, normal, shuffled = agree(
        lambda seed: [
            tf.random.stateless_uniform([3], seed),
            tf.random.stateless_uniform([3], seed, 0, 9, tf.int32),
            tf.random.stateless_normal([3], seed),
            tf.random.stateless_shuffle(tf.range(9), seed),
        ],
        np.int32(SEED),
    )

    np.testing.assert_array_equal(
        uniform, tf.random.stateless_uniform([3], SEED).numpy()
    )
    assert (uniform != tf.random.stateless_uniform([3], [2, 1]).numpy()).any()
    assert sorted(shuffled.tolist()) == list(range(9))
    assert ((integers >= 0) & (integers < 9)).all()
    assert np.isfinite(normal).all()


def test_seeds_from_seeds() -> None:
    seeds = tf.random.split(SEED, 4)
    folded = [tf.random.fold_in(SEED, step).numpy().tolist() for step in range(4)]

    assert (seeds.shape, seeds.dtype) == ([4, 2], tf.int32)
    assert len({tuple(seed) for seed in [*seeds.numpy().tolist(), *folded]}) == 8
    assert folded[2] == tf.random.fold_in(SEED, tf.constant(2)).numpy().tolist()


# --- generators -----------------------------------------------------------------------


def test_a_generator_goes_on_in_graphs_too() -> None:
    def numbers(graph: bool) -> Any:
        generator = tf.random.Generator.from_seed(7)

        def draw() -> Any:
            return generator.normal([2])

        return draws(tf.function(draw) if graph else draw, 3)

    assert numbers(graph=True) == numbers(graph=False)


def test_generators() -> None:
    generator = tf.random.Generator.from_seed(1)
    first = generator.uniform([2]).numpy().tolist()
    generator.reset_from_seed(1)
    split = generator.split(2)
    full = generator.uniform_full_int([100], tf.int8)

    generator.reset_from_seed(1)
    assert generator.uniform([2]).numpy().tolist() == first
    assert draws(lambda: split[0].normal([2]), 1) != draws(
        lambda: split[1].normal([2]), 1
    )
    assert full.dtype is tf.int8
    assert full.numpy().min() < 0
    assert generator.make_seeds(3).shape == [2, 3]
    assert repr(generator) == "<tf.random.Generator key=1>"
    fresh = [tf.random.Generator.from_non_deterministic_state() for _ in range(2)]
    assert draws(lambda: fresh[0].normal([2])) != draws(lambda: fresh[1].normal([2]))


def state_of(generator: Any) -> Any:
    return generator.state.numpy().tolist()


def test_the_state_of_a_generator() -> None:
    generator = tf.random.Generator.from_seed(5)
    assert state_of(generator) == tf.random.create_rng_state(5).numpy().tolist()
    assert (int(generator.key), generator.algorithm) == (5, 1)

    generator.normal([2, 3])
    other = tf.random.Generator.from_seed(5, alg="philox")
    skipped = other.skip(6)

    assert skipped.numpy().tolist() == [0, 0, 5]
    assert state_of(other) == state_of(generator)
    saved = generator.state
    copies = [
        tf.random.Generator(copy_from=generator),
        tf.random.Generator.from_state(saved, alg=tf.random.Algorithm.PHILOX),
        tf.random.Generator.from_key_counter(generator.key, saved[:2], alg="philox"),
        pickle.loads(pickle.dumps(generator)),
    ]
    drawn = generator.uniform([2]).numpy().tolist()
    assert [copy.uniform([2]).numpy().tolist() for copy in copies] == [drawn] * 4
    generator.reset(saved)
    assert generator.uniform([2]).numpy().tolist() == drawn
    generator.reset_from_key_counter(5, saved[:2])
    assert state_of(generator) == saved.numpy().tolist()
    generator.reset_from_key_counter(-1, [2, 2**63])
    assert state_of(generator) == [2, -(2**63), -1]
    generator.skip(tf.constant(2**40, tf.int64))
    assert state_of(generator) == [2 + 2**48, -(2**63), -1]


def test_each_draw_moves_the_counter_alike() -> None:
    generator = tf.random.Generator.from_seed(1)
    moves = []
    for draw in (
        lambda: generator.uniform([4]),
        lambda: generator.uniform([2, 2], 0, 9, tf.int32),
        lambda: generator.truncated_normal([4]),
        lambda: generator.binomial([4], 10.0, 0.5),
        lambda: generator.make_seeds(2),
        lambda: generator.split(4),
        lambda: generator.uniform_full_int([4], tf.uint64),
    ):
        before = state_of(generator)[0]
        draw()
        moves.append(state_of(generator)[0] - before)

    assert set(moves) == {moves[0]}


def test_a_function_moves_the_generator_on_in_order() -> None:
    generator = tf.random.Generator.from_seed(9)

    @tf.function
    def step(n: Any) -> Any:
        before = generator.state
        total = generator.uniform([])
        for _ in tf.range(n):
            total += generator.uniform([])
        generator.skip(n)
        return before, total, generator.state

    plain = tf.random.Generator.from_seed(9)
    for count in (0, 3):
        before, total, after = step(tf.constant(count))
        assert before.numpy().tolist() == state_of(plain)
        drawn = [plain.uniform([]).numpy() for _ in range(count + 1)]
        np.testing.assert_allclose(total.numpy(), np.sum(drawn), rtol=1e-6)
        plain.skip(count)
        assert after.numpy().tolist() == state_of(plain) == state_of(generator)
    reset = tf.function(lambda state: generator.reset(state))
    reset(tf.constant([1, 2, 3], tf.int64))
    assert state_of(generator) == [1, 2, 3]


def test_a_generator_made_at_the_first_call() -> None:
    made: list[Any] = []

    @tf.function(autograph=False)
    def draw() -> Any:
        if not made:
            made.append(tf.random.Generator.from_seed(4))
        return made[0].normal([2])

    found = draws(draw)

    plain = tf.random.Generator.from_seed(4)
    assert found == draws(lambda: plain.normal([2]))


def test_a_generator_made_at_each_call_is_refused() -> None:
    @tf.function
    def draw() -> Any:
        return tf.random.Generator.from_seed(4).normal([2])

    with pytest.raises(ValueError, match="'draw' creates a random gen"):
        draw()


def test_whole_ranges_and_binomials() -> None:
    generator = tf.random.Generator.from_seed(2)

    for dtype in (tf.int64, tf.uint64, tf.int32):
        found = generator.uniform_full_int([200], dtype).numpy()
        assert found.dtype == dtype.as_numpy_dtype
        # Each half of the range, and its last quarter, come up.
        quarter = (dtype.max - dtype.min) // 4
        assert found.min() < dtype.min + quarter
        assert found.max() > dtype.max - quarter
    drawn = generator.binomial([N, 2], [10.0, 20.0], [0.5, 0.25], tf.float32).numpy()
    assert drawn.dtype == np.float32
    assert near(drawn[:, 0], 5, 1.6)
    assert near(drawn[:, 1], 5, 2)


BAD_GENERATORS = [
    (lambda: tf.random.Generator(), ValueError, "either of copy_from or of state"),
    (lambda: tf.random.Generator(1), TypeError, "by tf.random.Generator.from_seed"),
    (
        lambda: tf.function(lambda s: GENERATOR.reset_from_seed(s))(tf.constant(1)),
        tf.errors.UnimplementedError,
        "use the stateless functions",
    ),
    (lambda: tf.random.Generator.from_state([1]), None, "vector of 3 integers"),
    (lambda: tf.random.Generator.from_seed([1, 2, 3, 4]), ValueError, "not 4"),
    (lambda: tf.random.Generator.from_seed(2**64), ValueError, "at most 64 bits"),
    (lambda: tf.random.Generator.from_seed(1, "mt"), ValueError, "'mt' is no algo"),
    (
        lambda: tf.random.Generator.from_seed(1, "threefry"),
        tf.errors.UnimplementedError,
        "use alg='philox'",
    ),
    (lambda: GENERATOR.reset([1.0, 2.0, 3.0]), None, "vector of 3 integers"),
    (lambda: GENERATOR.binomial([2], 5.0, 1.5), None, "between 0 and 1"),
    (lambda: GENERATOR.binomial([2], -5.0, 0.5), None, "not be negative"),
    (lambda: GENERATOR.binomial([], [1.0, 2.0], 0.5), None, "has fewer axes"),
    (
        lambda: tf.function(lambda: len(GENERATOR.split(2)))(),
        tf.errors.UnimplementedError,
        "split outside",
    ),
]


@pytest.mark.parametrize(("function", "error", "message"), BAD_GENERATORS)
def test_generators_refuse(function: Any, error: Any, message: str) -> None:
    with pytest.raises(error or tf.errors.InvalidArgumentError, match=message):
        function()


def test_the_global_generator() -> None:
    tf.random.set_global_generator(tf.random.Generator.from_seed(3))

    found = tf.random.get_global_generator().uniform([2]).numpy()

    np.testing.assert_array_equal(
        found, tf.random.Generator.from_seed(3).uniform([2]).numpy()
    )


# --- shapes and errors ----------------------------------------------------------------


def test_shapes_and_bounds_of_tensors() -> None:
    @tf.function(autograph=False)
    def drawn(n: Any, top: Any) -> Any:
        return tf.random.uniform([n, 2], n, top, tf.int32), tf.random.normal(
            tf.stack([n, n])
        )

    integers, normal = drawn(tf.constant(2), tf.constant(4))

    assert set(integers.numpy().ravel().tolist()) <= {2, 3}
    assert normal.shape == [2, 2]


def test_bounds_that_broadcast() -> None:
    found = tf.random.uniform(
        [N, 2], tf.constant([0.0, 10.0]), tf.constant([1.0, 11.0])
    ).numpy()

    assert found[:, 0].max() < 1
    assert found[:, 1].min() >= 10


def test_static_shapes() -> None:
    graph = Graph("g")
    with building(graph):
        n = graph.add_input(TensorSpec([], tf.int32))
        logits = graph.add_input(TensorSpec([None, 3]))

        assert tf.random.normal([n, 3]).shape.as_list() == [None, 3]
        assert tf.random.categorical(logits, 5).shape.as_list() == [None, 5]
        assert tf.random.gamma([n], [1.0, 2.0]).shape.as_list() == [None, 2]
        assert tf.random.shuffle(logits).shape.as_list() == [None, 3]


BAD = [
    (lambda: tf.random.uniform([2], 3, 3, tf.int32), "minval must be less than maxval"),
    (
        lambda: tf.random.stateless_uniform([2], SEED, 3, 2, tf.int32),
        "minval must be less",
    ),
    (lambda: tf.random.uniform([-1]), "negative lengths"),
    (lambda: tf.random.shuffle(1), "a scalar cannot be shuffled"),
    (lambda: tf.random.categorical([1.0], 2), "logits must be a matrix"),
    (lambda: tf.random.categorical([[1]], 2), "does not take a int32"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        function()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: tf.random.uniform([2], dtype=tf.int32), "maxval must be given"),
        (lambda: tf.random.uniform([2], dtype=tf.bool), "must be a floating one"),
        (
            lambda: tf.random.normal([2], dtype=tf.int32),
            "must be a floating one, not int32",
        ),
        (lambda: tf.random.stateless_normal([2], [1]), "a vector of two integers"),
    ],
)
def test_arguments(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function()
