"""The file ``checkpoint`` of a folder: which checkpoints it has, and the latest one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from runtime.core.errors import NotFoundError, UnimplementedError
from runtime.files.saving.atomic import write_text
from runtime.files.saving.tensor_file import damaged

#: The ending of the file of a checkpoint; its path is given without it.
SUFFIX = ".safetensors"


@dataclass
class CheckpointState:
    """The checkpoints of a folder, the oldest first, and when they were made."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0


def file_of(path: str) -> Path:
    """The file of a checkpoint, which is there.

    Raises NotFoundError if it is not, UnimplementedError if TensorFlow wrote it.
    """
    for name in (path + SUFFIX, path):
        if name.endswith(SUFFIX) and os.path.isfile(name):
            return Path(name)
    prefix = re.sub(r"\.(index|data-\d+-of-\d+)$", "", path)
    if os.path.isfile(prefix + ".index"):
        raise _of_tensorflow(f"{prefix!r} is a checkpoint of TensorFlow", prefix)
    hint = ""
    if os.path.isdir(path):
        hint = "; it is a folder: tf.train.latest_checkpoint(folder) gives the path"
    raise NotFoundError(
        f"there is no checkpoint {path!r}: no file {path + SUFFIX!r}{hint}. A path has "
        "the number at its end, as ckpt-1 does"
    )


def _of_tensorflow(what: str, prefix: str) -> UnimplementedError:
    return UnimplementedError(
        f"{what}, whose files are not read here. Where TensorFlow is installed, "
        f"tf.train.load_checkpoint({prefix!r}) gives the arrays by name, for "
        "numpy.savez and Variable.assign; new checkpoints belong into another folder"
    )


def write_state(
    directory: str,
    paths: Sequence[str],
    timestamps: Sequence[float] = (),
    last_preserved: float = 0.0,
) -> None:
    """Say which checkpoints a folder has; the last one is the latest."""
    names = [os.path.relpath(path, directory or os.curdir) for path in paths]
    state = CheckpointState(names[-1], names, list(timestamps), last_preserved)
    write_text(Path(directory, "checkpoint"), json.dumps(asdict(state), indent=1))


def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> CheckpointState | None:
    """What the file ``checkpoint`` of a folder says; None if there is none.

    Raises DataLossError if the file is damaged, UnimplementedError if it is one of
    TensorFlow.
    """
    directory = os.fspath(checkpoint_dir)
    path = Path(directory, latest_filename or "checkpoint")
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise damaged(path, str(error)) from None
    written = re.match(r'\s*model_checkpoint_path: "(.*)"', text)
    if written is not None:
        prefix = os.path.join(directory, written[1])
        raise _of_tensorflow(f"{str(path)!r} lists checkpoints of TensorFlow", prefix)
    try:
        state = _checked(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damaged(path, str(error)) from None
    joined = [os.path.join(directory, p) for p in state.all_model_checkpoint_paths]
    state.model_checkpoint_path = os.path.join(directory, state.model_checkpoint_path)
    state.all_model_checkpoint_paths = joined
    return state


def _checked(content: Any) -> CheckpointState:
    latest = content["model_checkpoint_path"]
    paths = content["all_model_checkpoint_paths"]
    timestamps = content["all_model_checkpoint_timestamps"]
    last = content["last_preserved_timestamp"]
    texts = isinstance(paths, list) and all(type(path) is str for path in paths)
    times = all(type(time) in (int, float) for time in [*timestamps, last])
    if not (texts and times and type(latest) is str and len(content) == 4):
        raise ValueError("it is no list of checkpoints")
    if timestamps and len(timestamps) != len(paths):
        raise ValueError("not every checkpoint has a time")
    return CheckpointState(latest, paths, timestamps, last)


def latest_checkpoint(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> str | None:
    """The path of the latest checkpoint in a folder, for `Checkpoint.restore`.

    None if the folder has none. Raises DataLossError if its list is damaged, and
    UnimplementedError if it is one of TensorFlow.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not os.path.isfile(state.model_checkpoint_path + SUFFIX):
        return None
    return state.model_checkpoint_path
