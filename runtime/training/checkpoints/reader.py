"""What is in the files of checkpoints: ``list_variables``, ``load_checkpoint``."""

from __future__ import annotations

import os
from typing import Any

from runtime.core.errors import NotFoundError
from runtime.core.types.dtypes import DType
from runtime.files.saving.parts import PartedFile
from runtime.files.saving.tensor_file import TensorFile, damaged
from runtime.training.checkpoints.state_file import file_of, latest_checkpoint

#: What the files of checkpoints say that they are.
FORMAT = "runtime.checkpoint"


def open_checkpoint(path: str) -> tuple[TensorFile, list[dict[str, Any]]]:
    """The file of a checkpoint and its graph of objects, which is checked.

    Raises NotFoundError if there is none, DataLossError if it is damaged.
    """
    file = PartedFile(file_of(path), FORMAT)
    try:
        nodes = file.record["objects"]
        names = set(file.names)
        for node in nodes:
            fits = all(
                child in range(len(nodes)) for child in node["children"].values()
            )
            if not fits or not names.issuperset(node["state"].values()):
                raise ValueError("an object refers to what is not there")
        if not nodes:
            raise ValueError("there are no objects")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(file.path, str(error)) from None
    return file, nodes


class CheckpointReader:
    """The tensors of a checkpoint by their keys: made by `load_checkpoint`."""

    def __init__(self, path: str) -> None:
        self._file, _ = open_checkpoint(path)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all tensors."""
        return {name: self._file.shape(name) for name in self._file.names}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes of all tensors."""
        return {name: self._file.dtype(name) for name in self._file.names}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of that key."""
        return tensor_str in self._file.names

    def get_tensor(self, tensor_str: str) -> Any:
        """A tensor as a NumPy array or scalar. Raises NotFoundError for other keys."""
        array = self._file.array(tensor_str)
        return array if array.ndim else array[()]


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """A reader of a checkpoint; of the latest one, if a folder is given.

    Raises NotFoundError if there is none, DataLossError if it is damaged.
    """
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise NotFoundError(f"the folder {path!r} has no checkpoints")
        path = latest
    return CheckpointReader(path)


def list_variables(
    ckpt_dir_or_file: str | os.PathLike[str],
) -> list[tuple[str, list[int]]]:
    """The keys and shapes of a checkpoint: see `load_checkpoint`."""
    return list(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> Any:
    """The tensor of a key as a NumPy array or scalar: see `load_checkpoint`."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
