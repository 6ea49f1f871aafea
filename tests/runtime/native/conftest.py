"""Native code needs llvmlite, an extra."""

import pytest

pytest.importorskip("llvmlite")
