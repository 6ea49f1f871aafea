"""`save`: the functions, variables and assets of an object as data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runtime.core import version
from runtime.core.errors import UnsavableError
from runtime.core.graph import context
from runtime.core.tensor import EagerTensor
from runtime.files.saved_model import forms
from runtime.files.saved_model.assets import Asset, clear_assets, store_asset
from runtime.files.saved_model.encode import ProgramWriter
from runtime.files.saved_model.functions import (
    LoadedFunction,
    gives_tensors,
    output_names,
)
from runtime.files.saved_model.results import results
from runtime.files.saving.atomic import replacing_file
from runtime.files.saving.tensor_file import write_tensor_file
from runtime.files.saving.trackable import ObjectGraph, is_trackable
from runtime.function.concrete import ConcreteFunction
from runtime.function.function import BoundFunction, Function
from runtime.ops.containers.lookup_tables import StaticHashTable, Table
from runtime.ops.files.systems import local_name
from runtime.ops.random.generator import Generator
from runtime.ops.variables import Module, Variable
from runtime.ops.variables.module import attributes

FORMAT = "runtime.saved_model"
FILE = "saved_model.safetensors"
#: The version of the format: a release loads this one and all earlier ones.
VERSION = 1
DEFAULT_SIGNATURE = "serving_default"

_PRIMITIVES = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, tuple, dict)


def save(
    obj: Any,
    export_dir: str | os.PathLike[str],
    signatures: Any = None,
    options: Any = None,
) -> None:
    """Save the functions and variables of an object, to be run without its program.

    Args:
        obj: a `tf.Module`, or another object with variables, traced functions, assets
            and such objects in its attributes.
        export_dir: the folder; a model that is there is replaced as a whole.
        signatures: a function with an ``input_signature``, a concrete function, or a
            dict of these by names. Left out, the call of a model of Keras, or the one
            function of `obj` that has an ``input_signature``, is the signature
            ``serving_default``.
        options: TensorFlow's; they mean nothing here.

    Raises:
        UnsavableError: something is no data (AG340).
        ValueError: `obj` or a signature is of another kind.
    """
    if not context.executing_eagerly():
        raise RuntimeError("a model cannot be saved while a function is traced")
    if not is_trackable(obj) or isinstance(obj, (*_CONTAINERS, Variable)):
        raise ValueError(
            f"{obj!r} cannot be saved: it is no object with functions and variables in "
            "its attributes, such as a tf.Module"
        )
    folder = Path(local_name(export_dir))
    found = _signatures(obj, signatures)
    writer = _ObjectWriter()
    root = writer.object(obj)
    program = writer.program
    assets = [store_asset(asset, folder) for asset in writer.assets]
    record = {
        "version": VERSION,
        "producer": version.VERSION,
        "root": root,
        "signatures": {
            name: writer.signature(name, concrete) for name, concrete in found.items()
        },
        "objects": writer.objects,
        "traces": writer.traces,
        "graphs": program.graphs,
        "variables": program.variables,
        "generators": program.generators,
        "tables": program.tables,
        "streams": program.streams,
        "callers": program.callers,
        "assets": assets,
    }
    with replacing_file(folder / FILE) as part:
        write_tensor_file(part, FORMAT, program.arrays, record)
    clear_assets(assets, folder)


# --- functions ------------------------------------------------------------------------


_FUNCTIONS = (ConcreteFunction, Function, BoundFunction, LoadedFunction)


def _functions(value: Any) -> Iterator[tuple[str, Any]]:
    """The traced functions of an object, among its attributes or those of its class."""
    own = attributes(value)
    names = {name: None for cls in type(value).__mro__ for name in vars(cls)}
    for name in (*own, *names):
        found = own.get(name)
        if name not in own and isinstance(_of_class(type(value), name), _FUNCTIONS):
            found = getattr(value, name)
        if isinstance(found, _FUNCTIONS):
            yield name, getattr(found, "bound_function", found)


def _of_class(cls: type, name: str) -> Any:
    return next(vars(base)[name] for base in cls.__mro__ if name in vars(base))


def _signatures(obj: Any, signatures: Any) -> dict[str, ConcreteFunction]:
    """The concrete functions of the signatures, by name."""
    if signatures is None:
        signatures = getattr(obj, "_default_save_signature", None)
    if signatures is None:
        possible = [found for _, found in _functions(obj) if _has_specs(found)]
        signatures = possible[0] if len(possible) == 1 else {}
        if signatures and not gives_tensors(signatures.get_concrete_function()):
            signatures = {}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT_SIGNATURE: signatures}
    return {name: _signature(name, found) for name, found in signatures.items()}


def _has_specs(found: Any) -> bool:
    return isinstance(found, Function) and found.input_signature is not None


def _signature(name: Any, found: Any) -> ConcreteFunction:
    found = getattr(found, "bound_function", found)
    if type(name) is not str:
        raise ValueError(f"a signature is called by a text, not {name!r}")
    if isinstance(found, ConcreteFunction):
        return found
    if _has_specs(found):
        concrete: ConcreteFunction = found.get_concrete_function()
        return concrete
    raise ValueError(
        f"the signature {name!r} is a tf.function with an input_signature, or what "
        f"get_concrete_function(...) gives, not {found!r}"
    )


# --- objects --------------------------------------------------------------------------


class _ObjectWriter:
    """Collects objects and the traces of their functions."""

    def __init__(self) -> None:
        self.program = ProgramWriter()
        self.objects: list[dict[str, Any]] = []
        self.traces: list[dict[str, Any]] = []
        self.assets: list[Asset] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []
        self._waiting: list[tuple[dict[str, Any], Any]] = []

    def object(self, value: Any) -> int:
        """The number of an object; all that it leads to is written with it."""
        number = self._reserve(value)
        # Assets first: constants are known for their paths by then.
        functions: list[tuple[dict[str, Any], Any]] = []
        while self._waiting:
            entry, item = self._waiting.pop()
            if isinstance(item, _FUNCTIONS):
                functions.append((entry, item))
            else:
                self._describe(entry, item)
        for entry, item in functions:
            self._describe_function(entry, item)
        return number

    def _reserve(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self.objects)
            self._alive.append(value)
            self.objects.append({})
            self._waiting.append((self.objects[-1], value))
        return number

    def _describe(self, entry: dict[str, Any], value: Any) -> None:
        if isinstance(value, Variable):
            entry.update(kind="variable", variable=self.program.variable(value))
        elif isinstance(value, Generator):
            state = self.program.generator(value._state)
            entry.update(kind="generator", generator=state)
        elif isinstance(value, Table):
            kind = "static" if isinstance(value, StaticHashTable) else "mutable"
            number = self.program.table(value._contents)
            entry.update(kind=f"{kind} table", table=number)
        elif isinstance(value, Asset):
            self.program.assets[id(value.array)] = len(self.assets)
            entry.update(kind="asset", asset=len(self.assets))
            self.assets.append(value)
        elif isinstance(value, dict):
            keys = [key for key in value if type(key) in (str, int)]
            items = [[key, self._entry(value[key])] for key in keys]
            entry.update(kind="dict", items=items)
        elif isinstance(value, (list, tuple)):
            kind = "list" if isinstance(value, list) else "tuple"
            entry.update(kind=kind, items=[self._entry(item) for item in value])
        else:
            found = attributes(value) | dict(_functions(value))
            entries = {name: self._entry(item) for name, item in found.items()}
            # The class may be one that waits for values of a checkpoint.
            entry.update(
                kind="object",
                **{"class": type(value).__qualname__},
                attributes={k: v for k, v in entries.items() if v is not None},
            )

    def _entry(self, value: Any) -> Any:
        """What stands for an attribute or an item: an object, a value, or nothing."""
        if isinstance(value, _FUNCTIONS):
            return {"object": self._reserve(getattr(value, "bound_function", value))}
        if isinstance(value, _PRIMITIVES) or type(value) is np.ndarray:
            return self._value(value)
        if isinstance(value, EagerTensor):
            return {"constant": self.program.value(value)}
        kinds = Variable, Generator, Asset, Table, Module
        is_known = isinstance(value, (*kinds, *_CONTAINERS))
        if is_known or (is_trackable(value) and self._leads_somewhere(value)):
            return {"object": self._reserve(value)}
        return None

    def _value(self, value: Any) -> Any:
        try:
            return {"value": self.program.value(value)}
        except (TypeError, KeyError):  # Of a class of the program's, or no tensor.
            return None

    def _leads_somewhere(self, value: Any) -> bool:
        return ObjectGraph(value).has_state or any(True for _ in _functions(value))

    def _describe_function(self, entry: dict[str, Any], function: Any) -> None:
        if isinstance(function, ConcreteFunction):
            entry.update(kind="concrete", trace=self.trace(function, required=True))
            return
        known = function.current_traces()
        if not known and not function.function_signature.parameters:
            known = [function.get_concrete_function()]
        traces = [self.trace(concrete) for concrete in known]
        entry.update(
            kind="function",
            name=function.__name__,
            parameters=forms.parameters(function._signature, self.program),
            traces=[number for number in traces if number is not None],
            left_out=traces.count(None),
        )

    def trace(self, concrete: ConcreteFunction, required: bool = False) -> int | None:
        """The number of a trace; None if no other process can call it."""
        number = self._numbers.get(id(concrete._trace))
        if number is not None:
            return number
        try:
            specs = forms.structure(concrete._specs, self.program.value)
        except TypeError as error:
            if not required:
                return None
            raise UnsavableError(
                f"AG340: {concrete.name!r} cannot be saved: it has the argument {error}"
            ) from None
        entry = {
            "name": concrete.name,
            "parameters": forms.parameters(concrete._signature, self.program),
            "specs": specs,
            "results": results(concrete._trace.results, concrete.name, self.program),
            "graph": self.program.graph(concrete.graph),
        }
        number = self._numbers[id(concrete._trace)] = len(self.traces)
        self._alive.append(concrete._trace)
        self.traces.append(entry)
        return number

    def signature(self, name: str, concrete: ConcreteFunction) -> dict[str, Any]:
        """The entry of a signature: a graph that is called with tensors by name."""
        inputs = [tensor.node.name for tensor in concrete.graph.inputs]
        return {
            "name": concrete.name,
            "graph": self.program.graph(concrete.graph),
            "inputs": inputs,
            "outputs": output_names(name, concrete),
        }
