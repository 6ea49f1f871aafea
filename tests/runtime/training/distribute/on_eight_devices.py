"""What runs on eight devices of one process: `test_devices` has it run there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf

dtensor = tf.experimental.dtensor
Layout = dtensor.Layout
X = np.arange(32.0).reshape(8, 4)


@pytest.fixture
def mesh() -> Any:
    return dtensor.create_mesh([("batch", 4), ("model", 2)])


def test_meshes_and_layouts_tell_what_they_are(mesh: Any) -> None:
    layout = Layout.inner_sharded(mesh, "model", 2)

    assert (mesh.shape(), mesh.size, mesh["model"].size) == ([4, 2], 8, 2)
    assert len(mesh.local_devices()) == mesh.num_local_devices() == 8
    assert mesh == dtensor.create_mesh({"batch": 4, "model": 2})
    assert layout.local_shape_from_global_shape([8, 4]) == [8, 2]
    assert layout.global_shape_from_local_shape([8, 2]) == [8, 4]
    assert layout == Layout([dtensor.UNSHARDED, "model"], mesh)
    assert layout.delete([0]) == Layout(["model"], mesh)
    assert Layout.replicated(mesh, 2).is_fully_replicated()
    assert (dtensor.num_clients(), dtensor.client_id()) == (1, 0)


def test_tensors_are_divided_and_come_back(mesh: Any) -> None:
    rows = Layout.batch_sharded(mesh, "batch", 2)
    x = dtensor.copy_to_mesh(X, rows)
    both = dtensor.relayout(x, Layout([dtensor.MATCH, "model"], mesh))

    assert dtensor.fetch_layout(x) == rows
    assert [part.shape for part in dtensor.unpack(x)] == [[2, 4]] * 8
    assert dtensor.fetch_layout(both) == Layout(["batch", "model"], mesh)
    assert dtensor.fetch_layout(dtensor.relayout_like(both, x)) == rows
    for tensor in (x, both, dtensor.pack(dtensor.unpack(both), both_layout(mesh))):
        np.testing.assert_array_equal(tensor.numpy(), X)
    ones = dtensor.call_with_layout(tf.ones, rows, [4, 1])
    assert dtensor.fetch_layout(ones) == rows


def both_layout(mesh: Any) -> Any:
    return Layout(["batch", "model"], mesh)


def test_a_step_on_sharded_parameters_is_that_of_one_device(mesh: Any) -> None:
    weights = dtensor.DVariable(
        np.ones((4, 6)), layout=Layout(["unsharded", "model"], mesh)
    )

    @tf.function(executor="xla")
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = dtensor.relayout(tf.matmul(x, weights), both_layout(mesh))
            loss = tf.reduce_mean(tf.square(y))
        weights.assign_sub(1e-4 * tape.gradient(loss, weights))
        return loss, y

    plain = np.ones((4, 6))
    for _ in range(3):
        loss, y = step(dtensor.copy_to_mesh(X, Layout.batch_sharded(mesh, "batch", 2)))
        np.testing.assert_allclose(loss.numpy(), np.mean((X @ plain) ** 2), rtol=1e-12)
        plain -= 1e-4 * (X.T @ (2 * (X @ plain) / 48))
        assert dtensor.fetch_layout(weights) == weights.layout
        assert dtensor.fetch_layout(y) == both_layout(mesh)
    np.testing.assert_allclose(weights.numpy(), plain, rtol=1e-12)


def test_variables_keep_their_layout(mesh: Any) -> None:
    layout = Layout(["model"], mesh)
    v = dtensor.DVariable(dtensor.copy_to_mesh([1.0, 2.0], layout))

    v.assign(dtensor.copy_to_mesh([3.0, 4.0], Layout.replicated(mesh, 1)))
    assert (dtensor.fetch_layout(v), v.numpy().tolist()) == (layout, [3.0, 4.0])
    v.assign_add([1.0, 1.0])
    assert (dtensor.fetch_layout(v), v.numpy().tolist()) == (layout, [4.0, 5.0])
    assert "layout=['model']" in repr(v)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda _: dtensor.create_mesh([("x", 3)]), ValueError, "has 3 devices, and 8"),
        (lambda _: dtensor.create_mesh([("x", 4), ("x", 2)]), ValueError, "different"),
        (
            lambda _: dtensor.create_mesh([("x", 1)], devices=["CPU:9"]),
            ValueError,
            "no",
        ),
        (
            lambda _: dtensor.create_mesh([("x", 8)], device_type="GPU"),
            tf.errors.FailedPreconditionError,
            "no devices of type 'GPU'",
        ),
        (lambda m: Layout(["rows"], m), ValueError, "no dimension 'rows'"),
        (lambda m: Layout(["model", "model"], m), ValueError, "divides two axes"),
        (
            lambda m: dtensor.copy_to_mesh(np.ones((3, 2)), both_layout(m)),
            tf.errors.InvalidArgumentError,
            r"axis 0 .* \(3, 2\) cannot be divided into 4 equal parts",
        ),
        (
            lambda m: dtensor.copy_to_mesh(np.ones(4), both_layout(m)),
            tf.errors.InvalidArgumentError,
            "for tensors of 2 axes",
        ),
        (
            lambda m: dtensor.pack([tf.ones([2, 1])] * 4, both_layout(m)),
            tf.errors.InvalidArgumentError,
            "4 parts for 8 devices",
        ),
        (lambda _: dtensor.fetch_layout(tf.ones([2])), ValueError, "on no mesh"),
    ],
)
def test_what_does_not_fit(mesh: Any, make: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make(mesh)


def test_relayout_in_functions(mesh: Any) -> None:
    @tf.function(executor="xla")
    def cut(x: Any) -> Any:
        return dtensor.relayout(x, both_layout(mesh))

    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be divided"):
        cut(tf.ones([3, 2]))
    with tf.GradientTape() as tape:
        x = tf.constant(X)
        tape.watch(x)
        y = tf.reduce_sum(cut(x) * x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), 2 * X)


def test_variables_share_no_memory_with_tensors(mesh: Any) -> None:
    rows, whole = Layout.batch_sharded(mesh, "batch", 2), Layout.replicated(mesh, 2)
    array = X.copy()
    tensors = [dtensor.copy_to_mesh(X, layout) for layout in (rows, whole)]
    variables = [dtensor.DVariable(value, layout=rows) for value in (*tensors, array)]

    @tf.function(executor="xla")
    def double() -> None:
        for v in variables:
            v.assign(v * 2.0)

    double()
    variables[0].assign(tensors[0])
    double()
    for kept in (array, *tensors):
        np.testing.assert_array_equal(np.asarray(kept), X)
    assert [float(v.numpy()[0, 1]) for v in variables] == [2.0, 4.0, 4.0]
