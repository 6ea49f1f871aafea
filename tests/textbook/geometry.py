"""Programs of plane and solid geometry."""

import math
from dataclasses import dataclass
from functools import reduce


def heron_area(a, b, c):
    """Return the area of the triangle with sides a, b and c by Heron's formula.

    >>> heron_area(3, 4, 5)
    6.0
    >>> heron_area(2, 2, 4)
    0.0
    >>> heron_area(1, 2, 10)
    Traceback (most recent call last):
        ...
    ValueError: sides do not form a triangle
    """
    if min(a, b, c) < 0 or a + b + c < 2 * max(a, b, c):
        raise ValueError("sides do not form a triangle")
    s = (a + b + c) / 2
    return math.sqrt(s * (s - a) * (s - b) * (s - c))


def polygon_area(points):
    """Return the area of a simple polygon by the shoelace formula.

    >>> polygon_area([(0, 0), (4, 0), (4, 3), (0, 3)])
    12.0
    >>> polygon_area([(0, 0), (0, 2), (2, 0)])
    2.0
    >>> polygon_area([(1, 1), (5, 5)])
    0.0
    >>> polygon_area([])
    0.0
    """
    total = 0
    for i in range(len(points)):
        x1, y1 = points[i]
        x2, y2 = points[(i + 1) % len(points)]
        total += x1 * y2 - x2 * y1
    return abs(total) / 2


def polygon_perimeter(xs, ys):
    """Return the length of the closed outline whose corners have coordinates xs and ys.

    >>> polygon_perimeter([0, 3, 3, 0], [0, 0, 4, 4])
    14.0
    >>> polygon_perimeter([0, 3, 3], [0, 0, 4])
    12.0
    >>> polygon_perimeter([7], [7])
    0.0
    >>> polygon_perimeter([1, 2], [1])
    Traceback (most recent call last):
        ...
    ValueError: coordinate lists differ in length
    """
    if len(xs) != len(ys):
        raise ValueError("coordinate lists differ in length")
    length = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        length += math.hypot(x - xs[i - 1], y - ys[i - 1])
    return length


def euclidean_distance(p, q):
    """Return the straight-line distance between two points of equal dimension.

    >>> euclidean_distance([0, 0], [3, 4])
    5.0
    >>> euclidean_distance([1, 2, 3], [1, 2, 3])
    0.0
    >>> euclidean_distance([-1], [1])
    2.0
    >>> euclidean_distance([1, 2], [1, 2, 3])
    Traceback (most recent call last):
        ...
    ValueError: points have different dimensions
    """
    if len(p) != len(q):
        raise ValueError("points have different dimensions")
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q)))


def turn_direction(x1, y1, x2, y2, x3, y3):
    """Tell whether the path through three points turns left, turns right or goes straight.

    >>> turn_direction(0, 0, 1, 0, 1, 1)
    'left'
    >>> turn_direction(0, 0, 1, 0, 1, -1)
    'right'
    >>> turn_direction(0, 0, 1, 1, 3, 3)
    'straight'
    """
    cross = (x2 - x1) * (y3 - y1) - (y2 - y1) * (x3 - x1)
    if cross > 0:
        return "left"
    if cross < 0:
        return "right"
    return "straight"


def _side(p, q, r):
    value = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    return (value > 0) - (value < 0)


def _within_box(p, q, r):
    return (min(p[0], q[0]) <= r[0] <= max(p[0], q[0])
            and min(p[1], q[1]) <= r[1] <= max(p[1], q[1]))


def segments_intersect(a, b, c, d):
    """Decide whether the closed segments ab and cd have a point in common.

    >>> segments_intersect((0, 0), (4, 4), (0, 4), (4, 0))
    True
    >>> segments_intersect((0, 0), (1, 1), (2, 2), (3, 3))
    False
    >>> segments_intersect((0, 0), (2, 0), (2, 0), (2, 5))
    True
    >>> segments_intersect((0, 0), (4, 0), (1, 1), (3, 2))
    False
    """
    s1, s2 = _side(a, b, c), _side(a, b, d)
    s3, s4 = _side(c, d, a), _side(c, d, b)
    if s1 != s2 and s3 != s4:
        return True
    checks = [(s1, a, b, c), (s2, a, b, d), (s3, c, d, a), (s4, c, d, b)]
    return any(s == 0 and _within_box(p, q, r) for s, p, q, r in checks)


