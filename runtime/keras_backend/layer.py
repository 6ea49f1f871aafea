"""What layers have from the backend: plain variables are weights, too."""

from __future__ import annotations

from typing import Any

from keras.src import backend, tree

import runtime as tf

__all__ = ["BackendLayer"]


class BackendLayer:
    """Tracks the `tf.Variable`s among the attributes of a layer.

    Keras tracks its own variables. One is made for each plain variable, with that as
    its value: so it is among the weights, and is saved, while the attribute stays what
    was assigned.
    """

    def _setattr_hook(self, name: str, value: Any) -> tuple[str, Any]:
        if isinstance(value, tf.Variable):
            self._track_plain({name: value})
        elif isinstance(value, (list, tuple, dict)) and value:
            plain = {
                "_".join(map(str, (name, *path))): leaf
                for path, leaf in tree.flatten_with_path(value)
                if isinstance(leaf, tf.Variable)
            }
            self._track_plain(plain)
        return name, value

    def _track_plain(self, variables: dict[str, Any]) -> None:
        if not variables:
            return
        known = self.__dict__.setdefault("_plain_variables", {})
        if "_tracker" not in self.__dict__:
            self._initialize_tracker()  # type: ignore[attr-defined]
        for name, variable in variables.items():
            wrapped = known.get(id(variable))
            if wrapped is None:
                wrapped = known[id(variable)] = backend.Variable.around(variable, name)
                self._tracker.track(wrapped)  # type: ignore[attr-defined]
