"""The gradients that need more than ops: loops, or a tape.

All others stand beside their ops. Importing this adds them all.
"""

from __future__ import annotations

from typing import Any

from runtime.autodiff.backprop import has_gradient
from runtime.autodiff.tape import GradientTape
from runtime.core.types import dtypes, nest
from runtime.core.types.shapes import TensorShape
from runtime.ops.arrays.creation import ones, ones_like, zeros_like
from runtime.ops.arrays.dimensions import ALL, length
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.rearrange import pad, reverse
from runtime.ops.arrays.shape import ensure_shape
from runtime.ops.convert import cast
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.elementwise.arithmetic import minimum
from runtime.ops.elementwise.complex_numbers import conj
from runtime.ops.elementwise.functions import log
from runtime.ops.elementwise.logical import logical_or
from runtime.ops.elementwise.special import digamma
from runtime.ops.gradient_shapes import broadcast_like, sum_to
from runtime.ops.operands import Slice, run
from runtime.ops.reduce.reductions import reduce_any
from runtime.ops.reduce.scans import cumprod
from runtime.ops.staged.python_calls import py_function
from runtime.staging.control_flow.while_loops import while_loop


@gradient("Cumprod")
def _cumprod(node: Applied, g: Any) -> Any:
    x, axis = conj(node.inputs[0]), node.attrs["axis"]
    if type(axis) is not int or x.shape.rank is None:
        return NotImplemented
    axis %= x.shape.rank
    if node.attrs["reverse"]:
        x, g = reverse(x, [axis]), reverse(g, [axis])
    if node.attrs["exclusive"]:
        g = _later(g, axis, 1)

    # Element i is in all products from the i-th on. Their gradients, without what lies
    # before i, are s[i] = g[i] + x[i + 1] * s[i + 1]: no division, as x may be 0.
    def doubled(step: Any, factor: Any, total: Any) -> Any:
        total = total + factor * _later(total, axis, step)
        return step * 2, factor * _later(factor, axis, step), total

    count, state = x.shape[axis], (1, _later(x, axis, 1), g)
    if count is None:
        count = length(x, axis)
        state = (ones((), count.dtype), *state[1:])
        dims = [TensorShape([]), x.shape, x.shape]
        state = while_loop(lambda step, *_: step < count, doubled, state, dims)
    else:
        while state[0] < count:
            state = doubled(*state)
    found = cumprod(x, axis, exclusive=True) * state[2]
    return [reverse(found, [axis]) if node.attrs["reverse"] else found]


def _later(x: Any, axis: int, step: Any) -> Any:
    """At each place what lies `step` places after it, and 0 at the end."""
    step = minimum(step, length(x, axis)) if x.shape[axis] is None else step
    if type(step) is int and step >= x.shape[axis]:
        return zeros_like(x)
    key = (*[ALL] * axis, Slice(step, None, None))
    paddings = [(0, 0)] * x.shape.rank
    paddings[axis] = (0, step)
    found = pad(run("StridedSlice", x, key=key), paddings)
    return found if x.shape[axis] is not None else ensure_shape(found, x.shape)


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


@gradient("EagerPyFunc")
def _py_function(node: Applied, *gradients: Any) -> Any:
    """Run the function once more, under a tape."""
    function, count = node.attrs["func"], len(node.inputs)
    places = [i for i, x in enumerate(node.inputs) if has_gradient(x)]

    def backwards(*values: Any) -> Any:
        inputs, upstream = values[:count], values[count:]
        sources = [inputs[place] for place in places]
        with GradientTape() as tape:
            tape.watch(sources)
            found = nest.flatten(function(*inputs))
        return tape.gradient(
            found, sources, list(upstream), unconnected_gradients="zero"
        )

    specs = [node.inputs[place].spec for place in places]
    found = py_function(backwards, [*node.inputs, *gradients], specs)
    results: list[Any] = [None] * count
    for place, result in zip(places, found):
        results[place] = result
    return results
