"""``tf.profiler.experimental``: where a program of Python spends its time.

Python's own profiler writes ``profile.prof``, which ``python -m pstats`` reads, and
TensorBoard does not. ``concrete.profile(…)`` gives the time of each line of a traced
function.
"""

from __future__ import annotations

import cProfile
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runtime.core.errors import AlreadyExistsError, UnavailableError
from runtime.core.missing import Space
from runtime.core.types.options import unused

__all__ = ["experimental"]

#: The profiler that runs, and the folder for its file.
_running: list[tuple[cProfile.Profile, str]] = []


class experimental(metaclass=Space):  # noqa: N801
    """Starts and stops the profiler."""

    _space = "tf.profiler.experimental"

    ProfilerOptions = unused("ProfilerOptions")

    @staticmethod
    def start(logdir: str, options: Any = None) -> None:
        """Begin to profile. Raises AlreadyExistsError if it was begun."""
        if _running:
            raise AlreadyExistsError("a profiler is running")
        _running.append((cProfile.Profile(), os.fspath(logdir)))
        _running[0][0].enable()

    @staticmethod
    def stop(save: bool = True) -> None:
        """End it, and write the file. Raises UnavailableError if none was begun."""
        if not _running:
            raise UnavailableError("no profiler is running")
        profile, folder = _running.pop()
        profile.disable()
        if save:
            os.makedirs(folder, exist_ok=True)
            profile.dump_stats(os.path.join(folder, "profile.prof"))

    @staticmethod
    @contextmanager
    def Profile(logdir: str, options: Any = None) -> Iterator[None]:
        """Profile a block."""
        experimental.start(logdir)
        try:
            yield
        finally:
            experimental.stop()

    @staticmethod
    @contextmanager
    def Trace(name: str, **kwargs: Any) -> Iterator[None]:
        """A block with a name in TensorFlow's profiles; nothing here."""
        yield
