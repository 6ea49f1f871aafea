"""What layers have from the backend: plain variables are weights, too."""

from __future__ import annotations

from typing import Any

from keras.src import backend, tree
from keras.src.saving.keras_saveable import KerasSaveable

import runtime as tf
from runtime.core.errors import UnsavableError
from runtime.files.saving.trackable import has_state
from runtime.function import Function
from runtime.training.keras_backend.core import Variable

#: Attributes that hold once more what is in others.
_REPEATED = {
    "_functional",
    "_layers",
    "_metrics",
    "_non_trainable_variables",
    "_operations",
    "_operations_by_depth",
    "_plain_variables",
    "_seed_generators",
    "_trainable_variables",
}


def state_attributes(owner: Any) -> dict[str, Any]:
    """The attributes of an object of Keras that lead to variables, by their names."""
    own = vars(owner).items()
    return {name: v for name, v in own if name not in _REPEATED and _is_state(v)}


def _is_state(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_is_state, value))
    if isinstance(value, dict):
        return bool(value) and all(map(_is_state, value.values()))
    kinds = (Variable, tf.Variable, tf.Module, KerasSaveable)
    return isinstance(value, kinds) or has_state(value)


class BackendLayer:
    """Tracks the `tf.Variable`s among the attributes of a layer.

    Keras tracks its own variables. One is made for each plain variable, with that as
    its value: so it is among the weights, and is saved, while the attribute stays what
    was assigned.
    """

    #: What building a layer sets: a loop that is the first to call it does not keep it.
    __autograph_caches__ = (
        "_build_shapes_dict", "_called", "_parent_path", "_path", "built",
    )  # fmt: skip

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

    def _trackable_children(self) -> dict[str, Any]:
        """What a checkpoint of a layer holds.

        The layers of a model are counted without those for inputs: a model that is not
        built has none yet.
        """
        layers = getattr(self, "layers", None)
        numbered = layers if isinstance(layers, list) else []
        found = {f"layer-{index}": layer for index, layer in enumerate(numbered)}
        return state_attributes(self) | found

    @property
    def _default_save_signature(self) -> Any:
        """The call of a model for `tf.saved_model.save`; None for other layers.

        None for a model, too, that has functions of its own and nothing to say what
        its call takes.

        Raises UnsavableError where nothing says what the model takes.
        """
        # Keras imports this module first.
        from keras.src.export.export_utils import get_input_signature
        from keras.src.models.model import Model

        if not isinstance(self, Model):
            return None
        try:
            inputs = get_input_signature(self)
        except ValueError as error:
            members = [getattr(type(self), name) for name in dir(type(self))]
            if any(isinstance(member, Function) for member in members):
                return None
            raise UnsavableError(
                f"AG340: the model {self.name!r} cannot be saved with its call, since "
                f"nothing says what it takes: {error} Call it on data, or give "
                "tf.saved_model.save signatures; model.export writes a model, too"
            ) from None
        # As in TensorFlow the names are those of the parameter, not of the specs.
        specs = tree.map_structure(lambda x: tf.TensorSpec(x.shape, x.dtype), inputs)
        model: Any = self

        def serving_default(inputs: Any) -> Any:
            return model(inputs)

        def serving_several(*inputs: Any) -> Any:
            return model(*inputs)

        serve = serving_default if len(specs) == 1 else serving_several
        return tf.function(serve, input_signature=specs)

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