def line_intersection(a1, b1, c1, a2, b2, c2):
    """Return the common point of the lines a1*x + b1*y = c1 and a2*x + b2*y = c2, or None.

    >>> line_intersection(1, 1, 5, 1, -1, 1)
    (3.0, 2.0)
    >>> line_intersection(2, 0, 8, 0, 4, 4)
    (4.0, 1.0)
    >>> line_intersection(1, 2, 3, 2, 4, 7) is None
    True
    """
    det = a1 * b2 - a2 * b1
    if det == 0:
        return None
    x = (c1 * b2 - c2 * b1) / det
    y = (a1 * c2 - a2 * c1) / det
    return (x, y)


def point_in_polygon(x, y, polygon):
    """Tell by ray casting whether the point (x, y) lies strictly inside a polygon.

    >>> point_in_polygon(2, 2, [(0, 0), (4, 0), (4, 4), (0, 4)])
    True
    >>> point_in_polygon(5, 2, [(0, 0), (4, 0), (4, 4), (0, 4)])
    False
    >>> point_in_polygon(3, 3, [(0, 0), (6, 0), (6, 6), (3, 2), (0, 6)])
    False
    >>> point_in_polygon(0, 0, [])
    False
    """
    inside = False
    j = len(polygon) - 1
    for i in range(len(polygon)):
        xi, yi = polygon[i]
        xj, yj = polygon[j]
        if (yi > y) != (yj > y):
            crossing = xi + (y - yi) * (xj - xi) / (yj - yi)
            if x < crossing:
                inside = not inside
        j = i
    return inside


def _half_hull(points):
    chain = []
    for x, y in points:
        while len(chain) >= 2:
            (x1, y1), (x2, y2) = chain[-2], chain[-1]
            if (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) > 0:
                break
            chain.pop()
        chain.append((x, y))
    return chain


def convex_hull(points):
    """Return the corners of the convex hull counterclockwise by Andrew's monotone chain.

    >>> convex_hull([(0, 0), (4, 0), (2, 1), (4, 4), (0, 4), (2, 2)])
    [(0, 0), (4, 0), (4, 4), (0, 4)]
    >>> convex_hull([(0, 0), (1, 1), (2, 2)])
    [(0, 0), (2, 2)]
    >>> convex_hull([(3, 3), (3, 3)])
    [(3, 3)]
    >>> convex_hull([])
    []
    """
    ordered = sorted(set(points))
    if len(ordered) <= 2:
        return ordered
    lower = _half_hull(ordered)
    upper = _half_hull(reversed(ordered))
    return lower[:-1] + upper[:-1]


def gift_wrapping(xs, ys):
    """Return the indices of the hull corners found by Jarvis' gift-wrapping march.

    >>> gift_wrapping([0, 4, 4, 0, 2], [0, 0, 4, 4, 2])
    [0, 1, 2, 3]
    >>> gift_wrapping([5, 1, 3, 3], [1, 1, 1, 6])
    [1, 0, 3]
    >>> gift_wrapping([7], [7])
    [0]
    """
    n = len(xs)
    start = min(range(n), key=lambda i: (xs[i], ys[i]))
    hull = []
    current = start
    while True:
        hull.append(current)
        candidate = (current + 1) % n
        for i in range(n):
            ax, ay = xs[candidate] - xs[current], ys[candidate] - ys[current]
            bx, by = xs[i] - xs[current], ys[i] - ys[current]
            cross = ax * by - ay * bx
            if cross < 0 or (cross == 0 and bx * bx + by * by > ax * ax + ay * ay):
                candidate = i
        current = candidate
        if xs[current] == xs[start] and ys[current] == ys[start]:
            return hull


