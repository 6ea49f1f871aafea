"""Arrays that are divided over processes, each of which writes its part.

The file of a checkpoint says which parts there are and in which files. It is written
last, by one process, when all parts are on the disk. Parts have names of their own for
each time that something is written, so that the old file has its parts until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from runtime.core.errors import DataLossError, NotFoundError
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.files.saving.atomic import replacing_file
from runtime.files.saving.tensor_file import TensorFile, damaged, write_tensor_file

Array = np.ndarray[Any, Any]
#: Start and end along each axis.
Bounds = Sequence[tuple[int, int]]
#: What the files of parts say that they are.
FORMAT = "runtime.checkpoint_part"


@dataclass(frozen=True)
class Divided:
    """An array of which each process has a part."""

    shape: tuple[int, ...]
    dtype: Any
    #: For each part the number of the process that writes it, and what it covers.
    parts: list[tuple[int, Bounds]]
    #: Those of this process, by their place among the parts.
    own: dict[int, Array]


class Alone:
    """The processes of a program: this one. `training.distribute` knows of others."""

    index, count = 0, 1

    def wait(self) -> None:
        """Wait for the other processes."""

    def token(self) -> str:
        """A text that is new, and the same in all processes."""
        return ""


_processes = Alone()


def set_processes(processes: Alone) -> None:
    """Say which processes there are."""
    global _processes
    _processes = processes


def once(write: Callable[[], Any]) -> None:
    """Have one process write, while the others wait."""
    if _processes.index == 0:
        write()
    _processes.wait()


def write(
    path: Path, kind: str, arrays: dict[str, Any], record: dict[str, Any]
) -> None:
    """Write a file of tensors; what is `Divided` goes to parts beside it.

    All processes call this. The file appears when all parts are there.
    """
    divided = {name: a for name, a in arrays.items() if isinstance(a, Divided)}
    token = _processes.token() if divided else ""
    own = {
        f"{name}[{place}]": part
        for name, array in divided.items()
        for place, part in array.own.items()
    }
    if own:
        with replacing_file(_part_file(path, token, _processes.index)) as file:
            write_tensor_file(file, FORMAT, own, token)
    if divided:
        record = {**record, "token": token, "divided": {}}
    for name, array in divided.items():
        parts = [[process, list(map(list, bounds))] for process, bounds in array.parts]
        dtype = of_array(np.empty(0, array.dtype)).name
        described = {"dtype": dtype, "shape": list(array.shape), "parts": parts}
        record["divided"][name] = described
    whole = {name: array for name, array in arrays.items() if name not in divided}

    def finish() -> None:
        with replacing_file(path) as file:
            write_tensor_file(file, kind, whole, record)
        for old in parts_of(path):
            if not token or f".{token}-" not in old.name:
                old.unlink(missing_ok=True)

    _processes.wait()
    once(finish)


def parts_of(path: Path) -> list[Path]:
    """The files of the parts of a file, older ones among them."""
    return list(path.parent.glob(f"{path.name}.*-part"))


def _part_file(path: Path, token: str, process: int) -> Path:
    return path.with_name(f"{path.name}.{token}-{process}-part")


class PartedFile(TensorFile):
    """A file of `write`: tensors that are in parts are put together."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(path, kind)
        self._divided: dict[str, Any] = self.record.get("divided", {})
        self._files: dict[int, TensorFile] = {}

    @property
    def names(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted([*super().names, *self._divided])

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor."""
        if name in self._divided:
            return as_dtype(self._divided[name]["dtype"])
        return super().dtype(name)

    def shape(self, name: str) -> list[int]:
        """The shape of a tensor."""
        if name in self._divided:
            return list(self._divided[name]["shape"])
        return super().shape(name)

    def array(self, name: str) -> Array:
        """A tensor. Raises DataLossError if it, or a part, is not what was written."""
        if name not in self._divided:
            return super().array(name)
        shape = self.shape(name)
        whole = np.empty(shape, self.dtype(name).np_dtype)
        covered = 0
        for place, (process, bounds) in enumerate(self._divided[name]["parts"]):
            part = self._parts(process).array(f"{name}[{place}]")
            index = tuple(slice(start, end) for start, end in bounds)
            if whole[index].shape != part.shape or part.dtype != whole.dtype:
                raise damaged(self.path, f"a part of {name!r} has another form")
            whole[index] = part
            covered += part.size
        if covered != math.prod(shape):
            raise damaged(self.path, f"parts of {name!r} are missing")
        return whole

    def _parts(self, process: int) -> TensorFile:
        found = self._files.get(process)
        if found is None:
            token = self.record["token"]
            try:
                found = TensorFile(_part_file(self.path, token, process), FORMAT)
            except NotFoundError as error:
                raise DataLossError(f"a part of {str(self.path)!r}: {error}") from None
            if found.record != token:
                raise damaged(found.path, "it is a part of another checkpoint")
            self._files[process] = found
        return found
