"""Where random numbers come from: streams of NumPy's Philox generator, and seeds.

An op draws from a `RandomState`, a stream that goes on from run to run. Which one:

* With an op seed, the stream of the global seed and the op seed. In eager code all
  calls of an op with one seed and dtype share a stream, which `set_seed` starts anew;
  in a traced function each op has its own.
* With the global seed alone, eager code draws from one stream that `set_seed` starts;
  an op of a traced function has a stream of its own, told from others by its place in
  the graph, so that functions that are alike draw alike.
* Without any seed every stream begins at an unforeseeable point.

`set_seed` starts the streams of functions that are traced already anew, too: from the
seeds that they were traced with. The stream of a `Generator` is a `GeneratorState`, on
which seeds have no influence. The numbers differ from TensorFlow's for the same seeds.
"""

from __future__ import annotations

import enum
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.locks import new_lock

Array = np.ndarray[Any, Any]

#: The global seed of ops that have only their own.
_NO_GLOBAL_SEED = 87654321
_MASK = 2**64 - 1


def keyed_generator(*key: int) -> np.random.Generator:
    """The generator whose stream is determined by two integers of at most 64 bits."""
    words = np.array([part & _MASK for part in key], np.uint64)
    return np.random.Generator(np.random.Philox(key=words))


def _generator_at(*words: int) -> np.random.Generator:
    """The generator at a place: see `RandomState.on_device`."""
    first, second, place, has_half, half = words
    key = np.array([first, second], np.uint64)
    philox = np.random.Philox(key=key)
    # A step of the counter is four numbers, of which the last one lie in a buffer.
    counter = (place - 1) // 4
    if counter:
        philox = np.random.Philox(key=key, counter=counter - 1)
        philox.random_raw(place - 4 * counter)
    state: Any = {**philox.state, "has_uint32": has_half, "uinteger": half}
    philox.state = state
    return np.random.Generator(philox)


class RandomState:
    """A stream of random numbers: of its two seeds, or an unforeseeable one."""

    __slots__ = ("_epoch", "_generator", "_held", "_lock", "seeds")

    #: To compiled programs it is a variable, which is never divided over devices.
    name, layout = "random_state", None

    def __init__(self, seeds: tuple[int, int] | None = None) -> None:
        self.seeds = seeds
        self._epoch = -1
        self._generator: np.random.Generator | None = None
        #: Where a compiled program has moved on to; see `on_device`.
        self._held: Any = None
        #: Who runs the stream for a compiled program holds it.
        self._lock = new_lock()

    @property
    def generator(self) -> np.random.Generator:
        """The generator, at the place up to which it has been used.

        NumPy's generators may be shared by threads.
        """
        is_current = self._epoch == _epoch and self._held is None
        if self._generator is None or not is_current:
            with _lock:
                return self._found()
        return self._generator

    def _found(self) -> np.random.Generator:
        if self._generator is None or self._epoch != _epoch:
            seeds = self.seeds or (_random_bits(64), _random_bits(64))
            self._generator = keyed_generator(*seeds)
            self._epoch = _epoch
        elif self._held is not None:
            self._generator = _generator_at(*np.asarray(self._held).tolist())
        self._held = None
        return self._generator

    def on_device(self) -> Any:
        """The place in the stream, for a compiled program.

        Five words: the two of the key, how many numbers of 64 bits lie before the
        place (from the counter 0 on), and whether the upper half of one is left over,
        and which.
        """
        if self._held is not None and self._epoch == _epoch:
            return self._held
        state: Any = self.generator.bit_generator.state
        inner = state["state"]
        place = 4 * int(inner["counter"][0]) + state["buffer_pos"]
        rest = place, state["has_uint32"], state["uinteger"]
        return np.array([*inner["key"].tolist(), *rest], np.uint64)

    def keep_on_device(self, value: Any) -> None:
        """Go on from where a compiled program left."""
        self._held = value

    def take(self, shape: Sequence[int]) -> np.random.Generator:
        """The generator from which to draw an array of the shape."""
        return self.generator

    @property
    def graph_text(self) -> str:
        """How graphs print it."""
        return "unseeded" if self.seeds is None else f"seeds {self.seeds}"

    def __repr__(self) -> str:
        return f"<RandomState {self.graph_text}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy begins its stream anew, as a program that is run again does.
        return RandomState, (self.seeds,)


class Algorithm(enum.Enum):
    """The algorithms that TensorFlow has; here it is always Philox."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def check_algorithm(alg: Any) -> None:
    """Raise unless the algorithm, by TensorFlow's name or number, is Philox."""
    try:
        found = Algorithm[alg.upper()] if isinstance(alg, str) else Algorithm(alg)
    except (KeyError, ValueError):
        raise ValueError(f"{alg!r} is no algorithm for random numbers") from None
    if found is Algorithm.THREEFRY:
        raise UnimplementedError("ThreeFry does not exist here; use alg='philox'")


#: How many numbers the state of a `Generator` has: a counter of two, and a key.
STATE_WORDS = 3
#: How far one random number moves the counter on. A step is four words of 64 bits; no
#: distribution is as unlucky as to need all of these.
STEPS = 256


def _integer(seed: Any) -> int:
    try:
        return int(seed)
    except (TypeError, ValueError):
        raise TypeError(f"a seed is made of integers, not of {seed!r}") from None


