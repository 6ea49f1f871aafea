"""``tf.train``: checkpoints, averages of variables, and the messages of records.

See docs/saving.md and docs/records.md.
"""

from typing import Any as _Any

from runtime.core.types.options import unused as _unused
from runtime.training.averages import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from runtime.training.checkpoints.checkpoint import Checkpoint as Checkpoint
from runtime.training.checkpoints.manager import CheckpointManager as CheckpointManager
from runtime.training.checkpoints.reader import (
    CheckpointReader as CheckpointReader,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from runtime.training.checkpoints.state_file import (
    CheckpointState as CheckpointState,
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
)

CheckpointOptions = _unused("CheckpointOptions")


def __getattr__(name: str) -> _Any:
    """The messages of records, whose package is imported when one is asked for.

    None for other names: `advise` says what to use in their place.
    """
    from runtime.ops.files import messages

    return messages.classes()[name] if name in messages.PUBLIC else None
