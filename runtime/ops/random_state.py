"""Where random numbers come from: streams of NumPy's Philox generator, and seeds.

An op draws from a `RandomState`, a stream that goes on from run to run. Which one:

* With an op seed, the stream of the global seed and the op seed. In eager code all ops
  with one seed share a stream, which `set_seed` starts anew; in a traced function each
  op has its own.
* With the global seed alone, eager code draws from one stream that `set_seed` starts;
  an op of a traced function has a stream of its own, told from others by its place in
  the graph, so that functions that are alike draw alike.
* Without any seed every stream begins at an unforeseeable point.

The numbers differ from TensorFlow's for the same seeds.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from runtime.context import current_graph
from runtime.graph import Graph

__all__ = ["RandomState", "keyed_generator", "set_seed", "state_for"]

#: The global seed of ops that have only their own.
_NO_GLOBAL_SEED = 87654321
_MASK = 2**64 - 1


def keyed_generator(*key: int) -> np.random.Generator:
    """The generator whose stream is determined by two integers of at most 64 bits."""
    words = np.array([part & _MASK for part in key], np.uint64)
    return np.random.Generator(np.random.Philox(key=words))


class RandomState:
    """A stream of random numbers: of its two seeds, or an unforeseeable one."""

    __slots__ = ("_generator", "seeds")

    def __init__(self, seeds: tuple[int, int] | None = None) -> None:
        self.seeds = seeds
        self._generator: np.random.Generator | None = None

    @property
    def generator(self) -> np.random.Generator:
        """The generator, at the place up to which it has been used."""
        if self._generator is None:
            seeds = self.seeds or (secrets.randbits(64), secrets.randbits(64))
            self._generator = keyed_generator(*seeds)
        return self._generator

    def restart(self, seeds: tuple[int, int] | None) -> None:
        """Begin the stream of other seeds."""
        self.seeds, self._generator = seeds, None

    @property
    def graph_text(self) -> str:
        """How graphs print it."""
        return "unseeded" if self.seeds is None else f"seeds {self.seeds}"

    def __repr__(self) -> str:
        return f"<RandomState {self.graph_text}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy begins its stream anew, as a program that is run again does.
        return RandomState, (self.seeds,)


_global_seed: int | None = None
_eager_stream = RandomState()
_eager_streams: dict[int, RandomState] = {}


def set_seed(seed: int | None) -> None:
    """Set the global seed and start all streams of eager code anew.

    Functions that are traced already keep theirs. None goes back to no seed.
    """
    global _global_seed, _eager_stream
    _global_seed = None if seed is None else int(seed)
    _eager_stream = RandomState(None if seed is None else (int(seed), 0))
    _eager_streams.clear()


def state_for(seed: Any) -> RandomState:
    """The stream for an op with this seed (or None) that is called now."""
    graph = current_graph()
    first = _NO_GLOBAL_SEED if _global_seed is None else _global_seed
    if seed is not None:
        own = int(seed)
        if graph is not None:
            return RandomState((first, own))
        if own not in _eager_streams:
            _eager_streams[own] = RandomState((first, own))
        return _eager_streams[own]
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
