"""Whole files as strings: ``tf.io.read_file``, ``write_file`` and ``matching_files``.

Files change while a program runs. The ops have effects, so that a graph reads and
writes each time it runs, in the order of the program.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import as_tensor
from runtime.ops.files.systems import files_of, refusals
from runtime.ops.operands import define, run
from runtime.ops.shapes import spec
from runtime.ops.text.each import text_array, text_vector

Array = np.ndarray[Any, Any]


def _scalar(what: str, x: TensorSpec) -> None:
    if x.shape.rank not in (0, None):
        raise InvalidArgumentError(f"{what} is one string, not strings of {x.shape}")


def _infer_read(filename: TensorSpec) -> TensorSpec:
    _scalar("the name of a file", filename)
    return spec((), dtypes.string)


def _read(filename: Array) -> Array:
    _scalar("the name of a file", TensorSpec(filename.shape, dtypes.string))
    files, name = files_of(filename.item())
    with refusals(), files.open(name, "rb") as file:
        return text_array(file.read())


def _infer_write(filename: TensorSpec, contents: TensorSpec) -> tuple[()]:
    _scalar("the name of a file", filename)
    _scalar("what a file has in it", contents)
    return ()


def _write(filename: Array, contents: Array) -> tuple[()]:
    _infer_write(*(TensorSpec(x.shape, dtypes.string) for x in (filename, contents)))
    files, name = files_of(filename.item())
    with refusals():
        files.makedirs(os.path.dirname(name) or ".")
        with files.open(name, "wb") as file:
            file.write(contents.item())
    return ()


def _infer_matching(pattern: TensorSpec) -> TensorSpec:
    if (pattern.shape.rank or 0) > 1:
        raise InvalidArgumentError(
            f"patterns are one string or a vector, not strings of {pattern.shape}"
        )
    return spec((None,), dtypes.string)


def _matching(pattern: Array) -> Array:
    _infer_matching(TensorSpec(pattern.shape, dtypes.string))
    found = []
    with refusals():
        for one in pattern.reshape(-1).tolist():
            files, inside = files_of(one)
            found += files.matches(inside)
    return text_vector([os.fsencode(name) for name in sorted(found)])


for _name, _kernel, _infer in (
    ("ReadFile", _read, _infer_read),
    ("WriteFile", _write, _infer_write),
    ("MatchingFiles", _matching, _infer_matching),
):
    define(_name, _kernel, _infer, takes="O", family="text", stateful=True)


def _path(value: Any) -> Any:
    return as_tensor(os.fspath(value) if isinstance(value, os.PathLike) else value)


def read_file(filename: Any, name: str | None = None) -> Any:
    """The bytes of a file as a string. Raises NotFoundError if it is not there."""
    return run("ReadFile", _path(filename), name=name)


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a string to a file, and make the folders above it.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "folder", "file")
    >>> write_file(path, "text")
    >>> read_file(path).numpy()
    b'text'
    """
    run("WriteFile", _path(filename), as_tensor(contents), name=name)


def matching_files(pattern: Any, name: str | None = None) -> Any:
    """The sorted names of the files that match a pattern, or one of a vector.

    ``*`` and ``?`` match what is within one name, as in `tf.io.gfile.glob`.
    """
    return run("MatchingFiles", _path(pattern), name=name)
