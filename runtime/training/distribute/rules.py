"""How XLA runs the ops of this package."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec

from runtime.engines.xla.flow import (
    FailsAlways,
    Flow,
    Step,
    Value,
    as_spec,
    is_known,
    may_fail,
    rule,
)
from runtime.engines.xla.rows import Rows
from runtime.training.distribute.replicas import AXIS


@rule("Relayout")
def _relayout(step: Step, x: Value, layout: Any) -> Value:
    return layout.pin(x)


@rule("AllReduce")
def _all_reduce(step: Step, x: Value, reduce_op: str) -> Value:
    return (lax.psum if reduce_op == "SUM" else lax.pmean)(jnp.asarray(x), AXIS)


@rule("ReplicaId")
def _replica_id(step: Step) -> Value:
    return lax.axis_index(AXIS).astype(jnp.int32)


@rule("ReplicaRun", checks=lambda node: may_fail(node.attrs["program"].prepared))
def _replica_run(step: Step, *values: Value, program: Any) -> Any:
    flow, graph = step.flow, program.prepared
    assigned, read = program.variables
    stacked, whole = values[: program.count], values[program.count :]
    # What is known stays known: it may decide shapes.
    passed = [value for value in whole if not is_known(value)]
    held = {id(v): flow.variables[id(v)] for v in (*assigned, *read)}
    specs = [tensor.spec for tensor in graph.outputs]

    def replica(stacked: Any, passed: Any, held: Any, failed: Any) -> Any:
        others = iter(passed)
        shared = [value if is_known(value) else next(others) for value in whole]
        own = Flow(dict(zip(ids, held)), failed, flow.careful, flow.room)
        results = own.run(graph, [*(part[0] for part in stacked), *shared])
        if any(isinstance(value, Rows) for value in results):
            raise step.refused("the lengths of results of replicas have to be known")
        if not may_fail(graph) and not flow.careful and type(own.failed) is not int:
            raise FailsAlways
        results = [as_spec(value, spec)[None] for value, spec in zip(results, specs)]
        left = [jnp.asarray(own.variables[id(variable)]) for variable in assigned]
        return results, left, lax.pmax(jnp.asarray(own.failed, np.int8), AXIS)

    ids, everywhere = list(held), PartitionSpec()
    divided = PartitionSpec(AXIS)
    sharded = jax.shard_map(
        replica,
        mesh=program.mesh.jax_mesh,
        in_specs=(divided, everywhere, everywhere, everywhere),
        out_specs=(divided, everywhere, everywhere),
        check_vma=False,  # `replicas` has checked what varies
    )
    arrays = [jnp.asarray(value) for value in stacked]
    results, left, failed = sharded(
        arrays, passed, list(held.values()), jnp.asarray(flow.failed, np.int8)
    )
    flow.variables.update(zip(map(id, assigned), left))
    if flow.careful or may_fail(graph):
        flow.failed = failed
    return results
