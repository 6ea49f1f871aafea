"""The process of one library: it imports it and answers requests, a line of JSON each.

What is imported before the library is timed must be light: all of it would be missing
from the time of its import.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from time import perf_counter
from typing import Any

__all__ = ["serve"]


def serve(name: str, module: str) -> None:
    """Say what was imported and how long it took, then answer until the input ends."""
    # What a library prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    start = perf_counter()
    try:
        library = import_module(module)
    except Exception as error:
        print(json.dumps({"error": _said(error)}), file=answers)
        return
    hello = {
        "seconds": perf_counter() - start,
        "version": getattr(library, "__version__", ""),
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    from benchmarks.session import Session

    session = Session(name, library)
    print(json.dumps(hello), file=answers)
    for line in sys.stdin:
        print(json.dumps(_answer(session, json.loads(line))), file=answers)


def _answer(session: Any, request: dict[str, Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = getattr(session, request.pop("do"))(**request)
    except Exception as error:
        return {"error": _said(error)}
    return answer


def _said(error: Exception) -> str:
    """The name of an error and the first line of what it says."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"
