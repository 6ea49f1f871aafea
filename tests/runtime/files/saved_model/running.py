"""Calls the functions of a saved model: ``python running.py FOLDER``.

The process has neither the program nor the compiler. ``FOLDER/calls.pickle`` has the
names of functions with the arguments of their calls, arrays in place of tensors; what
they give is written to ``FOLDER/results.pickle``.
"""

from __future__ import annotations

import collections
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np


class NoCompiler:
    """Refuses to import the compiler."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "autograph":
            raise AssertionError(f"{name} is imported")


def outcome(function: Any, arguments: Any) -> Any:
    """What a call gives, as plain data; for an error its type and, mostly, its text."""
    try:
        return plain(function(*arguments))
    except Exception as error:
        mine = type(error).__module__ == "builtins" and "\n" not in str(error)
        return type(error).__name__, str(error) if mine else ""


def plain(value: Any) -> Any:
    """A result as plain data, with the dtypes of its tensors."""
    if hasattr(value, "numpy"):
        array = np.asarray(value.numpy())
        return value.dtype.name, array.shape, repr(array.tolist())
    if isinstance(value, dict):
        kind = type(value).__name__
        return kind, [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple, collections.deque)):
        return type(value).__name__, [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(repr(plain(item)) for item in value)
    return repr(value)


def main(folder: str) -> None:
    sys.meta_path.insert(0, NoCompiler())  # type: ignore[arg-type]
    import runtime as tf

    def tensor(leaf: Any) -> Any:
        return tf.constant(leaf) if isinstance(leaf, np.ndarray) else leaf

    model = tf.saved_model.load(folder)
    calls = pickle.loads(Path(folder, "calls.pickle").read_bytes())
    results = [
        outcome(getattr(model, name), tf.nest.map_structure(tensor, arguments))
        for name, arguments in calls
    ]
    Path(folder, "results.pickle").write_bytes(pickle.dumps(results))
    assert not any(name.partition(".")[0] == "autograph" for name in sys.modules)


if __name__ == "__main__":
    main(sys.argv[1])
