"""``tf.train``: checkpoints. See docs/saving.md."""

from __future__ import annotations

from runtime.training.checkpoints.checkpoint import Checkpoint
from runtime.training.checkpoints.manager import CheckpointManager
from runtime.training.checkpoints.reader import (
    CheckpointReader,
    list_variables,
    load_checkpoint,
    load_variable,
)
from runtime.training.checkpoints.state_file import (
    CheckpointState,
    get_checkpoint_state,
    latest_checkpoint,
)

__all__ = [
    "Checkpoint",
    "CheckpointManager",
    "CheckpointReader",
    "CheckpointState",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]
