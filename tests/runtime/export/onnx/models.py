"""Models of ONNX, checked and run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["run_model"]


def run_model(model: Any, inputs: Sequence[Any]) -> dict[str, Any]:
    """The results of a model by their names."""
    import onnx
    import onnxruntime

    onnx.checker.check_model(model, full_check=True)
    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    given = {info.name: np.asarray(x) for info, x in zip(session.get_inputs(), inputs)}
    names = [info.name for info in session.get_outputs()]
    return dict(zip(names, session.run(names, given)))
