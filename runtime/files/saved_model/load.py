"""`load`: an object with the functions, variables and assets of a saved model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from runtime.core.errors import NotFoundError, UnimplementedError
from runtime.core.graph import context
from runtime.core.types.dtypes import of_array
from runtime.files.saved_model import forms
from runtime.files.saved_model.assets import Asset, asset_path
from runtime.files.saved_model.decode import ProgramReader
from runtime.files.saved_model.functions import LoadedFunction, SignatureFunction
from runtime.files.saved_model.results import read_results
from runtime.files.saved_model.save import FILE, FORMAT, VERSION
from runtime.files.saving.tensor_file import TensorFile, damaged
from runtime.function.concrete import ConcreteFunction
from runtime.ops.containers.lookup_tables import (
    Contents,
    KeyValueTensorInitializer,
    MutableHashTable,
    StaticHashTable,
)
from runtime.ops.convert import constant
from runtime.ops.random.generator import Generator
from runtime.ops.variables import Module
from runtime.staging.tracing.trace import Trace


class LoadedObject(Module):
    """An object of a saved model: the attributes that were saved, and no class."""

    signatures: dict[str, SignatureFunction]


class _CallableObject(LoadedObject):
    """A loaded object whose class had a traced ``__call__``."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


def contains_saved_model(export_dir: str | os.PathLike[str]) -> bool:
    """Whether a folder has a saved model."""
    return Path(export_dir, FILE).is_file()


def load(
    export_dir: str | os.PathLike[str], tags: Any = None, options: Any = None
) -> Any:
    """Load what `save` saved: an object with its attributes, and ``signatures``.

    It is a `tf.Module`: variables and objects in lists and dicts are found as before.
    Functions have the traces that were saved; neither their source nor the compiler is
    needed. `tags` and `options` are TensorFlow's, and mean nothing here.

    A model is a program: load what you trust.

    Raises NotFoundError if there is none, DataLossError if it is damaged,
    UnimplementedError if a later release or TensorFlow wrote it.
    """
    return open_model(export_dir).root


class open_model:  # noqa: N801  (called like a function)
    """A saved model with all its parts."""

    def __init__(self, export_dir: str | os.PathLike[str]) -> None:
        folder = Path(export_dir)
        if not contains_saved_model(folder):
            if (folder / "saved_model.pb").is_file():
                raise UnimplementedError(
                    f"{str(folder)!r} is a saved model of TensorFlow, whose files are "
                    "not read here: save it by the program that made it, or take its "
                    "arrays, tf.train.load_checkpoint(folder + '/variables/variables')"
                )
            raise NotFoundError(f"there is no saved model {str(folder)!r}: no {FILE}")
        file = TensorFile(folder / FILE, FORMAT)
        self.record: Any = file.record
        version = self.record.get("version") if type(self.record) is dict else None
        if type(version) is int and version > VERSION:
            raise UnimplementedError(
                f"{str(folder)!r} has version {version} of the format of saved models, "
                f"and this release loads versions up to {VERSION}: load it with a "
                "later release"
            )
        try:
            with context.init_scope():
                self._read(file, folder)
        except NotFoundError as error:  # a tensor that the record names
            raise damaged(file.path, str(error)) from None
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise damaged(file.path, reason) from None
        except RecursionError:
            raise damaged(file.path, "it is nested too deeply") from None

    def _read(self, file: TensorFile, folder: Path) -> None:
        record = self.record
        paths = [asset_path(entry, folder) for entry in record["assets"]]
        self._assets = [Asset(path) for path in paths]
        arrays = [asset.array for asset in self._assets]
        self._program = ProgramReader(record, file.array, arrays)
        self.variables = self._program.variables
        self._traces = [self._trace(entry) for entry in record["traces"]]
        self._objects: dict[int, Any] = {}
        self.functions: dict[int, LoadedFunction | ConcreteFunction] = {}
        self.root = self._object(record["root"])
        self.signatures = {
            name: SignatureFunction(
                entry["name"],
                self._program.value({"graph": entry["graph"]}),
                entry["inputs"],
                entry["outputs"],
            )
            for name, entry in record["signatures"].items()
        }
        self.root.signatures = self.signatures

    def _trace(self, entry: dict[str, Any]) -> ConcreteFunction:
        program = self._program
        graph = program.value({"graph": entry["graph"]})
        results = read_results(entry["results"], program)
        if sum(results.are_tensors) != len(graph.outputs):
            raise ValueError("a trace has other results than its graph")
        return ConcreteFunction(
            Trace(graph, results),
            forms.read_parameters(entry["name"], entry["parameters"], program),
            forms.read_structure(entry["specs"], program.value),
        )

    def _object(self, number: Any) -> Any:
        if number not in self._objects:
            entry = self.record["objects"][number]
            self._objects[number] = self._made(number, entry)
        return self._objects[number]

    def _made(self, number: int, entry: dict[str, Any]) -> Any:
        kind, program = entry["kind"], self._program
        if kind == "variable":
            return program.value({"variable": entry["variable"]})
        if kind == "generator":
            generator = Generator.from_state(np.zeros(3, np.int64))
            generator._state = program.value({"generator": entry["generator"]})
            return generator
        if kind in ("static table", "mutable table"):
            return _table(kind, program.value({"table": entry["table"]}))
        if kind == "asset":
            return self._assets[entry["asset"]]
        if kind == "concrete":
            self.functions[number] = self._traces[entry["trace"]]
            return self.functions[number]
        if kind == "function":
            name, traces = entry["name"], entry["traces"]
            signature = forms.read_parameters(name, entry["parameters"], program)
            found = [self._traces[trace] for trace in traces]
            self.functions[number] = LoadedFunction(signature, found, entry["left_out"])
            return self.functions[number]
        return self._holder(number, kind, entry)

    def _holder(self, number: int, kind: str, entry: dict[str, Any]) -> Any:
        """An object that leads to others, perhaps to itself."""
        made: Any
        if kind == "object":
            held = entry["attributes"]
            cls = _CallableObject if "__call__" in held else LoadedObject
            made = self._objects[number] = cls.__new__(cls)
            for name, item in held.items():
                vars(made)[name] = self._item(item)
        elif kind == "dict":
            made = self._objects[number] = {}
            for key, item in entry["items"]:
                made[key] = self._item(item)
        elif kind == "list":
            made = self._objects[number] = []
            made += [self._item(item) for item in entry["items"]]
        elif kind == "tuple":
            made = tuple([self._item(item) for item in entry["items"]])
        else:
            raise ValueError(f"an object of the kind {kind!r}")
        return made

    def _item(self, item: Any) -> Any:
        if item is None:
            return None
        if "object" in item:
            return self._object(item["object"])
        if "constant" in item:
            return constant(self._program.value(item["constant"]))
        return self._program.value(item["value"])


def _table(kind: str, contents: Contents) -> Any:
    dtypes = contents.key_dtype, of_array(contents.default)
    made: Any = MutableHashTable(*dtypes, contents.default)
    if kind == "static table":
        nothing = KeyValueTensorInitializer([], [], *dtypes)
        made = StaticHashTable(nothing, contents.default)
    made._contents = contents
    return made
