"""Derivatives of each op for operands of open shapes, also carried by a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import GradientError
from runtime.core.graph import record
from tests.runtime.autodiff.agreement import differences
from tests.runtime.autodiff.op_cases import LONG, Case, cases
from tests.runtime.autodiff.test_ops import REFUSED, named
from tests.turns import EVERYTHING, by_turns

KINDS = ("open length", "open rank")
CASES = [case for case in cases() if named(case) not in REFUSED and case.op not in LONG]
#: Each case with one of the kinds; with the other one in `make fuzz`, which has time.
IN_TURN = [(case, KINDS[place // 4 % 2]) for place, case in enumerate(CASES)]
OTHERS = [(case, KINDS[place // 4 % 2 - 1]) for place, case in enumerate(CASES)]
#: What has no derivatives where lengths, or all but the dtypes, are not known.
OF_KNOWN_LENGTHS = {"ListChoose", "Qr"}
OF_KNOWN_RANKS = {
    *OF_KNOWN_LENGTHS,
    *("Cholesky", "Cumprod", "LinSpace", "ListRepeat"),
    *("MatrixDiagPartV3", "MatrixDiagV3", "MatrixSetDiagV3"),
    *("SelfAdjointEigV2", "Svd", "Tensordot"),
}
#: Cases of other ops, whose attributes say too little.
OF_UNTOLD_RANKS = {"Einsum 5", *(f"Sort {number}" for number in range(4))}

#: Cases of them that have, since their attributes say enough.
WITHOUT_RANKS = {"LinSpace 1", *(f"Svd {number}" for number in range(4))}


def _is_refused(case: Case, kind: str) -> bool:
    if record.get(case.op).family == "window":
        return True
    name = named(case).removesuffix(" complex")
    if name in WITHOUT_RANKS:
        return False
    known = OF_KNOWN_LENGTHS if kind == "open length" else OF_KNOWN_RANKS
    return case.op in known or (kind == "open rank" and name in OF_UNTOLD_RANKS)


def _in_a_loop(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose operands a loop carries, each scaled by what `f` gives."""

    def looped(*operands: Any) -> Any:
        for _ in tf.range(2):
            total = tf.constant(0.0, tf.float64)
            for result in tf.nest.flatten(f(*operands)):
                result = tf.convert_to_tensor(result)
                if result.dtype.is_complex:
                    result = tf.math.real(result) + tf.math.imag(result)
                total += tf.reduce_sum(tf.cast(result, tf.float64))
            scale = 1.0 + 0.01 * tf.tanh(total)
            operands = tuple(x * tf.cast(scale, x.dtype) for x in operands)
        return operands

    return looped


@pytest.mark.parametrize(
    ("case", "kind"),
    by_turns(IN_TURN) + (OTHERS if EVERYTHING else []),
    ids=lambda part: named(part) if isinstance(part, Case) else part,
)
def test_an_op_in_a_loop(case: Case, kind: str) -> None:
    looped = _in_a_loop(case.f)
    found = differences(looped, case.inputs, [kind], ["interpreter", "numpy"])
    if _is_refused(case, kind):
        with pytest.raises(GradientError, match="AG330"):
            list(found)
    else:
        assert not list(found)


def test_a_product_of_all_elements() -> None:
    def f(x: Any) -> Any:
        return tf.reduce_prod(x), tf.reduce_prod(x, keepdims=True)

    x = tf.constant([[2.0, 0.0], [3.0, -1.0]], tf.float64)
    assert not list(differences(f, [x], KINDS, ["interpreter", "numpy"]))


@pytest.mark.parametrize("axes", [0, 1, 2])
def test_tensordot_of_open_rank(axes: int) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    specs = [tf.TensorSpec(None), tf.TensorSpec(None)]
    staged = tf.function(lambda x, y: tf.tensordot(x, y, axes), input_signature=specs)
    assert (staged(x, x * x).numpy() == tf.tensordot(x, x * x, axes).numpy()).all()
    if axes:
        with pytest.raises(tf.errors.InvalidArgumentError):
            staged(x, x[:1, :1])
    if axes == 2:
        with pytest.raises(tf.errors.InvalidArgumentError):
            staged(x[0], x)


@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.max_pool3d])
def test_a_pool_of_open_rank_is_refused_with_the_way_out(pool: Any) -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = pool(x, 2, 2, "VALID")
        return tape.gradient(y, x)

    staged = tf.function(slope, input_signature=[tf.TensorSpec(None)])
    with pytest.raises(GradientError, match=r"\.py:\d+: AG330: .*Pool.*ensure_shape"):
        staged.get_concrete_function()
