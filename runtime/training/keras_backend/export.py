"""Models as saved models: what ``model.export`` writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras.src import layers, tree
from keras.src.export.export_utils import make_tf_tensor_spec
from keras.src.utils import io_utils

import runtime as tf
from runtime.ops.variables import underlying

_DEFAULT = "serving_default"


class _Content:
    """What is saved, in its attributes."""

    def _trackable_children(self) -> dict[str, Any]:
        return vars(self)


class SavedModelExportArchive:
    """Functions with signatures, and the layers whose variables they use."""

    def __init__(self) -> None:
        self._functions: dict[str, Any] = {}
        self._content = _Content()
        self._tracked: list[Any] = []

    def track(self, resource: Any) -> None:
        """Keep the variables of a layer, a model, or anything that holds variables."""
        if isinstance(resource, layers.Layer) and not resource.built:
            raise ValueError(
                "The layer provided has not yet been built. It must be built before "
                "export."
            )
        self._tracked.append(resource)
        self.add_variable_collection(
            "variables", tree.flatten([item.variables for item in self._tracked])
        )

    def add_variable_collection(self, name: str, variables: Any) -> None:
        """Keep variables as a list of a name."""
        if not isinstance(variables, (list, tuple, set)):
            raise ValueError(
                "Expected `variables` to be a list/tuple/set. Received instead object "
                f"of type '{type(variables)}'."
            )
        setattr(self._content, name, [underlying(variable) for variable in variables])

    def add_endpoint(
        self,
        name: str,
        fn: Callable[..., Any],
        input_signature: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Keep a function for inputs of a signature."""
        if name in self._functions:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        if kwargs:
            raise ValueError(f"these options are for JAX alone: {sorted(kwargs)}")
        if input_signature is None:
            raise ValueError(
                "add_endpoint() needs an `input_signature`, such as "
                "[keras.InputSpec(shape=(None, 3), dtype='float32')]"
            )
        signature = tree.map_structure(make_tf_tensor_spec, input_signature)
        function = tf.function(fn, input_signature=signature)
        self._functions[name] = function
        setattr(self._content, name, function)
        return function

    def track_and_add_endpoint(
        self, name: str, resource: Any, input_signature: Any, **kwargs: Any
    ) -> Any:
        """Keep the call of a layer or model, and its variables."""
        self.track(resource)
        return self.add_endpoint(name, resource.__call__, input_signature, **kwargs)

    def write_out(
        self, filepath: Any, options: Any = None, verbose: Any = True
    ) -> None:
        """Write all of it; the first function is the signature ``serving_default``."""
        if not self._functions:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        signatures = dict(self._functions)
        signatures.setdefault(_DEFAULT, next(iter(self._functions.values())))
        tf.saved_model.save(self._content, filepath, signatures, options)
        if verbose:
            io_utils.print_msg(
                f"Saved artifact at '{filepath}', with the endpoints "
                f"{', '.join(self._functions)}."
            )
