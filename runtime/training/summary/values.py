"""Summaries of tensors: numbers, distributions, pictures and texts.

Each is a tensor with the name of the plugin of TensorBoard that shows it, in the form
that plugin's documentation gives (``tensorboard.plugins.*.metadata``).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import get_current_name_scope, name_scope
from runtime.core.types import dtypes
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.elementwise.arithmetic import saturate_cast
from runtime.training.summary.writer import emit, protos

Array = np.ndarray[Any, Any]


def scalar(
    name: str, data: Any, step: Any = None, description: str | None = None
) -> Any:
    """Write a number, which TensorBoard draws over the steps.

    Gives whether it was written: False where there is no default writer. Raises
    InvalidArgumentError for what is no single number, and ValueError without a step.
    """
    value = cast(convert_to_tensor(data), dtypes.float32)
    if value.shape.rank not in (None, 0):
        raise InvalidArgumentError(
            f"tf.summary.scalar({name!r}): one number is written, not a tensor of "
            f"shape {value.shape}"
        )
    return _emit("scalar", name, value, step, lambda: _metadata("scalar", description))


def histogram(
    name: str,
    data: Any,
    step: Any = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Any:
    """Write how numbers of any shape are distributed, in `buckets` (30) of one width.

    Gives and raises what `scalar` does.
    """
    count = 30 if buckets is None else buckets

    def made(values: Array) -> Array:
        return _buckets(np.asarray(values, np.float64).reshape(-1), count)

    value = convert_to_tensor(data)
    return _emit(
        "histogram",
        name,
        value,
        step,
        lambda: _metadata("histogram", description),
        made,
    )


def _buckets(values: Array, count: int) -> Array:
    """Rows of the left and the right edge and the number of elements of a bucket.

    Infinities and NaN lie in none.
    """
    values = values[np.isfinite(values)]
    if not values.size or not count:
        return np.zeros((count, 3))
    low, high = values.min(), values.max()
    if low == high:
        rows = np.full((count, 3), low)
        rows[:, 2] = 0
        rows[-1, 2] = values.size
        return rows
    numbers, edges = np.histogram(values, count, (low, high))
    return np.stack([edges[:-1], edges[1:], numbers], 1)


def image(
    name: str,
    data: Any,
    step: Any = None,
    max_outputs: int = 3,
    description: str | None = None,
) -> Any:
    """Write pictures: a tensor of shape [number, height, width, channels].

    Bytes (uint8) are as they are, floats lie between 0 and 1 and are clipped. 1 channel
    is grey, 3 are red, green and blue; 2 and 4 have opacity besides. The first
    `max_outputs` pictures are written. Gives and raises what `scalar` does.
    """
    pictures = convert_to_tensor(data)
    if pictures.shape.rank not in (None, 4):
        raise InvalidArgumentError(
            f"tf.summary.image({name!r}): pictures have the shape [number, height, "
            f"width, channels], not {pictures.shape}"
        )
    pictures = pictures[:max_outputs]
    if pictures.dtype.is_floating:
        pictures = saturate_cast(pictures * 255 + 0.5, dtypes.uint8)
    else:
        pictures = saturate_cast(pictures, dtypes.uint8)
    return _emit(
        "image", name, pictures, step, lambda: _metadata("image", description), _pngs
    )


def _pngs(pictures: Array) -> Array:
    from PIL import Image

    height, width, channels = pictures.shape[1:]
    mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}.get(channels)
    if mode is None:
        raise InvalidArgumentError(
            f"tf.summary.image: a picture has 1 to 4 channels, not {channels}"
        )
    parts: list[bytes] = [str(width).encode(), str(height).encode()]
    for picture in pictures:
        file = io.BytesIO()
        flat = picture[..., 0] if channels == 1 else picture
        Image.fromarray(np.ascontiguousarray(flat), mode).save(file, "PNG")
        parts.append(file.getvalue())
    return np.array(parts, object)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write texts, a string tensor, which TensorBoard shows as Markdown and tables.

    Gives and raises what `scalar` does.
    """
    value = convert_to_tensor(data)
    if value.dtype is not dtypes.string:
        raise InvalidArgumentError(
            f"tf.summary.text({name!r}): strings are written, not {value.dtype.name}"
        )

    def metadata() -> Any:
        plugin = protos("plugins.text.metadata")
        return plugin.create_summary_metadata(name, description)

    return _emit("text", name, value, step, metadata)


def write(
    tag: str,
    tensor: Any,
    step: Any = None,
    metadata: Any = None,
    name: str | None = None,
) -> Any:
    """Write a tensor for a plugin of yours, which `metadata` (a proto) names.

    Gives and raises what `scalar` does.
    """
    value = convert_to_tensor(tensor)
    return emit(
        [value],
        step,
        lambda array: {"summary": _summary(tag, array, metadata)},
        f"tf.summary.write({tag!r})",
    )


@contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """A block that makes a summary of your own, in a name scope of its name.

    Gives the tag to write it with, which has the scopes around the block, and the
    scope.
    """
    tag = _tag(name or default_name)
    with name_scope(name or default_name) as scope:
        yield tag, scope


# --- protos ---------------------------------------------------------------------------


def _emit(
    kind: str, name: str, value: Any, step: Any, metadata: Any, made: Any = None
) -> Any:
    tag = _tag(name)

    def event(array: Any) -> dict[str, Any]:
        found = array if made is None else made(array)
        return {"summary": _summary(tag, found, metadata())}

    return emit([value], step, event, f"tf.summary.{kind}({name!r})")


def _tag(name: str) -> str:
    scope = get_current_name_scope()
    return f"{scope}/{name}" if scope else name


def _metadata(plugin: str, description: str | None) -> Any:
    module = protos(f"plugins.{plugin}.metadata")
    return module.create_summary_metadata(None, description)


def _summary(tag: str, array: Any, metadata: Any) -> Any:
    tensor = protos("util.tensor_util").make_tensor_proto(np.asarray(array))
    summary = protos("compat.proto.summary_pb2").Summary
    value = summary.Value(tag=tag, tensor=tensor)
    if metadata is not None:
        value.metadata.CopyFrom(metadata)
    return summary(value=[value])
