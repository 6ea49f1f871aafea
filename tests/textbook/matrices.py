"""Programs on matrices and number tables."""

from collections import deque
from fractions import Fraction
from itertools import permutations
import math


def matrix_product(a, b):
    """Return the product of two matrices.

    >>> matrix_product([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    [[19, 22], [43, 50]]
    >>> matrix_product([[1, 2, 3]], [[4], [5], [6]])
    [[32]]
    >>> matrix_product([[1, 2]], [[3, 4]])
    Traceback (most recent call last):
        ...
    ValueError: cannot multiply 1x2 by 1x2
    """
    if len(a[0]) != len(b):
        raise ValueError(f"cannot multiply {len(a)}x{len(a[0])} by {len(b)}x{len(b[0])}")
    result = [[0] * len(b[0]) for _ in a]
    for i in range(len(a)):
        for j in range(len(b[0])):
            for k in range(len(b)):
                result[i][j] += a[i][k] * b[k][j]
    return result


def transpose(matrix):
    """Return the matrix with rows and columns exchanged.

    >>> transpose([[1, 2, 3], [4, 5, 6]])
    [[1, 4], [2, 5], [3, 6]]
    >>> transpose([[7]])
    [[7]]
    >>> transpose([])
    []
    """
    if not matrix:
        return []
    columns = len(matrix[0])
    return [[row[c] for row in matrix] for c in range(columns)]


def determinant(matrix):
    """Return the determinant of a square matrix by expansion along the first row.

    >>> determinant([[1, 2], [3, 4]])
    -2
    >>> determinant([[2, 0, 1], [1, 3, 2], [1, 1, 1]])
    0
    >>> determinant([[-5]])
    -5
    >>> determinant([[1, 2, 3], [4, 5, 6]])
    Traceback (most recent call last):
        ...
    ValueError: matrix is not square
    """
    if any(len(row) != len(matrix) for row in matrix):
        raise ValueError("matrix is not square")
    if len(matrix) == 1:
        return matrix[0][0]
    total = 0
    for c, entry in enumerate(matrix[0]):
        minor = [row[:c] + row[c + 1:] for row in matrix[1:]]
        total += (-1) ** c * entry * determinant(minor)
    return total


def solve_linear_system(coefficients, constants):
    """Solve a system of linear equations by Gaussian elimination with pivoting.

    >>> solve_linear_system([[2, 1], [1, 3]], [3, 5])
    [0.8, 1.4]
    >>> solve_linear_system([[0, 2], [4, 0]], [6, 8])
    [2.0, 3.0]
    >>> solve_linear_system([[1, 2], [2, 4]], [3, 6])
    Traceback (most recent call last):
        ...
    ValueError: matrix is singular
    """
    n = len(constants)
    rows = [list(row) + [b] for row, b in zip(coefficients, constants)]
    for col in range(n):
        pivot = max(range(col, n), key=lambda r: abs(rows[r][col]))
        if abs(rows[pivot][col]) < 1e-12:
            raise ValueError("matrix is singular")
        rows[col], rows[pivot] = rows[pivot], rows[col]
        for r in range(col + 1, n):
            factor = rows[r][col] / rows[col][col]
            for c in range(col, n + 1):
                rows[r][c] -= factor * rows[col][c]
    x = [0.0] * n
    for r in range(n - 1, -1, -1):
        known = sum(rows[r][c] * x[c] for c in range(r + 1, n))
        x[r] = round((rows[r][n] - known) / rows[r][r], 9)
    return x


