"""Hashes of bytes, 64 bits long: the same numbers on every machine.

`fingerprint64` is FarmHash's, written after the published algorithm (Fingerprint64, by
Geoff Pike): strings of up to 16, 32 and 64 bytes have ways of their own, longer ones
are mixed block by block. `siphash64` is SipHash-2-4, by Aumasson and Bernstein.
"""

from __future__ import annotations

import struct

_MASK = 2**64 - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


def fingerprint64(data: bytes) -> int:
    """The fingerprint.

    >>> fingerprint64(b"hello") % 1000
    296
    """
    length = len(data)
    if length <= 16:
        return _up_to_16(data)
    if length <= 32:
        return _up_to_32(data)
    return _up_to_64(data) if length <= 64 else _longer(data)


def _fetch(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def _rotate(value: int, shift: int) -> int:
    value &= _MASK
    return (value >> shift | value << (64 - shift)) & _MASK


def _shift_mix(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47


def _mix(low: int, high: int, factor: int) -> int:
    """Two numbers as one."""
    first = _shift_mix(((low ^ high) & _MASK) * factor)
    return _shift_mix((high ^ first) * factor) * factor & _MASK


def _up_to_16(data: bytes) -> int:
    length = len(data)
    factor = _K2 + length * 2
    if length >= 8:
        a, b = _fetch(data, 0) + _K2, _fetch(data, length - 8)
        c = _rotate(b, 37) * factor + a
        d = (_rotate(a, 25) + b) * factor
        return _mix(c & _MASK, d & _MASK, factor)
    if length >= 4:
        first, last = (
            struct.unpack("<I", data[:4])[0],
            struct.unpack("<I", data[-4:])[0],
        )
        return _mix(length + (first << 3), last, factor)
    if length:
        y = data[0] + (data[length >> 1] << 8)
        z = length + (data[-1] << 2)
        return _shift_mix(y * _K2 ^ z * _K0) * _K2 & _MASK
    return _K2


def _up_to_32(data: bytes) -> int:
    length = len(data)
    factor = _K2 + length * 2
    a, b = _fetch(data, 0) * _K1, _fetch(data, 8)
    c, d = _fetch(data, length - 8) * factor, _fetch(data, length - 16) * _K2
    low = _rotate(a + b, 43) + _rotate(c, 30) + d
    return _mix(low & _MASK, (a + _rotate(b + _K2, 18) + c) & _MASK, factor)


def _up_to_64(data: bytes) -> int:
    length = len(data)
    factor = _K2 + length * 2
    a, b = _fetch(data, 0) * _K2, _fetch(data, 8)
    c, d = _fetch(data, length - 8) * factor, _fetch(data, length - 16) * _K2
    y = (_rotate(a + b, 43) + _rotate(c, 30) + d) & _MASK
    z = _mix(y, (a + _rotate(b + _K2, 18) + c) & _MASK, factor)
    e, f = _fetch(data, 16) * factor, _fetch(data, 24)
    g = (y + _fetch(data, length - 32)) * factor
    h = (z + _fetch(data, length - 24)) * factor
    low = _rotate(e + f, 43) + _rotate(g, 30) + h
    return _mix(low & _MASK, (e + _rotate(f + a, 18) + g) & _MASK, factor)


def _weak(data: bytes, offset: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes and two numbers as two numbers."""
    w, x, y, z = struct.unpack_from("<4Q", data, offset)
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return (a + z) & _MASK, (b + c) & _MASK


def _longer(data: bytes) -> int:
    x = seed = 81
    y = (seed * _K1 + 113) & _MASK
    z = _shift_mix(y * _K2 + 113) * _K2 & _MASK
    v = w = (0, 0)
    x = (x * _K2 + _fetch(data, 0)) & _MASK
    last = (len(data) - 1) // 64 * 64
    for start in range(0, last, 64):
        x, y, z, v, w = _block(data, start, x, y, z, v, w, _K1, 1)
    # The last 64 bytes are mixed in another way.
    factor = (_K1 + ((z & 0xFF) << 1)) & _MASK
    start = len(data) - 64
    w = (w[0] + ((len(data) - 1) & 63)) & _MASK, w[1]
    v = (v[0] + w[0]) & _MASK, v[1]
    w = (w[0] + v[0]) & _MASK, w[1]
    x, y, z, v, w = _block(data, start, x, y, z, v, w, factor, 9)
    low = _mix(v[0], w[0], factor) + _shift_mix(y) * _K0 + z
    return _mix(low & _MASK, (_mix(v[1], w[1], factor) + x) & _MASK, factor)


def _block(
    data: bytes,
    start: int,
    x: int,
    y: int,
    z: int,
    v: tuple[int, int],
    w: tuple[int, int],
    factor: int,
    weight: int,
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """The five numbers with 64 bytes mixed in. The last block has another weight."""
    x = _rotate(x + y + v[0] + _fetch(data, start + 8), 37) * factor
    y = _rotate(y + v[1] + _fetch(data, start + 48), 42) * factor
    x ^= w[1] * weight
    y += v[0] * weight + _fetch(data, start + 40)
    z = _rotate(z + w[0], 33) * factor & _MASK
    v = _weak(data, start, v[1] * factor, x + w[0])
    w = _weak(data, start + 32, z + w[1], y + _fetch(data, start + 16))
    return z, y & _MASK, x & _MASK, v, w


def crossed(fingerprint: int, other: int) -> int:
    """The fingerprint of two values in this order, of their fingerprints."""
    factor = 0xC6A4A7935BD1E995
    mixed = (fingerprint ^ factor ^ _shift_mix(other * factor) * factor) * factor
    return _shift_mix(_shift_mix(mixed) * factor)


def siphash64(data: bytes, key: tuple[int, int]) -> int:
    """The hash, which nobody can predict who does not know the key.

    >>> hex(siphash64(bytes(range(15)), (0x0706050403020100, 0x0F0E0D0C0B0A0908)))
    '0xa129ca6149be45e5'
    """
    start = b"uespemos", b"modnarod", b"arenegyl", b"setybdet"
    a, b, c, d = (
        int.from_bytes(word, "little") ^ key[i % 2] for i, word in enumerate(start)
    )
    whole = len(data) // 8 * 8
    last = data[whole:].ljust(7, b"\0") + bytes([len(data) % 256])
    words = [_fetch(data, place) for place in range(0, whole, 8)] + [_fetch(last, 0)]
    for word in words:
        a, b, c, d = _sip_rounds(a, b, c, d ^ word, 2)
        a ^= word
    a, b, c, d = _sip_rounds(a, b, c ^ 0xFF, d, 4)
    return a ^ b ^ c ^ d


def _sip_rounds(
    a: int, b: int, c: int, d: int, count: int
) -> tuple[int, int, int, int]:
    for _ in range(count):
        a, c = (a + b) & _MASK, (c + d) & _MASK
        b, d = _rotate(b, 51) ^ a, _rotate(d, 48) ^ c
        a, c = (_rotate(a, 32) + d) & _MASK, (c + b) & _MASK
        b, d = _rotate(b, 47) ^ c, _rotate(d, 43) ^ a
        c = _rotate(c, 32)
    return a, b, c, d
