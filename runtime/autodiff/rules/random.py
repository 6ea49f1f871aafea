"""Gradients of numbers drawn by chance, by the parameters of their distribution.

Most are computed from numbers of a fixed distribution, which are constants: a normal
one is ``mean + stddev * z``. Gamma numbers are not.
"""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.ops.arrays.creation import ones_like, zeros_like
from runtime.ops.arrays.gather import where
from runtime.ops.convert import cast
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.elementwise.functions import log
from runtime.ops.elementwise.logical import logical_or
from runtime.ops.elementwise.special import digamma
from runtime.ops.gradient_shapes import broadcast_like, sum_to
from runtime.ops.reduce.reductions import reduce_any
from runtime.staging.control_flow.while_loops import while_loop

without_gradient(
    *("RandomStandardNormal", "RandomUniform", "TruncatedNormal"),
    *("StatelessRandomNormalV2", "StatelessRandomUniformV2"),
    *("StatelessTruncatedNormalV2",),
)


@gradient("RandomGamma", "StatelessRandomGammaV3")
def _gamma(node: Applied, g: Any) -> Any:
    # M. Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients",
    # 2018: the number moves so that the probability P of a smaller one stays.
    alpha, drawn = node.inputs[0], node.outputs[0]
    x = cast(drawn, dtypes.float64)
    is_zero = x == 0  # too small for its dtype: its derivative is, too
    a, x = broadcast_like(cast(alpha, x.dtype), x), where(is_zero, ones_like(x), x)
    total, by_a = _series(a, x)
    slope = -x * ((log(x) - digamma(a)) * total + by_a)
    slope = where(is_zero, zeros_like(slope), slope)
    return [sum_to(g * cast(slope, g.dtype), alpha)]


def _series(a: Any, x: Any) -> tuple[Any, Any]:
    """The sum of ``x**n / (a * (a + 1) * … * (a + n))``, and its derivative by `a`.

    With the density p it is ``P / (p * x)``: M. Abramowitz and I. Stegun, "Handbook of
    Mathematical Functions", 1964, 6.5.29.
    """

    def grows(n: Any, term: Any, share: Any, total: Any, by_a: Any) -> Any:
        return reduce_any(logical_or(term > _SMALL * total, n < x - a))

    def more(n: Any, term: Any, share: Any, total: Any, by_a: Any) -> Any:
        # The derivative of a term is -share * term.
        n += 1
        term, share = term * x / (a + n), share + 1 / (a + n)
        return n, term, share, total + term, by_a - share * term

    first = 1 / a
    state = (zeros_like(a), first, first, first, -first * first)
    *_, total, by_a = while_loop(grows, more, state)
    return total, by_a


_SMALL = 1e-18