def invert_matrix(matrix):
    """Return the inverse of a square matrix by the Gauss-Jordan method, or None.

    >>> invert_matrix([[4, 7], [2, 6]])
    [[0.6, -0.7], [-0.2, 0.4]]
    >>> invert_matrix([[0, 1], [1, 0]])
    [[0.0, 1.0], [1.0, 0.0]]
    >>> invert_matrix([[1, 2], [2, 4]]) is None
    True
    """
    n = len(matrix)
    work = [[Fraction(x) for x in row] + [Fraction(i == j) for j in range(n)]
            for i, row in enumerate(matrix)]
    for col in range(n):
        pivot = next((r for r in range(col, n) if work[r][col] != 0), None)
        if pivot is None:
            return None
        work[col], work[pivot] = work[pivot], work[col]
        work[col] = [x / work[col][col] for x in work[col]]
        for r in range(n):
            if r != col and work[r][col]:
                factor = work[r][col]
                work[r] = [x - factor * y for x, y in zip(work[r], work[col])]
    return [[float(x) for x in row[n:]] for row in work]


def spiral_order(matrix):
    """Return the entries of a matrix in clockwise spiral order.

    >>> spiral_order([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    [1, 2, 3, 6, 9, 8, 7, 4, 5]
    >>> spiral_order([[1, 2, 3, 4]])
    [1, 2, 3, 4]
    >>> spiral_order([[1], [2], [3]])
    [1, 2, 3]
    >>> spiral_order([])
    []
    """
    result = []
    top, bottom = 0, len(matrix) - 1
    left, right = 0, len(matrix[0]) - 1 if matrix else -1
    while top <= bottom and left <= right:
        result.extend(matrix[top][left:right + 1])
        for r in range(top + 1, bottom + 1):
            result.append(matrix[r][right])
        if top < bottom:
            for c in range(right - 1, left - 1, -1):
                result.append(matrix[bottom][c])
        if left < right:
            for r in range(bottom - 1, top, -1):
                result.append(matrix[r][left])
        top, bottom, left, right = top + 1, bottom - 1, left + 1, right - 1
    return result


def spiral_matrix(n):
    """Return the square matrix that holds 1 to n * n in spiral order.

    >>> spiral_matrix(3)
    [[1, 2, 3], [8, 9, 4], [7, 6, 5]]
    >>> spiral_matrix(1)
    [[1]]
    >>> spiral_matrix(0)
    []
    """
    grid = [[0] * n for _ in range(n)]
    r, c, dr, dc = 0, 0, 0, 1
    for number in range(1, n * n + 1):
        grid[r][c] = number
        nr, nc = r + dr, c + dc
        if not (0 <= nr < n and 0 <= nc < n) or grid[nr][nc]:
            dr, dc = dc, -dr
        r, c = r + dr, c + dc
    return grid


def rotate_in_place(matrix, quarters=1):
    """Turn a square matrix clockwise by some quarters without a second matrix.

    >>> rotate_in_place([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    [[7, 4, 1], [8, 5, 2], [9, 6, 3]]
    >>> rotate_in_place([[1, 2], [3, 4]], -1)
    [[2, 4], [1, 3]]
    >>> rotate_in_place([])
    []
    """
    n = len(matrix)
    for _ in range(quarters % 4):
        for i in range(n):
            for j in range(i + 1, n):
                matrix[i][j], matrix[j][i] = matrix[j][i], matrix[i][j]
        for row in matrix:
            row.reverse()
    return matrix


def pascal_triangle(rows):
    """Return the first rows of Pascal's triangle.

    >>> pascal_triangle(5)
    [[1], [1, 1], [1, 2, 1], [1, 3, 3, 1], [1, 4, 6, 4, 1]]
    >>> pascal_triangle(1)
    [[1]]
    >>> pascal_triangle(0)
    []
    >>> pascal_triangle(-2)
    Traceback (most recent call last):
        ...
    ValueError: rows must not be negative
    """
    if rows < 0:
        raise ValueError("rows must not be negative")
    triangle = []
    for n in range(rows):
        row = [1] * (n + 1)
        for k in range(1, n):
            row[k] = triangle[n - 1][k - 1] + triangle[n - 1][k]
        triangle.append(row)
    return triangle


