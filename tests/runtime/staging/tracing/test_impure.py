"""What Python cannot know while it traces is said: chance, the time, input, files."""

import datetime
import io
import os
import random
import shutil
import time
import uuid
import warnings

import numpy as np

import runtime as tf


def warned(function, *args):
    """The result, and the lines of the file with the warnings of what it traced."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = tf.function(function)(*args)
    assert all(w.message.code == "AG322" and w.filename == __file__ for w in found)
    first = function.__code__.co_firstlineno
    return result, {w.lineno - first: str(w.message) for w in found}


def shuffled(x):
    items = [1, 2, 3]
    random.shuffle(items)
    return x + items[0]


def test_each_call_is_warned_of_at_its_line():
    def f(x):
        a = random.random()
        b = time.time() + time.time()
        c = np.random.rand()
        d = datetime.datetime.now().year
        if x > 0:
            e = uuid.uuid4().int % 2
        else:
            e = random.randint(1, 2)
        return x + a + b + c + d + e

    _, lines = warned(f, tf.constant(1.0, tf.float64))
    assert list(lines) == [1, 2, 3, 4, 6, 8]
    assert "calls random.random(): its result is a constant" in lines[1]
    assert "draw it with tf.random" in lines[1]
    assert "calls time.time()" in lines[2]
    assert "tf.random" not in lines[2]


def test_helpers_are_looked_at_and_methods_with_other_names():
    _, lines = warned(lambda x: shuffled(x), tf.constant(1))
    (text,) = lines.values()
    assert "random.shuffle()" in text


def test_files_that_are_written(tmp_path):
    path = tmp_path / "written"

    def f(x):
        with open(path, "w") as file:
            file.write("text")
        with open(path) as file:
            return x + len(file.read())

    result, lines = warned(f, tf.constant(1))
    assert int(result) == 5
    assert list(lines) == [1]
    assert "once for each trace" in lines[1]


def test_files_that_are_changed_under_the_names_of_tf(tmp_path):
    gfile, folder = tf.io.gfile, str(tmp_path)

    def f(x):
        with gfile.GFile(f"{folder}/a", "w") as file:
            file.write("text")
        gfile.copy(f"{folder}/a", f"{folder}/b")
        gfile.rename(f"{folder}/b", f"{folder}/c")
        gfile.remove(f"{folder}/c")
        gfile.mkdir(f"{folder}/d")
        gfile.makedirs(f"{folder}/d/e")
        gfile.rmtree(f"{folder}/d")
        return x + len(gfile.GFile(f"{folder}/a").read()) + len(gfile.listdir(folder))

    result, lines = warned(f, tf.constant(1))
    assert int(result) == 6
    assert list(lines) == [1, 3, 4, 5, 6, 7, 8]
    assert "calls open(): that happens once for each trace" in lines[1]
    assert "calls tf.io.gfile.copy(): that happens once for each" in lines[3]


def test_input_is_a_constant(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("5\n"))

    def f(x):
        return x + int(input())

    result, lines = warned(f, tf.constant(1))
    assert int(result) == 6
    assert "calls input()" in lines[1]


def test_what_is_meant_for_tracing_is_not_warned_of():
    def f(x):
        with tf.init_scope():
            time.time()
        return x + random.Random(3).randint(1, 6)  # the seed says

    result, lines = warned(f, tf.constant(0))
    assert int(result) == random.Random(3).randint(1, 6)
    assert not lines


def test_variables_that_are_created_may_begin_with_chance():
    created = []

    def f(x):
        if not created:
            created.append(tf.Variable(random.random()))
        return x + created[0]

    _, lines = warned(f, tf.constant(0.0))
    assert not lines


def test_outside_of_traces_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shuffled(1)


def test_a_line_is_warned_of_once():
    def f(x):
        return x + random.random()

    traced = tf.function(f)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default", tf.errors.TracingWarning)
        traced(tf.constant(1.0)), traced(tf.constant(1.0, tf.float64))
    assert len(found) == 1


def test_generators_without_a_seed():
    def f(x):
        a = random.Random().random()
        b = np.random.default_rng().random()
        c = np.random.default_rng(seed=None).random()
        d = np.random.default_rng(3).random() + random.Random(x=5).random()
        e = np.random.RandomState().rand() + np.random.RandomState(1).rand()
        return x + a + b + c + d + e

    _, lines = warned(f, tf.constant(0.0))
    assert list(lines) == [1, 2, 3, 5]
    assert "calls random.Random(): without a seed" in lines[1]
    assert "calls numpy.random.default_rng(): without a seed" in lines[2]


def test_what_changes_files(tmp_path):
    path = tmp_path / "written"

    def f(x):
        path.write_text("text")
        with path.open() as file:
            x += len(file.read())
        os.rename(path, tmp_path / "renamed")
        os.makedirs(tmp_path / "a" / "b")
        shutil.rmtree(tmp_path / "a")
        (tmp_path / "renamed").unlink()
        np.save(tmp_path / "array", np.ones(2))
        with (tmp_path / "open").open("w"):
            return x + len(os.listdir(tmp_path))

    result, lines = warned(f, tf.constant(0))
    assert int(result) == 6
    assert list(lines) == [1, 4, 5, 6, 7, 8, 9]
    for line, name in (
        (1, "pathlib.Path.write_text"),
        (4, "os.rename"),
        (8, "numpy.save"),
    ):
        assert f"calls {name}(): that happens once for each trace" in lines[line]
