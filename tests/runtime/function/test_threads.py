"""Threads that trace at once, and processes that are forked in the middle of a trace.

Each program runs in a process of its own: one that hangs is killed, and fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 60
START = """
import os, signal, sys, threading
import runtime as tf

if hasattr(os, "fork"):  # A child that hangs ends by itself.
    os.register_at_fork(after_in_child=lambda: signal.alarm(30))

def both(*functions):
    threads = [threading.Thread(target=f, daemon=True) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def run(program: str, tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(START + program)
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(path)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_functions_that_call_each_other_while_they_are_traced(tmp_path: Path) -> None:
    program = """
inside, other = threading.Event(), threading.Event()

@tf.function
def f(x, more):
    if more:
        inside.set()
        other.wait(0.2)  # the other thread cannot trace meanwhile
        with tf.init_scope():
            g(tf.constant(1), False)
    return x + 1

@tf.function
def g(x, more):
    if more:
        other.set()
        with tf.init_scope():
            f(tf.constant(1), False)
    return x + 2

def second():
    inside.wait(20)
    results.update(g=int(g(tf.constant(1), True)))

results = {}
both(lambda: results.update(f=int(f(tf.constant(1), True))), second)
print(sorted(results.items()))
"""
    assert run(program, tmp_path) == "[('f', 2), ('g', 3)]\n"


def test_traces_over_one_object_wait_for_each_other(tmp_path: Path) -> None:
    program = """
class Counter:
    value = 0

counter = Counter()

def step(x, number):
    for _ in range(8):  # each is staged with its own tensors in `counter.value`
        if x > number:
            counter.value = x + number
        else:
            counter.value = x - number
    return counter.value * 1

def calls(number):
    for _ in range(5):
        try:
            results.append(int(tf.function(step)(tf.constant(5), number)) in range(9))
        except Exception as error:
            results.append(repr(error))

sys.setswitchinterval(1e-5)
results = []
both(*[lambda number=number: calls(number) for number in range(4)])
print(len(results), set(results))
"""
    assert run(program, tmp_path) == "20 {True}\n"


def test_a_trace_that_fails_lets_others_trace(tmp_path: Path) -> None:
    program = """
@tf.function
def fails(x):
    raise ValueError("now")

@tf.function
def works(x):
    return x + 1

def first():
    try:
        fails(tf.constant(1))
    except ValueError as error:
        results.append(str(error))

results = []
both(first)
both(lambda: results.append(int(works(tf.constant(1)))))
print(results)
"""
    assert run(program, tmp_path) == "['now', 2]\n"


OWN_THREAD = """
from concurrent.futures import ThreadPoolExecutor
from runtime.function import tracer

tracer.PATIENCE = 0.3
pool = ThreadPoolExecutor(1)
pool.submit(int).result(30)  # Its thread is older than the trace.

def by_thread(call):
    results = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    thread.join(timeout=30)
    assert not thread.is_alive()
    return results[0]

def by_pool(call):
    return pool.submit(call).result(30)

def call():
    try:
        return int(f(tf.constant(1.0)))
    except tf.errors.WaitingThreadsError as error:
        return str(error)

@tf.function
def f(x):
    results.append(%s(call))
    return x * 2

results = []
print(int(f(tf.constant(1))))
print(results[0])
pool.shutdown()
"""


@pytest.mark.parametrize("way", ["by_thread", "by_pool"])
def test_a_trace_that_waits_for_a_thread_that_traces(way: str, tmp_path: Path) -> None:
    result, error = run(OWN_THREAD % way, tmp_path).splitlines()
    assert result == "2"
    assert "program.py:" in error
    assert "AG307: 'f' is to be traced, but another thread" in error


FORK = """
inside, go_on = threading.Event(), threading.Event()

@tf.autograph.experimental.do_not_convert
def wait():
    # Not in the child: an event has a lock, which the thread may hold at the fork.
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        go_on.wait(20)

@tf.function
def f(x):
    %s
    if x > 0:
        x = x + 1
    return x * 2

@tf.function
def other(x):
    if x > 0:
        x = x - 1
    return x

def end(check):
    sys.stdout.flush()
    try:
        os._exit(0 if check() else 1)
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(2)

def check():
    return int(f(tf.constant(1))) == 4 and int(other(tf.constant(3))) == 2
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
def test_fork_while_another_thread_traces(tmp_path: Path) -> None:
    program = """
thread = threading.Thread(target=lambda: f(tf.constant(1)), daemon=True)
thread.start()
inside.wait(20)
child = os.fork()
if not child:
    from autograph.operators.activity import staging
    end(lambda: check() and staging.idle)
go_on.set()
thread.join()
print(os.waitpid(child, 0)[1], check())
"""
    body = "wait()"
    assert run(FORK % body + program, tmp_path) == "0 True\n"


@needs_fork
def test_fork_within_a_trace(tmp_path: Path) -> None:
    program = """
children = []
value = int(f(tf.constant(1)))
if not children[0]:
    end(lambda: value == 4 and check())
print(os.waitpid(children[0], 0)[1], value, check())
"""
    body = "children.append(os.fork())"
    assert run(FORK % body + program, tmp_path) == "0 4 True\n"


@needs_fork
def test_fork_while_another_thread_converts(tmp_path: Path) -> None:
    """The child converts functions, too, and finds no lock taken."""
    program = """
from autograph import pipeline

def slowly(function):
    def wrapped(*args, **kwargs):
        wait()
        return function(*args, **kwargs)
    return wrapped

pipeline.with_both_forms = slowly(pipeline.with_both_forms)
thread = threading.Thread(target=lambda: f(tf.constant(1)), daemon=True)
thread.start()
inside.wait(20)
child = os.fork()
if not child:
    end(check)
go_on.set()
thread.join()
print(os.waitpid(child, 0)[1], check())
"""
    assert run(FORK % "pass" + program, tmp_path) == "0 True\n"


@needs_fork
def test_fork_while_variables_are_assigned(tmp_path: Path) -> None:
    program = """
variable = tf.Variable(1)
variable._lock.acquire()
child = os.fork()
if not child:
    end(lambda: int(variable.assign_add(2)) == 3)
print(os.waitpid(child, 0)[1])
"""
    assert run(FORK % "pass" + program, tmp_path) == "0\n"