def is_magic_square(square):
    """Decide whether all rows, columns and diagonals of a square have the same sum.

    >>> is_magic_square([[2, 7, 6], [9, 5, 1], [4, 3, 8]])
    True
    >>> is_magic_square([[1, 2], [3, 4]])
    False
    >>> is_magic_square([[5]])
    True
    """
    n = len(square)
    target = sum(square[0])
    sums = [sum(row) for row in square]
    sums += [sum(column) for column in zip(*square)]
    sums.append(sum(square[i][i] for i in range(n)))
    sums.append(sum(square[i][n - 1 - i] for i in range(n)))
    return all(s == target for s in sums)


def odd_magic_square(n):
    """Build a magic square of odd order by the Siamese method.

    >>> odd_magic_square(3)
    [[8, 1, 6], [3, 5, 7], [4, 9, 2]]
    >>> odd_magic_square(1)
    [[1]]
    >>> odd_magic_square(4)
    Traceback (most recent call last):
        ...
    ValueError: order must be odd and positive
    """
    if n < 1 or n % 2 == 0:
        raise ValueError("order must be odd and positive")
    square = [[None] * n for _ in range(n)]
    r, c = 0, n // 2
    for k in range(1, n * n + 1):
        square[r][c] = k
        up, right = (r - 1) % n, (c + 1) % n
        if square[up][right] is not None:
            r = (r + 1) % n
        else:
            r, c = up, right
    return square


def _multiply(a, b):
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def matrix_power(matrix, exponent):
    """Raise a square matrix to a whole power by repeated squaring.

    >>> matrix_power([[1, 1], [1, 0]], 10)
    [[89, 55], [55, 34]]
    >>> matrix_power([[2, 0], [0, 3]], 0)
    [[1, 0], [0, 1]]
    >>> matrix_power([[-1]], 5)
    [[-1]]
    """
    n = len(matrix)
    result = [[int(i == j) for j in range(n)] for i in range(n)]
    while exponent > 0:
        if exponent & 1:
            result = _multiply(result, matrix)
        matrix = _multiply(matrix, matrix)
        exponent >>= 1
    return result


def zero_rows_and_columns(matrix):
    """Set every row and column that contains a zero to zeros, in place.

    >>> zero_rows_and_columns([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    [[1, 0, 1], [0, 0, 0], [1, 0, 1]]
    >>> zero_rows_and_columns([[1, 2], [3, 4]])
    [[1, 2], [3, 4]]
    >>> zero_rows_and_columns([[0]])
    [[0]]
    """
    rows, columns = set(), set()
    for r, row in enumerate(matrix):
        for c, value in enumerate(row):
            if value == 0:
                rows.add(r)
                columns.add(c)
    for r, row in enumerate(matrix):
        for c in range(len(row)):
            if r in rows or c in columns:
                row[c] = 0
    return matrix


def saddle_points(matrix):
    """Return the positions that are largest in their row and smallest in their column.

    >>> saddle_points([[9, 8, 7], [5, 3, 2], [6, 6, 7]])
    [(1, 0)]
    >>> saddle_points([[4, 4], [4, 4]])
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> saddle_points([[1, 2], [2, 1]])
    []
    """
    row_max = [max(row) for row in matrix]
    column_min = list(map(min, zip(*matrix)))
    return [(r, c)
            for r, row in enumerate(matrix)
            for c, value in enumerate(row)
            if value == row_max[r] == column_min[c]]


def search_sorted_matrix(matrix, target):
    """Find a number in a matrix with ascending rows and columns by a staircase walk.

    >>> search_sorted_matrix([[1, 4, 7], [2, 5, 8], [3, 6, 9]], 6)
    (2, 1)
    >>> search_sorted_matrix([[1, 4, 7], [2, 5, 8], [3, 6, 9]], 10) is None
    True
    >>> search_sorted_matrix([[-3]], -3)
    (0, 0)
    >>> search_sorted_matrix([], 1) is None
    True
    """
    if not matrix:
        return None
    r, c = 0, len(matrix[0]) - 1
    while r < len(matrix) and c >= 0:
        value = matrix[r][c]
        if value == target:
            return (r, c)
        if value > target:
            c -= 1
        else:
            r += 1
    return None


