"""Files of pictures and the tensors in them, by Pillow (the extra ``images``).

Data that is broken or hostile gives InvalidArgumentError. A picture of more pixels than
``PIL.Image.MAX_IMAGE_PIXELS``, all frames together, is refused before it is decoded.
"""

from __future__ import annotations

import importlib
import io
from functools import cache
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, show, spec
from runtime.ops.text.strings import substr

Array = np.ndarray[Any, Any]


@cache
def _pillow() -> Any:
    """The module ``PIL.Image``. Raises UnimplementedError, which names the extra."""
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise UnimplementedError(
            f"files of pictures need a package that cannot be imported ({error}): "
            "pip install 'autograph-compiler[images]'"
        ) from None


# --- decoding -------------------------------------------------------------------------

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
#: The mode of the result where no number of channels is asked for.
_OPENED = {"1": "L", "I": "L", "I;16": "L", "P": "RGB", "CMYK": "RGB", "YCbCr": "RGB"}
#: The formats that each op reads: all take one for another, but BMP.
_FORMATS = {
    "DecodePng": ("PNG", "JPEG", "GIF"),
    "DecodeJpeg": ("PNG", "JPEG", "GIF"),
    "DecodeGif": ("PNG", "JPEG", "GIF"),
    "DecodeBmp": ("BMP",),
    "DecodeImage": ("PNG", "JPEG", "GIF", "BMP"),
}
#: The numbers of channels that may be asked of a format.
_CHANNELS = {"PNG": (0, 1, 3, 4), "JPEG": (0, 1, 3), "GIF": (0, 3), "BMP": (0, 3, 4)}
#: So many pixels go from Pillow to NumPy at a time, or there were copies of them all.
_STRIP = 1 << 18
#: What is no fault of the data.
_OWN = (InvalidArgumentError, UnimplementedError, MemoryError)


def _decoder(op: str) -> None:
    def kernel(contents: Array, **attrs: Any) -> Array:
        infer(TensorSpec(contents.shape, dtypes.string), **attrs)
        try:
            return _decode(contents.item(), _FORMATS[op], **attrs)
        except _OWN:
            raise
        except Exception as error:  # Pillow raises all kinds of them for broken data
            raise InvalidArgumentError(
                f"the data is no whole picture of the formats {_FORMATS[op]}: "
                f"{type(error).__name__}"
            ) from error

    def infer(
        contents: TensorSpec, *, channels: int, dtype: DType, frames: bool | None
    ) -> TensorSpec:
        if contents.shape.rank not in (0, None):
            raise InvalidArgumentError(
                f"one file is decoded at a time, not those of shape {contents.shape}; "
                "tf.map_fn and tf.data decode many"
            )
        dims = (None,) * (4 if frames else 3)
        known = None if frames is None else (*dims[:-1], channels or None)
        return spec(known, dtype)

    define(op, kernel, infer, takes="O", family="text")


for _op in _FORMATS:
    _decoder(_op)


def _decode(
    data: bytes,
    formats: tuple[str, ...],
    *,
    channels: int,
    dtype: DType,
    frames: bool | None,
) -> Array:
    """The pixels: with `frames` of all frames, with None so where the file is a GIF."""
    image = _pillow().open(io.BytesIO(data), formats=formats)
    kind = "JPEG" if image.format == "MPO" else image.format
    if channels not in _CHANNELS[kind]:
        raise InvalidArgumentError(
            f"channels must be one of {_CHANNELS[kind]} for {kind}, not {channels}"
        )
    is_gif = kind == "GIF"
    count = image.n_frames if is_gif and frames is not False else 1
    if is_gif and formats != _FORMATS["DecodeImage"] and not frames:
        if image.is_animated:
            raise InvalidArgumentError(
                "the GIF has several frames: use tf.io.decode_gif or tf.io.decode_image"
            )
    has_frames = frames or (frames is None and is_gif)
    for place in range(count):
        image.seek(place)
        _check_size(image.width * image.height * count)
        pixels = _pixels(image, kind, channels, dtype)
        if not has_frames:
            return pixels
        if not place:
            result = np.empty((count, *pixels.shape), pixels.dtype)
        result[place] = pixels
    return result


def _check_size(size: int) -> None:
    limit = _pillow().MAX_IMAGE_PIXELS
    if limit is not None and size > limit:
        raise InvalidArgumentError(
            f"{size} pixels are more than PIL.Image.MAX_IMAGE_PIXELS, {limit}, allows"
        )


