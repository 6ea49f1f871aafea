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

from runtime.data.node import Node, Owned, Run, Sticky
from runtime.data.structure import Array, Element, flat_specs
from runtime.errors import DataLossError
from runtime.types.dtypes import variant
from runtime.types.specs import TensorSpec

__all__ = ["CachedInFile", "CachedInMemory"]


class _Cached(Node):
    name = "CacheDataset"

    def __init__(self, source: Node) -> None:
        self.source = source
        self.spec = source.spec

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()


class _Store(Owned):
    """The elements of a complete iteration, once there was one."""

    elements: list[Element] | None = None

    def fresh(self) -> _Store:
        """An empty one."""
        return _Store()


class CachedInMemory(_Cached):
    """The elements, kept in memory."""

    def __init__(self, source: Node) -> None:
        super().__init__(source)
        self._store = _Store()

    def start(self, run: Run) -> Iterator[Element]:
        """The elements of the source, or those that are kept."""
        if self._store.elements is not None:
            return iter(self._store.elements)
        return _Keeping(self.source.start(run), self._store)


class _Keeping:
    def __init__(self, source: Iterator[Element], store: _Store) -> None:
        self._source = source
        self._store = store
        self._elements: list[Element] = []
        self._whole = True

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        try:
            element = next(self._source)
        except StopIteration:
            if self._whole:
                self._store.elements = self._elements
            raise
        except Exception:
            self._whole = False
            raise
        self._elements.append(element)
        return element


class CachedInFile(_Cached):
    """The elements, kept in a file."""

    def __init__(self, source: Node, filename: Any) -> None:
        super().__init__(source)
        self._path = Path(os.fsdecode(filename))
        if any(spec.dtype is variant for spec in flat_specs(source.spec)):
            raise TypeError("cache() into a file keeps tensors, and no data sets")

    def start(self, run: Run) -> Iterator[Element]:
        """The elements of the source, or those of the file."""
        if self._path.exists():
            return Sticky(self._read())
        return Sticky(self._write(self.source.start(run)))

    @property
    def _header(self) -> dict[str, Any]:
        specs = flat_specs(self.spec)
        return {
            "format": "tf.data cache 1",
            "components": [s.dtype.name for s in specs],
        }

    def _write(self, source: Iterator[Element]) -> Iterator[Element]:
        descriptor, temporary = tempfile.mkstemp(
            prefix=self._path.name, dir=self._path.parent
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps(self._header).encode() + b"\n")
                for element in source:
                    file.write(b"\1")
                    for array in element:
                        _write_array(file, array)
                    yield element
                file.write(b"\0")
            os.replace(temporary, self._path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)

    def _read(self) -> Iterator[Element]:
        specs = flat_specs(self.spec)
        with self._path.open("rb") as file:
            try:
                header = json.loads(file.readline())
            except ValueError:
                header = None
            if header != self._header:
                raise DataLossError(
                    f"{self._path} is no cache of these elements; remove it, or choose "
                    "another name"
                )
            while (mark := file.read(1)) == b"\1":
                try:
                    yield tuple([_read_array(file, spec) for spec in specs])
                except (ValueError, EOFError) as error:
                    raise DataLossError(f"{self._path} is damaged: {error}") from None
            if mark != b"\0":
                raise DataLossError(f"{self._path} is damaged: it ends too early")


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
