"""``tf.profiler.experimental`` writes what Python's profiler found."""

from __future__ import annotations

import pstats
from pathlib import Path

import pytest

import runtime as tf

profiler = tf.profiler.experimental


def work() -> None:
    sorted(range(3))


def test_a_block_is_profiled(tmp_path: Path) -> None:
    with profiler.Profile(str(tmp_path / "logs")):
        with profiler.Trace("step", step_num=1):
            work()

    stats = pstats.Stats(str(tmp_path / "logs" / "profile.prof"))
    assert "work" in {name for _, _, name in stats.stats}  # type: ignore[attr-defined]


def test_one_profiler_runs(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.UnavailableError):
        profiler.stop()
    profiler.start(tmp_path, options=profiler.ProfilerOptions(host_tracer_level=3))
    try:
        with pytest.raises(tf.errors.AlreadyExistsError):
            profiler.start(tmp_path)
    finally:
        profiler.stop(save=False)
    assert not list(tmp_path.iterdir())
