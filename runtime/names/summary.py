"""``tf.summary``: what TensorBoard shows."""

from __future__ import annotations

from types import SimpleNamespace

from runtime.training.summary.graphs import graph, trace_export, trace_off, trace_on
from runtime.training.summary.values import (
    histogram,
    image,
    scalar,
    summary_scope,
    text,
    write,
)
from runtime.training.summary.writer import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
    get_step,
    record_if,
    set_step,
    should_record_summaries,
)

__all__ = [
    "SummaryWriter",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "graph",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "write",
]

experimental = SimpleNamespace(
    get_step=get_step, set_step=set_step, summary_scope=summary_scope
)
