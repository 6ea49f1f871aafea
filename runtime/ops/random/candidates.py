"""Candidate samplers: a few classes drawn from many, and how often each is expected.

Losses over large vocabularies compare the true classes with such a sample: see
`tf.nn.sampled_softmax_loss` and `tf.nn.nce_loss`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import int_argument
from runtime.ops.convert import as_tensor
from runtime.ops.derivatives import without_gradient
from runtime.ops.operands import define, run
from runtime.ops.random.state import RandomState, state_for
from runtime.ops.shapes import dims_of, known_int, spec

Array = np.ndarray[Any, Any]


class Candidates(NamedTuple):
    """Drawn classes, and the expected counts of the true and of the drawn classes."""

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


def _infer(true_classes: TensorSpec, *, num_sampled: Any, **_: Any) -> Any:
    count, counts = known_int(num_sampled), spec(dims_of(true_classes), dtypes.float32)
    return spec((count,), dtypes.int64), counts, spec((count,), dtypes.float32)


def _sample(
    true_classes: Array,
    *,
    is_log: bool,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    stream: RandomState,
) -> tuple[Array, Array, Array]:
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgumentError(
            f"true_classes must be a matrix of num_true={num_true} columns, not of the "
            f"shape {true_classes.shape}"
        )
    if num_sampled < 1 or range_max < (num_sampled if unique else 1):
        raise InvalidArgumentError(
            f"num_sampled={num_sampled} {'different ' * unique}candidates cannot be "
            f"drawn from range_max={range_max} classes"
        )
    if ((true_classes < 0) | (true_classes >= range_max)).any():
        raise InvalidArgumentError(
            f"true_classes must lie between 0 and range_max - 1 = {range_max - 1}"
        )
    log = math.log1p(range_max)

    def drawn(count: int) -> Array:
        unit = stream.generator.random(count)
        found = np.expm1(unit * log) if is_log else unit * range_max
        return np.minimum(found.astype(np.int64), range_max - 1)

    sampled, tries = drawn(num_sampled), num_sampled
    if unique:
        # Draw on until there are enough classes; each counts where it came first.
        while len(first := np.unique(sampled, return_index=True)[1]) < num_sampled:
            sampled = np.concatenate([sampled, drawn(len(sampled))])
        first = np.sort(first)[:num_sampled]
        sampled, tries = sampled[first], int(first[-1]) + 1

    def expected(classes: Array) -> Array:
        p = np.log1p(1 / (classes + 1)) / log if is_log else 0 * classes + 1 / range_max
        # A mean number, or the chance to come up in so many tries.
        is_mean = tries == num_sampled or range_max == 1
        count = p * tries if is_mean else -np.expm1(tries * np.log1p(-p))
        return np.asarray(count, np.float32)

    return sampled, expected(true_classes), expected(sampled)


# Of the family "python": compiled programs call it, also those of XLA.
define("CandidateSampler", _sample, _infer, takes="iu", stateful=True, family="python")
without_gradient("CandidateSampler")


def _sampler(is_log: bool, doc: str) -> Callable[..., Candidates]:
    def sampler(
        true_classes: Any,
        num_true: int,
        num_sampled: Any,
        unique: bool,
        range_max: Any,
        seed: Any = None,
        name: str | None = None,
    ) -> Candidates:
        found = run(
            "CandidateSampler",
            as_tensor(true_classes),
            is_log=is_log,
            num_true=int_argument(num_true, "num_true"),
            num_sampled=int_argument(num_sampled, "num_sampled"),
            unique=bool(unique),
            range_max=int_argument(range_max, "range_max"),
            stream=state_for(seed, "CandidateSampler"),
            name=name,
        )
        return Candidates(*found)

    sampler.__doc__ = doc
    return sampler


log_uniform_candidate_sampler = _sampler(
    True,
    """Classes drawn as frequent words are: class 0 most often, in Zipf's manner.

    The probability of a class is ``log((class + 2) / (class + 1)) / log(range_max +
    1)``. `true_classes` are integers of the shape ``[batch, num_true]``; `unique` says
    whether classes are drawn once at most.

    Returns `num_sampled` classes of int64, and of float32 how often each true class
    and each sampled one is expected in such a sample.

    Raises InvalidArgumentError for classes outside of the range, and for more unique
    candidates than there are.

    >>> sampled, true, _ = log_uniform_candidate_sampler([[0, 2]], 2, 4, True, 4)
    >>> sorted(sampled.numpy().tolist()), true.shape
    ([0, 1, 2, 3], TensorShape([1, 2]))
    """,
)
uniform_candidate_sampler = _sampler(
    False,
    """Classes drawn each with the same probability: as `log_uniform_candidate_sampler`.

    >>> uniform_candidate_sampler([[0]], 1, 2, False, 8).true_expected_count.numpy()
    array([[0.25]], dtype=float32)
    """,
)
