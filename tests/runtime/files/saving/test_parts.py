"""Arrays that several processes write in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runtime.core.errors import DataLossError
from runtime.files.saving import parts

pytest.importorskip("safetensors")
WHOLE = np.arange(12.0).reshape(4, 3)


class Fake(parts.Alone):
    """One of two processes, which waits for nobody."""

    def __init__(self, index: int, token: str) -> None:
        self.index, self.count, self._token = index, 2, token

    def token(self) -> str:
        return self._token


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    parts.set_processes(parts.Alone())


def write(path: Path, array: Any, token: str, processes: Any = (1, 0)) -> None:
    """What two processes do, one after the other: the last one writes the file."""
    halves = [(place, [(2 * place, 2 * place + 2), (0, 3)]) for place in range(2)]
    for index in processes:
        parts.set_processes(Fake(index, token))
        own = {index: array[2 * index : 2 * index + 2]}
        divided = parts.Divided(array.shape, array.dtype, halves, own)
        parts.write(path, "kind", {"x": divided, "step": np.array(3)}, {"note": 1})


def test_parts_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, WHOLE, "aa")
    file = parts.PartedFile(path, "kind")

    assert (file.names, file.shape("x"), file.dtype("x").name) == (
        ["step", "x"],
        [4, 3],
        "float64",
    )
    np.testing.assert_array_equal(file.array("x"), WHOLE)
    assert file.array("step") == 3


def test_a_file_has_its_parts_until_another_has_all_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, WHOLE, "aa")
    write(path, -WHOLE, "bb", processes=[1])  # the other one dies
    np.testing.assert_array_equal(parts.PartedFile(path, "kind").array("x"), WHOLE)
    assert len(parts.parts_of(path)) == 3
    write(path, 2 * WHOLE, "cc")
    np.testing.assert_array_equal(parts.PartedFile(path, "kind").array("x"), 2 * WHOLE)
    assert len(parts.parts_of(path)) == 2


@pytest.mark.parametrize(
    ("harm", "text"),
    [
        (lambda part, other: part.unlink(), "a part of .* there is no file"),
        (lambda part, other: part.write_bytes(b"12345"), "damaged"),
        (
            lambda part, other: part.write_bytes(other.read_bytes()),
            "another checkpoint",
        ),
    ],
)
def test_parts_that_are_not_those_that_were_written(
    tmp_path: Path, harm: Callable[[Path, Path], Any], text: str
) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    write(path, WHOLE, "aa")
    write(other, WHOLE, "bb")
    harm(sorted(parts.parts_of(path))[0], sorted(parts.parts_of(other))[0])
    with pytest.raises(DataLossError, match=text):
        parts.PartedFile(path, "kind").array("x")