def state_words(seed: Any) -> list[int]:
    """The state that begins the stream of a seed: integers, filled up on the left.

    Raises ValueError for more than three of them, or more than 64 bits, and TypeError
    for what is no integer.
    """
    words = [_integer(word) for word in np.asarray(seed, object).reshape(-1)]
    if not 0 < len(words) <= STATE_WORDS:
        raise ValueError(f"a seed is one to {STATE_WORDS} integers, not {len(words)}")
    if any(not -(2**63) <= word <= _MASK for word in words):
        raise ValueError(f"each integer of a seed has at most 64 bits: {seed}")
    # The key comes last: streams of small seeds must not overlap.
    return [0] * (STATE_WORDS - len(words)) + [word & _MASK for word in words]


class GeneratorState:
    """The state of a `Generator`: a counter and a key."""

    __slots__ = ("_counter", "_held", "_key", "_lock")

    #: As for `RandomState`.
    name, layout = "random_state", None

    def __init__(self, counter: int = 0, key: int = 0) -> None:
        self._counter = counter
        self._key = key
        #: The state that a compiled program left, if that is the last.
        self._held: Any = None
        self._lock = new_lock()

    @classmethod
    def unforeseeable(cls) -> GeneratorState:
        """A state that nobody can tell."""
        return cls(_random_bits(128), _random_bits(64))

    @property
    def array(self) -> Array:
        """The state as a vector of int64."""
        with self._lock:
            return np.array(self._words(), np.uint64).view(np.int64)

    def _words(self) -> tuple[int, int, int]:
        """The state as three words; `_lock` is held."""
        if self._held is not None:
            low, high, self._key = np.asarray(self._held).tolist()
            self._counter, self._held = high << 64 | low, None
        return self._counter & _MASK, self._counter >> 64, self._key

    def on_device(self) -> Any:
        """The state for a compiled program, which holds `_lock`: three words."""
        if self._held is not None:
            return self._held
        return np.array(self._words(), np.uint64)

    def keep_on_device(self, value: Any) -> None:
        """Go on from the state that a compiled program left."""
        self._held = value

    def set(self, array: Array) -> None:
        """Go on from a state. Raises InvalidArgumentError if it is none."""
        if array.shape != (STATE_WORDS,) or array.dtype.kind not in "iu":
            raise InvalidArgumentError(
                f"the state is a vector of {STATE_WORDS} integers, not {array}"
            )
        low, high, key = (int(word) & _MASK for word in array)
        with self._lock:
            self._counter, self._key, self._held = high << 64 | low, key, None

    def take(self, shape: Sequence[int]) -> np.random.Generator:
        """The generator from which to draw an array of the shape, and no other."""
        low, high, key = (int(word) & _MASK for word in self.skip(math.prod(shape)))
        counter = np.array([low, high, 0, 0], np.uint64)
        philox = np.random.Philox(key=np.array([key, 0], np.uint64), counter=counter)
        return np.random.Generator(philox)

    def skip(self, count: int) -> Array:
        """Move on as `count` numbers do. Gives the state that was."""
        with self._lock:
            words = self._words()
            self._counter = (self._counter + count * STEPS) % 2**128
        return np.array(words, np.uint64).view(np.int64)

    @property
    def graph_text(self) -> str:
        """How graphs print it."""
        return f"key={int(self.array[2]) & _MASK}"

    def __repr__(self) -> str:
        return f"<GeneratorState {self.graph_text}>"

    def __reduce__(self) -> tuple[Any, ...]:
        low, high, key = (int(word) & _MASK for word in self.array)
        return GeneratorState, (high << 64 | low, key)


_lock = new_lock()
#: How often `set_seed` was called: what streams are to be started anew.
_epoch = 0
_global_seed: int | None = None
_eager_stream = RandomState()
_eager_streams: dict[tuple[str, Any, int], RandomState] = {}


def set_seed(seed: int | None) -> None:
    """Set the global seed and start all streams anew; generators keep theirs.

    Functions that are traced already start again from the seeds that they were traced
    with. None goes back to no seed.

    >>> from runtime.ops.random.streams import uniform
    >>> set_seed(7)
    >>> first = uniform([])
    >>> set_seed(7)
    >>> bool(uniform([]) == first)
    True
    """
    global _epoch, _global_seed, _eager_stream
    number = None if seed is None else _integer(seed)
    _epoch += 1
    _global_seed = number
    _eager_stream = RandomState(None if number is None else (number, 0))
    _eager_streams.clear()


def state_for(seed: Any, op: str, dtype: Any = None) -> RandomState:
    """The stream for an op with this seed (or None) that is called now."""
    graph = current_graph()
    first = _NO_GLOBAL_SEED if _global_seed is None else _global_seed
    if seed is not None:
        own = _integer(seed)
        if graph is not None:
            return RandomState((first, own))
        key = op, dtype, own
        stream = _eager_streams.get(key)
        if stream is None:
            # One for all threads that ask at the same time.
            stream = _eager_streams.setdefault(key, RandomState((first, own)))
        return stream
    if graph is None:
        return _eager_stream
    if _global_seed is None:
        return RandomState()
    return RandomState((first, _position(graph)))


def _position(graph: Graph | None) -> int:
    """How many nodes lie before this point, in the graph and those around it."""
    count = 0
    while graph is not None:
        count += len(graph.nodes) + 1
        graph = graph.parent
    return count


def _random_bits(count: int) -> int:
    """A number that nobody can foretell, of so many bits."""
    return int.from_bytes(os.urandom(count // 8), "little")
