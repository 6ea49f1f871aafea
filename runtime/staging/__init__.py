"""Python state through staged branches and loops: what the compiler's bridge stands on.

The sub-graphs of `runtime.subgraph` carry tensors only. The variables of a program also
hold Python objects, structures, or nothing yet; here they are taken apart and put
together again.
"""

from __future__ import annotations

from runtime.staging.branches import stage_cond
from runtime.staging.list_views import ListView
from runtime.staging.loop_options import LoopOptions, set_loop_options
from runtime.staging.loops import stage_loop
from runtime.staging.object_views import DictView
from runtime.staging.optional import (
    StagedOptional,
    is_none,
    is_same,
    matched,
    unwrapped,
)
from runtime.staging.sequences import StagedSequence, as_sequence
from runtime.staging.values import MISSING

__all__ = [
    "MISSING",
    "DictView",
    "ListView",
    "LoopOptions",
    "StagedOptional",
    "StagedSequence",
    "as_sequence",
    "is_none",
    "is_same",
    "matched",
    "set_loop_options",
    "stage_cond",
    "stage_loop",
    "unwrapped",
]
