"""Machine code on disk."""

import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import cache, machine
from runtime.engines.native.library import load
from tests.turns import EVERYTHING

TEXT = """
define i32 @answer(ptr %slots) {
  ret i32 42
}
"""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    load()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("AUTOGRAPH_NO_CACHE")
    monkeypatch.setattr(machine, "WORTH_KEEPING", -1)
    return tmp_path / "autograph-compiler" / "native"


@pytest.fixture
def made(monkeypatch):
    """The texts that LLVM optimised."""
    found = []
    optimized = machine._optimized

    def noted(text, target):
        found.append(text)
        return optimized(text, target)

    monkeypatch.setattr(machine, "_optimized", noted)
    return found


def answer(code):
    from ctypes import CFUNCTYPE, c_int32, c_void_p

    return CFUNCTYPE(c_int32, c_void_p)(code.address("answer"))(None)


def test_code_is_made_once(folder, made):
    assert answer(machine.assemble(TEXT)) == 42
    assert answer(machine.assemble(TEXT)) == 42
    assert made == [TEXT]
    assert answer(machine.assemble(TEXT.replace("42", "43"))) == 43


def test_the_folder_is_the_users_alone(folder):
    machine.assemble(TEXT)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.suffix for path in folder.iterdir()] == [".o"]


@pytest.mark.parametrize("change", ["other", "cut", "empty", "folder"])
def test_what_is_not_whole_is_made_anew(folder, made, change):
    machine.assemble(TEXT)
    (path,) = folder.iterdir()
    content = bytearray(path.read_bytes())
    if change == "folder":
        path.unlink()
        path.mkdir()
    else:
        content[len(content) // 2] ^= 1
        kept = {"other": content, "cut": content[:-9], "empty": b""}[change]
        path.write_bytes(kept)

    assert answer(machine.assemble(TEXT)) == 42
    assert len(made) == 2


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_others_write_to_is_not_used(folder, made):
    folder.mkdir(parents=True)
    folder.chmod(0o777)

    for _ in range(2):
        assert answer(machine.assemble(TEXT)) == 42

    assert len(made) == 2
    assert not list(folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_in_place_of_the_folder_is_not_used(folder, made, tmp_path):
    (tmp_path / "other").mkdir(mode=0o700)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(tmp_path / "other")

    machine.assemble(TEXT)

    assert not list((tmp_path / "other").iterdir())


def test_a_place_that_cannot_be_written_to_is_done_without(folder, tmp_path):
    (tmp_path / "autograph-compiler").write_text("a file")

    assert answer(machine.assemble(TEXT)) == 42


def test_the_environment_switches_it_off(folder, made, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_NO_CACHE", "1")
    machine.assemble(TEXT)
    machine.assemble(TEXT)

    assert len(made) == 2
    assert not folder.exists()


def test_another_processor_has_code_of_its_own(folder, made, monkeypatch):
    machine.assemble(TEXT)
    name, features = machine.processor()
    for other in (
        machine.Processor(name, {**features, "avx512f": False, "sse4.1": False}),
        machine.Processor("generic", features),
    ):
        monkeypatch.setattr(machine, "processor", lambda other=other: other)
        machine.assemble(TEXT)

    assert len(made) == 3


def test_old_files_go(folder, monkeypatch):
    for number in range(8):
        cache.store(str(number), bytes(1000))
        os.utime(folder / f"{number}.o", (number, number))
    monkeypatch.setattr(cache, "LIMIT", 5000)

    assert cache.load("0") == bytes(1000)  # which makes it new
    cache.store("8", bytes(1000))

    assert sorted(path.stem for path in folder.iterdir()) == ["0", "8"]


def test_small_code_is_not_worth_it(folder, monkeypatch):
    monkeypatch.setattr(machine, "WORTH_KEEPING", 1000)
    machine.assemble(TEXT)

    assert not folder.exists() or not list(folder.iterdir())


def test_threads_write_the_same(folder):
    threads = [
        threading.Thread(target=cache.store, args=("same", bytes(100_000)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert cache.load("same") == bytes(100_000)
    assert [path.name for path in folder.iterdir()] == ["same.o"]


PROGRAM = """
import numpy as np
import runtime as tf
from runtime.engines.native import machine
machine.WORTH_KEEPING = -1

@tf.function(jit_compile=True)
def f(x, n):
    table = tf.constant(np.arange(40.0))
    for i in tf.range(n):
        x += table[i % 40] * tf.exp(x) @ tf.ones([20, 20], tf.float64)
    while tf.reduce_sum(x) < 1000.0 and n != 0:
        x = tf.where(x > 1.0, x * 2.0, x + 1.0)
    return x, tf.reduce_max(x)

print(f(tf.ones([20, 20], tf.float64) / 1000.0, tf.constant(3))[1].numpy())
"""


@pytest.mark.skipif(not EVERYTHING, reason="two processes import everything")
def test_another_process_finds_all_code(folder, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    printed, files = [], []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, program],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "PYTHONHASHSEED": seed,
            },
            timeout=60,
            check=True,
        )
        printed.append(done.stdout)
        files.append({path.name for path in folder.iterdir()})

    assert printed[0] == printed[1]
    assert files[0] == files[1]
    assert len(files[0]) >= 2  # the program and the way into it


def test_the_text_of_a_program_has_no_addresses():
    def f(x, n):
        table = tf.constant(np.arange(40.0))
        for i in tf.range(n):
            x += table[i % 40] * tf.exp(x) @ tf.ones([20, 20], tf.float64)
        return x, tf.reduce_max(x)

    sources = [
        tf.function(f, jit_compile=True)
        .get_concrete_function(tf.ones([20, 20], tf.float64), 3)
        .to_source()
        for _ in range(2)
    ]

    assert sources[0] == sources[1]
