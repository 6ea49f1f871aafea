"""The table of ops, and what `apply` does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runtime.core import errors
from runtime.core.graph import Graph, record
from runtime.core.graph.context import building
from runtime.core.graph.record import Op
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from runtime.ops.convert import constant


@pytest.fixture
def op(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Registers ops that are gone after the test."""
    monkeypatch.setattr(record, "_ops", dict(record._ops))

    def make(kernel: Any, infer: Any = lambda *s, **k: s[0], **options: Any) -> str:
        record.register(Op("Test", kernel, infer, family="python", **options))
        return "Test"

    return make


def test_names_are_used_once() -> None:
    with pytest.raises(ValueError, match="'AddV2' is registered already"):
        record.register(Op("AddV2", np.add, lambda x, y: x, family="elementwise"))
    assert "AddV2" in record.names()
    assert record.names() == sorted(record.names())
    with pytest.raises(errors.InternalError, match="no op is registered as 'Nothing'"):
        apply("Nothing")


def test_results_are_tensors_whatever_numpy_gives(op: Any) -> None:
    name = op(lambda x: (x.sum(), b"text", True, x))
    results = apply(name, constant([1.0, 2.0]))

    assert [r.dtype.name for r in results] == ["float32", "string", "bool", "float32"]
    assert [r.shape.rank for r in results] == [0, 0, 0, 1]
    assert all(type(r._array) is np.ndarray for r in results)


def test_ops_without_results(op: Any) -> None:
    seen: list[Any] = []

    def kernel(x: Any, note: str) -> tuple[()]:
        seen.append((x.tolist(), note))
        return ()

    name = op(kernel, lambda x, note: (), stateful=True)
    assert apply(name, constant([1]), note="n") == ()
    assert seen == [([1], "n")]
    with building(Graph("f")) as graph:
        assert graph is not None
        assert apply(name, constant([1]), note="m", name="mine") == ()
        node = graph.nodes[-1]
        assert (node.name, node.attrs, node.outputs) == ("mine", {"note": "m"}, ())
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("bad axis"), "cannot compute Test: bad axis [Op:Test]"),
        (IndexError("no such index"), "cannot compute Test: no such index [Op:Test]"),
        (
            errors.InvalidArgumentError("not so"),
            "cannot compute Test: not so [Op:Test]",
        ),
    ],
)
def test_kernel_errors_name_the_op(op: Any, error: Exception, expected: str) -> None:
    def kernel(x: Any) -> Any:
        raise error

    name = op(kernel)
    with pytest.raises(errors.InvalidArgumentError) as caught:
        apply(name, constant(1))
    assert str(caught.value) == expected


def test_inference_explains_what_numpy_refuses(op: Any) -> None:
    def infer(x: TensorSpec) -> TensorSpec:
        raise errors.InvalidArgumentError(f"{x.shape} is no matrix")

    def kernel(x: Any) -> Any:
        raise ValueError("cryptic")

    name = op(kernel, infer)
    with pytest.raises(errors.InvalidArgumentError, match=r"Test: \(\) is no matrix"):
        apply(name, constant(1))
    with (
        building(Graph("f")),
        pytest.raises(
            errors.InvalidArgumentError, match=r"Test: \(\) is no matrix \[Op:Test\]"
        ),
    ):
        apply(name, constant(1))


def test_other_exceptions_of_kernels_pass(op: Any) -> None:
    def kernel(x: Any) -> Any:
        raise KeyError("bug")

    name = op(kernel)
    with pytest.raises(KeyError):
        apply(name, constant(1))


def test_warnings_of_kernels_are_silent(op: Any) -> None:
    name = op(lambda x: x / np.float32(0))

    assert apply(name, constant(1.0)).numpy() == np.inf


def test_strong_ops_end_weakness(op: Any) -> None:
    graph = Graph("f")
    weak = graph.add_input(TensorSpec([], "int64", weak=True))
    strong = graph.add_input(TensorSpec([], "int64"))
    with building(graph):
        assert apply("Neg", weak).spec.weak
        assert not apply("Neg", strong).spec.weak
        assert not apply("AddV2", weak, strong).spec.weak
        assert not apply(op(lambda x: x, strong=True), weak).spec.weak


def test_inputs_must_be_tensors() -> None:
    with pytest.raises(
        errors.InternalError, match="must be converted to tensors first"
    ):
        apply("Neg", 1.0)  # type: ignore[arg-type]
