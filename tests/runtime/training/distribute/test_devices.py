"""Eight devices of one process, which another process has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytest.importorskip("sklearn")
ROOT = Path(__file__).parents[4]


@pytest.mark.slow
def test_on_eight_devices() -> None:
    here = "tests/runtime/training/distribute"
    files = [f"{here}/on_eight_devices.py", f"{here}/strategies_on_eight_devices.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:]
