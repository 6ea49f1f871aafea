"""Which stage of the compiler the time goes to, by looking at the running program.

A timer interrupts the work every fraction of a millisecond and the innermost function
of the compiler on the stack says the stage. Nothing of what is measured is changed: the
facts, for one, are found when a converter first asks, so no clock could be put around
them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType

import autograph

__all__ = ["STAGES", "Sampler", "available"]

_PACKAGE = Path(autograph.__file__).parent
#: The stage of a file is that of the longest of these that it lies under.
_FOLDERS = {
    "analysis": "find facts",
    "passes": "rewrite",
    "pipeline.py": "rewrite",
    "source/definitions.py": "parse",
    "source/parse.py": "parse",
    "source/text.py": "parse",
    "source/code_objects.py": "compile",
    "codegen/compile.py": "compile",
}
STAGES = ("parse", "find facts", "rewrite", "compile")
_INTERVAL = 0.0005


def available() -> bool:
    """Whether this system has the timer (Windows has not)."""
    return hasattr(signal, "setitimer")


class Sampler:
    """Seconds per stage of what runs within `running`.

    >>> sampler = Sampler()
    >>> with sampler.running():
    ...     pass
    >>> list(sampler.seconds) == list(STAGES)
    True
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._stages: dict[str, str | None] = {}
        self._last = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look at what runs in the block, which must be in the main thread."""
        before = signal.signal(signal.SIGALRM, self._look)
        self._last = perf_counter()
        signal.setitimer(signal.ITIMER_REAL, _INTERVAL, _INTERVAL)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def shares(self) -> dict[str, float]:
        """The part of the time that each stage took."""
        total = sum(self.seconds.values()) or 1.0
        return {stage: seconds / total for stage, seconds in self.seconds.items()}

    def _look(self, signum: int, frame: FrameType | None) -> None:
        # A C function (Python's parser and compiler are) delays the signal: the time
        # since the last look counts, not the number of looks.
        now = perf_counter()
        passed, self._last = now - self._last, now
        while frame is not None:
            stage = self._stage(frame.f_code.co_filename)
            if stage is not None:
                self.seconds[stage] += passed
                return
            frame = frame.f_back

    def _stage(self, filename: str) -> str | None:
        if filename not in self._stages:
            self._stages[filename] = _stage_of(filename)
        return self._stages[filename]


def _stage_of(filename: str) -> str | None:
    # Texts, not paths: what takes longer than the timer would be interrupted by itself.
    for place, stage in _PLACES:
        if filename == place or filename.startswith(place + os.sep):
            return stage
    return None


#: The files and folders with their stages, the longest first.
_PLACES = [
    (str(_PACKAGE / folder), _FOLDERS[folder])
    for folder in sorted(_FOLDERS, key=len, reverse=True)
]
