"""Random programs about operations: see `tests.op_programs` and `tests.op_fuzz`."""

from __future__ import annotations

import contextlib
import itertools
import re
from functools import cache
from unittest import mock

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import OpError
from runtime.core.graph import Graph, record
from runtime.core.graph.context import building
from runtime.core.graph.record import Op
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from tests import op_fuzz
from tests.op_fuzz import WAYS, Difference, differences, report, ways_of
from tests.op_programs import FORMS, RECORDED, Program, evaluated, random_program
from tests.turns import by_turns

#: The programs of a case take about a second.
EACH = 16


@pytest.mark.parametrize("case", by_turns(range(40)))
def test_all_executors_give_what_eager_code_gives(case: int) -> None:
    for seed in range(case * EACH, (case + 1) * EACH):
        program = random_program(seed)
        for found in differences(program, ways_of(seed)):
            pytest.fail(f"program {seed}\n{report(program, found)}")


# --- what programs are made of --------------------------------------------------------

#: Families of ops that other programs are about.
ELSEWHERE = {"structure", "text", "python", "state", "random", "buffer", "check"}
#: What nobody writes: ops that others are made of, and those of gradients.
INNER = {
    *("Const", "CastExactly", "IsNone", "IsNotNone", "FirstExtreme", "LastBelow"),
    # What is known of a shape is no node.
    *("Shape", "Size", "Rank", "FusedConv2D", "Conv2DBackpropFilter"),
    *("Conv3DBackpropFilterV2", "Conv3DBackpropInputV2", "Convolution"),
    *("ConvolutionBackpropFilter", "ConvolutionBackpropInput"),
    *("Svd", "SelfAdjointEigV2", "PseudoInverse"),
    # A last bit that differs makes another number, or chooses another row.
    *("Bitcast", "Eig", "Lu", "MatrixExponential"),
}
SHAPES = [(2, 2), (), (1,), (2,), (3,), (4,), (2, 2, 2), (3, 3), (1, 1), (2, 4)]
DTYPES = [tf.float32, tf.int32, tf.complex64, tf.bool]
OPERANDS = {"m": "1", "s": "0.5", "axis": "0", "pads": "[[1, 1], [1, 1]]"}


@cache
def traced_ops(form: str) -> frozenset[str] | None:
    """The ops of what a form gives for the first tensors that it takes, if any."""
    operands = {**OPERANDS, "x": "x", "y": "x", "z": "x", "p": "p", "k": "k"}
    for dtype, shape, i in itertools.product(DTYPES, SHAPES, "01"):
        for k in dict.fromkeys([(), shape, (2,)]):
            graph = Graph("form")
            specs = TensorSpec(shape, dtype), TensorSpec(shape, tf.bool)
            x, p = map(graph.add_input, specs)
            env = {"tf": tf, "apply": apply, "x": x, "p": p}
            env["k"] = graph.add_input(TensorSpec(k, tf.int32))
            with building(graph), contextlib.suppress(OpError, ValueError, TypeError):
                evaluated(form.format(**operands, i=i), env)
                return frozenset(node.op for node in graph.nodes)
    return None


@pytest.mark.parametrize("group", FORMS)
def test_forms_can_be_computed(group: str) -> None:
    wrong = [form for form in FORMS[group] if traced_ops(form) is None]
    assert wrong == []


def test_every_op_is_tried() -> None:
    forms = {form for group in FORMS.values() for form in group}
    tried = INNER.union(*(traced_ops(form) or () for form in forms))
    for each in RECORDED.values():
        tried.update(*(re.findall(r"apply\('(\w+)'", form) for form in each))
    known = map(record.get, record.names())
    missing = {op.name for op in known if _is_asked_for(op)} - tried
    assert missing == set()


def _is_asked_for(op: Op) -> bool:
    return op.family not in ELSEWHERE and not op.stateful and not op.is_host


# --- how programs are compared --------------------------------------------------------

TEXT = """\
def f(a, b, c, n):
    v1 = tf.reduce_sum(a)
    v2 = a
    for v3 in tf.range(n):
        v4 = tf.exp(v2) * b
        v2 = v2 + 1
    v5 = tf.sqrt(tf.abs(v2))
    return [v1, v2, v5]
"""
ROW = np.array([0.5, -2.0, 3.25], np.float32)
ARGUMENTS = (ROW, ROW[::-1].copy(), np.array(1, np.int64), np.array(2, np.int32))
PROGRAM = Program(TEXT, (ARGUMENTS, ARGUMENTS))


def off(name: str, eps: float) -> object:
    """The op `name` is off by `eps` where graphs are interpreted."""
    run_node = op_fuzz.interpreter.run_node

    def run(node: object, arrays: object, function: str) -> object:
        found = run_node(node, arrays, function)  # type: ignore[arg-type]
        wrong = node.op == name  # type: ignore[attr-defined]
        return found * np.float32(1 + eps) if wrong else found

    return mock.patch.object(op_fuzz.interpreter, "run_node", run)


def found_with(name: str, eps: float) -> list[Difference]:
    with off(name, eps):  # type: ignore[attr-defined]
        return list(differences(PROGRAM, [("open", "interpreter")]))


def test_what_is_equal_is_equal() -> None:
    assert not list(differences(PROGRAM, WAYS[:2]))


def test_rounding_is_no_difference_and_more_is() -> None:
    eps = float(np.finfo(np.float32).eps)
    assert not found_with("Sqrt", 2 * eps)
    assert found_with("Sqrt", 1e-3)
    assert found_with("Sum", 1e-3)


def test_a_difference_is_printed_as_a_small_program() -> None:
    with off("Sqrt", 0.5):  # type: ignore[attr-defined]
        (found, *_) = differences(PROGRAM, [("open", "interpreter")])
        text = report(PROGRAM, found)
    assert "# open, interpreter: output 0: float32[3] [" in text
    assert "for v3" not in text
    assert text.count("\n    ") == 3
    namespace: dict[str, object] = {}
    exec(text.replace("print", "list"), namespace)
    assert namespace["specs"] == [
        *[tf.TensorSpec([None])] * 2,
        *(tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int32)),
    ]
