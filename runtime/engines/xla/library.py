"""The one door to JAX: imported when XLA is first needed, and set up for exact numbers.

JAX computes with 32 bits unless it is told otherwise, for the whole process. Graphs
have 64-bit integers and float64, so this tells it.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import re
from functools import cache
from typing import Any

from runtime.core.errors import UnimplementedError

#: Programs that take longer to compile, in seconds, are kept on disk.
WORTH_KEEPING = 0.1

#: The oldest JAX whose functions the rules call.
MINIMUM = (0, 4, 35)


@cache
def load() -> Any:
    """The module ``jax``, ready for the dtypes of graphs.

    Raises UnimplementedError that names the extra where JAX is missing or too old.
    """
    try:
        jax = importlib.import_module("jax")
    except ImportError as error:
        raise UnimplementedError(
            f"XLA runs through JAX, which cannot be imported ({error}): "
            "pip install 'autograph-compiler[xla]'"
        ) from None
    found = tuple([int(part) for part in re.findall(r"\d+", jax.__version__)[:3]])
    if found < MINIMUM:
        needed = ".".join(map(str, MINIMUM))
        raise UnimplementedError(
            f"XLA needs JAX {needed} or later, and {jax.__version__} is installed: "
            "pip install --upgrade 'autograph-compiler[xla]'"
        )
    jax.config.update("jax_enable_x64", True)
    _keep_programs(jax)
    return jax


def _keep_programs(jax: Any) -> None:
    """Have JAX keep compiled programs from one run to the next, unless it does."""
    if os.environ.get("AUTOGRAPH_NO_CACHE") or jax.config.jax_compilation_cache_dir:
        return
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # Homes are shared by machines; code for one processor may crash another.
    folder = os.path.join(base, "autograph-compiler", "xla", _processor())
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)


def _processor() -> str:
    """A name that processors share which have the same instructions."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            known = next(
                (line for line in file if re.match("flags|Features", line)), ""
            )
    except OSError:
        known = platform.processor()
    digest = hashlib.sha256(known.encode()).hexdigest()[:12]
    return f"{platform.machine()}-{digest}"
