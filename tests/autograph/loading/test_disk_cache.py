"""Converted functions that are kept from one run of a program to the next."""

from __future__ import annotations

import linecache
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import autograph
from autograph import pipeline
from autograph.loading import disk_cache
from autograph.options import ConversionOptions

SOURCE = '''\
import copy

LIMIT = 3

def helper(x):
    return x + 1

def clip(x):
    """Text."""
    if x > LIMIT:
        x = helper(x)
    return [copy.copy(len(str(i))) for i in range(x)]

class Counter:
    __step = 2

    def count(self, n, *, start=1):
        while n > 0:
            n -= self.__step
            start += 1
        return start

def adder(k):
    def add(x):
        if x > k:
            x = x + k
        return x
    return add
'''


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("AUTOGRAPH_NO_CACHE", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    disk_cache._files.clear()
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    yield path
    disk_cache._files.clear()


def run(path: Path) -> dict[str, Any]:
    """The names of the program, as another process has them."""
    disk_cache._write()
    disk_cache._files.clear()
    code = compile(path.read_text(), str(path), "exec", dont_inherit=True)
    namespace: dict[str, Any] = {"__name__": "program", "__file__": str(path)}
    exec(code, namespace)
    return namespace


def conversions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are converted from now on."""
    names: list[str] = []
    convert_code = pipeline.convert_code

    def noted(function: FunctionType, options: ConversionOptions) -> Any:
        names.append(function.__qualname__)
        return convert_code(function, options)

    monkeypatch.setattr(pipeline, "convert_code", noted)
    return names


def results(names: dict[str, Any]) -> list[Any]:
    convert = autograph.convert
    counter = names["Counter"]()
    return [
        convert(names["clip"])(5),
        convert(names["clip"]).__doc__,
        convert(counter.count)(5),
        convert(counter.count)(5, start=3),
        convert(names["adder"](2))(3),
        convert(names["adder"](7))(3),
    ]


def test_what_was_converted_is_used_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = results(run(path))
    converted = conversions(monkeypatch)

    assert results(run(path)) == first
    assert converted == []
    assert len(list((path.parent / "__pycache__").iterdir())) == 1


def test_another_text_is_converted_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results(run(path))
    converted = conversions(monkeypatch)
    path.write_text(SOURCE.replace("x + 1", "x + 2"))

    assert len(autograph.convert(run(path)["clip"])(5)) == 7
    assert "clip" in converted


@pytest.mark.parametrize(
    ("name", "value"), [("copy", {"copy": round}), ("len", lambda text: 7)]
)
def test_other_meanings_of_names_are_converted_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    autograph.convert(run(path)["clip"])
    converted = conversions(monkeypatch)
    names = run(path)
    names[name] = value
    autograph.convert(names["clip"])

    assert converted == ["clip"]


def test_a_name_that_becomes_the_programs_own(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is called without conversion as a library's is not, as the program's."""
    path.write_text("def f(x):\n    return g(x)\n")
    names = run(path)
    names["g"] = os.path.abspath
    autograph.convert(names["f"])
    converted = conversions(monkeypatch)
    for g, expected in [(os.path.abspath, []), (results, ["f"])]:
        names = run(path)
        names["g"] = g
        autograph.convert(names["f"])
        assert converted == expected


def test_options_have_files_of_their_own(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    autograph.convert(run(path)["clip"])
    converted = conversions(monkeypatch)
    autograph.convert(run(path)["clip"], recursive=False)

    assert converted == ["clip"]
    disk_cache._write()
    assert len(list((path.parent / "__pycache__").iterdir())) == 2


def test_files_that_are_no_use(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    autograph.convert(run(path)["clip"])
    disk_cache._write()
    (file,) = (path.parent / "__pycache__").iterdir()
    content = file.read_bytes()
    converted = conversions(monkeypatch)
    for broken in (b"", content[:30], content[:16] + b"i\0\0\0\0"):
        disk_cache._files.clear()
        file.write_bytes(broken)
        autograph.convert(run(path)["clip"])

    assert converted == ["clip"] * 3


def test_malformed_entries_are_no_use(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    autograph.convert(run(path)["clip"])
    (file,) = disk_cache._files.values()
    assert file is not None
    ((place, (key, answers, code)),) = file.entries.items()
    converted = conversions(monkeypatch)
    broken: list[Any] = [None, 7, (), (key, answers), (key, [*answers], code)]
    broken += [(key, answers, b"code"), (key, {1: True}, code)]
    for entry in broken:
        disk_cache._files.clear()
        disk_cache.store(file.file, file.path, file.source, {place: entry})
        assert autograph.convert(run(path)["clip"])(1) == [1]

    assert converted == ["clip"] * len(broken)


def test_a_file_with_an_error_in_it_is_not_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read it might end the process, or give the code another meaning."""
    autograph.convert(run(path)["clip"])
    disk_cache._write()
    (file,) = (path.parent / "__pycache__").iterdir()
    content = file.read_bytes()
    converted = conversions(monkeypatch)
    disk_cache._files.clear()
    at = content.index(b"helper")
    file.write_bytes(content[:at] + b"hexper" + content[at + 6 :])

    assert len(autograph.convert(run(path)["clip"])(5)) == 6
    assert "clip" in converted


@pytest.mark.skipif(os.name == "nt", reason="permissions are of POSIX")
def test_who_may_not_read_the_source_may_not_read_the_cache(path: Path) -> None:
    path.chmod(0o644)
    autograph.convert(run(path)["clip"])
    disk_cache._write()
    (file,) = (path.parent / "__pycache__").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o644

    path.chmod(0o500)
    disk_cache._files.clear()
    autograph.convert(run(path)["helper"])
    disk_cache._write()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_was_edited_meanwhile_is_not_kept(path: Path) -> None:
    names = run(path)
    autograph.convert(names["helper"])  # reads the file
    path.write_text(SOURCE + "\n# more\n")

    linecache.checkcache()
    autograph.convert(names["clip"])

    assert [place[1] for file in disk_cache._files.values() for place in file.new] == [
        "helper"
    ]


def test_programs_add_to_each_others_files(path: Path) -> None:
    first = run(path)
    autograph.convert(first["clip"])
    mine = dict(disk_cache._files)
    disk_cache._files.clear()
    autograph.convert(first["helper"])
    disk_cache._write()
    disk_cache._files.update(mine)
    disk_cache._write()
    disk_cache._files.clear()
    autograph.convert(run(path)["adder"])
    (file,) = disk_cache._files.values()

    assert {place[1] for place in file.entries} == {"clip", "helper", "adder"}


def test_code_with_objects_in_it_is_not_kept(path: Path) -> None:
    helper = run(path)["helper"]
    constants = (*helper.__code__.co_consts, object())
    helper.__code__ = helper.__code__.replace(co_consts=constants)

    assert autograph.convert(helper)(1) == 2
    assert not disk_cache._files


def test_nothing_is_kept_where_that_is_asked_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRAPH_NO_CACHE", "1")
    autograph.convert(run(path)["clip"])
    disk_cache._write()

    assert not (path.parent / "__pycache__").exists()


def test_a_second_process_needs_no_compiler(path: Path) -> None:
    path.write_text(
        SOURCE + "import sys, autograph\n"
        "print(autograph.convert(clip)(5), 'gast' in sys.modules)\n"
    )
    environment = {
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "PATH": os.environ["PATH"],
    }
    shown = [
        subprocess.run(
            [sys.executable, path], env=environment, capture_output=True, text=True
        ).stdout.split("] ")
        for _ in range(2)
    ]

    assert [s[1].strip() for s in shown] == ["True", "False"]
    assert shown[0][0] == shown[1][0] == "[1, 1, 1, 1, 1, 1"


def test_the_digest_covers_every_file_of_the_compiler() -> None:
    compiler = Path(disk_cache.__file__).parents[1]
    named = {line.split()[1] for line in disk_cache._files_of("autograph")}
    assert named == {path.name for path in compiler.rglob("*.py")}
