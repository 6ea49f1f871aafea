"""CRC-32C, the checksum of TFRecord files.

>>> hex(crc32c(b"123456789"))
'0xe3069283'

Long data are cut into lanes, whose checksums NumPy computes side by side, byte by byte;
then they are joined: a checksum is linear, so that moving one past n bytes of zeros is
a product with a matrix of bits, of which tables of 256 entries are made.
"""

from __future__ import annotations

import functools

import numpy as np

_POLYNOMIAL = 0x82F63B78
_ALL = 0xFFFFFFFF
#: From so many bytes on lanes are worth it.
_LONG = 1024


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()
_ARRAY = np.array(_TABLE, np.uint32)


def crc32c(data: bytes) -> int:
    """The checksum of some bytes."""
    crc = _ALL
    start = 0
    if len(data) >= _LONG:
        # A power of two, of which there are few: tables are made for each.
        length = 1 << (len(data).bit_length() // 2 - 1)
        count = len(data) // length
        start = length * count
        lanes = np.frombuffer(data, np.uint8, start).reshape(count, length)
        crcs = np.zeros(count, np.uint32)
        crcs[0] = _ALL
        for column in np.ascontiguousarray(lanes.T):
            crcs = _ARRAY[(crcs ^ column) & 0xFF] ^ (crcs >> 8)
        tables = _past_zeros(length)
        crc = int(crcs[0])
        for lane in crcs[1:].tolist():
            crc = _moved(crc, tables) ^ lane
    for byte in data[start:]:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ALL


def masked_crc32c(data: bytes) -> int:
    """The checksum as TFRecord files have it, rotated and moved."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & _ALL


@functools.lru_cache(32)
def _past_zeros(length: int) -> list[list[int]]:
    """For each byte of a checksum what it becomes past `length` bytes of zeros."""
    # What each bit becomes past one byte, and then past 1, 2, 4, … bytes.
    step = [_TABLE[bit & 0xFF] ^ (bit >> 8) for bit in (1 << i for i in range(32))]
    found = [1 << i for i in range(32)]
    while length:
        if length & 1:
            found = [_product(step, column) for column in found]
        step = [_product(step, column) for column in step]
        length >>= 1
    return [
        [_product(found, byte << shift) for byte in range(256)]
        for shift in (0, 8, 16, 24)
    ]


def _product(matrix: list[int], vector: int) -> int:
    result = 0
    for column in matrix:
        if vector & 1:
            result ^= column
        vector >>= 1
    return result


def _moved(crc: int, tables: list[list[int]]) -> int:
    first, second, third, fourth = tables
    return (
        first[crc & 0xFF]
        ^ second[crc >> 8 & 0xFF]
        ^ third[crc >> 16 & 0xFF]
        ^ fourth[crc >> 24]
    )
