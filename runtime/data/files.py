"""Readers: lines of text, records of TFRecord files, records of a fixed length, arrays.

A file is opened when an iteration comes to it, and closed at its end, or when the
iterator is dropped.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import IO, Any, ClassVar

import numpy as np

from runtime.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.data.checksums import masked_crc32c
from runtime.data.dataset import Dataset
from runtime.data.node import Node, Run, rows, sticky
from runtime.data.structure import Array, Element, normalized
from runtime.ops.arrays.shape import reshape
from runtime.ops.convert import convert_to_tensor
from runtime.ops.files.systems import files_of, refusals
from runtime.ops.text.each import text_array


def paths_argument(filenames: Any) -> Tensor:
    """Names of files as a vector of strings. Raises TypeError for others."""
    if isinstance(filenames, Dataset):
        names = list(filenames.as_numpy_iterator())
        tensor = convert_to_tensor(names, dtypes.string)
    elif isinstance(filenames, os.PathLike):
        tensor = convert_to_tensor(os.fspath(filenames))
    elif isinstance(filenames, (list, tuple)):
        names = [os.fspath(n) if isinstance(n, os.PathLike) else n for n in filenames]
        tensor = convert_to_tensor(names, dtypes.string)
    else:
        tensor = normalized(filenames)
    if tensor.dtype is not dtypes.string:
        raise TypeError(f"names of files are strings, not {filenames!r}")
    vector: Tensor = reshape(tensor, [-1])
    return vector


@contextmanager
def open_file(path: bytes, compression: str) -> Iterator[IO[bytes]]:
    """A file to read, unpacked.

    Raises NotFoundError if there is none, and DataLossError if it cannot be unpacked.
    """
    name = os.fsdecode(path)
    files, inside = files_of(path)
    unpacked: Any = {"GZIP": gzip.open, "ZLIB": _unpacked}.get(compression, nullcontext)
    try:
        with files.open(inside, "rb") as packed, unpacked(packed) as file:
            yield file
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {name!r}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataLossError(f"{name!r} is no {compression} file: {error}") from None


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_Unpacked(file), _PIECE)


class _Unpacked(io.RawIOBase):
    """What zlib unpacks of a file, as far as it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._zlib = zlib.decompressobj()

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as one piece of the file does."""
        found = b""
        while not found and not self._zlib.eof:
            packed = self._zlib.unconsumed_tail or self._file.read(_PIECE)
            found = self._zlib.decompress(packed, len(buffer))
            if not found and not packed:
                raise EOFError("it ends too early")
        buffer[: len(found)] = found
        return len(found)


def check_compression(compression: Any) -> str:
    """``""``, ``"GZIP"`` or ``"ZLIB"``. Raises InvalidArgumentError for others."""
    found = compression or ""
    if isinstance(found, bytes):
        found = found.decode()
    if found not in ("", "GZIP", "ZLIB"):
        raise InvalidArgumentError(
            f"files are compressed by 'GZIP', 'ZLIB' or not at all, not by {found!r}"
        )
    return str(found)


class _Files(Node):
    """What a function reads from each of several files, in turn."""

    def __init__(
        self, name: str, paths: Tensor, read: Callable[[bytes], Iterator[Array]]
    ) -> None:
        self.name = name
        self.spec: Any = TensorSpec((), dtypes.string)
        self._paths = paths
        self._read = read

    @sticky
    def start(self, run: Run) -> Iterator[Element]:
        """The contents, one by one."""
        for path in self._paths._array.tolist():  # type: ignore[attr-defined]
            for item in self._read(path):
                yield (item,)


class _Items(Dataset):
    """What is in files one after the other: `_items` reads it from one."""

    _items: ClassVar[Any]

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = check_compression(compression_type)
        items = type(self)._items

        def read(path: bytes) -> Iterator[Array]:
            with open_file(path, compression) as file:
                yield from map(text_array, items(file, os.fsdecode(path)))

        super().__init__(_Files(type(self).__name__, paths_argument(filenames), read))


def _lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    return (line.rstrip(b"\n").removesuffix(b"\r") for line in file)


class TextLineDataset(_Items):
    """The lines of text files, without the ends of lines.

    Args:
        filenames: a name, or a list, a tensor or a data set of names.
        compression_type: ``"GZIP"`` or ``"ZLIB"`` if they are compressed.

    The other arguments are TensorFlow's and change nothing.
    """

    _items = staticmethod(_lines)


class FixedLengthRecordDataset(Dataset):
    """Records of `record_bytes` bytes, as strings, between a header and a footer."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = check_compression(compression_type)
        length = int(record_bytes)
        if length < 1:
            raise ValueError(f"record_bytes must be positive, not {length}")

        def read(path: bytes) -> Iterator[Array]:
            with open_file(path, compression) as file:
                data = file.read()
            end = len(data) - int(footer_bytes or 0)
            start = int(header_bytes or 0)
            if (end - start) % length or end < start:
                raise InvalidArgumentError(
                    f"{os.fsdecode(path)!r} has {end - start} bytes of records, which "
                    f"is no multiple of {length}"
                )
            for place in range(start, end, length):
                yield text_array(data[place : place + length])

        paths = paths_argument(filenames)
        super().__init__(_Files("FixedLengthRecordDataset", paths, read))


