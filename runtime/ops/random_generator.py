"""`Generator`: a stream of random numbers as an object of the program."""

from __future__ import annotations

from typing import Any

from runtime import dtypes
from runtime.dtypes import as_dtype
from runtime.ops.arguments import shape_argument
from runtime.ops.define import run
from runtime.ops.random_ops import affine, check_floating, draw_uniform
from runtime.ops.random_state import RandomState

__all__ = ["Generator", "get_global_generator", "set_global_generator"]


class Generator:
    """A stream of random numbers that goes on from call to call, in graphs too.

    >>> a, b = Generator.from_seed(1), Generator.from_seed(1)
    >>> bool(a.normal([]) == b.normal([])), bool(a.normal([]) == a.normal([]))
    (True, False)
    """

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._state = RandomState(None if seed is None else (int(seed), 0))

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """The stream of an integer seed."""
        return cls(int(seed))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A stream that begins at an unforeseeable point."""
        return cls()

    def reset_from_seed(self, seed: Any) -> None:
        """Start the stream of `seed`; functions traced with this generator follow."""
        self._seed = int(seed)
        self._state.restart((self._seed, 0))

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal numbers; see `tf.random.normal`."""
        return self._normal("RandomStandardNormal", shape, mean, stddev, dtype, name)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal numbers within two standard deviations."""
        return self._normal("TruncatedNormal", shape, mean, stddev, dtype, name)

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

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for the stateless functions: one in each column."""
        low, high = dtypes.int64.limits
        return self.uniform([2, count], low, high, dtypes.int64)

    def split(self, count: int = 1) -> list[Generator]:
        """New generators whose streams follow from this one."""
        seeds = self._state.generator.integers(0, 2**63, count)
        return [Generator(int(seed)) for seed in seeds]

    def _normal(
        self, op: str, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str | None
    ) -> Any:
        unit = run(
            op,
            shape=shape_argument(shape),
            dtype=check_floating(dtype),
            state=self._state,
            name=name,
        )
        return affine(unit, stddev, mean, name)

    def __repr__(self) -> str:
        return f"<tf.random.Generator seed={self._seed}>"


_global_generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator that the program shares, made at the first call."""
    global _global_generator
    if _global_generator is None:
        _global_generator = Generator()
    return _global_generator


def set_global_generator(generator: Generator) -> None:
    """Replace the generator that `get_global_generator` gives."""
    global _global_generator
    _global_generator = generator
