"""`Generator`: a stream of random numbers as an object of the program.

Its state is a vector of three 64-bit integers: a counter of two words, low word first,
and a key. Drawing n numbers moves the counter on by a fixed number of steps for each,
whatever they are, so that streams can be skipped, saved, and started again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.graph.context import current_graph, variable_created
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import int_argument, shape_argument
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.operands import define, run
from runtime.ops.random import draws
from runtime.ops.random.state import (
    STATE_WORDS,
    Algorithm,
    GeneratorState,
    check_algorithm,
    state_words,
)
from runtime.ops.random.streams import draw_normal, draw_uniform
from runtime.ops.shapes import broadcast, dims_of, dims_value, spec

Array = np.ndarray[Any, Any]

# --- ops ------------------------------------------------------------------------------


def _infer_state(*inputs: TensorSpec, **attrs: Any) -> TensorSpec:
    return spec((STATE_WORDS,), dtypes.int64)


def _read(*, state: GeneratorState) -> Array:
    return state.array


def _skip(*, delta: int, state: GeneratorState) -> Array:
    return state.skip(delta)


def _set(value: Array, *, state: GeneratorState) -> tuple[()]:
    state.set(value)
    return ()


def _infer_set(value: TensorSpec, *, state: GeneratorState) -> tuple[()]:
    if not value.shape.is_compatible_with([STATE_WORDS]) or not value.dtype.is_integer:
        raise InvalidArgumentError(
            f"the state is a vector of {STATE_WORDS} integers, not {value.describe()}"
        )
    return ()


def _binomial(
    counts: Array, probs: Array, *, shape: Any, dtype: DType, state: GeneratorState
) -> Array:
    return draws.binomial(state.take(shape), shape, counts, probs, dtype)


def infer_binomial(
    counts: TensorSpec, probs: TensorSpec, *, shape: Any, dtype: DType, **_: Any
) -> TensorSpec:
    """The spec of binomial numbers of a shape that holds those of the parameters."""
    dims = dims_value(shape)
    wide = broadcast(dims, dims_of(counts), dims_of(probs))
    if dims is not None and wide is not None and len(wide) != len(dims):
        raise InvalidArgumentError("shape has fewer axes than counts or probs")
    return spec(dims, dtype)


define("RngReadState", _read, _infer_state, stateful=True, family="state")
define("RngReadAndSkip", _skip, _infer_state, stateful=True, family="state")
define("RngSetState", _set, _infer_set, stateful=True, family="state")
define(
    "StatefulRandomBinomial",
    _binomial,
    infer_binomial,
    takes="f",
    stateful=True,
    family="random",
)


def draw_binomial(
    op: str,
    shape: Any,
    counts: Any,
    probs: Any,
    dtype: Any,
    name: str | None,
    **attrs: Any,
) -> Any:
    """How many of `counts` trials succeed, from an op that draws that."""
    trials = convert_to_tensor(counts, dtype_hint=dtypes.float32)
    chances = convert_to_tensor(probs, trials.dtype)
    dims, found = shape_argument(shape), as_dtype(dtype)
    return run(op, trials, chances, shape=dims, dtype=found, name=name, **attrs)


def create_rng_state(seed: Any, alg: Any = "philox") -> Any:
    """The state of a generator of a seed: an integer, or at most three of them.

    >>> create_rng_state(7).numpy().tolist()
    [0, 0, 7]
    """
    return convert_to_tensor(_state_of_seed(seed, alg))


def _state_of_seed(seed: Any, alg: Any) -> Array:
    check_algorithm(alg)
    return np.array(state_words(_known(seed)), np.uint64).view(np.int64)


class Generator:
    """A stream of random numbers that goes on from call to call, in graphs too.

    >>> a, b = Generator.from_seed(1), Generator.from_seed(1)
    >>> bool(a.normal([]) == b.normal([])), bool(a.normal([]) == a.normal([]))
    (True, False)

    Made from another generator, which it begins to follow where that one is now, or
    from a `state`; the class methods make one of a seed.
    """

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: Any = None
    ) -> None:
        if (copy_from is None) == (state is None):
            raise ValueError("a Generator is made either of copy_from or of state")
        if copy_from is not None:
            if not isinstance(copy_from, Generator):
                kind = type(copy_from).__name__
                raise TypeError(
                    f"copy_from must be a Generator, not a {kind}; one of a seed is "
                    "made by tf.random.Generator.from_seed(seed)"
                )
            state = copy_from._state.array
        elif alg is not None:
            check_algorithm(alg)
        self._state: GeneratorState = GeneratorState()
        self._state.set(np.asarray(_known(state)))
        variable_created(self)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """The stream of a seed."""
        return cls(state=_state_of_seed(seed, alg or "philox"))

    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> Generator:
        """The stream that goes on from a state: see `Generator.state`."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Generator:
        """The stream of a key, from a counter (two integers) on."""
        return cls(state=_key_counter(key, counter), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A stream that begins at an unforeseeable point."""
        generator = cls(state=[0, 0, 0], alg=alg)
        generator._state = GeneratorState.unforeseeable()
        return generator

    # --- the state --------------------------------------------------------------------

    @property
    def state(self) -> Any:
        """The state now, as a tensor that later draws do not change."""
        return run("RngReadState", state=self._state)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What checkpoints save: see `runtime.files.saving.trackable`."""
        return {"state": self._state.array}

    def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
        self._state.set(np.asarray(tensors["state"]))

    @property
    def key(self) -> Any:
        """The last number of the state, which tells this stream from others."""
        return self.state[STATE_WORDS - 1]

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1, Philox."""
        return Algorithm.PHILOX.value

    def skip(self, delta: Any) -> Any:
        """Move on as `delta` numbers would. Gives the state that was.

        >>> a, b = Generator.from_seed(1), Generator.from_seed(1)
        >>> _ = a.normal([2, 3]), b.skip(6)
        >>> bool(a.uniform([]) == b.uniform([]))
        True
        """
        delta = int_argument(delta, "delta")
        return run("RngReadAndSkip", delta=delta, state=self._state)

    def reset(self, state: Any) -> None:
        """Go on from another state."""
        run("RngSetState", as_tensor(state), state=self._state)

    def reset_from_seed(self, seed: Any) -> None:
        """Start the stream of `seed`; functions traced with this generator follow."""
        self.reset(_state_of_seed(seed, "philox"))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go on in the stream of `key`, from a counter on."""
        self.reset(_key_counter(key, counter))

    # --- numbers ----------------------------------------------------------------------

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal numbers; see `tf.random.normal`."""
        op, state = "RandomStandardNormal", self._state
        return draw_normal(op, shape, mean, stddev, dtype, name, state=state)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal numbers within two standard deviations."""
        op, state = "TruncatedNormal", self._state
        return draw_normal(op, shape, mean, stddev, dtype, name, state=state)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Numbers of [minval, maxval); see `tf.random.uniform`."""
        ops = ("RandomUniform", "RandomUniformInt")
        state = self._state
        return draw_uniform(ops, shape, minval, maxval, dtype, name, state=state)

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Any:
        """Integers of the whole range of the dtype."""
        low, high = as_dtype(dtype).limits
        return self.uniform(shape, low, high + 1, dtype, name)

    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Any:
        """How many of `counts` trials succeed, each with the probability `probs`.

        >>> generator = Generator.from_seed(1)
        >>> generator.binomial([2], [3.0, 5.0], [0.0, 1.0]).numpy().tolist()
        [0, 5]
        """
        op, state = "StatefulRandomBinomial", self._state
        return draw_binomial(op, shape, counts, probs, dtype, name, state=state)

    def make_seeds(self, count: Any = 1) -> Any:
        """Seeds for the stateless functions: one in each column."""
        low, high = dtypes.int64.limits
        return self.uniform([2, count], low, high + 1, dtypes.int64)

    def split(self, count: int = 1) -> list[Generator]:
        """New generators whose streams follow from this one, which moves on.

        Raises UnimplementedError while a function is traced: objects are made then, and
        not at each call. `make_seeds` works there.
        """
        if current_graph() is not None:
            raise UnimplementedError(
                "Generator.split makes objects, which a graph cannot do; split outside "
                "of the function, or use make_seeds() and the stateless functions"
            )
        keys = self.uniform_full_int([count]).numpy().tolist()
        return [Generator.from_key_counter(key, (0, 0)) for key in keys]

    def __repr__(self) -> str:
        return f"<tf.random.Generator {self._state.graph_text}>"


def _key_counter(key: Any, counter: Any) -> Any:
    words: Sequence[Any] = np.asarray(_known(counter)).tolist()
    return _state_of_seed([*words, int(np.asarray(_known(key)))], "philox")


def _known(value: Any) -> Any:
    """A value that is needed at once, without a graph.

    Raises UnimplementedError for a tensor of a traced function.
    """
    if isinstance(value, SymbolicTensor):
        raise UnimplementedError(
            "a generator is an object, made and started while a function is traced: "
            "its seed cannot be a tensor of the graph; use the stateless functions"
        )
    return value._array if isinstance(value, EagerTensor) else value


_global_generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator that the program shares, made at the first call."""
    global _global_generator
    if _global_generator is None:
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator: Generator) -> None:
    """Replace the generator that `get_global_generator` gives."""
    global _global_generator
    _global_generator = generator
