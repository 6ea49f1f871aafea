"""Files that belong to a saved model."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from runtime.core.errors import NotFoundError
from runtime.core.tensor import EagerTensor
from runtime.files.saving.atomic import replacing_file
from runtime.files.saving.tensor_file import damaged

FOLDER = "assets"


class Asset:
    """A file that is saved with a model: a vocabulary, say.

    >>> Asset("words.txt").asset_path
    <tf.Tensor: shape=(), dtype=string, numpy=b'words.txt'>

    As an attribute of what is saved it is copied; where a traced function uses
    `asset_path`, the loaded one has the path of the copy.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = EagerTensor(np.array(os.fspath(path).encode(), object))

    @property
    def asset_path(self) -> EagerTensor:
        """The path, as a string tensor."""
        return self._path

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The array that constants of graphs have."""
        return self._path._array

    def __repr__(self) -> str:
        return f"Asset({self._path.numpy().decode()!r})"


def store_asset(asset: Asset, folder: Path) -> dict[str, str]:
    """Copy a file beside a model, under its contents; gives its entry in the record."""
    source = Path(asset.array.item().decode())
    if not source.is_file():
        raise NotFoundError(f"the asset {str(source)!r} is no file")
    digest = _digest(source)
    name = f"{digest[:16]}/{source.name}"
    target = folder / FOLDER / name
    # Other contents have another name: an older model keeps its own.
    if not target.is_file() or _digest(target) != digest:
        with replacing_file(target) as part:
            shutil.copyfile(source, part)
    return {"file": name, "sha256": digest}


def asset_path(entry: Any, folder: Path) -> Path:
    """The path of an asset of a model. Raises DataLossError if it is damaged."""
    inner, _, name = str(entry["file"]).partition("/")
    if not re.fullmatch("[0-9a-f]{16}", inner) or Path(name).name != name:
        raise ValueError(f"{entry['file']!r} is no name of an asset")
    path = folder / FOLDER / inner / name
    if not path.is_file() or _digest(path) != entry["sha256"]:
        raise damaged(path, "the asset is missing, or is not what was saved")
    return path


def clear_assets(entries: list[dict[str, str]], folder: Path) -> None:
    """Remove the assets of a model that was replaced."""
    used = {entry["file"].partition("/")[0] for entry in entries}
    for path in (folder / FOLDER).glob("?" * 16):
        if path.name not in used:
            shutil.rmtree(path, ignore_errors=True)


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()
