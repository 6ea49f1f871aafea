"""``tf.summary``: what TensorBoard shows."""

from runtime.core.missing import Space as _Space
from runtime.training.summary.graphs import (
    graph as graph,
    trace_export as trace_export,
    trace_off as trace_off,
    trace_on as trace_on,
)
from runtime.training.summary.values import (
    histogram as histogram,
    image as image,
    scalar as scalar,
    summary_scope as _summary_scope,
    text as text,
    write as write,
)
from runtime.training.summary.writer import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
    get_step as _get_step,
    record_if as record_if,
    set_step as _set_step,
    should_record_summaries as should_record_summaries,
)


class experimental(metaclass=_Space):  # noqa: N801
    """More about steps."""

    _space = "tf.summary.experimental"
    get_step = staticmethod(_get_step)
    set_step = staticmethod(_set_step)
    summary_scope = staticmethod(_summary_scope)
