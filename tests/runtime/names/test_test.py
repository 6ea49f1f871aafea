"""`tf.test`: what passes and fails is what does under TensorFlow 2.21."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

PASSES = """
assertAllEqual([1, 2], tf.constant([1, 2]))
assertAllEqual([nan], [nan])
assertAllEqual(tf.constant(["a"]), ["a"])
assertAllEqual(tf.constant(["a"]), [b"a"])
assertAllEqual("a", tf.constant("a"))
assertAllEqual(tf.constant(1), np.float32(1))
assertAllEqual([[1], [2, 3]], [[1], [2, 3]])
assertAllEqual([], [])
assertAllClose(1.0, 1.0000001)
assertAllClose(1.0, 1.1, atol=0.2)
assertAllClose([nan, 1.0], [nan, 1.0])
assertAllClose({"a": [1.0], "b": tf.constant(2.0)}, {"a": [1.0], "b": 2.0})
assertAllClose([tf.constant(1.0), tf.constant([2.0, 3.0])], [1.0, [2.0, 3.0]])
assertAllClose((1.0, [2.0, 3.0]), [1.0, [2.0, 3.0]])
assertAllClose([True], [True])
assertAllCloseAccordingToType(tf.constant([1.0], tf.float16), np.float16([1.001]))
assertNotAllEqual([1, 2], [1, 3])
assertNotAllEqual([1, 2], [1, 2, 3])
assertNotAllClose([1.0, 2.0], [1.0, 2.1])
assertNear(1.0, 1.1, 0.2)
assertAllGreater([1, 2], 0)
assertAllGreaterEqual([1, 2], 1)
assertAllLess(tf.constant([1, 2]), 3)
assertAllLessEqual([1, 2], 2)
assertAllInRange([1, 2], 1, 2)
assertAllInSet([1, 2], (1, 2, 3))
assertShapeEqual(np.zeros([2, 3]), tf.zeros([2, 3]))
assertShapeEqual(tf.zeros([2, 3]), np.zeros([2, 3]))
assertDTypeEqual(tf.zeros([2]), np.float32)
assertDTypeEqual(tf.zeros([2]), tf.float32)
""".strip().splitlines()

FAILS = """
assertAllEqual([1, 2], [1, 3])
assertAllEqual(1, [1, 1])
assertAllEqual(tf.constant(["a"]), ["b"])
assertAllClose(1.0, 1.1)
assertAllClose([1.0], [[1.0]])
assertAllClose([nan, 1.0], [2.0, 1.0])
assertAllClose({"a": [1.0]}, {"b": [1.0]})
assertAllClose({"a": [1.0]}, {"a": [2.0]})
assertAllClose([tf.constant(1.0), tf.constant([2.0, 3.0])], [1.0, [2.0, 4.0]])
assertAllCloseAccordingToType(tf.constant([1.0]), np.float32([1.001]))
assertNotAllEqual([1, 2], [1, 2])
assertNotAllClose([1.0, 2.0], [1.0, 2.0])
assertNear(1.0, 1.3, 0.2)
assertNear(nan, 1.3, 0.2)
assertAllGreater([1, 2], 1)
assertAllGreater([nan], 1)
assertAllGreaterEqual([1, 2], 2)
assertAllLess([1, 2], 2)
assertAllLessEqual([1, 2], 1)
assertAllInRange([1, 2], 1, 2, open_lower_bound=True)
assertAllInRange([1, 2], 1, 2, open_upper_bound=True)
assertAllInRange([nan], 1, 2)
assertAllInSet([1, 4], (1, 2, 3))
assertShapeEqual(np.zeros([2, 3]), tf.zeros([3, 2]))
assertDTypeEqual(np.zeros([2]), np.float32)
""".strip().splitlines()

PROGRAM = """
import runtime as tf

class Test(tf.test.TestCase):
    def test_one(self):
        self.first = float(tf.random.uniform([]))
        self.assertAllClose(self.evaluate([tf.constant(1.0)]), [1.0])
        assert __import__("os").path.isdir(self.get_temp_dir())

    def test_two(self):
        with self.assertRaisesOpError("must not be 0"):
            tf.data.Dataset.range(1, 2, 0)
        self.assertAllEqual([1], [2], "a message of mine")

tf.test.main()
"""


def check(text: str) -> None:
    eval(
        f"test.{text}",
        {"test": tf.test.TestCase(), "tf": tf, "np": np, "nan": float("nan")},
    )


@pytest.mark.parametrize("text", PASSES)
def test_passes(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", FAILS)
def test_fails(text: str) -> None:
    with pytest.raises(AssertionError):
        check(text)


def test_a_program_of_tests(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "Ran 2 tests" in done.stderr
    assert "FAILED (failures=1)" in done.stderr
    assert "a message of mine" in done.stderr


def test_tests_begin_with_the_same_random_numbers() -> None:
    drawn = []
    for _ in range(2):
        tf.test.TestCase().setUp()
        drawn.append([float(tf.random.uniform([])), float(np.random.rand())])

    assert drawn[0] == drawn[1]


def test_folders_are_removed() -> None:
    test = tf.test.TestCase()
    folder = Path(test.get_temp_dir())

    assert folder.is_dir()
    test.doCleanups()
    assert not folder.exists()


def test_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def gpus(kind: str | None = None) -> list[Any]:
        return [tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")]

    assert tf.test.gpu_device_name() == ""
    assert not tf.test.is_gpu_available()
    assert tf.test.is_built_with_gpu_support() == (
        tf.test.is_built_with_cuda() or tf.test.is_built_with_rocm()
    )

    monkeypatch.setattr(tf.config, "list_physical_devices", gpus)
    details = {"compute_capability": (8, 6)}
    monkeypatch.setattr(
        tf.config.experimental, "get_device_details", lambda device: details
    )
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(8, 0))
    assert not tf.test.is_gpu_available(min_cuda_compute_capability=(9, 0))
