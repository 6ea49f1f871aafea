"""The callback TensorBoard, by the event files that it writes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

pytest.importorskip("tensorboard")
if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
keras: Any = tf.keras
layers = keras.layers

X = np.linspace(0, 1, 80, dtype="float32").reshape(20, 4)
Y = X.sum(1, keepdims=True)


class Told(layers.Layer):  # type: ignore[misc]
    """A layer with a summary of its own."""

    def call(self, x: Any) -> Any:
        tf.summary.scalar("told", tf.reduce_sum(x))
        return x


def fit(callback: Any, *parts: Any, **options: Any) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [layers.Input((4,)), *parts, layers.Dense(3, name="inner"), layers.Dense(1)]
    )
    model.compile(optimizer="sgd", loss="mse", metrics=["mae"], **options)
    return model, refit(model, callback)


def refit(model: Any, callback: Any) -> Any:
    return model.fit(
        X,
        Y,
        batch_size=4,
        epochs=2,
        shuffle=False,
        validation_data=(X, Y),
        callbacks=[callback],
        verbose=0,
    ).history


def events(folder: Path) -> list[Any]:
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    (path,) = folder.iterdir()
    return list(EventFileLoader(str(path)).Load())


def values(folder: Path) -> dict[str, dict[int, Any]]:
    """The numbers of each tag, by their steps."""
    found: dict[str, dict[int, Any]] = {}
    for event in events(folder):
        for value in event.summary.value:
            numbers = list(value.tensor.float_val)
            found.setdefault(value.tag, {})[event.step] = (numbers or [None])[0]
    return found


def test_losses_and_metrics_of_epochs(tmp_path: Path) -> None:
    _, history = fit(keras.callbacks.TensorBoard(tmp_path))
    train, validation = values(tmp_path / "train"), values(tmp_path / "validation")

    for name in ("loss", "mae"):
        assert list(train[f"epoch_{name}"].values()) == pytest.approx(history[name])
        found = list(validation[f"epoch_{name}"].values())
        assert found == pytest.approx(history[f"val_{name}"])
    assert list(validation["evaluation_loss_vs_iterations"]) == [5, 10]
    assert train["epoch_learning_rate"] == {
        0: pytest.approx(0.01),
        1: pytest.approx(0.01),
    }


def test_weights(tmp_path: Path) -> None:
    fit(keras.callbacks.TensorBoard(tmp_path, histogram_freq=1))
    found = {
        value.tag: value
        for event in events(tmp_path / "train")
        for value in event.summary.value
        if "histogram" in value.tag
    }

    assert len(found) == 4
    assert all(
        v.metadata.plugin_data.plugin_name == "histograms" for v in found.values()
    )


@pytest.mark.parametrize(
    ("options", "is_drawn"), [({}, True), ({"run_eagerly": True}, False)]
)
def test_the_graph(tmp_path: Path, options: Any, is_drawn: bool) -> None:
    fit(keras.callbacks.TensorBoard(tmp_path, update_freq=2), **options)
    found = [event for event in events(tmp_path / "train") if event.graph_def]

    assert len(found) == int(is_drawn)
    assert all(b"inner" in event.graph_def for event in found)
    assert "keras" in values(tmp_path / "train")


def test_no_graph(tmp_path: Path) -> None:
    fit(keras.callbacks.TensorBoard(tmp_path, write_graph=False))

    assert "keras" not in values(tmp_path / "train")
    assert not any(event.graph_def for event in events(tmp_path / "train"))


def test_summaries_of_batches(tmp_path: Path) -> None:
    model, _ = fit(keras.callbacks.TensorBoard(tmp_path / "1", update_freq=2), Told())
    refit(model, keras.callbacks.TensorBoard(tmp_path / "2", update_freq="batch"))
    first, second = values(tmp_path / "1" / "train"), values(tmp_path / "2" / "train")
    (told,) = [tag for tag in first if tag.endswith("told")]
    sums = X.reshape(5, 16).sum(1)

    assert list(first["batch_loss"]) == [2, 4, 6, 8, 10]
    assert first[told] == pytest.approx(
        {step: sums[(step - 1) % 5] for step in (2, 4, 6, 8, 10)}
    )
    assert list(second["batch_mae"]) == list(second[told]) == list(range(1, 11))
