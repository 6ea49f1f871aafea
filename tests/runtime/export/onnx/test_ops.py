"""Each op that can be exported gives in onnxruntime what it gives here.

Its attributes are read by its rule, or are listed here with the reason why they make no
difference.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Node
from runtime.export.onnx import writer
from runtime.export.onnx.model import export_onnx
from tests.runtime.autodiff import op_cases
from tests.runtime.engines.xla.rules import test_movement as movement
from tests.runtime.engines.xla.rules import test_reductions as reductions
from tests.runtime.engines.xla.rules import test_windows as windows
from tests.runtime.export.onnx import test_model as model
from tests.runtime.export.onnx import test_programs as programs
from tests.runtime.export.onnx.sweep import compare, in_singles
from tests.runtime.ops.comparison import Case
from tests.runtime.ops.reduce.test_decompositions import drawn
from tests.runtime.sweep import Run, runs_of

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("jax")  # for the cases of its rules

KNOWN = ("full", "partial")

# --- what ops give --------------------------------------------------------------------


def of_windows() -> Iterator[Case]:
    """Convolutions, their gradients and pools."""
    for op, note, function, inputs, _ in op_cases.cases():
        if "Conv" in op and note != "no images":
            arrays = tuple(x.numpy() for x in inputs)
            yield Case(op, function, arrays, 64, True, KNOWN)


def of_pools() -> Iterator[Case]:
    for case in windows.of_pools():
        # A NaN may be passed over; see docs/export.md.
        finite = [np.nan_to_num(x, nan=1, neginf=-9) for x in case.inputs]
        yield case._replace(inputs=tuple(finite), ulps=64, known=KNOWN)


def of_groups() -> Iterator[Case]:
    """Gradients of convolutions whose channels are groups."""
    steps = ((1, 1), (2, 1), (1, [2, 1]))
    paddings: Any = ("SAME", "VALID", [[0, 0], [1, 0], [2, 1], [0, 0]])
    shapes = cycle([(3, 2, 1, 4), (2, 3, 1, 8), (3, 3, 2, 6), (2, 2, 4, 3)])
    for (strides, dilations), padding in product(steps, paddings):
        filters = next(shapes)

        def trained(
            x: Any,
            w: Any,
            a: Any = (strides, padding, dilations),
            shape: Any = filters,
        ) -> Any:
            x = tf.ensure_shape(x, [None, None, None, 4])
            w = tf.ensure_shape(w, shape)
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                y = tf.nn.conv2d(x, w, a[0], a[1], dilations=a[2])
                loss = tf.reduce_sum(y * y)
            return [y, *tape.gradient(loss, [x, w])]

        inputs = drawn(2, 6, 7, 4), drawn(*filters, seed=1)
        yield Case("Conv2D", trained, inputs, 400, True)


def of_volumes() -> Iterator[Case]:
    """Gradients of convolutions of volumes."""
    around = [[0, 0], [1, 0], [0, 2], [1, 1], [0, 0]]

    def trained(x: Any, w: Any) -> Any:
        w = tf.ensure_shape(w, [2, 2, 1, 1, 4])
        x = tf.ensure_shape(x, [None, None, None, None, 2])
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], around)
            loss = tf.reduce_sum(y * y)
        return [y, *tape.gradient(loss, [x, w])]

    inputs = drawn(2, 3, 4, 3, 2), drawn(2, 2, 1, 1, 4, seed=1)
    yield Case("Conv3D", trained, inputs, 400, True)


def of_picks() -> Iterator[Case]:
    for case in (*movement.of_shapes(), *movement.of_ranges()):
        yield case._replace(ulps=max(case.ulps, 2))


def needs_known(run: Run, why: str) -> bool:
    """Whether a model cannot be written, since a value of the program decides it."""
    return "needs to know" in why or "needs a known number of axes" in why


def is_refused(run: Run, why: str) -> bool:
    """The same, or onnxruntime says what is wrong before it computes anything."""
    return needs_known(run, why) or "onnxruntime" in why or "has no" in why


@pytest.mark.parametrize(
    "cases",
    [
        of_windows,
        of_groups,
        of_volumes,
        of_pools,
        windows.of_dtypes,
        of_picks,
        reductions.of_reductions,
        reductions.of_places,
    ],
)
def test_onnxruntime_gives_the_same(cases: Callable[[], Iterator[Case]]) -> None:
    compare(filter(_is_known, in_singles(cases())), is_refused)


def _is_known(case: Case) -> bool:
    """Whether ONNX has the dtypes and onnxruntime kernels for them."""
    dtypes = {x.dtype for x in case.inputs}
    return not any(dtype.kind in "cO" or dtype == np.float16 for dtype in dtypes)


# --- attributes -----------------------------------------------------------------------

#: Attributes that a rule need not read: of all ops, or of one.
MEANINGLESS = {
    "data_format": "nodes have their channels last: others are transposed around them",
    "dtype": "the result has it, which rules ask for it",
    "out_type": "the same",
    "output_type": "the same",
    "name": "a name for people",
    "operands": "how many inputs stand in attributes: they are there when rules run",
    "summarize": "how a message is written, and a model has none",
    "template": "the same",
    "CheckNumericsV2.message": "what a message says",
    "If.names": "what messages call the results",
    "ListPlace.use": "what a message says",
    "PadV2.mode": "constant: other modes are another op",
    "Raise.exception": "a model raises none, it has a flag",
    "Raise.weak": "the same",
    "RequireBound.variable": "what a message says",
    "TopKV2.index_type": "the result has it, which the rule asks for it",
    "TopKV2.sorted": "results in order are right where any order is",
    "Transpose.conjugate": "complex numbers are refused",
}


#: Rules of ops that none of the programs here leaves to be exported.
UNSEEN = {
    "AssertShape": "is only left where shapes are open: see test_programs",
    "AssignVariableOp": "is refused: see test_model",
    "Identity": "is its input",
    "PartitionedCall": "is written in place before",
    "RequireSome": "is only left where a list may be None",
    "StopGradient": "is its input",
    "TensorArrayStackV3": "is the array itself where all of it is written",
}


class Read(dict[str, Any]):
    """Attributes, and which of them a rule asked for by name."""

    def __init__(self, attrs: dict[str, Any]) -> None:
        super().__init__(attrs)
        self.keys_read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.keys_read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_read.add(key)
        return super().get(key, default)


def graphs() -> Iterator[Any]:
    """Programs in which each op occurs that has a rule."""
    table = [case[:2] for case in (*programs.PROGRAMS, *model.FAILING)]
    for program, inputs in table:
        specs = [tf.TensorSpec(np.shape(x), np.asarray(x).dtype) for x in inputs]
        yield tf.function(program).get_concrete_function(*specs).graph
    for cases in (of_windows, of_groups, of_volumes, of_pools):
        for run in runs_of(filter(_is_known, in_singles(cases()))):
            yield run.graph


def test_rules_read_all_attributes_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    used: dict[str, set[str]] = defaultdict(set)
    there: dict[str, set[str]] = defaultdict(set)
    run = writer.Writer._results

    def noted(self: writer.Writer, node: Node, inputs: list[Any]) -> Any:
        there[node.op] |= node.attrs.keys()
        node.attrs = attrs = Read(node.attrs)
        try:
            return run(self, node, inputs)
        finally:
            used[node.op] |= attrs.keys_read

    monkeypatch.setattr(writer.Writer, "_results", noted)
    for graph in graphs():
        places = [f"[{place}]" for place in range(len(graph.outputs))]
        try:
            export_onnx(graph, None, places, True)
        except tf.errors.UnimplementedError:
            continue
    ignored = set()
    for op, keys in there.items():
        if op not in writer.RULES:
            continue
        named = inspect.signature(writer.RULES[op].run).parameters
        for key in keys - used[op] - named.keys():
            if key not in MEANINGLESS and f"{op}.{key}" not in MEANINGLESS:
                ignored.add(f"{op}.{key}")
    assert sorted(ignored) == []
    assert writer.RULES.keys() - there.keys() <= UNSEEN.keys()