def _closest(points):
    if len(points) <= 3:
        return min((math.dist(p, q) for i, p in enumerate(points) for q in points[:i]),
                   default=math.inf)
    middle = len(points) // 2
    line = points[middle][0]
    best = min(_closest(points[:middle]), _closest(points[middle:]))
    strip = sorted((p for p in points if abs(p[0] - line) < best), key=lambda p: p[1])
    for i, p in enumerate(strip):
        for q in strip[i + 1:]:
            if q[1] - p[1] >= best:
                break
            best = min(best, math.dist(p, q))
    return best


def closest_pair_distance(points):
    """Return the smallest distance between two of the points by divide and conquer.

    >>> closest_pair_distance([(0, 0), (10, 0), (3, 4), (10, 2), (20, 20)])
    2.0
    >>> closest_pair_distance([(1, 1), (5, 5), (1, 1)])
    0.0
    >>> closest_pair_distance([(2, 3)])
    Traceback (most recent call last):
        ...
    ValueError: need at least two points
    """
    if len(points) < 2:
        raise ValueError("need at least two points")
    return _closest(sorted(points))


def point_segment_distance(px, py, ax, ay, bx, by):
    """Return the distance of the point p from the segment between a and b.

    >>> point_segment_distance(2, 3, 0, 0, 4, 0)
    3.0
    >>> point_segment_distance(7, 4, 0, 0, 4, 0)
    5.0
    >>> point_segment_distance(3, 4, 0, 0, 0, 0)
    5.0
    """
    dx, dy = bx - ax, by - ay
    if dx == 0 and dy == 0:
        return math.hypot(px - ax, py - ay)
    t = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy)
    t = max(0, min(1, t))
    return math.hypot(px - (ax + t * dx), py - (ay + t * dy))


def circle_overlap_area(distance, r1, r2):
    """Return the area shared by two circles with the given distance of centres.

    >>> circle_overlap_area(5, 2, 3)
    0.0
    >>> circle_overlap_area(1, 4, 2)
    12.5664
    >>> circle_overlap_area(1, 1, 1)
    1.2284
    """
    if distance >= r1 + r2:
        return 0.0
    if distance <= abs(r1 - r2):
        return round(math.pi * min(r1, r2) ** 2, 4)
    d = distance
    angle1 = math.acos((d * d + r1 * r1 - r2 * r2) / (2 * d * r1))
    angle2 = math.acos((d * d + r2 * r2 - r1 * r1) / (2 * d * r2))
    kite = math.sqrt((-d + r1 + r2) * (d + r1 - r2) * (d - r1 + r2) * (d + r1 + r2)) / 2
    return round(r1 * r1 * angle1 + r2 * r2 * angle2 - kite, 4)


def rectangle_union_area(rectangles):
    """Return the area covered by axis-parallel rectangles given as (x1, y1, x2, y2).

    >>> rectangle_union_area([(0, 0, 2, 2), (1, 1, 3, 3)])
    7
    >>> rectangle_union_area([(0, 0, 1, 1), (0, 0, 1, 1)])
    1
    >>> rectangle_union_area([(-2, 0, -1, 5), (4, 4, 6, 5)])
    7
    >>> rectangle_union_area([])
    0
    """
    xs = sorted({x for r in rectangles for x in (r[0], r[2])})
    ys = sorted({y for r in rectangles for y in (r[1], r[3])})
    area = 0
    for left, right in zip(xs, xs[1:]):
        for bottom, top in zip(ys, ys[1:]):
            for x1, y1, x2, y2 in rectangles:
                if x1 <= left and right <= x2 and y1 <= bottom and top <= y2:
                    area += (right - left) * (top - bottom)
                    break
    return area


def rectangle_intersection(first, second):
    """Return the common part of two rectangles [left, bottom, right, top], or None.

    >>> rectangle_intersection([0, 0, 4, 4], [2, 1, 6, 3])
    [2, 1, 4, 3]
    >>> rectangle_intersection([0, 0, 1, 1], [1, 0, 2, 1]) is None
    True
    >>> rectangle_intersection([-3, -3, 3, 3], [-1, -1, 1, 1])
    [-1, -1, 1, 1]
    """
    left = max(first[0], second[0])
    bottom = max(first[1], second[1])
    right = min(first[2], second[2])
    top = min(first[3], second[3])
    return [left, bottom, right, top] if left < right and bottom < top else None


