"""`Checkpoint`: saves the state of objects, and restores it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from runtime.core.graph import context
from runtime.core.tensor import EagerTensor
from runtime.files.saving import parts
from runtime.files.saving.trackable import ObjectGraph, children, is_trackable
from runtime.ops.files.systems import local_name
from runtime.ops.variables import Variable
from runtime.training.checkpoints.reader import FORMAT, open_checkpoint
from runtime.training.checkpoints.restore import Restoration
from runtime.training.checkpoints.state_file import SUFFIX, write_state
from runtime.training.checkpoints.status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
)

PathLike = str | os.PathLike[str]


class Checkpoint:
    """Objects whose state is saved together: variables, modules, layers, optimizers.

    >>> import os, tempfile
    >>> step = Variable(3)
    >>> checkpoint = Checkpoint(step=step)
    >>> prefix = os.path.join(tempfile.mkdtemp(), "ckpt")
    >>> path = checkpoint.save(prefix)
    >>> os.path.basename(path)
    'ckpt-1'
    >>> _ = step.assign(0)
    >>> _ = checkpoint.restore(path).assert_consumed()
    >>> step
    <tf.Variable 'Variable:0' shape=() dtype=int32, numpy=3>

    The state is found through attributes, lists and dicts, and is known by the names
    on the way to it, so that another program finds it if its objects are called
    likewise. What is found is described in docs/saving.md.

    Args:
        root: an object whose attributes are those of the checkpoint.
        kwargs: the objects by name; they become attributes.

    Raises:
        ValueError: one of them can hold no state.
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root = root
        self._save_counter: Variable | None = None
        objects = kwargs if root is None else {"root": root, **kwargs}
        for name, value in objects.items():
            if not is_trackable(value):
                raise ValueError(
                    f"Checkpoint({name}={value!r}): an object of type "
                    f"{type(value).__name__} holds no state that can be restored; "
                    "keep it in a tf.Variable"
                )
        own = {} if root is None else children(root)
        for name, value in kwargs.items():
            if name in own and own[name] is not value:
                raise ValueError(
                    f"Checkpoint({name}=...): the root object has an attribute "
                    f"{name!r} that is another object"
                )
            setattr(self, name, value)

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called, which is the number of the last checkpoint."""
        if self._save_counter is None:
            with context.init_scope():
                self._save_counter = Variable(
                    EagerTensor(np.array(0, np.int64)),
                    trainable=False,
                    name="save_counter",
                )
        return self._save_counter

    def _trackable_children(self) -> dict[str, Any]:
        own = dict(vars(self))
        counter = own.pop("_save_counter")
        root = own.pop("_root")
        found = {} if root is None else children(root)
        found.update(own)
        if counter is not None:
            found["save_counter"] = counter
        return found

    def _trackable_holders(self) -> tuple[Any, ...]:
        return () if self._root is None else (self._root,)

    # --- saving -----------------------------------------------------------------------

    def save(self, file_prefix: PathLike, options: Any = None) -> str:
        """Save under the next number, and name it the latest checkpoint of its folder.

        ``save("dir/ckpt")`` gives the path ``dir/ckpt-1``, then ``dir/ckpt-2``, which
        is what `restore` takes. `options` are TensorFlow's, and mean nothing here.
        """
        counter, prefix = self.save_counter, local_name(file_prefix)
        _check_eager()
        counter.assign_add(1)
        path = self.write(f"{prefix}-{int(counter)}")
        parts.once(lambda: write_state(os.path.dirname(path), [path]))
        return path

    def write(self, file_prefix: PathLike, options: Any = None) -> str:
        """Save under this very path. A file that is there is replaced as a whole.

        Where several processes run the program, all of them call this. Each writes its
        part of what is divided over them, and one of them the rest.
        """
        _check_eager()
        path = local_name(file_prefix)
        graph = ObjectGraph(self)
        arrays, keys = graph.arrays()
        record = {
            "objects": [
                {"children": own, "state": names}
                for own, names in zip(graph.edges, keys)
            ]
        }
        parts.write(Path(path + SUFFIX), FORMAT, arrays, record)
        return path

    # --- restoring --------------------------------------------------------------------

    def restore(
        self, save_path: PathLike | None, options: Any = None
    ) -> CheckpointLoadStatus:
        """Restore what `save` saved; None restores nothing.

        Variables that do not exist yet are restored when they become attributes. The
        result has assertions about what was found: see `CheckpointLoadStatus`.

        Raises NotFoundError if there is no such checkpoint, DataLossError if it is
        damaged, ValueError or InvalidArgumentError if a shape or a dtype does not fit.
        Then no variable is changed.
        """
        self.save_counter  # noqa: B018  (it is restored, too)
        return self.read(save_path)

    def read(
        self, save_path: PathLike | None, options: Any = None
    ) -> CheckpointLoadStatus:
        """Restore what `write` wrote: see `restore`."""
        _check_eager()
        if save_path is None:
            return InitializationOnlyStatus()
        restoration = Restoration(*open_checkpoint(os.fspath(save_path)))
        restoration.bind(0, self)
        return CheckpointLoadStatus(restoration, self)


def _check_eager() -> None:
    if not context.executing_eagerly():
        raise RuntimeError(
            "a checkpoint cannot be saved or restored while a function is traced: the "
            "file would be written once, and not when the graph runs. Call it outside"
        )
