"""Tests of XLA leave no seed behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import runtime as tf


@pytest.fixture(autouse=True)
def _no_seed() -> Iterator[None]:
    yield
    tf.random.set_seed(None)