def polygon_centroid(points):
    """Return the centre of gravity of a simple polygon.

    >>> polygon_centroid([(0, 0), (4, 0), (4, 2), (0, 2)])
    (2.0, 1.0)
    >>> polygon_centroid([(0, 0), (0, 3), (3, 0)])
    (1.0, 1.0)
    >>> polygon_centroid([(0, 0), (1, 1), (2, 2)])
    Traceback (most recent call last):
        ...
    ValueError: polygon has no area
    """
    twice_area = cx = cy = 0
    for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1]):
        cross = x1 * y2 - x2 * y1
        twice_area += cross
        cx += (x1 + x2) * cross
        cy += (y1 + y2) * cross
    if not twice_area:
        raise ValueError("polygon has no area")
    return (cx / (3 * twice_area), cy / (3 * twice_area))


def is_convex_polygon(points):
    """Decide whether the corners of a simple polygon, taken in order, form a convex one.

    >>> is_convex_polygon([(0, 0), (4, 0), (4, 4), (0, 4)])
    True
    >>> is_convex_polygon([(0, 0), (4, 0), (1, 1), (0, 4)])
    False
    >>> is_convex_polygon([(0, 0), (1, 0)])
    False
    """
    n = len(points)
    if n < 3:
        return False
    sign = 0
    for i in range(n):
        (x0, y0), (x1, y1), (x2, y2) = points[i - 2], points[i - 1], points[i]
        cross = (x1 - x0) * (y2 - y1) - (y1 - y0) * (x2 - x1)
        if cross == 0:
            continue
        if sign * cross < 0:
            return False
        sign = 1 if cross > 0 else -1
    return sign != 0


@dataclass
class _Vector:
    x: float
    y: float

    def minus(self, other):
        return _Vector(self.x - other.x, self.y - other.y)

    def rotated(self, angle):
        c, s = math.cos(angle), math.sin(angle)
        return _Vector(c * self.x - s * self.y, s * self.x + c * self.y)


def rotate_about(points, degrees, center=(0, 0)):
    """Rotate points counterclockwise about a center and round them to three places.

    >>> rotate_about([(1, 0), (0, 2)], 90)
    [(0.0, 1.0), (-2.0, 0.0)]
    >>> rotate_about([(3, 1)], 180, (1, 1))
    [(-1.0, 1.0)]
    >>> rotate_about([], 45)
    []
    """
    origin = _Vector(*center)
    result = []
    for x, y in points:
        v = _Vector(x, y).minus(origin).rotated(math.radians(degrees))
        result.append((round(v.x + origin.x, 3) + 0.0, round(v.y + origin.y, 3) + 0.0))
    return result


def interior_lattice_points(xs, ys):
    """Count the integer points strictly inside a lattice polygon by Pick's theorem.

    >>> interior_lattice_points([0, 4, 4, 0], [0, 0, 4, 4])
    9
    >>> interior_lattice_points([0, 5, 0], [0, 0, 5])
    6
    >>> interior_lattice_points([0, 1, 0], [0, 0, 1])
    0
    """
    n = len(xs)
    twice_area = 0
    boundary = 0
    for i in range(n):
        j = (i + 1) % n
        twice_area += xs[i] * ys[j] - xs[j] * ys[i]
        boundary += math.gcd(abs(xs[i] - xs[j]), abs(ys[i] - ys[j]))
    return (abs(twice_area) - boundary + 2) // 2


def clip_left_of(points, limit):
    """Cut off the part of a convex polygon to the right of the line x = limit.

    >>> clip_left_of([(0, 0), (4, 0), (4, 4), (0, 4)], 2)
    [(0, 0), (2, 0.0), (2, 4.0), (0, 4)]
    >>> clip_left_of([(0, 0), (4, 0), (0, 4)], 9)
    [(0, 0), (4, 0), (0, 4)]
    >>> clip_left_of([(0, 0), (4, 0), (0, 4)], -1)
    []
    """
    clipped = []
    for i, (x, y) in enumerate(points):
        px, py = points[i - 1]
        if (x <= limit) != (px <= limit):
            t = (limit - px) / (x - px)
            clipped.append((limit, py + t * (y - py)))
        if x <= limit:
            clipped.append((x, y))
    return clipped


