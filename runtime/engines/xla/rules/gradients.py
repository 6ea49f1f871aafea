"""What only `jax.grad` sees: our gradients where those of JAX are others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from runtime.engines.xla.flow import Flow, Step, Value, rule
from runtime.passes.lowering.lower import lowered

#: The composites that have rules here, since their gradient is not that of what they
#: are made of.
KEPT = ("Relu",)


@rule("Relu")
def _relu(step: Step, x: Value, **_: Any) -> Value:
    return jax.nn.relu(jnp.asarray(x))


# --- gradients that programs write ----------------------------------------------------


@rule("CustomGradient")
def _custom_gradient(step: Step, *inputs: Value, **attrs: Any) -> Any:
    own = attrs["rule"]
    graph = getattr(own.function, "graph", None)
    keys = list(step.flow.variables)

    def results(inputs: Sequence[Value], variables: Sequence[Value]) -> Any:
        return list(inputs[: own.count])

    def forward(inputs: Sequence[Value], variables: Sequence[Value]) -> Any:
        return results(inputs, variables), (list(inputs), variables)

    def backward(kept: Any, gradients: Sequence[Value]) -> Any:
        if graph is None:
            raise step.refused(f"{own.name}() has a gradient of its own, which is lost")
        inputs, variables = kept
        first = own.count + own.function.arguments
        program = lowered(graph, holds_state=True, keep=KEPT)
        flow = Flow(dict(zip(keys, variables)))
        found = iter(flow.run(program, [*gradients, *inputs[first:]]))
        given = [next(found) if is_given else None for is_given in own.function.given]
        by_variable = dict(zip(map(id, own.variables), given[first - own.count :]))
        by_input = [None] * own.count + given[: first - own.count]
        return (
            by_input + [None] * (len(inputs) - first),
            [by_variable.get(key) for key in keys],
        )

    custom = jax.custom_vjp(results)
    custom.defvjp(forward, backward)
    return custom(list(inputs), [step.flow.variables[key] for key in keys])
