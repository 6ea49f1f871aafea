"""The benchmark of devices, on one and with few runs, and its calculation."""

from __future__ import annotations

import json

import pytest

from benchmarks import scaling_devices


def test_a_ring_sends_everything_nearly_twice() -> None:
    assert scaling_devices.ring_bytes(100, 1) == 0
    assert scaling_devices.ring_bytes(100, 2) == 100
    assert scaling_devices.ring_bytes(100, 100) == pytest.approx(198)


def test_more_gpus_take_longer_for_the_same_computation() -> None:
    found = [scaling_devices.step_time(count) for count in (1, 8, 256, 10_000)]

    assert len({step["compute"] for step in found}) == 1
    shares = [step["efficiency"] for step in found]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1.0
    assert all(step["overlapped"] >= step["efficiency"] for step in found)


def test_it_measures(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax")
    assert scaling_devices.main(["--devices", "2", "--rounds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["measures"]
    assert found[0]["name"] == "2 devices: step"
    assert found[0]["value"] > 0
