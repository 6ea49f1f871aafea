"""``tf.audio``: sounds in WAV files."""

from runtime.ops.signals.sound import (
    decode_wav as decode_wav,
    encode_wav as encode_wav,
)
