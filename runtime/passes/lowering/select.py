"""The pass `select_branches`: compute both branches of a small `If`, and pick.

Before::

    %4 = If(%1, %2, %3)
        then_graph(%0 captured, %1 captured):
          return Mul(%0, %1)
        else_graph(%0 captured, %1 captured):
          return %0

After::

    %4 = Mul(%2, %3)
    %5 = SelectV2(%1, %4, %2)

A compiled branch costs a jump on a CPU, keeps loops from being vectorised and, on a
GPU, waits for the condition to come back. Measured for XLA on a CPU, in a loop: with
numbers, a choice takes half of the time of a branch, and up to about a thousand
elements it is the faster one; from 4,096 on the branch is.

Exact: nothing in the branches can fail or be observed, whatever the values are, so that
computing the branch not taken makes no difference. Its NaNs and infinities are
discarded. Gradients are taken of the graph as it was traced, where the `If` still is; a
derivative of the *selected* form would multiply those of the other branch by 0, and
``0 * inf`` is NaN. Who differentiates the prepared graph asks for it without this pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import (
    CONTROL_FLOW,
    Editor,
    Tensors,
    bodies_of,
    sweep,
)
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.specs import TensorSpec
from runtime.passes.optimize.facts import cannot_fail, is_pure, same_shape
from runtime.passes.optimize.inlining import inline

#: How many nodes all branches may have, constants aside.
MAX_NODES = 16
#: How many elements each of their results may have.
MAX_ELEMENTS = 1024

#: Families of ops whose results cost no more than their elements.
_CHEAP = frozenset({"elementwise", "movement", "creation"})


def select_branches(graph: Graph) -> int:
    """Replace small conditionals of a copy, inner ones first; gives how many."""
    total = 0
    # What is replaced makes its surroundings one level flatter.
    while found := sweep(graph, {"If": _choose, "Case": _choose}):
        total += found
    return total


def obstacle(node: Node) -> str | None:
    """Why a conditional stays one, for people to read; None: it need not stay."""
    branches = bodies_of(node)
    if node.inputs[0].shape.rank != 0:
        return "the condition may be no scalar"
    count = 0
    for branch in branches:
        for inner in branch.nodes:
            found = _obstacle_in_branch(inner)
            if found is not None:
                return found
            count += inner.op != "Const"
    if count > MAX_NODES:
        return f"the branches have more than {MAX_NODES} nodes"
    for results in _results(branches):
        found = _obstacle_of_results(results)
        if found is not None:
            return found
    return None


def _obstacle_in_branch(node: Node) -> str | None:
    op = get(node.op)
    if node.op in CONTROL_FLOW:
        return f"{node.op} in a branch"
    if op.stateful or not is_pure(node):
        return f"{node.op} has effects"
    if not cannot_fail(node):
        return f"{node.op} may fail"
    if op.family not in _CHEAP:
        return f"{node.op} may take long"
    if node.op != "Const" and not all(map(_is_small, node.outputs)):
        return f"{node.op} may give more than {MAX_ELEMENTS} elements"
    return None


def _results(branches: list[Graph]) -> Iterator[Tensors]:
    """What the branches give, where it is not the same tensor in all of them."""
    places = [{id(t): i for i, t in enumerate(branch.inputs)} for branch in branches]
    for results in zip(*[branch.outputs for branch in branches]):
        given = [known.get(id(tensor)) for known, tensor in zip(places, results)]
        if given[0] is None or len(set(given)) != 1:
            yield results


def _obstacle_of_results(results: Tensors) -> str | None:
    first = results[0]
    for other in results:
        if other.dtype is not first.dtype or other.dtype.kind not in "biufc":
            return f"a result is {other.spec.describe()}"
        if not same_shape(first, other):
            return "the shapes of a result may differ"
        if not _is_small(other):
            return f"a result has more than {MAX_ELEMENTS} elements"
    return None


def _is_small(tensor: SymbolicTensor) -> bool:
    count = tensor.shape.num_elements()
    return count is not None and count <= MAX_ELEMENTS


def _choose(node: Node, editor: Editor) -> Tensors | None:
    if obstacle(node) is not None:
        return None
    condition, *arguments = node.inputs
    branches = [inline(graph, arguments, node, editor) for graph in bodies_of(node)]
    if node.op == "If":
        return _pick(condition, branches[0], branches[1], node, editor)
    # An index outside of the list runs the last branch.
    found = branches.pop()
    for number, results in reversed(list(enumerate(branches))):
        dtype = condition.dtype.np_dtype
        known = editor.constant(np.array(number, dtype), node)
        spec = TensorSpec([], "bool")
        is_taken = editor.add("Equal", (condition, known), {}, spec, node)
        found = _pick(is_taken, results, found, node, editor)
    return found


def _pick(
    condition: SymbolicTensor,
    one: Tensors,
    other: Tensors,
    node: Node,
    editor: Editor,
) -> Tensors:
    """The tensors of `one` where the condition holds, else those of `other`."""
    found = []
    for yes, no, output in zip(one, other, node.outputs):
        if yes is no:
            found.append(yes)
            continue
        spec = TensorSpec(yes.shape, yes.dtype, weak=output._spec.weak)
        found.append(editor.add("SelectV2", (condition, yes, no), {}, spec, node))
    return found
