"""`Options`: what TensorFlow lets one say about how a pipeline runs."""

from __future__ import annotations

from typing import Any


class Options:
    """Options of a data set. They may be set, and change nothing about its elements.

    >>> options = Options()
    >>> options.deterministic = False
    >>> options.threading.private_threadpool_size = 4
    """

    def __init__(self) -> None:
        self.deterministic: bool | None = None
        self.experimental_deterministic: bool | None = None
        self.experimental_slack: bool | None = None
        self.experimental_external_state_policy: Any = None
        self.framework_type: list[str] = []
        self.autotune = _Group()
        self.experimental_distribute = _Group()
        self.experimental_optimization = _Group()
        self.threading = _Group()
        self.experimental_threading = self.threading


class _Group:
    """Options of one kind, none of which is known here."""