def matrix_rank(matrix):
    """Return the number of linearly independent rows of a matrix of integers.

    >>> matrix_rank([[1, 2, 3], [2, 4, 6], [1, 0, 1]])
    2
    >>> matrix_rank([[1, 0], [0, 1]])
    2
    >>> matrix_rank([[0, 0], [0, 0]])
    0
    """
    rows = [row[:] for row in matrix]
    rank = 0
    for col in range(len(rows[0])):
        for r in range(rank, len(rows)):
            if rows[r][col] != 0:
                break
        else:
            continue
        rows[rank], rows[r] = rows[r], rows[rank]
        head = rows[rank]
        for r in range(rank + 1, len(rows)):
            a, b = head[col], rows[r][col]
            rows[r] = [a * y - b * x for x, y in zip(head, rows[r])]
        rank += 1
    return rank


def lu_decomposition(matrix):
    """Factor a square matrix into a unit lower and an upper triangular matrix.

    >>> lu_decomposition([[2, 1], [6, 8]])
    ([[1.0, 0.0], [3.0, 1.0]], [[2.0, 1.0], [0.0, 5.0]])
    >>> lu_decomposition([[4]])
    ([[1.0]], [[4.0]])
    >>> lu_decomposition([[0, 1], [1, 0]])
    Traceback (most recent call last):
        ...
    ValueError: zero pivot in column 0
    """
    n = len(matrix)
    lower = [[float(i == j) for j in range(n)] for i in range(n)]
    upper = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            done = sum(lower[i][k] * upper[k][j] for k in range(i))
            upper[i][j] = float(matrix[i][j] - done)
        if upper[i][i] == 0:
            raise ValueError(f"zero pivot in column {i}")
        for j in range(i + 1, n):
            done = sum(lower[j][k] * upper[k][i] for k in range(i))
            lower[j][i] = (matrix[j][i] - done) / upper[i][i]
    return lower, upper


def kronecker_product(a, b):
    """Return the Kronecker product of two matrices.

    >>> kronecker_product([[1, 2]], [[1, 0], [0, 1]])
    [[1, 0, 2, 0], [0, 1, 0, 2]]
    >>> kronecker_product([[3]], [[4]])
    [[12]]
    >>> kronecker_product([[1], [-1]], [[2, 5]])
    [[2, 5], [-2, -5]]
    """
    product = []
    for row_a in a:
        for row_b in b:
            product.append([x * y for x in row_a for y in row_b])
    return product


class _PrefixSums:
    def __init__(self, matrix):
        width = len(matrix[0])
        self.table = [[0] * (width + 1)]
        for row in matrix:
            above, running = self.table[-1], 0
            line = [0]
            for c, x in enumerate(row):
                running += x
                line.append(above[c + 1] + running)
            self.table.append(line)

    def block(self, top, left, bottom, right):
        t = self.table
        return t[bottom + 1][right + 1] - t[top][right + 1] - t[bottom + 1][left] + t[top][left]


def block_sums(matrix, queries):
    """Answer queries (top, left, bottom, right) for sums of blocks with a prefix table.

    >>> block_sums([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [(0, 0, 1, 1), (1, 1, 2, 2)])
    [12, 28]
    >>> block_sums([[-4]], [(0, 0, 0, 0)])
    [-4]
    >>> block_sums([[1, 2]], [])
    []
    """
    sums = _PrefixSums(matrix)
    answers = []
    for top, left, bottom, right in queries:
        answers.append(sums.block(top, left, bottom, right))
    return answers


