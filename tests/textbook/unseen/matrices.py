"""Matrices: exact determinants, special squares, products and walks over a grid."""

from itertools import product


def bareiss_determinant(matrix):
    """Compute the determinant of an integer matrix without ever leaving the integers.

    >>> bareiss_determinant([[2, -3, 1], [2, 0, -1], [1, 4, 5]])
    49
    >>> bareiss_determinant([[0, 1], [1, 0]])
    -1
    >>> bareiss_determinant([[1, 2], [2, 4]])
    0
    >>> bareiss_determinant([[1, 2, 3], [4, 5, 6]])
    Traceback (most recent call last):
        ...
    ValueError: matrix is not square
    """
    n = len(matrix)
    if any(len(row) != n for row in matrix):
        raise ValueError("matrix is not square")
    m = [row[:] for row in matrix]
    sign, previous = 1, 1
    for k in range(n - 1):
        if m[k][k] == 0:
            for i in range(k + 1, n):
                if m[i][k] != 0:
                    m[k], m[i] = m[i], m[k]
                    sign = -sign
                    break
            else:
                return 0
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                m[i][j] = (m[i][j] * m[k][k] - m[i][k] * m[k][j]) // previous
        previous = m[k][k]
    return sign * m[-1][-1] if n else 1


def siamese_magic_square(order):
    """Build a magic square of odd order by the Siamese method.

    >>> siamese_magic_square(3)
    [[8, 1, 6], [3, 5, 7], [4, 9, 2]]
    >>> siamese_magic_square(1)
    [[1]]
    >>> sum(siamese_magic_square(5)[2])
    65
    >>> siamese_magic_square(4)
    Traceback (most recent call last):
        ...
    ValueError: the order must be odd
    """
    if order % 2 != 1:
        raise ValueError("the order must be odd")
    square = [[0] * order for _ in range(order)]
    row, col = 0, order // 2
    for number in range(1, order * order + 1):
        square[row][col] = number
        up, right = (row - 1) % order, (col + 1) % order
        if square[up][right]:
            row = (row + 1) % order
        else:
            row, col = up, right
    return square


def binary_rank(rows):
    """Return the rank over the field of two elements of a matrix of zeros and ones.

    >>> binary_rank([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    2
    >>> binary_rank([[1, 0], [0, 1]])
    2
    >>> binary_rank([[0, 0, 0]])
    0
    >>> binary_rank([])
    0
    """
    words = [sum(bit << i for i, bit in enumerate(row)) for row in rows]
    basis = []
    for word in words:
        for vector in basis:
            word = min(word, word ^ vector)
        if word:
            basis.append(word)
            basis.sort(reverse=True)
    return len(basis)


def kronecker_product(a, b):
    """Replace each entry of the first matrix by that entry times the second matrix.

    >>> kronecker_product([[1, 2], [3, 4]], [[0, 5], [6, 7]])
    [[0, 5, 0, 10], [6, 7, 12, 14], [0, 15, 0, 20], [18, 21, 24, 28]]
    >>> kronecker_product([[2]], [[1, -1]])
    [[2, -2]]
    >>> kronecker_product([], [[1]])
    []
    """
    return [
        [x * y for x in row_a for y in row_b]
        for row_a, row_b in product(a, b)
    ]


def zigzag_order(grid):
    """Read a grid along its antidiagonals, alternately upwards and downwards.

    >>> zigzag_order([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    [1, 2, 4, 7, 5, 3, 6, 8, 9]
    >>> zigzag_order([[1, 2, 3]])
    [1, 2, 3]
    >>> zigzag_order([])
    []
    """
    if not grid:
        return []
    diagonals = {}
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            diagonals.setdefault(i + j, []).append(value)
    path = []
    for s in sorted(diagonals):
        path.extend(diagonals[s] if s % 2 else reversed(diagonals[s]))
    return path


def zero_out_crosses(matrix):
    """Set to zero, in place, the row and the column of every entry that is zero.

    >>> zero_out_crosses([[1, 2, 3], [4, 0, 6], [7, 8, 9]])
    [[1, 0, 3], [0, 0, 0], [7, 0, 9]]
    >>> zero_out_crosses([[0, 1], [1, 1], [1, 1]])
    [[0, 0], [0, 1], [0, 1]]
    >>> zero_out_crosses([[5]])
    [[5]]
    """
    columns = set()
    rows = set()
    for r in range(len(matrix)):
        for c in range(len(matrix[r])):
            if matrix[r][c] == 0:
                rows.add(r)
                columns.add(c)
    for r, row in enumerate(matrix):
        if r in rows:
            row[:] = [0] * len(row)
            continue
        for c in columns:
            row[c] = 0
    return matrix
