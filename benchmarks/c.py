"""Programs in C as a programmer writes them: for ``cc -O3 -march=native``."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["__version__", "function"]

__version__ = ""

SOURCES = Path(__file__).parent / "workloads"
FLAGS = ["-O3", "-march=native", "-shared", "-fPIC"]


def function(file: str, name: str, result: Any = None) -> Any:
    """A function of a file of `SOURCES`.

    It takes arrays as pointers and ints of 64 bits; `result` is a type of ctypes.
    """
    source = SOURCES / f"{file}.c"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / "autograph-benchmarks"
    folder.mkdir(exist_ok=True)
    library = folder / f"{file}-{digest}.so"
    if not library.exists():
        command = ["cc", *FLAGS, str(source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
    found = ctypes.CDLL(str(library))[name]
    found.restype = result

    def call(*arguments: Any) -> Any:
        return found(*map(_as_c, arguments))

    return call


def _as_c(value: Any) -> Any:
    if isinstance(value, int):
        return ctypes.c_int64(value)
    return ctypes.c_void_p(value.ctypes.data)
