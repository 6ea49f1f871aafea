"""A file of named tensors with a record: safetensors, JSON and checksums.

The tensors are stored by the safetensors library. Strings, of which that format knows
nothing, become bytes and the ends of the strings among them; complex numbers become
pairs of numbers. The record is any value of JSON. It and a description of each tensor
(dtype, shape, checksum) are one JSON text in the header of the file, beside the
checksum of that text. So a file that was damaged is told from a whole one, tensor by
tensor, and reading it runs no code.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runtime.core.errors import DataLossError, NotFoundError
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype, of_array

Array = np.ndarray[Any, Any]

#: The version of this layout: a reader refuses a later one.
VERSION = 1
_ENDS = "/ends"
#: How complex numbers are stored.
_PAIRS = {dtypes.complex64: np.float32, dtypes.complex128: np.float64}


def write_tensor_file(
    path: Path, kind: str, arrays: Mapping[str, Array], record: Any
) -> None:
    """Write a file with these tensors and this record; `kind` says what it is for.

    Raises ModuleNotFoundError if safetensors is not installed.
    """
    library = _library()
    stored: dict[str, Array] = {}
    described = {}
    for name, array in arrays.items():
        parts = _stored(name, array)
        if not stored.keys().isdisjoint(parts):
            raise ValueError(f"two tensors cannot both be called {name!r} in a file")
        stored.update(parts)
        described[name] = {
            "dtype": of_array(array).name,
            "shape": list(array.shape),
            "crc32": [_checksum(part) for part in parts.values()],
        }
    content = json.dumps(
        {"version": VERSION, "tensors": described, "record": record},
        separators=(",", ":"),
    )
    metadata = {
        "format": kind,
        "content": content,
        "crc32": str(zlib.crc32(content.encode())),
    }
    library.numpy.save_file(stored, str(path), metadata)


class TensorFile:
    """A file of `write_tensor_file`, open for reading; tensors are read on demand.

    Raises NotFoundError if there is no such file, DataLossError if it is damaged or no
    such file at all, and ModuleNotFoundError if safetensors is not installed.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        library = _library()
        if not path.is_file():
            raise NotFoundError(f"there is no file {str(path)!r}")
        try:
            self._file = library.safe_open(str(path), framework="np")
            metadata = self._file.metadata() or {}
        except (library.SafetensorError, OSError, ValueError) as error:
            raise damaged(path, str(error)) from None
        if metadata.get("format") != kind:
            raise _of_other_kind(path, kind, metadata.get("format"))
        content = self._content(metadata)
        #: What was written beside the tensors.
        self.record: Any = content["record"]
        self._described: dict[str, Any] = content["tensors"]

    def _content(self, metadata: Mapping[str, str]) -> Any:
        text = metadata.get("content", "")
        if str(zlib.crc32(text.encode())) != metadata.get("crc32"):
            raise damaged(self.path, "the checksum of its header is wrong")
        try:
            content = json.loads(text)
            version = content["version"]
            if isinstance(version, int) and version <= VERSION:
                self._check(content)
                return content
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise damaged(self.path, f"its header is wrong: {error}") from None
        raise DataLossError(
            f"{str(self.path)!r} has version {version!r} of the format, and this "
            f"release reads versions up to {VERSION}: read it with a later release"
        )

    def _check(self, content: Any) -> None:
        """Raise ValueError, KeyError or TypeError unless all tensors are described."""
        names = set(self._file.keys())
        for name, described in content["tensors"].items():
            dtype = as_dtype(str(described["dtype"]))
            sizes, sums = described["shape"], described["crc32"]
            if not all(type(size) is int and size >= 0 for size in sizes):
                raise ValueError(f"the shape of {name!r}")
            parts = [name, name + _ENDS] if dtype is dtypes.string else [name]
            if len(sums) != len(parts) or not names.issuperset(parts):
                raise ValueError(f"the tensor {name!r} is missing")
            names.difference_update(parts)
        if names:
            raise ValueError(f"it has tensors that nobody named: {sorted(names)}")
        if "record" not in content:
            raise KeyError("record")

    @property
    def names(self) -> list[str]:
        """The names of the tensors, sorted."""
        return sorted(self._described)

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor."""
        return as_dtype(self._description(name)["dtype"])

    def shape(self, name: str) -> list[int]:
        """The shape of a tensor."""
        return list(self._description(name)["shape"])

    def array(self, name: str) -> Array:
        """A tensor. Raises DataLossError if it is not what was written."""
        described = self._description(name)
        dtype, shape = self.dtype(name), tuple(described["shape"])
        sums = described["crc32"]
        stored = self._part(name, sums[0])
        if dtype is dtypes.string:
            ends = self._part(name + _ENDS, sums[1])
            return self._strings(name, stored, ends, shape)
        if dtype in _PAIRS:
            expected: Any = (_PAIRS[dtype], (*shape, 2))
        else:
            expected = (dtype.np_dtype, shape)
        if stored.dtype != expected[0] or stored.shape != expected[1]:
            raise damaged(self.path, f"the tensor {name!r} has another form")
        if dtype in _PAIRS:
            return stored.view(dtype.np_dtype).reshape(shape)
        return stored

    def _part(self, name: str, checksum: int) -> Array:
        try:
            stored: Array = self._file.get_tensor(name)
        except (_library().SafetensorError, KeyError, ValueError, TypeError) as error:
            raise damaged(self.path, f"the tensor {name!r}: {error}") from None
        if _checksum(stored) != checksum:
            raise damaged(self.path, f"the checksum of the tensor {name!r} is wrong")
        return stored

    def _strings(
        self, name: str, text: Array, ends: Array, shape: tuple[int, ...]
    ) -> Array:
        size = math.prod(shape)
        fits = text.dtype == np.uint8 and text.ndim == 1
        fits = fits and ends.dtype == np.uint64 and ends.shape == (size,)
        if fits and size:
            fits = ends[-1] == len(text) and bool(np.all(ends[:-1] <= ends[1:]))
        if not fits:
            raise damaged(self.path, f"the tensor {name!r} has another form")
        data = text.tobytes()
        strings = np.empty(size, object)
        start = 0
        for index, end in enumerate(ends.tolist()):
            strings[index] = data[start:end]
            start = end
        return strings.reshape(shape)

    def _description(self, name: str) -> Any:
        if name not in self._described:
            raise NotFoundError(f"{str(self.path)!r} has no tensor {name!r}")
        return self._described[name]


def damaged(path: Path, reason: str) -> DataLossError:
    """The error for a file that is not what was written."""
    return DataLossError(f"{str(path)!r} is damaged or of another kind: {reason}")


def _of_other_kind(path: Path, kind: str, found: str | None) -> DataLossError:
    """The error for a file of safetensors that is none of this kind."""
    if found is not None and found.startswith("runtime."):
        return damaged(path, f"its format is {found!r}, not {kind!r}")
    return damaged(
        path,
        f"it has no header of the format {kind!r}, as files of safetensors that other "
        f"programs write: safetensors.numpy.load_file({str(path)!r}) gives their "
        "arrays by name, for Variable.assign",
    )


def _library() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError:
        raise ModuleNotFoundError(
            "saving and restoring need the package safetensors: "
            "pip install 'autograph-compiler[saving]'",
            name="safetensors",
        ) from None
    return safetensors


def _stored(name: str, array: Array) -> dict[str, Array]:
    """What a tensor becomes in the file: itself, unless the format has no such type."""
    dtype = of_array(array)
    # `ascontiguousarray` makes a vector of a scalar.
    array = np.ascontiguousarray(array).reshape(array.shape)
    if dtype in _PAIRS:
        return {name: array.reshape(*array.shape, 1).view(_PAIRS[dtype])}
    if dtype is not dtypes.string:
        return {name: array}
    strings = [_as_bytes(item) for item in array.reshape(-1).tolist()]
    text = np.frombuffer(b"".join(strings), np.uint8)
    ends = np.cumsum([len(item) for item in strings], dtype=np.uint64)
    return {name: text, name + _ENDS: ends}


def _as_bytes(item: str | bytes) -> bytes:
    return item.encode() if isinstance(item, str) else item


def _checksum(array: Array) -> int:
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return zlib.crc32(array.reshape(-1).view(np.uint8).data)
