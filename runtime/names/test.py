"""``tf.test``: what tests of programs ask, and a class for them on `unittest`."""

from __future__ import annotations

import os
import pkgutil
import random
import tempfile
import unittest
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from runtime.autodiff.check import compute_gradient
from runtime.core import config
from runtime.core.errors import OpError
from runtime.core.types import nest
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.shapes import TensorShape
from runtime.ops.random.state import set_seed

__all__ = [
    "TestCase", "compute_gradient", "gpu_device_name", "is_built_with_cuda",
    "is_built_with_gpu_support", "is_built_with_rocm", "is_built_with_xla",
    "is_gpu_available", "main",
]  # fmt: skip

Array = np.ndarray[Any, Any]

# --- what there is --------------------------------------------------------------------


def is_gpu_available(
    cuda_only: bool = False,
    min_cuda_compute_capability: tuple[int, int] | None = None,
) -> bool:
    """Whether JAX finds a GPU, and one of that capability at least.

    >>> is_gpu_available()
    False
    """
    found = config.list_physical_devices("GPU")
    details = map(config.experimental.get_device_details, found)
    least = min_cuda_compute_capability or (0, 0)
    return any(least <= known.get("compute_capability", (0, 0)) for known in details)


def gpu_device_name() -> str:
    """The name of the first GPU, ``''`` if there is none."""
    found = config.list_logical_devices("GPU")
    return found[0].name if found else ""


def _has_plugin(kind: str) -> bool:
    found = find_spec("jax_plugins")
    places = (found and found.submodule_search_locations) or ()
    return any(m.name.startswith(f"xla_{kind}") for m in pkgutil.iter_modules(places))


def is_built_with_cuda() -> bool:
    """Whether JAX's plugin for GPUs of NVIDIA is installed."""
    return _has_plugin("cuda")


def is_built_with_rocm() -> bool:
    """Whether JAX's plugin for GPUs of AMD is installed."""
    return _has_plugin("rocm")


def is_built_with_gpu_support() -> bool:
    """Whether a plugin of JAX for GPUs is installed."""
    return is_built_with_cuda() or is_built_with_rocm()


def is_built_with_xla() -> bool:
    """Whether JAX is installed, which brings XLA."""
    return find_spec("jax") is not None


# --- tests ----------------------------------------------------------------------------


def main(argv: list[str] | None = None) -> None:
    """Run the tests of the program: `unittest.main`."""
    unittest.main(argv=argv)


def _array(value: Any) -> Array:
    """A tensor, or what becomes one, with texts as bytes."""
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind == "U":
        return np.char.encode(array, "utf-8").astype(object)
    return array.astype(object) if array.dtype.kind == "S" else array


class TestCase(unittest.TestCase):
    """Tests that compare tensors, arrays, numbers and structures of these.

    >>> TestCase().assertAllClose([1.0, 2.0], [1.0, 2.1])
    Traceback (most recent call last):
        ...
    AssertionError: ...
    """

    def setUp(self) -> None:
        """Begin each test with the same random numbers."""
        seed = 87654321
        random.seed(seed)
        np.random.seed(seed)
        set_seed(seed)

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors, as arrays."""
        return nest.map_structure(
            lambda x: x.numpy() if hasattr(x, "numpy") else x, tensors
        )

    def get_temp_dir(self) -> str:
        """A folder for the test, which is removed after it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return os.fspath(folder.name)

    # --- equal and close --------------------------------------------------------------

    def _compare(self, check: Callable[..., Any], a: Any, b: Any, msg: Any) -> None:
        """Check arrays, or structures of arrays part by part."""
        if isinstance(a, Mapping):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self._compare(check, a[key], b[key], msg)
            return
        try:
            left, right = _array(a), _array(b)
        except (ValueError, TypeError):  # parts of several shapes
            self.assertEqual(len(a), len(b), msg)
            for one, other in zip(a, b):
                self._compare(check, one, other, msg)
            return
        self.assertEqual(left.shape, right.shape, msg)
        check(left, right, err_msg=msg or "")

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Shapes and elements are equal; NaN equals NaN."""
        self._compare(np.testing.assert_array_equal, a, b, msg)

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Shapes are equal and elements differ by ``atol + rtol * abs(b)`` at most."""

        def check(left: Array, right: Array, err_msg: str) -> None:
            np.testing.assert_allclose(left, right, rtol, atol, err_msg=err_msg)

        self._compare(check, a, b, msg)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        """As `assertAllClose`, with the tolerance of the narrower dtype."""
        wider = {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for value in (_array(a), _array(b)):
            more = wider.get(value.dtype.name, (rtol, atol))
            rtol, atol = max(rtol, more[0]), max(atol, more[1])
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Some elements differ."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertAllEqual(a, b)

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Some elements are not close."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertAllClose(a, b, rtol, atol)

    def assertNear(self, f1: Any, f2: Any, err: Any, msg: Any = None) -> None:
        """Two numbers differ by `err` at most."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, msg or f"{f1} is far of {f2}")

    # --- all elements -----------------------------------------------------------------

    def _all(self, a: Any, holds: Any, text: str) -> None:
        array = _array(a)
        wrong = array[~holds(array)]
        self.assertEqual(wrong.size, 0, f"not all elements are {text}: {wrong}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """All elements are greater than the target."""
        self._all(a, lambda x: x > comparison_target, f"> {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """No element is less than the target."""
        self._all(a, lambda x: x >= comparison_target, f">= {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """All elements are less than the target."""
        self._all(a, lambda x: x < comparison_target, f"< {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """No element is greater than the target."""
        self._all(a, lambda x: x <= comparison_target, f"<= {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """All elements lie between the bounds."""

        def inside(x: Array) -> Any:
            low = x > lower_bound if open_lower_bound else x >= lower_bound
            return low & (x < upper_bound if open_upper_bound else x <= upper_bound)

        self._all(target, inside, f"between {lower_bound} and {upper_bound}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """All elements are of the set."""
        allowed = list(expected_set)
        self._all(target, lambda x: np.isin(x, allowed), f"of {allowed}")

    # --- shapes, dtypes, errors -------------------------------------------------------

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: Any = None) -> None:
        """Two tensors or arrays have one shape."""
        first, second = (TensorShape(x.shape).as_list() for x in (input_a, input_b))
        self.assertEqual(first, second, msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """A tensor or an array is of the dtype."""
        self.assertEqual(as_dtype(_array(target).dtype), as_dtype(expected_dtype))

    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Any:
        """The block raises an error whose text has the pattern."""
        return self.assertRaisesRegex(exception_type, expected_err_re_or_predicate)

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """The block raises an error of an operation whose text has the pattern."""
        return self.assertRaisesRegex(OpError, expected_err_re_or_predicate)
