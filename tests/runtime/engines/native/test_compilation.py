"""When native code is made: before the first call, or while NumPy answers."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import runtime as tf
from runtime.engines import door as executors
from runtime.engines.native import compilation
from runtime.engines.native.background import Background


@pytest.fixture
def background(monkeypatch):
    monkeypatch.setattr(Background, "is_enabled", True)


@pytest.fixture
def held(background, monkeypatch):
    """Compiling waits for this."""
    go_on = threading.Event()
    compile_graph = compilation.compile_graph

    def held_back(*given):
        go_on.wait(30)
        return compile_graph(*given)

    monkeypatch.setattr(compilation, "compile_graph", held_back)
    yield go_on
    go_on.set()


def concrete_of(function, *arguments):
    return function.get_concrete_function(*arguments)


def test_numpy_answers_until_the_code_is_there(held):
    function = tf.function(lambda x: x * 2.0 + 1.0, executor="native")
    x = tf.constant([1.0, 2.0])
    concrete = concrete_of(function, x)

    early = function(x)
    program = concrete.executable
    numpy_run = program.run
    held.set()
    native = program.wait()

    assert type(native).__name__ == "Executable"
    assert native.executor == "native"
    assert program.run != numpy_run
    np.testing.assert_array_equal(early, function(x))
    np.testing.assert_array_equal(program([x.numpy()])[0], early)
    assert "define" in program.source


def test_jit_compile_waits():
    function = tf.function(lambda x: x * 2.0, jit_compile=True)

    assert concrete_of(function, tf.constant(1.0)).executable.executor == "native"
    assert not isinstance(
        concrete_of(function, tf.constant(1.0)).executable, Background
    )


def test_set_executor_compiles_in_the_background(background):
    tf.config.set_executor("native")
    try:
        function = tf.function(lambda x: x * 2.0)
        program = concrete_of(function, tf.constant(1.0)).executable
    finally:
        tf.config.set_executor("numpy")

    assert isinstance(program, Background)
    assert program.wait().executor == "native"


def test_a_fault_of_the_compiler_leaves_numpy(background, monkeypatch):
    def fail(*given):
        raise RecursionError("too deep")

    monkeypatch.setattr(compilation, "compile_graph", fail)
    function = tf.function(lambda x: x * 2.0, executor="native")
    program = concrete_of(function, tf.constant(1.0)).executable
    program._ended.wait()

    message = (
        r"AG325: .*could not be compiled to native code \(RecursionError: too deep"
    )
    with pytest.warns(tf.errors.CompilationWarning, match=message) as found:
        assert function(tf.constant(4.0)).numpy() == 8
    assert found[0].filename == __file__
    assert program.wait().executor == "numpy"
    assert str(program.failure) == "too deep"
    assert function(tf.constant(4.0)).numpy() == 8  # it warns once


def test_who_asks_about_a_program_that_has_failed_is_warned(background, monkeypatch):
    monkeypatch.setattr(compilation, "compile_graph", lambda *given: 1 // 0)
    function = tf.function(lambda x: x * 2.0, executor="native")
    program = concrete_of(function, tf.constant(1.0)).executable

    with pytest.warns(tf.errors.CompilationWarning, match="ZeroDivisionError"):
        assert program.wait().executor == "numpy"


def test_a_fault_while_a_call_waits_leaves_numpy(monkeypatch):
    monkeypatch.setattr(compilation, "compile_graph", lambda *given: 1 // 0)
    function = tf.function(lambda x: x * 2.0, jit_compile=True)

    with pytest.warns(tf.errors.CompilationWarning, match="ZeroDivisionError"):
        assert function(tf.constant(4.0)).numpy() == 8


def test_variables_go_on_when_the_code_comes(held):
    total = tf.Variable(0.0)
    function = tf.function(lambda x: total.assign_add(x), executor="native")
    one = tf.constant(1.0)

    function(one)
    held.set()
    concrete_of(function, one).executable.wait()
    function(one)

    assert total.numpy() == 2


def test_programs_go_away(background):
    function = tf.function(lambda x: x * 2.0, executor="native")
    program = concrete_of(function, tf.constant(1.0)).executable
    native = weakref.ref(program.wait())
    del function, program
    # The thread lets go of the last program a moment after it.
    other = tf.function(lambda x: x * 3.0, executor="native")
    concrete_of(other, tf.constant(1.0)).executable.wait()
    gc.collect()

    assert native() is None


@pytest.mark.parametrize(
    ("installed", "device", "expected"),
    [
        ({"llvmlite", "jax"}, None, "native"),
        ({"jax"}, None, "xla"),
        ({"llvmlite"}, "/CPU:0", "native"),
        ({"llvmlite", "jax"}, "/GPU:0", "xla"),
    ],
)
def test_what_jit_compile_is(monkeypatch, installed, device, expected):
    monkeypatch.setattr(executors, "find_spec", lambda name: name in installed or None)
    monkeypatch.setattr(executors, "current_device", lambda: device)
    concrete = concrete_of(tf.function(lambda x: x, jit_compile=True), tf.constant(1))

    assert concrete.executor == expected


PROGRAM = """
import os, threading
import runtime as tf
assert threading.active_count() == 1
import runtime.engines.native.background
assert threading.active_count() == 1
functions = [tf.function(lambda x, n=n: tf.exp(x) * n, executor="native")
             for n in range(20)]
concretes = [f.get_concrete_function(tf.ones([3])) for f in functions]
for f in functions:
    f(tf.ones([3]))
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        new = tf.function(lambda x: x * 2.0, executor="native")
        new(tf.ones([3]))
        kind = new.get_concrete_function(tf.ones([3])).executable.wait().executor
        last = concretes[-1].executable.wait().executor
        os._exit(0 if (kind, last) == ("native", "native") else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""


def test_a_process_ends_and_forks_while_code_is_made(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    done = subprocess.run(
        [sys.executable, "-W", "ignore", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_long_chain_of_operations_is_native():
    def chain(x):
        for i in range(1000):
            x = x * 0.5 + (1.0 if i % 2 else -1.0)
        return x

    function = tf.function(chain, jit_compile=True, autograph=False)
    x = np.linspace(0, 1, 7, dtype=np.float32)
    concrete = concrete_of(function, tf.constant(x))

    assert type(concrete.executable).__name__ == "Executable"
    np.testing.assert_array_equal(function(tf.constant(x)).numpy(), chain(x))
