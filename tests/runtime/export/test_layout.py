"""Where boxes go: in layers, without overlaps."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.export.layout import GAP, Layout, Line, arrange

Sizes = list[tuple[float, float]]


@st.composite
def pictures(draw: st.DrawFn) -> tuple[Sizes, list[Line]]:
    """Boxes of several sizes, and lines from earlier to later ones."""
    count = draw(st.integers(1, 12))
    side = st.sampled_from([10.0, 40.0, 200.0])
    sizes = [(draw(side), draw(side)) for _ in range(count)]
    lines = []
    for end in range(1, count):
        for start in draw(st.sets(st.integers(0, end - 1), max_size=3)):
            lines.append(Line(start, end, draw(st.floats(0, 1)), draw(st.floats(0, 1))))
    return sizes, lines


def check(sizes: Sizes, lines: list[Line], layout: Layout) -> None:
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(layout.corners, sizes)]
    slack = 1e-6
    for left, top, right, bottom in boxes:
        assert -slack <= left
        assert -slack <= top
        assert right <= layout.width + slack
        assert bottom <= layout.height + slack
    for one, other in combinations(boxes, 2):
        beside = one[2] + GAP <= other[0] + slack or other[2] + GAP <= one[0] + slack
        assert beside or one[3] < other[1] or other[3] < one[1]
    for line, points in zip(lines, layout.passages):
        assert boxes[line.start][3] < boxes[line.end][1]
        # An edge goes through no box on its way.
        for x, y in points:
            for left, top, right, bottom in boxes:
                assert not (left < x - slack and x + slack < right and top < y < bottom)


@given(pictures())
@settings(max_examples=30)
def test_no_boxes_overlap(picture: tuple[Sizes, list[Line]]) -> None:
    sizes, lines = picture
    check(sizes, lines, arrange(sizes, lines, [False] * len(sizes)))


def test_a_chain_goes_straight_down() -> None:
    layout = arrange(
        [(40, 20), (80, 20), (40, 20)], [Line(0, 1), Line(1, 2)], [False] * 3
    )

    assert layout.corners == [(20, 0), (0, 54), (20, 108)]
    assert (layout.width, layout.height) == (80, 128)
    assert layout.passages == [[], []]


def test_a_long_edge_passes_beside_the_boxes() -> None:
    lines = [Line(0, 1), Line(1, 2), Line(0, 2)]
    layout = arrange([(40, 20)] * 3, lines, [False] * 3)

    check([(40, 20)] * 3, lines, layout)
    (above, below) = layout.passages[2]
    assert above[1] == layout.corners[1][1]
    assert below[1] == layout.corners[1][1] + 20


def test_what_floats_goes_down_to_its_user() -> None:
    lines = [Line(0, 1), Line(1, 3), Line(2, 3)]
    tops = [arrange([(9, 9)] * 4, lines, [False, False, floats, False]).corners[2][1]
            for floats in (False, True)]  # fmt: skip

    assert tops == [0, 43]


def test_edges_do_not_cross_where_they_need_not() -> None:
    lines = [Line(0, 3), Line(1, 2)]
    layout = arrange([(9, 9)] * 4, lines, [False] * 4)
    xs = [x for x, _ in layout.corners]

    assert xs[0] == xs[3]
    assert xs[1] == xs[2]


def test_nothing_to_lay_out() -> None:
    assert arrange([], [], []) == Layout([], [], 0.0, 0.0)


def test_constants_beside_a_chain_do_not_push_it_aside() -> None:
    count = 12
    sizes = [(60.0, 20.0)] * (2 * count)
    lines = []
    for step in range(2, 2 * count, 2):
        lines += [Line(step - 2, step, 0.5, 0.33), Line(step - 1, step, 0.5, 0.67)]
    floating = [number % 2 == 1 for number in range(2 * count)]
    layout = arrange(sizes, lines, floating)

    check(sizes, lines, layout)
    assert layout.width < 250
