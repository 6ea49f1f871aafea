"""`stage_while`: finds the specs of a loop's state by tracing, and adds the ``While``.

The staging of converted loops and `control_flow.while_loop` call it. An inner loop is
staged again in each trace of the outer loop. If each staging began with the initial
specs, tracing would take time exponential in the depth of a nest. So a staging begins
with the specs in which the last one ended (`SpecMemory`), as long as the initial values
are of the same kinds or wider: then the loop needs at least these specs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.errors import StagedStateError
from runtime.core.graph import Graph
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.staging.tracing.subgraph import (
    Names,
    Outputs,
    emit_while,
    in_graph,
    join_specs,
    label_of,
    loop_specs,
)


class SpecMemory:
    """The specs of the state of a loop from the last time that it was staged."""

    def __init__(self) -> None:
        self._specs: dict[tuple[str, int], tuple[TensorSpec, TensorSpec]] = {}

    @property
    def has_specs(self) -> bool:
        """Whether the loop has been staged before."""
        return bool(self._specs)

    def forget(self) -> None:
        """Drop the specs."""
        self._specs = {}

    def widened(
        self, specs: Sequence[TensorSpec], labels: Sequence[str]
    ) -> list[TensorSpec]:
        """The specs to begin with: the initial ones, widened to the remembered ones."""
        return list(map(self._widened, specs, _numbered(labels)))

    def _widened(self, spec: TensorSpec, label: tuple[str, int]) -> TensorSpec:
        first, last = self._specs.get(label, (spec, spec))
        try:
            if not join_specs(first, spec, promote=True).is_subtype_of(spec):
                return spec  # the initial value differs from last time
            joined = join_specs(spec, last, promote=True)
        except StagedStateError:
            return spec
        return TensorSpec.from_spec(joined, spec.name)

    def settled(
        self,
        first: Sequence[TensorSpec],
        last: Sequence[TensorSpec],
        labels: Sequence[str],
    ) -> None:
        """Remember the initial and the final specs of the state."""
        self._specs = dict(zip(_numbered(labels), zip(first, last), strict=True))


def stage_while(
    trace: Callable[[list[TensorSpec]], tuple[Graph, Graph]],
    init: Sequence[Any],
    name: str | None = None,
    *,
    maximum_iterations: int | None = None,
    shape_invariants: Sequence[TensorShape | None] | None = None,
    names: Names = (),
    promote: bool = False,
    memory: SpecMemory | None = None,
) -> Outputs:
    """Add a ``While`` whose state may change its shape from iteration to iteration.

    ``trace(specs)`` traces the test and the body for a state of these specs and gives
    ``(cond_graph, body_graph)``. It is called again with wider specs as long as the
    body gives something that its placeholders do not take: a dimension that changes
    becomes unknown, a Python number that becomes a tensor takes its dtype, and with
    `promote` a number takes a wider dtype. `shape_invariants` are shapes to begin with,
    `memory` is asked for wider specs to begin with, and told those that were found.
    """
    state = in_graph(init)
    specs = []
    for i, tensor in enumerate(state):
        spec = TensorSpec.from_spec(tensor.spec, names[i] if names else None)
        shape = shape_invariants[i] if shape_invariants is not None else None
        specs.append(spec if shape is None else _with_shape(spec, shape, names, i))
    first = specs
    if memory is not None:
        specs = memory.widened(first, names)
    while True:
        cond_graph, body_graph = trace(specs)
        needed = loop_specs(state, body_graph, specs, names, promote)
        if all(new.is_subtype_of(old) for new, old in zip(needed, specs)):
            if memory is not None:
                memory.settled(first, specs, names)
            return emit_while(
                cond_graph,
                body_graph,
                state,
                name,
                maximum_iterations=maximum_iterations,
                names=names,
                promote=promote,
            )
        specs = [TensorSpec.from_spec(new, old.name) for new, old in zip(needed, specs)]


def _with_shape(
    spec: TensorSpec, shape: TensorShape, names: Names, index: int
) -> TensorSpec:
    wide = TensorSpec(shape, spec.dtype, spec.name, weak=spec.weak)
    if not spec.is_subtype_of(wide):
        raise ValueError(
            f"the shape invariant {wide.shape} of {label_of(names, index)} does not "
            f"hold before the loop: the shape is {spec.shape}"
        )
    return wide


def _numbered(labels: Sequence[str]) -> list[tuple[str, int]]:
    """The labels with a number each, since parts of a tuple share one label."""
    return [(label, labels[:i].count(label)) for i, label in enumerate(labels)]
