"""Where windows lie along an axis, against the definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.ops.kernels.image_blocks import Axis, counts

AXES = st.builds(
    lambda length, size, apart, stride, before, behind: Axis(
        length,
        size,
        apart,
        stride,
        max((length + before + behind - (size - 1) * apart - 1) // stride + 1, 0),
        (before, behind),
    ),
    st.integers(1, 6),
    *[st.integers(1, 3)] * 3,
    *[st.integers(0, 7)] * 2,
)


@given(AXES)
def test_the_elements_of_windows(axis: Axis) -> None:
    around = [None] * axis.pads[0] + list(range(axis.length)) + [None] * axis.pads[1]
    for tap in range(axis.size):
        expected = [
            around[window * axis.stride + tap * axis.apart]
            for window in range(axis.windows)
        ]
        if axis.windows:
            assert around[axis.at(tap)] == expected
        found = [None] * axis.windows
        windows, elements = axis.inside(tap)
        found[windows] = list(range(axis.length))[elements]
        assert found == expected


@given(AXES, AXES)
def test_how_many_elements_windows_have(tall: Axis, wide: Axis) -> None:
    def has(axis: Axis, window: int) -> int:
        first = window * axis.stride - axis.pads[0]
        taps = [first + tap * axis.apart for tap in range(axis.size)]
        return sum(0 <= place < axis.length for place in taps)

    assert counts([tall, wide]).tolist() == [
        [has(tall, row) * has(wide, column) for column in range(wide.windows)]
        for row in range(tall.windows)
    ]
