"""Damaged data gives a result or an error of this library, and takes little memory."""

from __future__ import annotations

from collections import Counter

import pytest
from PIL import Image

from tests.runtime.ops.files import hostile

#: The module itself reads more: 10,000 if it is run.
COUNT = 200


@pytest.mark.filterwarnings("ignore")
def test_damaged_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", hostile.LIMIT)
    measure = hostile.can_measure()
    kinds: Counter[str] = Counter()
    results: Counter[str] = Counter()

    for number in range(COUNT):
        kind, found = hostile.check(number, measure)
        kinds[kind] += 1
        results[found] += 1

    assert set(kinds) == set(hostile.kinds())
    assert set(results) == {"read", "InvalidArgumentError", "DataLossError"}


def test_whole_data_is_read() -> None:
    for kind, (data, read) in hostile.kinds().items():
        assert read(data) is not None, kind


def test_other_errors_and_much_memory_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(data: bytes) -> None:
        raise KeyError("no error of ours")

    def hungry(data: bytes) -> int:
        return len(bytearray(b"\1") * (1 << 26))

    for read, message in ((fails, "KeyError"), (hungry, "bytes, not")):
        monkeypatch.setattr(hostile, "kinds", lambda read=read: {"PNG": (b"x", read)})
        if read is fails or hostile.can_measure():
            with pytest.raises(AssertionError, match=message):
                hostile.check(0, hostile.can_measure())
