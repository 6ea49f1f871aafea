"""Geometry: polygons, circles, lines and rectangles in the plane."""

import math
from collections import Counter
from dataclasses import dataclass


def interior_lattice_points(polygon):
    """Count the grid points strictly inside a simple polygon with integer corners (Pick's theorem).

    >>> interior_lattice_points([(0, 0), (4, 0), (4, 3), (0, 3)])
    6
    >>> interior_lattice_points([(0, 0), (1, 0), (0, 1)])
    0
    >>> interior_lattice_points([(-2, 0), (0, -2), (2, 0), (0, 2)])
    5
    >>> interior_lattice_points([(0, 0), (5, 5)])
    Traceback (most recent call last):
        ...
    ValueError: a polygon has at least three corners
    """
    if len(polygon) < 3:
        raise ValueError("a polygon has at least three corners")
    twice_area = 0
    boundary = 0
    for (x1, y1), (x2, y2) in zip(polygon, polygon[1:] + polygon[:1]):
        twice_area += x1 * y2 - x2 * y1
        boundary += math.gcd(abs(x2 - x1), abs(y2 - y1))
    return (abs(twice_area) - boundary + 2) // 2


def union_area(rectangles):
    """Return the area covered by axis-parallel rectangles (left, bottom, right, top).

    >>> union_area([(0, 0, 2, 2), (1, 1, 3, 3)])
    7
    >>> union_area([(0, 0, 4, 4), (1, 1, 2, 2)])
    16
    >>> union_area([(0, 0, 1, 1), (5, -1, 6, 0), (0, 0, 1, 1)])
    2
    >>> union_area([])
    0
    """
    xs = sorted({x for left, _, right, _ in rectangles for x in (left, right)})
    area = 0
    for west, east in zip(xs, xs[1:]):
        spans = sorted(
            (bottom, top) for left, bottom, right, top in rectangles if left <= west and east <= right
        )
        height = 0
        reached = -math.inf
        for bottom, top in spans:
            if top > reached:
                height += top - max(bottom, reached)
                reached = top
        area += (east - west) * height
    return area


def _distance_to_chord(point, start, end):
    (x, y), (x1, y1), (x2, y2) = point, start, end
    length = math.hypot(x2 - x1, y2 - y1)
    if length == 0:
        return math.hypot(x - x1, y - y1)
    return abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / length


def simplify_polyline(points, tolerance):
    """Drop the points of a line that lie within the tolerance (Ramer, Douglas and Peucker).

    >>> simplify_polyline([(0, 0), (1, 0.1), (2, -0.1), (3, 5), (4, 6), (5, 7)], 0.5)
    [(0, 0), (2, -0.1), (3, 5), (5, 7)]
    >>> simplify_polyline([(0, 0), (1, 1), (2, 2)], 0.01)
    [(0, 0), (2, 2)]
    >>> simplify_polyline([(3, 4)], 1)
    [(3, 4)]
    """
    if len(points) < 3:
        return points
    start, *middle, end = points
    distances = [_distance_to_chord(p, start, end) for p in middle]
    farthest = max(distances)
    if farthest <= tolerance:
        return [start, end]
    split = distances.index(farthest) + 1
    head = simplify_polyline(points[:split + 1], tolerance)
    tail = simplify_polyline(points[split:], tolerance)
    return head[:-1] + tail


@dataclass(frozen=True)
class _Point:
    x: float
    y: float

    def norm_squared(self):
        return self.x ** 2 + self.y ** 2


def circumcircle(a, b, c):
    """Return centre and radius of the circle through three points.

    >>> circumcircle((0, 0), (4, 0), (0, 3))
    ((2.0, 1.5), 2.5)
    >>> circumcircle((-1, 0), (1, 0), (0, 1))
    ((0.0, 0.0), 1.0)
    >>> circumcircle((0, 0), (1, 1), (2, 2))
    Traceback (most recent call last):
        ...
    ValueError: the points are collinear
    """
    p, q, r = (_Point(*corner) for corner in (a, b, c))
    d = 2 * (p.x * (q.y - r.y) + q.x * (r.y - p.y) + r.x * (p.y - q.y))
    if d == 0:
        raise ValueError("the points are collinear")
    pp, qq, rr = p.norm_squared(), q.norm_squared(), r.norm_squared()
    x = (pp * (q.y - r.y) + qq * (r.y - p.y) + rr * (p.y - q.y)) / d
    y = (pp * (r.x - q.x) + qq * (p.x - r.x) + rr * (q.x - p.x)) / d
    return (x, y), round(math.dist((x, y), a), 6)


def clip_to_half_plane(polygon, a, b, c):
    """Keep the part of a convex polygon where a*x + b*y <= c.

    >>> clip_to_half_plane([(0, 0), (4, 0), (4, 4), (0, 4)], 1, 0, 2)
    [(0, 0), (2.0, 0.0), (2.0, 4.0), (0, 4)]
    >>> clip_to_half_plane([(0, 0), (1, 0), (0, 1)], 1, 1, 5)
    [(0, 0), (1, 0), (0, 1)]
    >>> clip_to_half_plane([(0, 0), (1, 0), (0, 1)], -1, 0, -3)
    []
    """
    def excess(point):
        return a * point[0] + b * point[1] - c

    kept = []
    for i, current in enumerate(polygon):
        previous = polygon[i - 1]
        before, after = excess(previous), excess(current)
        if before * after < 0:
            t = before / (before - after)
            kept.append(tuple(u + t * (v - u) for u, v in zip(previous, current)))
        if after <= 0:
            kept.append(current)
    return kept


def most_points_on_a_line(points):
    """Return the greatest number of the given grid points that one straight line holds.

    >>> most_points_on_a_line([(1, 1), (3, 2), (5, 3), (4, 1), (2, 3), (1, 4)])
    4
    >>> most_points_on_a_line([(0, 0), (0, -7), (0, 12)])
    3
    >>> most_points_on_a_line([(2, 2), (2, 2)])
    2
    >>> most_points_on_a_line([])
    0
    """
    best = 0
    for i, (x0, y0) in enumerate(points):
        directions = Counter()
        copies = 1
        for x, y in points[i + 1:]:
            dx, dy = x - x0, y - y0
            if dx == dy == 0:
                copies += 1
                continue
            if dx < 0 or (dx == 0 and dy < 0):
                dx, dy = -dx, -dy
            g = math.gcd(dx, dy)
            directions[dx // g, dy // g] += 1
        best = max(best, copies + max(directions.values(), default=0))
    return best
