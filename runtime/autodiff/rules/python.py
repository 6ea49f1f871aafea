"""Gradients through code of Python, and ends of gradients at what is no number."""

from __future__ import annotations

from typing import Any

from runtime.autodiff.backprop import has_gradient
from runtime.autodiff.tape import GradientTape
from runtime.core.types import nest
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.staged.python_calls import py_function

# NumPy's arrays and numbers of Python are constants.
without_gradient("PyFunc", "PyFuncStateless", "PythonFloat", "RoundDigits", "Range")


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
