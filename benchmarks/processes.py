"""The processes of the libraries: they are started once, and asked in turns."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.libraries import LIBRARIES

__all__ = ["Failed", "Team", "Worker", "default_folder", "interpreters"]

ROOT = Path(__file__).parents[1]
#: How long anything may take that a process is asked for, in seconds.
PATIENCE = 240.0


class Failed(Exception):
    """A process could not do what it was asked for."""


class Worker:
    """A process that has imported one library; `with` ends it.

    `hello` is what it says first: its versions, and the seconds that the import took.
    """

    def __init__(self, library: str, python: str, patience: float = PATIENCE) -> None:
        module = LIBRARIES[library].module
        code = f"from benchmarks.worker import serve; serve({library!r}, {module!r})"
        self._patience = patience
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (close() does)
        self._process = subprocess.Popen(
            [python, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._lines: queue.Queue[str] = queue.Queue()
        # A thread reads, as only a queue can be waited for with a limit everywhere.
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            self.hello = self._heard()
        except Failed:
            self.close()
            raise

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """The answer to a request; `Failed` if there is an error, or none at all."""
        self._signal("SIGCONT")
        try:
            print(json.dumps({"do": do, **request}), file=self._requests, flush=True)
        except OSError as error:
            raise self._ended() from error
        return self._heard()

    def _signal(self, name: str) -> None:
        """Stop the process, or let it go on, where the system can.

        Its threads may wait for more work in a loop, for as long as 200 ms: in the turn
        of another library, on the processors that this one needs.
        """
        number = getattr(signal, name, None)
        if number is not None:
            self._process.send_signal(number)

    def _listen(self) -> None:
        for line in self._answers:
            self._lines.put(line)
        self._lines.put("")

    def _heard(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._patience)
        except queue.Empty:
            self.close()
            raise Failed(f"no answer in {self._patience:.0f} s") from None
        if not line:
            raise self._ended()
        self._signal("SIGSTOP")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def _ended(self) -> Failed:
        self._errors.seek(0)
        said = self._errors.read().strip().splitlines()
        self.close()
        return Failed(f"the process ended: {said[-1] if said else 'it said nothing'}")

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for stream in (self._answers, self._errors):
            stream.close()
        with suppress(OSError):  # what was not sent is of no use to anybody
            self._requests.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Team:
    """A process for each library, made when it is first needed; `with` ends them."""

    def __init__(self, pythons: Mapping[str, str]) -> None:
        self.pythons = dict(pythons)
        self._workers: dict[str, Worker] = {}

    def __getitem__(self, library: str) -> Worker:
        worker = self._workers.get(library)
        if worker is None or not worker.alive:
            worker = self._workers[library] = self.fresh(library)
        return worker

    def fresh(self, library: str) -> Worker:
        """Another process of this library: who asks for it closes it."""
        return Worker(library, self.pythons[library])

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def default_folder() -> Path:
    """Where the other libraries are: `BENCHMARK_PEERS`, or a folder of the user's."""
    named = os.environ.get("BENCHMARK_PEERS")
    cache = Path.home() / ".cache" / "autograph-compiler" / "peers"
    return Path(named) if named else cache


def interpreters(folder: Path) -> dict[str, str]:
    """The Python of each library that there is, by its name.

    Ours and NumPy are always there, in the Python that runs this; each of the others
    is an environment in the folder.
    """
    found = {
        name: sys.executable
        for name, rules in LIBRARIES.items()
        if not rules.packages and (name != "c" or shutil.which("cc"))
    }
    for name, rules in LIBRARIES.items():
        for python in ("bin/python", "Scripts/python.exe"):
            if rules.packages and (folder / name / python).exists():
                found[name] = str(folder / name / python)
    return found
