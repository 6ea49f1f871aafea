"""Elements that are computed once, and then read from memory or from a file.

A file holds a line of JSON that says what the elements are, and then for each element a
byte 1 and its arrays, in NumPy's own format; a byte 0 is the end. Strings are an array
of their lengths and one of all bytes. The file is written beside its place and moved
there when it is complete, so that it is there as a whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from runtime.core.errors import DataLossError, NotFoundError
from runtime.core.types.dtypes import as_dtype, variant
from runtime.core.types.specs import TensorSpec
from runtime.data.node import Node, OfSource, Owned, Run, sticky
from runtime.data.structure import Array, Element, flat_specs
from runtime.ops.files.systems import local_name


class _Store(Owned):
    """The elements of a complete iteration, once there was one."""

    elements: list[Element] | None = None

    def fresh(self) -> _Store:
        """An empty one."""
        return _Store()


class CachedInMemory(OfSource):
    """The elements, kept in memory."""

    name = "CacheDataset"

    def __init__(self, source: Node) -> None:
        super().__init__(source)
        self._store = _Store()

    def start(self, run: Run) -> Iterator[Element]:
        """The elements of the source, or those that are kept."""
        if self._store.elements is not None:
            return iter(self._store.elements)
        source, elements, is_whole = self.source.start(run), list[Element](), True

        def item() -> Element | None:
            nonlocal is_whole
            try:
                element = next(source, None)
            except Exception:
                is_whole = False
                raise
            if element is not None:
                elements.append(element)
            elif is_whole:
                self._store.elements = elements
            return element

        return iter(item, None)


class CachedInFile(OfSource):
    """The elements, kept in a file."""

    name = "CacheDataset"

    def __init__(self, source: Node, filename: Any) -> None:
        super().__init__(source)
        self._path = Path(local_name(filename))
        if any(spec.dtype is variant for spec in flat_specs(source.spec)):
            raise TypeError("cache() into a file keeps tensors, and no data sets")

    def start(self, run: Run) -> Iterator[Element]:
        """The elements of the source, or those of the file."""
        if self._path.exists():
            return _read(self._path, self.spec)
        return _write(self._path, self.spec, self.source.start(run))


class SavedElements(Node):
    """The elements that `save_elements` wrote; their spec is in the file."""

    name = "LoadDataset"

    def __init__(self, path: Path, spec: Any = None) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                header = _header_of(file)
        except FileNotFoundError:
            raise NotFoundError(f"there are no elements in {path.parent}") from None
        if header is None:
            raise DataLossError(f"{path} is damaged, or no file of elements")
        if spec is None:
            if header["spec"] is None:
                raise ValueError(
                    f"{path.parent} has elements of classes; give their element_spec"
                )
            try:
                spec = _spec_of_data(header["spec"])
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise DataLossError(f"{path} is damaged: {error!r}") from None
        self.spec = spec

    def start(self, run: Run) -> Iterator[Element]:
        """The elements of the file."""
        return _read(self._path, self.spec)


def save_elements(node: Node, path: Path) -> None:
    """Write all elements of a data set to a file, which appears when it is whole."""
    if any(spec.dtype is variant for spec in flat_specs(node.spec)):
        raise TypeError("save() writes tensors, and no data sets")
    for _ in _write(path, node.spec, node.start(Run(node))):
        pass


def _header(spec: Any) -> dict[str, Any]:
    names = [part.dtype.name for part in flat_specs(spec)]
    return {"format": "tf.data elements 2", "components": names}


def _header_of(file: IO[bytes]) -> Any:
    """The first line of a file; None if that is not what is written here."""
    try:
        header = json.loads(file.readline(2**24))
    except ValueError:
        return None
    known = isinstance(header, dict) and header.get("format") == "tf.data elements 2"
    return header if known and {"components", "spec"} <= set(header) else None


def _spec_data(spec: Any) -> Any:
    """A structure of specs as plain data; None if it has objects of classes."""
    if type(spec) is TensorSpec:
        dims = spec.shape.dims
        return {"dtype": spec.dtype.name, "shape": dims and list(dims)}
    if type(spec) is tuple:
        parts = [_spec_data(part) for part in spec]
        return None if None in parts else {"tuple": parts}
    if type(spec) is dict and all(type(key) is str for key in spec):
        named = {key: _spec_data(part) for key, part in spec.items()}
        return None if None in named.values() else {"dict": named}
    return None


def _spec_of_data(data: Any) -> Any:
    if "tuple" in data:
        return tuple(map(_spec_of_data, data["tuple"]))
    if "dict" in data:
        return {key: _spec_of_data(part) for key, part in data["dict"].items()}
    return TensorSpec(data["shape"], as_dtype(data["dtype"]))


@sticky
def _write(path: Path, spec: Any, source: Iterator[Element]) -> Iterator[Element]:
    descriptor, temporary = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    header = {**_header(spec), "spec": _spec_data(spec)}
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(header).encode() + b"\n")
            for element in source:
                file.write(b"\1")
                for array in element:
                    _write_array(file, array)
                yield element
            file.write(b"\0")
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


@sticky
def _read(path: Path, spec: Any) -> Iterator[Element]:
    specs = flat_specs(spec)
    with path.open("rb") as file:
        header = _header_of(file)
        if header is None or {**_header(spec), "spec": header["spec"]} != header:
            raise DataLossError(
                f"{path} is no cache of these elements; remove it, or choose "
                "another name"
            )
        while (mark := file.read(1)) == b"\1":
            try:
                yield tuple([_read_array(file, part) for part in specs])
            except (ValueError, EOFError) as error:
                raise DataLossError(f"{path} is damaged: {error}") from None
        if mark != b"\0":
            raise DataLossError(f"{path} is damaged: it ends too early")


def _write_array(file: IO[bytes], array: Array) -> None:
    if array.dtype.kind != "O":
        np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        return
    texts = array.reshape(-1).tolist()
    lengths = np.array([len(text) for text in texts], np.int64).reshape(array.shape)
    np.lib.format.write_array(file, lengths, allow_pickle=False)
    file.write(b"".join(texts))


def _read_array(file: IO[bytes], spec: TensorSpec) -> Array:
    array: Array = np.lib.format.read_array(file, allow_pickle=False)
    if spec.dtype.kind != "O":
        if array.dtype != spec.dtype.np_dtype:
            raise ValueError(f"an array of {array.dtype} where {spec} was expected")
        return array
    found: Array = np.empty(array.shape, object)
    places = found.reshape(-1)
    for index, length in enumerate(array.reshape(-1).tolist()):
        places[index] = file.read(length)
        if len(places[index]) != length:
            raise EOFError("it ends within a string")
    return found
