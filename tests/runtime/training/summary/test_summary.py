"""Summaries, as the real TensorBoard serves them over HTTP."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

pytest.importorskip("tensorboard")


def write_everything(folder: Path) -> None:
    """Write summaries of all kinds, by hand and from a staged loop."""

    @tf.function
    def halve(x: Any, n: Any) -> Any:
        while n > 0:
            x = x / 2 if x > 3 else 3 * x
            tf.summary.scalar("staged", x, step=n)
            n -= 1
        return x

    writer = tf.summary.create_file_writer(folder / "train")
    with writer.as_default():
        for step in range(4):
            assert tf.summary.scalar("loss", 1 / (step + 1), step=step)
        with tf.name_scope("layer"):
            tf.summary.histogram("w", [0.0, 1.0, 1.0, 4.0], step=0, buckets=4)
        pictures = np.zeros([2, 3, 5, 3])
        pictures[0, :, :, 0] = 1
        tf.summary.image("red", pictures, step=0, description="a *red* one")
        tf.summary.text("notes", "some **bold** text", step=0)
        tf.summary.trace_on()
        halve(tf.constant(1.0), tf.constant(3, tf.int64))
        tf.summary.trace_export("halve", step=0)
    writer.close()
    if find_spec("keras") is not None:
        fit(folder / "fit")


def fit(folder: Path) -> None:
    """Write what Keras's own callback writes of a training."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((2,)), layers.Dense(1, name="line")])
    model.compile(optimizer="sgd", loss="mse")
    board = tf.keras.callbacks.TensorBoard(folder)
    model.fit(np.ones([4, 2]), np.ones([4]), epochs=2, callbacks=[board], verbose=0)


class Board:
    """A running TensorBoard."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder)]
        command += ["--host", "127.0.0.1", "--port", "0", "--load_fast", "false"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        # It says where it is once it has read the files.
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
                self.url = found[0]
                return
        raise RuntimeError("TensorBoard did not start")

    def read(self, path: str, **query: Any) -> bytes:
        """What it answers."""
        text = urllib.parse.urlencode({"run": "train", **query})
        with urllib.request.urlopen(f"{self.url}data/plugin/{path}?{text}") as answer:
            found: bytes = answer.read()
        return found

    def json(self, path: str, **query: Any) -> Any:
        """What it answers, read as JSON."""
        return json.loads(self.read(path, **query))


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("logs")
    write_everything(folder)
    found = Board(folder)
    yield found
    found.process.terminate()
    found.process.communicate()


def test_scalars(board: Board) -> None:
    assert set(board.json("scalars/tags")["train"]) == {"loss", "staged"}
    points = board.json("scalars/scalars", tag="loss")
    assert [(step, round(value, 3)) for _, step, value in points] == [
        (0, 1.0),
        (1, 0.5),
        (2, 0.333),
        (3, 0.25),
    ]


def test_scalars_of_a_staged_loop(board: Board) -> None:
    points = board.json("scalars/scalars", tag="staged")
    assert [(step, value) for _, step, value in points] == [(3, 3), (2, 9), (1, 4.5)]


def test_histograms(board: Board) -> None:
    ((_, step, buckets),) = board.json("histograms/histograms", tag="layer/w")
    assert step == 0
    assert buckets == [[0, 1, 1], [1, 2, 2], [2, 3, 0], [3, 4, 1]]


def test_images(board: Board) -> None:
    pytest.importorskip("PIL")
    from PIL import Image

    assert board.json("images/tags")["train"]["red"]["samples"] == 2
    (first,) = board.json("images/images", tag="red", sample=0)
    query = dict(urllib.parse.parse_qsl(first["query"]))
    data = board.read("images/individualImage", **query)
    picture = np.asarray(Image.open(io.BytesIO(data)))
    assert picture.shape == (3, 5, 3)
    assert picture[1, 2].tolist() == [255, 0, 0]


def test_texts(board: Board) -> None:
    (found,) = board.json("text/text", tag="notes")
    assert "some <strong>bold</strong> text" in found["text"]


def test_graphs(board: Board) -> None:
    assert board.json("graphs/info")["train"]["tags"]["halve"]["op_graph"]
    text = board.read("graphs/graph", tag="halve", conceptual="false").decode()
    assert 'op: "While"' in text
    assert 'name: "while_body"' in text


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_a_training_of_keras(board: Board) -> None:
    tags = board.json("scalars/tags")["fit/train"]
    assert set(tags) == {"epoch_loss", "epoch_learning_rate"}
    info = board.json("graphs/info")["fit/train"]
    assert info["run_graph"]
    assert info["tags"]["keras"]["conceptual_graph"]
    for options in ({"conceptual": "false"}, {"conceptual": "true", "tag": "keras"}):
        text = board.read("graphs/graph", run="fit/train", **options).decode()
        assert 'name: "' in text
        assert "line" in text


# --- without a server -----------------------------------------------------------------


def test_nothing_is_written_without_a_writer() -> None:
    assert tf.summary.scalar("loss", 1.0, step=1) is False
    assert tf.summary.should_record_summaries() is False
    with tf.summary.create_noop_writer().as_default():
        assert tf.summary.scalar("loss", 1.0, step=1)


def test_steps(tmp_path: Path) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default() as writer:
        with pytest.raises(ValueError, match=r"set_step"):
            tf.summary.scalar("loss", 1.0)
        step = tf.Variable(0, dtype=tf.int64)
        with writer.as_default(step=step):
            for _ in range(2):
                tf.summary.scalar("loss", 1.0)
                step.assign_add(1)
            tf.summary.experimental.set_step(7)
            assert tf.summary.experimental.get_step() == 7
            tf.summary.scalar("loss", 1.0)
    assert [event.step for event in events(tmp_path)] == [0, 1, 7]


def test_conditions(tmp_path: Path) -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.summary.record_if(x > 2):
            return tf.summary.scalar("x", x, step=x)

    with tf.summary.create_file_writer(tmp_path).as_default():
        assert [bool(f(tf.constant(n))) for n in range(5)] == [False] * 3 + [True] * 2
        with tf.summary.record_if(lambda: False):
            assert not tf.summary.scalar("x", 1, step=1)
    assert [event.step for event in events(tmp_path)] == [3, 4]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        with pytest.raises(tf.errors.InvalidArgumentError, match="one number"):
            tf.summary.scalar("loss", [1.0], step=0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="strings"):
            tf.summary.text("notes", 1.0, step=0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="pictures"):
            tf.summary.image("red", [[1.0]], step=0)
        with pytest.raises(ValueError, match="trace_on"):
            tf.summary.trace_export("f", step=0)
    writer.close()
    with pytest.raises(RuntimeError, match="closed"), writer.as_default():
        pass


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [([float("nan"), 1.0, float("inf"), 2.0], [1, 1]), ([float("nan")], [0, 0])],
)
def test_histograms_leave_out_what_is_not_finite(
    tmp_path: Path, numbers: Any, counts: list[int]
) -> None:
    with tf.summary.create_file_writer(tmp_path).as_default():
        tf.summary.histogram("w", numbers, step=0, buckets=2)
    (event,) = events(tmp_path)
    rows = np.frombuffer(event.summary.value[0].tensor.tensor_content)
    assert rows.reshape(2, 3)[:, 2].tolist() == counts


def events(folder: Path) -> list[Any]:
    """The summaries in the one event file of a folder."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    (path,) = folder.iterdir()
    return [event for event in EventFileLoader(str(path)).Load() if event.summary.value]