def classify_triangle(a, b, c):
    """Name the kind of a triangle by its sides and by its largest angle.

    >>> classify_triangle(3, 4, 5)
    'scalene right'
    >>> classify_triangle(2, 2, 2)
    'equilateral acute'
    >>> classify_triangle(5, 9, 5)
    'isosceles obtuse'
    >>> classify_triangle(1, 2, 3)
    Traceback (most recent call last):
        ...
    ValueError: not a triangle: (1, 2, 3)
    """
    x, y, z = sorted((a, b, c))
    if x <= 0 or x + y <= z:
        raise ValueError(f"not a triangle: {(a, b, c)}")
    match len({a, b, c}):
        case 1:
            sides = "equilateral"
        case 2:
            sides = "isosceles"
        case _:
            sides = "scalene"
    excess = x * x + y * y - z * z
    angle = "right" if excess == 0 else "acute" if excess > 0 else "obtuse"
    return f"{sides} {angle}"


def simplify_polyline(points, tolerance):
    """Thin out a polyline with the Douglas-Peucker algorithm.

    >>> simplify_polyline([(0, 0), (1, 0), (2, 0), (3, 0)], 0.5)
    [(0, 0), (3, 0)]
    >>> simplify_polyline([(0, 0), (2, 3), (4, 0)], 1)
    [(0, 0), (2, 3), (4, 0)]
    >>> simplify_polyline([(5, 5)], 1)
    [(5, 5)]
    """
    if len(points) < 3:
        return points[:]
    (ax, ay), (bx, by) = points[0], points[-1]
    length = math.hypot(bx - ax, by - ay)
    farthest, index = 0, 0
    for i in range(1, len(points) - 1):
        x, y = points[i]
        if length == 0:
            gap = math.hypot(x - ax, y - ay)
        else:
            gap = abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length
        if gap > farthest:
            farthest, index = gap, i
    if farthest <= tolerance:
        return [points[0], points[-1]]
    head = simplify_polyline(points[:index + 1], tolerance)
    return head[:-1] + simplify_polyline(points[index:], tolerance)


def most_points_on_line(xs, ys):
    """Return the largest number of points that lie on one straight line.

    >>> most_points_on_line([1, 2, 3, 0], [1, 2, 3, 5])
    3
    >>> most_points_on_line([1, 1, 4], [1, 1, 7])
    3
    >>> most_points_on_line([2], [5])
    1
    >>> most_points_on_line([], [])
    0
    """
    points = list(zip(xs, ys))
    best = 0
    for i, (x0, y0) in enumerate(points):
        slopes = {}
        same = 1
        for x, y in points[i + 1:]:
            dx, dy = x - x0, y - y0
            if dx == dy == 0:
                same += 1
                continue
            g = math.gcd(dx, dy)
            if dx < 0 or (dx == 0 and dy < 0):
                g = -g
            key = (dx // g, dy // g)
            slopes[key] = slopes.get(key, 0) + 1
        best = max(best, same + max(slopes.values(), default=0))
    return best


def solid_volume(shape, *sizes):
    """Return the volume of a named solid, rounded to two places.

    >>> solid_volume("box", 2, 3, 4)
    24
    >>> solid_volume("sphere", 3)
    113.1
    >>> solid_volume("cone", 3, 4)
    37.7
    >>> solid_volume("teapot", 1)
    Traceback (most recent call last):
        ...
    ValueError: unknown solid: teapot
    """
    match (shape, sizes):
        case ("box", _):
            return reduce(lambda a, b: a * b, sizes, 1)
        case ("sphere", (r,)):
            volume = 4 / 3 * math.pi * r ** 3
        case ("cylinder", (r, h)):
            volume = math.pi * r * r * h
        case ("cone", (r, h)):
            volume = math.pi * r * r * h / 3
        case _:
            raise ValueError(f"unknown solid: {shape}")
    return round(volume, 2)