def _pixels(image: Any, kind: str, channels: int, dtype: DType) -> Array:
    wanted = _MODES.get(channels) or _OPENED.get(image.mode, image.mode)
    if kind == "PNG" and image.mode == "P" and "transparency" in image.info:
        wanted = wanted if channels else "RGBA"
    is_deep = kind == "PNG" and image.tile and "16" in str(image.tile[0][3])
    if kind == "JPEG" and wanted == "L":
        image.draft("L", None)
    image.load()
    keeps_words = is_deep and dtype.name != "uint8"
    has_words = image.mode.startswith("I")  # "I" before Pillow 11, now "I;16"
    if keeps_words and (not has_words or wanted != "L"):
        raise UnimplementedError(
            "Pillow has 16 bits for pictures of one channel alone: decode as uint8"
        )
    if wanted != "RGBA":
        image.info.pop("transparency", None)
    width, height = image.size
    depth = next(number for number, mode in _MODES.items() if mode == wanted)
    result = np.empty((height, width, depth), dtype.np_dtype)
    rows = max(1, _STRIP // width)
    for top in range(0, height, rows):
        part = image.crop((0, top, width, min(top + rows, height)))
        if has_words and not keeps_words:
            part = _pillow().fromarray((np.asarray(part) >> 8).astype(np.uint8))
        if part.mode != wanted and not keeps_words:
            part = part.convert(wanted)
        pixels: Array = np.asarray(part, np.uint16 if keeps_words else np.uint8)
        if kind == "PNG" and pixels.dtype == np.uint8 and dtype.name != "uint8":
            pixels = pixels * np.uint16(257)
        strip = result[top : top + rows]
        strip[...] = _converted(pixels, dtype).reshape(strip.shape)
    return result


def _converted(pixels: Array, dtype: DType) -> Array:
    if dtype.is_floating:
        return pixels * np.float32(1 / np.iinfo(pixels.dtype).max)
    return pixels if pixels.dtype == dtype.np_dtype else pixels * np.uint16(256)


def _decoded(
    op: str,
    contents: Any,
    channels: int | None,
    dtype: Any,
    frames: bool | None,
    name: str | None,
) -> Any:
    found = as_dtype(dtype)
    allowed = {"DecodePng": ("uint8", "uint16")}.get(op, ("uint8", "uint16", "float32"))
    if found.name not in allowed:
        raise ValueError(f"dtype must be one of {allowed}, not {found.name}")
    if channels not in (None, 0, 1, 3, 4):
        raise ValueError(f"channels must be 0, 1, 3 or 4, not {channels!r}")
    return run(
        op,
        convert_to_tensor(contents, dtypes.string),
        channels=channels or 0,
        dtype=found,
        frames=frames,
        name=name,
    )


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Any:
    """The pixels of a PNG (or a JPEG or a GIF of one frame), (height, width, channels).

    With ``channels=0`` there are as many as the file has.
    """
    return _decoded("DecodePng", contents, channels, dtype, False, name)


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """The pixels of a JPEG (or a PNG or a GIF of one frame), (height, width, channels).

    They are those of the accurate transform, ``dct_method="INTEGER_ACCURATE"``.
    """
    if ratio != 1 or try_recover_truncated or not fancy_upscaling:
        raise UnimplementedError(
            "a JPEG is decoded in its own size, as a whole; tf.image.resize shrinks it"
        )
    return _decoded("DecodeJpeg", contents, channels, dtypes.uint8, False, name)


def decode_gif(contents: Any, name: str | None = None) -> Any:
    """The frames of a GIF, (frame, height, width, 3)."""
    return _decoded("DecodeGif", contents, 3, dtypes.uint8, True, name)


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    """The pixels of a BMP, (height, width, channels); Pillow leaves most alphas out."""
    return _decoded("DecodeBmp", contents, channels, dtypes.uint8, False, name)


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """The pixels of a PNG, JPEG, GIF or BMP; those of a GIF have the axis of its frames
    in front. With ``expand_animations=False`` there is the first frame, and no axis.
    """
    frames = None if expand_animations else False
    return _decoded("DecodeImage", contents, channels, dtype, frames, name)


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    r"""Whether bytes begin as those of a JPEG do.

    >>> bool(is_jpeg(b"\xff\xd8\xff\xe0"))
    True
    """
    start = substr(convert_to_tensor(contents, dtypes.string), 0, 3)
    return tf.equal(start, b"\xff\xd8\xff", name=name)


# --- encoding -------------------------------------------------------------------------


def _encoder(op: str, takes: tuple[DType, ...], channels: tuple[int, ...]) -> None:
    def kernel(image: Array, **attrs: Any) -> Array:
        infer(TensorSpec(image.shape, of_array(image)), **attrs)
        file = io.BytesIO()
        pixels = image if image.shape[-1] > 1 else image[..., 0]
        try:
            _pillow().fromarray(np.ascontiguousarray(pixels)).save(file, **attrs)
        except (OSError, ValueError, SystemError) as error:
            raise InvalidArgumentError(f"it cannot be encoded: {error}") from error
        return np.array(file.getvalue(), object)

    def infer(image: TensorSpec, **attrs: Any) -> TensorSpec:
        dims = dims_of(image)
        if image.dtype not in takes:
            names = " or ".join(dtype.name for dtype in takes)
            raise InvalidArgumentError(
                f"an image is of {names}, not {image.dtype.name}"
            )
        if dims is not None and (len(dims) != 3 or dims[2] not in (None, *channels)):
            raise InvalidArgumentError(
                "an image is (height, width, channels), and has one of "
                f"{channels} channels, not {show(dims)}"
            )
        if image.dtype.name == "uint16" and dims and dims[2] not in (None, 1):
            raise UnimplementedError(
                "Pillow has 16 bits for pictures of one channel alone: encode uint8"
            )
        return spec((), dtypes.string)

    define(op, kernel, infer, family="text")


_encoder("EncodePng", (dtypes.uint8, dtypes.uint16), (1, 2, 3, 4))
_encoder("EncodeJpeg", (dtypes.uint8,), (1, 3))


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """The bytes of a PNG; `compression` is 0 to 9, or -1 for what Pillow chooses."""
    if compression not in range(-1, 10):
        raise ValueError(f"compression must be -1 to 9, not {compression!r}")
    x = as_tensor(image)
    return run("EncodePng", x, format="PNG", compress_level=compression, name=name)


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Any:
    """The bytes of a JPEG: of colours, or gray where there is one channel."""
    x = convert_to_tensor(image, dtypes.uint8)
    channels = {"": None, "grayscale": 1, "rgb": 3}
    if format not in channels:
        raise ValueError(f"format must be one of {list(channels)}, not {format!r}")
    if density_unit != "in" or xmp_metadata:
        raise UnimplementedError("densities are for inches, and there is no metadata")
    if channels[format]:
        x = tf.ensure_shape(x, [None, None, channels[format]])
    return run(
        "EncodeJpeg",
        x,
        format="JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0,
        dpi=(x_density, y_density),
        name=name,
    )
