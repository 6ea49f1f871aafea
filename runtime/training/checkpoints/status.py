"""What `Checkpoint.restore` gives: whether all found its place."""

from __future__ import annotations

from typing import Any

from runtime.files.saving.trackable import ObjectGraph, has_state
from runtime.training.checkpoints.restore import Restoration

#: How many objects messages list.
SHOWN = 10


class CheckpointLoadStatus:
    """Whether the values of a checkpoint and the objects of the program found another.

    The assertions look at the objects as they are when they are called: variables that
    are made after `Checkpoint.restore` are restored when they are made. Each gives the
    status itself.
    """

    def __init__(self, restoration: Restoration, checkpoint: Any) -> None:
        self._restoration = restoration
        self._checkpoint = checkpoint

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless each value was used, and each object got one."""
        restoration = self._restoration
        keys = [restoration.key(number) for number in restoration.missing()]
        if keys:
            raise AssertionError(
                f"{len(keys)} values of the checkpoint have no object in the program: "
                f"{_listed(keys)}. Objects that were put into a list or dict after "
                "restoring are not seen: restore again when they are there"
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless each variable that exists got a value."""
        graph = ObjectGraph(self._checkpoint)
        missing = [
            (path.rstrip("/"), value)
            for path, value in zip(graph.paths, graph.objects)
            if has_state(value) and not self._restoration.has_restored(value)
        ]
        missing = [pair for pair in missing if pair[0] != "save_counter"]
        if missing:
            texts = [f"{path}: {value!r}" for path, value in missing]
            raise AssertionError(
                f"{len(missing)} objects of the program have no value in the "
                f"checkpoint: {_listed(texts)}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raise AssertionError if no object but the first one found its place."""
        found = [
            number
            for number in self._restoration.objects
            if number and not self._restoration.key(number).startswith("save_counter/")
        ]
        if not found and len(self._restoration.nodes) > 1:
            raise AssertionError(
                "nothing but the root object of the checkpoint is in the program: the "
                "objects have other names"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Say that it is well if values are left over: no warning is logged."""
        self._restoration.is_partial = True
        return self


class InitializationOnlyStatus(CheckpointLoadStatus):
    """The status where there was no checkpoint: the assertions fail."""

    def __init__(self) -> None:
        pass

    def expect_partial(self) -> CheckpointLoadStatus:
        """Nothing is left over where there was nothing."""
        return self

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise AssertionError: nothing was restored."""
        raise AssertionError("no checkpoint was given (None); nothing is restored")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed


def _listed(texts: list[str]) -> str:
    more = f", and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more