class NpyDataset(Dataset):
    """The rows of the arrays in ``.npy`` files, which are not read at once.

    Arrays of Python objects are refused: reading them would run code of the file.
    """

    def __init__(self, filenames: Any, name: str | None = None) -> None:
        paths = paths_argument(filenames)
        arrays = [_mapped(path) for path in paths._array.tolist()]  # type: ignore[attr-defined]
        first = arrays[0]
        for array, path in zip(arrays, paths._array.tolist()):  # type: ignore[attr-defined]
            if array.dtype != first.dtype or array.shape[1:] != first.shape[1:]:
                raise ValueError(
                    f"{os.fsdecode(path)!r} has rows of another kind than the first "
                    "file"
                )
        super().__init__(_Rows(arrays))


def _mapped(path: bytes) -> Array:
    name = os.fsdecode(path)
    try:
        array = np.load(name, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {name!r}") from None
    except ValueError as error:
        raise DataLossError(f"{name!r} cannot be read: {error}") from None
    if not isinstance(array, np.ndarray) or array.ndim == 0:
        raise ValueError(f"{name!r} has no rows")
    return array


class _Rows(Node):
    name = "NpyDataset"

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = tuple(arrays)
        first = arrays[0]
        self.spec = TensorSpec(first.shape[1:], first.dtype)

    def cardinality(self) -> int:
        """The number of rows."""
        return sum(map(len, self._arrays))

    def start(self, run: Run) -> Iterator[Element]:
        """The rows, copied: the file may be changed later."""
        return ((np.array(row),) for array in self._arrays for row in rows(array))

    def has_blocks(self) -> bool:
        """Yes."""
        return True

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """Rows that lie side by side."""
        return (
            (np.array(array[start : start + size]),)
            for array in self._arrays
            for start in range(0, len(array), size)
        )


# --- TFRecord -------------------------------------------------------------------------

_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
#: A damaged length may ask for more bytes than there is memory.
_PIECE = 1 << 20


def _read(file: IO[bytes], length: int) -> bytes:
    """The next bytes; fewer at the end of the file, whatever length is asked for."""
    pieces = []
    while length and (piece := file.read(min(length, _PIECE))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _records(file: IO[bytes], name: str) -> Iterator[bytes]:
    place = 0
    while head := file.read(12):
        if len(head) < 12 or masked_crc32c(head[:8]) != _CHECKSUM.unpack(head[8:])[0]:
            raise DataLossError(f"{name!r} is damaged at byte {place}")
        (length,) = _LENGTH.unpack(head[:8])
        record = _read(file, length)
        tail = file.read(4)
        if len(record) < length or len(tail) < 4:
            raise DataLossError(f"{name!r} ends within the record at byte {place}")
        if masked_crc32c(record) != _CHECKSUM.unpack(tail)[0]:
            raise DataLossError(f"{name!r} is damaged in the record at byte {place}")
        yield record
        place += 16 + length


class TFRecordDataset(_Items):
    """The records of TFRecord files, as strings; arguments as of `TextLineDataset`.

    A record whose checksums do not fit, or a file that ends too early, is a
    DataLossError that says where.
    """

    _items = staticmethod(_records)


class TFRecordOptions:
    """How a `TFRecordWriter` writes: compressed by ``"GZIP"``, ``"ZLIB"`` or not."""

    def __init__(self, compression_type: Any = None, **unused: Any) -> None:
        self.compression_type = check_compression(compression_type)


class TFRecordWriter:
    """Writes records to a TFRecord file; a context manager that closes it.

    `options` are `TFRecordOptions`, or the name of a compression.
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        files, name = files_of(path)
        given = getattr(options, "compression_type", options)
        compression = check_compression(given)
        self._pack = zlib.compressobj() if compression == "ZLIB" else None
        with refusals():
            self._raw = self._file = files.open(name, "wb")
        if compression == "GZIP":
            self._file = gzip.GzipFile(fileobj=self._raw, mode="wb")

    def write(self, record: Any) -> None:
        """Append a record: bytes, or a string in UTF-8."""
        if isinstance(record, Tensor):
            record = record.numpy()
        data = record.encode() if isinstance(record, str) else bytes(record)
        length = _LENGTH.pack(len(data))
        self._put(length + _CHECKSUM.pack(masked_crc32c(length)))
        self._put(data + _CHECKSUM.pack(masked_crc32c(data)))

    def _put(self, data: bytes) -> None:
        self._file.write(data if self._pack is None else self._pack.compress(data))

    def flush(self) -> None:
        """Hand what was written to the system."""
        self._file.flush()

    def close(self) -> None:
        """Finish the file."""
        if self._file.closed:
            return
        if self._pack is not None:
            self._file.write(self._pack.flush())
        self._file.close()
        self._raw.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
