"""``tf.train``: checkpoints. See docs/saving.md."""

from runtime.training.checkpoints.checkpoint import Checkpoint as Checkpoint
from runtime.training.checkpoints.manager import CheckpointManager as CheckpointManager
from runtime.training.checkpoints.reader import CheckpointReader as CheckpointReader
from runtime.training.checkpoints.reader import list_variables as list_variables
from runtime.training.checkpoints.reader import load_checkpoint as load_checkpoint
from runtime.training.checkpoints.reader import load_variable as load_variable
from runtime.training.checkpoints.state_file import CheckpointState as CheckpointState
from runtime.training.checkpoints.state_file import (
    get_checkpoint_state as get_checkpoint_state,
)
from runtime.training.checkpoints.state_file import (
    latest_checkpoint as latest_checkpoint,
)
