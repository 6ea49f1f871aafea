"""One function run in every way, and the first statement where two ways part.

`verify` runs the original, its converted form, and what each tensor library that is
installed makes of it. A library tells of itself by an entry point of the group
``autograph.libraries``, which names a `Library`.
"""

from __future__ import annotations

from .comparison import Difference
from .library import Library
from .verifier import Verification, Verifier, WayResult, verify

__all__ = ["Difference", "Library", "Verification", "Verifier", "WayResult", "verify"]