def jacobi_iteration(matrix, constants, steps):
    """Approximate the solution of a diagonally dominant system by Jacobi's method.

    >>> jacobi_iteration([[4, 1], [2, 5]], [6, 12], 20)
    [1.0, 2.0]
    >>> jacobi_iteration([[2, 1], [1, 3]], [4, 7], 1)
    [2.0, 2.3333]
    >>> jacobi_iteration([[5, 0], [0, 2]], [10, 3], 0)
    [0.0, 0.0]
    """
    x = [0.0] * len(constants)
    for _ in range(steps):
        following = []
        for i, row in enumerate(matrix):
            others = sum(a * x[j] for j, a in enumerate(row) if j != i)
            following.append((constants[i] - others) / row[i])
        if max(abs(new - old) for new, old in zip(following, x)) < 1e-9:
            break
        x = following
    return [round(value, 4) for value in x]


def flood_fill(image, row, col, color):
    """Recolor the connected area around a cell of an image, in place.

    >>> flood_fill([[1, 1, 1], [1, 1, 0], [1, 0, 1]], 1, 1, 2)
    [[2, 2, 2], [2, 2, 0], [2, 0, 1]]
    >>> flood_fill([[0, 0], [0, 0]], 0, 0, 0)
    [[0, 0], [0, 0]]
    >>> flood_fill([[5]], 0, 0, 9)
    [[9]]
    """
    old = image[row][col]
    if old == color:
        return image
    image[row][col] = color
    queue = deque([(row, col)])
    while queue:
        r, c = queue.popleft()
        for nr, nc in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if 0 <= nr < len(image) and 0 <= nc < len(image[0]) and image[nr][nc] == old:
                image[nr][nc] = color
                queue.append((nr, nc))
    return image


def antidiagonals(numbers, columns):
    """Group by antidiagonals the entries of a matrix that is stored row by row in one list.

    >>> antidiagonals([1, 2, 3, 4, 5, 6, 7, 8, 9], 3)
    [[1], [2, 4], [3, 5, 7], [6, 8], [9]]
    >>> antidiagonals([1, 2, 3], 1)
    [[1], [2], [3]]
    >>> antidiagonals([], 4)
    []
    """
    groups = {}
    for index, value in enumerate(numbers):
        row, column = divmod(index, columns)
        groups.setdefault(row + column, []).append(value)
    return [groups[k] for k in sorted(groups)]


def sparse_product(a, b):
    """Multiply two sparse matrices given as dictionaries from (row, column) to value.

    >>> sparse_product({(0, 0): 2, (1, 2): 3}, {(0, 1): 5, (2, 0): 4})
    {(0, 1): 10, (1, 0): 12}
    >>> sparse_product({(0, 0): 1, (0, 1): 1}, {(0, 0): 3, (1, 0): -3})
    {}
    >>> sparse_product({}, {(0, 0): 1})
    {}
    """
    by_row = {}
    for (k, j), value in b.items():
        by_row.setdefault(k, []).append((j, value))
    product = {}
    for (i, k), x in a.items():
        for j, y in by_row.get(k, []):
            product[i, j] = product.get((i, j), 0) + x * y
    return {key: value for key, value in product.items() if value != 0}


def permanent_and_determinant(matrix):
    """Return the permanent and the determinant of a square matrix by Leibniz' formula.

    >>> permanent_and_determinant([[1, 2], [3, 4]])
    (10, -2)
    >>> permanent_and_determinant([[1, 0, 0], [0, 2, 0], [0, 0, 3]])
    (6, 6)
    >>> permanent_and_determinant([])
    (1, 1)
    """
    permanent = determinant_sum = 0
    for order in permutations(range(len(matrix))):
        term = math.prod(matrix[r][c] for r, c in enumerate(order))
        inversions = sum(1 for i in range(len(order)) for j in range(i) if order[j] > order[i])
        permanent += term
        determinant_sum += -term if inversions % 2 else term
    return permanent, determinant_sum
