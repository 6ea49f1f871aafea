"""`CheckpointManager`: which checkpoints remain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import runtime as tf
from runtime.training.checkpoints import manager as manager_module

pytest.importorskip("safetensors")


@pytest.fixture
def checkpoint() -> tf.train.Checkpoint:
    return tf.train.Checkpoint(x=tf.Variable(1.0))


def files(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_keeps_the_last_ones(checkpoint: tf.train.Checkpoint, tmp_path: Path) -> None:
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None
    assert manager.checkpoints == []

    paths = [manager.save() for _ in range(4)]

    assert manager.checkpoints == paths[2:] == [f"{tmp_path}/ckpt-{n}" for n in (3, 4)]
    assert manager.latest_checkpoint == tf.train.latest_checkpoint(tmp_path) == paths[3]
    assert files(tmp_path) == [
        "checkpoint",
        "ckpt-3.safetensors",
        "ckpt-4.safetensors",
    ]
    assert manager.directory == str(tmp_path)
    assert manager.checkpoint is checkpoint


def test_goes_on_with_those_of_an_earlier_one(
    checkpoint: tf.train.Checkpoint, tmp_path: Path
) -> None:
    first = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    first.save(), first.save()
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert manager.checkpoints == first.checkpoints

    manager.save()

    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-2", "ckpt-3"]


def test_keeps_all(checkpoint: tf.train.Checkpoint, tmp_path: Path) -> None:
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, None)
    for _ in range(5):
        manager.save()

    assert len(manager.checkpoints) == 5


def test_keeps_one_for_some_hours(
    checkpoint: tf.train.Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(manager_module.time, "time", lambda: now)
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=2
    )
    for now in (0.0, 3600.0, 7200.0, 10800.0, 14400.0, 18000.0):
        manager.save()

    # The third and the fifth remain; nobody refers to them any more.
    numbers = [int(n.split("-")[1].split(".")[0]) for n in files(tmp_path)[1:]]
    assert numbers == [3, 5, 6]
    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-6"]


def test_numbers(checkpoint: tf.train.Checkpoint, tmp_path: Path) -> None:
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, max_to_keep=3, checkpoint_name="model"
    )

    assert manager.save(7) == f"{tmp_path}/model-7"
    assert manager.save(checkpoint_number=tf.Variable(9)) == f"{tmp_path}/model-9"
    assert manager.save() == f"{tmp_path}/model-1"
    assert manager.save(7) == manager.latest_checkpoint == f"{tmp_path}/model-7"
    assert len(manager.checkpoints) == 3


def test_interval(checkpoint: tf.train.Checkpoint, tmp_path: Path) -> None:
    step = tf.Variable(0)
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, 5, step_counter=step, checkpoint_interval=3
    )
    saved = []
    for _ in range(7):
        saved.append(manager.save() is not None)
        step.assign_add(1)

    assert saved == [True, False, False, True, False, False, True]
    assert manager.save(check_interval=False) is not None
    assert manager.checkpoint_interval == 3


def test_restore_or_initialize(tmp_path: Path) -> None:
    x, calls = tf.Variable(1.0), []
    checkpoint = tf.train.Checkpoint(x=x)
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, 1, init_fn=lambda: calls.append(1)
    )
    assert manager.restore_or_initialize() is None
    assert calls == [1]
    path = manager.save()
    x.assign(5.0)

    assert manager.restore_or_initialize() == path
    assert x.numpy() == 1.0
    assert calls == [1]


def test_wrong_arguments(checkpoint: tf.train.Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_to_keep"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 0)
    with pytest.raises(ValueError, match="needs step_counter"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 1, checkpoint_interval=3)


def test_parts_are_cleared(checkpoint: tf.train.Checkpoint, tmp_path: Path) -> None:
    (tmp_path / ".ckpt-1.safetensors.xyz.part").touch()
    (tmp_path / ".other.part").touch()

    tf.train.CheckpointManager(checkpoint, tmp_path, 1)

    assert files(tmp_path) == [".other.part"]


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", "\x00", '{"model_checkpoint_path": 3}', "[" * 10**5]
)
def test_damaged_list(
    checkpoint: tf.train.Checkpoint, tmp_path: Path, text: str
) -> None:
    (tmp_path / "checkpoint").write_text(text)

    with pytest.raises(tf.errors.DataLossError, match="damaged"):
        tf.train.latest_checkpoint(tmp_path)
