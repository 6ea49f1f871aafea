"""`CheckpointManager`: keeps the last checkpoints of a folder, and deletes others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime.files.saving.atomic import PART
from runtime.files.saving.parts import once, parts_of
from runtime.training.checkpoints.checkpoint import Checkpoint
from runtime.training.checkpoints.state_file import (
    SUFFIX,
    get_checkpoint_state,
    write_state,
)


class CheckpointManager:
    """Saves checkpoints in a folder and keeps the last ones.

    >>> import tempfile
    >>> from runtime.ops.variables import Variable
    >>> checkpoint = Checkpoint(step=Variable(1))
    >>> manager = CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
    >>> for _ in range(3):
    ...     path = manager.save()
    >>> [os.path.basename(path) for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']

    Args:
        checkpoint: what is saved.
        directory: where; no other manager may use it at the same time. What an earlier
            one saved there is known.
        max_to_keep: how many checkpoints remain; None: all of them.
        keep_checkpoint_every_n_hours: a checkpoint that would be deleted remains if
            this time has passed since the last one that remained.
        checkpoint_name: how the files are called.
        step_counter: a variable that counts steps, for `checkpoint_interval`.
        checkpoint_interval: `save` does nothing until so many steps have passed.
        init_fn: what `restore_or_initialize` calls where there is no checkpoint.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"max_to_keep is a positive number, or None to keep all, not "
                f"{max_to_keep!r}"
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("checkpoint_interval needs step_counter, which it counts")
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._keep_every = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step: int | None = None
        now = time.time()
        self._last_preserved = now
        #: The checkpoints, the oldest first, and when they were made.
        self._times: dict[str, float] = {}
        state = get_checkpoint_state(self._directory)
        if state is not None:
            paths = state.all_model_checkpoint_paths
            times = state.all_model_checkpoint_timestamps or [now] * len(paths)
            self._times = dict(zip(paths, times))
            # The clock may have been set back.
            self._last_preserved = min(now, state.last_preserved_timestamp or now)
        once(lambda: self._remove_parts(checkpoint_name))

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps have to pass between two checkpoints."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that are kept, the oldest first."""
        return list(self._times)

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the last checkpoint, for `Checkpoint.restore`; None: none yet."""
        return next(reversed(self._times), None)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: Any = None,
    ) -> str | None:
        """Save, and delete checkpoints that are too many. Gives the path.

        The number is that of the checkpoint's ``save_counter``, which is increased, if
        none is given. Gives None where `checkpoint_interval` has not passed yet.
        """
        if not self._is_time(check_interval):
            return None
        if checkpoint_number is None:
            checkpoint_number = self._checkpoint.save_counter.assign_add(1)
        path = self._checkpoint.write(f"{self._prefix}-{int(checkpoint_number)}")
        self._times.pop(path, None)
        self._times[path] = time.time()
        # The list names no file that is gone, whenever the process ends.
        old = self._too_many()
        once(lambda: self._keep_listed(old))
        return path

    def _keep_listed(self, old: list[str]) -> None:
        """Write the list, and delete what is no longer in it."""
        self._write_state()
        for name in old:
            file = Path(name + SUFFIX)
            file.unlink(missing_ok=True)
            for part in parts_of(file):
                part.unlink(missing_ok=True)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and give its path, or call `init_fn`."""
        latest = self.latest_checkpoint
        if latest is not None:
            self._checkpoint.restore(latest)
        elif self._init_fn is not None:
            self._init_fn()
        return latest

    def _is_time(self, check: bool) -> bool:
        if self._interval is None:
            return True
        step, last = int(self._step_counter), self._last_step
        if check and last is not None and step < last + self._interval:
            return False
        self._last_step = step
        return True

    def _too_many(self) -> list[str]:
        """Take the oldest checkpoints off the list; gives those to be deleted."""
        deleted: list[str] = []
        if self._max_to_keep is None:
            return deleted
        while len(self._times) > self._max_to_keep:
            path = next(iter(self._times))
            made = self._times.pop(path)
            if (
                self._keep_every is not None
                and made >= self._last_preserved + self._keep_every * 3600
            ):
                self._last_preserved = made
            else:
                deleted.append(path)
        return deleted

    def _write_state(self) -> None:
        times = list(self._times.values())
        write_state(self._directory, self.checkpoints, times, self._last_preserved)

    def _remove_parts(self, name: str) -> None:
        """Remove what processes left that ended while they were saving here."""
        for path in Path(self._directory).glob(f".{name}-*{PART}"):
            path.unlink(missing_ok=True)
