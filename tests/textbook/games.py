"""Programs on games and puzzles."""

from collections import Counter, deque
from dataclasses import dataclass, field


def tic_tac_toe_winner(board):
    """Return the player, 1 or 2, who owns a full line of a 3 by 3 board, or 0.

    >>> tic_tac_toe_winner([[1, 1, 1], [2, 2, 0], [0, 0, 0]])
    1
    >>> tic_tac_toe_winner([[2, 1, 1], [1, 2, 0], [0, 1, 2]])
    2
    >>> tic_tac_toe_winner([[0, 0, 0], [0, 0, 0], [0, 0, 0]])
    0
    """
    lines = [list(row) for row in board]
    lines += [[board[r][c] for r in range(3)] for c in range(3)]
    lines.append([board[i][i] for i in range(3)])
    lines.append([board[i][2 - i] for i in range(3)])
    for line in lines:
        if line[0] != 0 and line.count(line[0]) == 3:
            return line[0]
    return 0


_LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def _minimax(cells, player):
    if any(cells[a] == cells[b] == cells[c] == -player for a, b, c in _LINES):
        return -1, None
    free = [i for i, value in enumerate(cells) if value == 0]
    if not free:
        return 0, None
    best, move = -2, None
    for i in free:
        cells[i] = player
        value = -_minimax(cells, -player)[0]
        cells[i] = 0
        if value > best:
            best, move = value, i
    return best, move


def best_tic_tac_toe_move(cells, player):
    """Return the value and the cell of the best move, with players 1 and -1 on nine cells.

    >>> best_tic_tac_toe_move([1, 1, 0, -1, -1, 0, 1, 0, 0], 1)
    (1, 2)
    >>> best_tic_tac_toe_move([1, 1, 0, -1, -1, 0, 1, 0, 0], -1)
    (1, 5)
    >>> best_tic_tac_toe_move([1, -1, 1, 1, -1, -1, -1, 1, 1], 1)
    (0, None)
    """
    if len(cells) != 9:
        raise ValueError("a board has nine cells")
    return _minimax(cells[:], player)


def life_step(grid):
    """Return the next generation of Conway's game of life on a bounded grid.

    >>> life_step([[0, 1, 0], [0, 1, 0], [0, 1, 0]])
    [[0, 0, 0], [1, 1, 1], [0, 0, 0]]
    >>> life_step([[1, 1], [1, 1]])
    [[1, 1], [1, 1]]
    >>> life_step([[1]])
    [[0]]
    """
    height, width = len(grid), len(grid[0])
    following = [[0] * width for _ in range(height)]
    for r in range(height):
        for c in range(width):
            alive = -grid[r][c]
            for nr in range(max(0, r - 1), min(height, r + 2)):
                for nc in range(max(0, c - 1), min(width, c + 2)):
                    alive += grid[nr][nc]
            if alive == 3 or (alive == 2 and grid[r][c]):
                following[r][c] = 1
    return following


def evolve_live_cells(cells, generations):
    """Run the game of life on an endless plane and return the sorted live cells.

    >>> evolve_live_cells([(0, 0), (0, 1), (0, 2)], 1)
    [(-1, 1), (0, 1), (1, 1)]
    >>> evolve_live_cells([(0, 0), (5, 5)], 1)
    []
    >>> evolve_live_cells([(0, 0), (0, 1), (1, 0), (1, 1)], 3)
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    alive = set(cells)
    for _ in range(generations):
        counts = Counter((x + dx, y + dy)
                         for x, y in alive
                         for dx in (-1, 0, 1) for dy in (-1, 0, 1)
                         if dx or dy)
        alive = {cell for cell, n in counts.items() if n == 3 or n == 2 and cell in alive}
    return sorted(alive)


def nim_move(heaps):
    """Return a winning move in nim as (heap, number to take), or None in a lost position.

    >>> nim_move([3, 4, 5])
    (0, 2)
    >>> nim_move([1, 2, 3]) is None
    True
    >>> nim_move([0, 7])
    (1, 7)
    >>> nim_move([]) is None
    True
    """
    nim_sum = 0
    for heap in heaps:
        nim_sum ^= heap
    if nim_sum == 0:
        return None
    for i, heap in enumerate(heaps):
        if heap ^ nim_sum < heap:
            return (i, heap - (heap ^ nim_sum))


def grundy_numbers(limit, moves):
    """Return the Grundy values of heaps 0 to limit when a move takes one of the given amounts.

    >>> grundy_numbers(7, [1, 2, 3])
    [0, 1, 2, 3, 0, 1, 2, 3]
    >>> grundy_numbers(6, [2])
    [0, 0, 1, 1, 0, 0, 1]
    >>> grundy_numbers(3, [])
    [0, 0, 0, 0]
    """
    values = []
    for heap in range(limit + 1):
        reachable = {values[heap - m] for m in moves if m <= heap}
        g = 0
        while g in reachable:
            g += 1
        values.append(g)
    return values


def _fits(board, r, c, digit):
    for k in range(4):
        if board[r][k] == digit or board[k][c] == digit:
            return False
    top, left = r - r % 2, c - c % 2
    return all(board[top + i][left + j] != digit for i in (0, 1) for j in (0, 1))


def solve_small_sudoku(board):
    """Fill a 4 by 4 sudoku in place by backtracking and return it, or None without solution.

    >>> solve_small_sudoku([[1, 0, 3, 4], [3, 4, 0, 2], [2, 0, 4, 3], [4, 3, 2, 0]])
    [[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]
    >>> solve_small_sudoku([[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]])
    [[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]
    >>> solve_small_sudoku([[1, 2, 3, 0], [0, 0, 0, 4], [0, 0, 0, 0], [0, 0, 0, 0]]) is None
    True
    """
    for r in range(4):
        for c in range(4):
            if board[r][c]:
                continue
            for digit in range(1, 5):
                if _fits(board, r, c, digit):
                    board[r][c] = digit
                    if solve_small_sudoku(board) is not None:
                        return board
                    board[r][c] = 0
            return None
    return board


def sudoku_conflicts(board):
    """List the repeated digits of a sudoku board as (kind, index, digit), blanks being 0.

    >>> sudoku_conflicts([[1, 0, 3, 4], [3, 4, 0, 2], [2, 0, 4, 3], [4, 3, 2, 0]])
    []
    >>> sudoku_conflicts([[1, 0, 0, 1], [0, 0, 0, 0], [0, 2, 0, 0], [2, 0, 0, 0]])
    [('box', 2, 2), ('row', 0, 1)]
    >>> sudoku_conflicts([[5]])
    []
    """
    size = int(len(board) ** 0.5)
    seen = set()
    conflicts = set()
    for r, row in enumerate(board):
        for c, digit in enumerate(row):
            if digit == 0:
                continue
            box = r // size * size + c // size
            for entry in (("row", r, digit), ("column", c, digit), ("box", box, digit)):
                if entry in seen:
                    conflicts.add(entry)
                seen.add(entry)
    return sorted(conflicts)


def n_queens(n):
    """Return all ways to place n peaceful queens as lists of the column in each row.

    >>> n_queens(4)
    [[1, 3, 0, 2], [2, 0, 3, 1]]
    >>> n_queens(3)
    []
    >>> n_queens(1)
    [[0]]
    """
    solutions = []
    placed = []

    def place(row):
        if row == n:
            solutions.append(placed[:])
            return
        for col in range(n):
            if all(col != c and abs(col - c) != row - r for r, c in enumerate(placed)):
                placed.append(col)
                place(row + 1)
                placed.pop()

    place(0)
    return solutions


def hanoi_moves(discs, source="A", target="C", spare="B"):
    """Return the moves that carry a tower of Hanoi from one peg to another.

    >>> hanoi_moves(2)
    ['A->B', 'A->C', 'B->C']
    >>> hanoi_moves(1, "X", "Y", "Z")
    ['X->Y']
    >>> hanoi_moves(0)
    []
    >>> hanoi_moves(3)
    ['A->C', 'A->B', 'C->B', 'A->C', 'B->A', 'B->C', 'A->C']
    """
    if discs == 0:
        return []
    before = hanoi_moves(discs - 1, source, spare, target)
    after = hanoi_moves(discs - 1, spare, target, source)
    return before + [f"{source}->{target}"] + after


def hanoi_pegs(discs, steps):
    """Return the three pegs of a tower of Hanoi after some steps of the iterative solution.

    >>> hanoi_pegs(3, 0)
    [[3, 2, 1], [], []]
    >>> hanoi_pegs(3, 7)
    [[], [], [3, 2, 1]]
    >>> hanoi_pegs(2, 2)
    [[], [1], [2]]
    """
    pegs = [list(range(discs, 0, -1)), [], []]
    order = [(0, 2), (0, 1), (1, 2)] if discs % 2 else [(0, 1), (0, 2), (1, 2)]
    for step in range(min(steps, 2 ** discs - 1)):
        a, b = order[step % 3]
        if not pegs[a] or (pegs[b] and pegs[b][-1] < pegs[a][-1]):
            a, b = b, a
        pegs[b].append(pegs[a].pop())
    return pegs


def yahtzee_score(dice, category):
    """Score five dice in a category of Yahtzee.

    >>> yahtzee_score([3, 3, 3, 5, 5], "full house")
    25
    >>> yahtzee_score([2, 3, 4, 5, 6], "straight")
    40
    >>> yahtzee_score([1, 1, 4, 1, 6], "three of a kind")
    13
    >>> yahtzee_score([1, 2, 3, 4, 6], "yahtzee")
    0
    """
    counts = sorted(Counter(dice).values(), reverse=True)
    match category:
        case "yahtzee":
            return 50 if counts[0] == 5 else 0
        case "full house":
            return 25 if counts == [3, 2] else 0
        case "straight":
            return 40 if sorted(dice) in ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6]) else 0
        case "three of a kind" | "four of a kind":
            needed = 3 if category.startswith("three") else 4
            return sum(dice) if counts[0] >= needed else 0
        case "chance":
            return sum(dice)
    raise ValueError(f"unknown category: {category}")


def dice_sum_counts(dice, sides):
    """Return for every possible sum in how many ways some dice show it.

    >>> dice_sum_counts(2, 4)
    {2: 1, 3: 2, 4: 3, 5: 4, 6: 3, 7: 2, 8: 1}
    >>> dice_sum_counts(1, 3)
    {1: 1, 2: 1, 3: 1}
    >>> dice_sum_counts(0, 6)
    {0: 1}
    """
    counts = {0: 1}
    for _ in range(dice):
        following = {}
        for total, ways in counts.items():
            for face in range(1, sides + 1):
                following[total + face] = following.get(total + face, 0) + ways
        counts = following
    return counts


def minesweeper_numbers(width, height, mines):
    """Return a minesweeper field with -1 for mines and neighbour counts elsewhere.

    >>> minesweeper_numbers(3, 3, [(1, 1)])
    [[1, 1, 1], [1, -1, 1], [1, 1, 1]]
    >>> minesweeper_numbers(4, 1, [(0, 0), (0, 2)])
    [[-1, 2, -1, 1]]
    >>> minesweeper_numbers(2, 1, [])
    [[0, 0]]
    >>> minesweeper_numbers(2, 2, [(2, 0)])
    Traceback (most recent call last):
        ...
    ValueError: mine outside the field: (2, 0)
    """
    field_ = [[0] * width for _ in range(height)]
    for r, c in mines:
        if not (0 <= r < height and 0 <= c < width):
            raise ValueError(f"mine outside the field: {(r, c)}")
        field_[r][c] = -1
    for r, c in mines:
        for nr in (r - 1, r, r + 1):
            for nc in (c - 1, c, c + 1):
                if 0 <= nr < height and 0 <= nc < width and field_[nr][nc] != -1:
                    field_[nr][nc] += 1
    return field_


def minesweeper_reveal(numbers, row, col):
    """Return the sorted cells that a click opens, spreading over zeros; a mine opens nothing.

    >>> minesweeper_reveal([[0, 1, -1], [0, 1, 1], [0, 0, 0]], 2, 0)
    [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
    >>> minesweeper_reveal([[1, -1]], 0, 0)
    [(0, 0)]
    >>> minesweeper_reveal([[1, -1]], 0, 1)
    []
    """
    if numbers[row][col] == -1:
        return []
    opened = {(row, col)}
    stack = [(row, col)]
    while stack:
        r, c = stack.pop()
        if numbers[r][c] != 0:
            continue
        for nr in range(r - 1, r + 2):
            for nc in range(c - 1, c + 2):
                inside = 0 <= nr < len(numbers) and 0 <= nc < len(numbers[0])
                if inside and (nr, nc) not in opened:
                    opened.add((nr, nc))
                    stack.append((nr, nc))
    return sorted(opened)


def mastermind_feedback(secret, guess):
    """Return the number of black and white pegs for a guess in mastermind.

    >>> mastermind_feedback([1, 2, 3, 4], [1, 3, 5, 4])
    (2, 1)
    >>> mastermind_feedback([1, 1, 2, 2], [2, 2, 1, 1])
    (0, 4)
    >>> mastermind_feedback([6, 6, 6, 6], [6, 1, 1, 1])
    (1, 0)
    >>> mastermind_feedback([1, 2], [1])
    Traceback (most recent call last):
        ...
    ValueError: codes differ in length
    """
    if len(secret) != len(guess):
        raise ValueError("codes differ in length")
    black = sum(s == g for s, g in zip(secret, guess))
    common = 0
    for color in set(guess):
        common += min(secret.count(color), guess.count(color))
    return black, common - black


def knight_distance(size, start, goal):
    """Return the fewest knight moves between two squares of a board, or -1.

    >>> knight_distance(5, (0, 0), (1, 2))
    1
    >>> knight_distance(4, (0, 0), (3, 3))
    2
    >>> knight_distance(3, (0, 0), (1, 1))
    -1
    >>> knight_distance(8, (3, 3), (3, 3))
    0
    """
    jumps = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)]
    distance = {start: 0}
    queue = deque([start])
    while queue:
        square = queue.popleft()
        if square == goal:
            return distance[square]
        for dr, dc in jumps:
            r, c = square[0] + dr, square[1] + dc
            if 0 <= r < size and 0 <= c < size and (r, c) not in distance:
                distance[r, c] = distance[square] + 1
                queue.append((r, c))
    return -1


def bowling_score(rolls):
    """Return the score of a complete game of ten-pin bowling.

    >>> bowling_score([10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10])
    300
    >>> bowling_score([9, 1, 5, 3, 10, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    47
    >>> bowling_score([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    0
    """
    score = 0
    i = 0
    for frame in range(10):
        if rolls[i] == 10:
            score += 10 + rolls[i + 1] + rolls[i + 2]
            i += 1
            continue
        pins = rolls[i] + rolls[i + 1]
        assert pins <= 10, f"too many pins in frame {frame + 1}"
        score += pins
        if pins == 10:
            score += rolls[i + 2]
        i += 2
    return score


def drop_disc(board, column, player):
    """Drop a disc in connect four, in place, and return whether the player then has four.

    >>> drop_disc([[0, 0, 0, 0], [1, 1, 1, 0]], 3, 1)
    True
    >>> drop_disc([[0, 0], [0, 2]], 0, 1)
    False
    >>> drop_disc([[1], [2]], 0, 1)
    Traceback (most recent call last):
        ...
    ValueError: column 0 is full
    """
    height, width = len(board), len(board[0])
    row = height - 1
    while row >= 0 and board[row][column]:
        row -= 1
    if row < 0:
        raise ValueError(f"column {column} is full")
    board[row][column] = player
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        run = 1
        for sign in (1, -1):
            r, c = row + sign * dr, column + sign * dc
            while 0 <= r < height and 0 <= c < width and board[r][c] == player:
                run += 1
                r, c = r + sign * dr, c + sign * dc
        if run >= 4:
            return True
    return False


def blackjack_value(cards):
    """Return the best blackjack value of cards like 'K', 'A' or 7, or None for a bust.

    >>> blackjack_value(["A", "K"])
    21
    >>> blackjack_value(["A", "A", 9])
    21
    >>> blackjack_value(["Q", "J", 5]) is None
    True
    >>> blackjack_value([])
    0
    """
    total = 0
    aces = 0
    for card in cards:
        if isinstance(card, int):
            total += card
        elif card == "A":
            total += 1
            aces += 1
        elif card in ("J", "Q", "K"):
            total += 10
        else:
            raise ValueError(f"not a card: {card}")
    if total > 21:
        return None
    return total + 10 if aces and total <= 11 else total


def poker_hand(ranks, suits):
    """Name the poker hand formed by five ranks from 2 to 14 and their suits.

    >>> poker_hand([10, 11, 12, 13, 14], "HHHHH")
    'straight flush'
    >>> poker_hand([4, 9, 4, 9, 4], "HSDCC")
    'full house'
    >>> poker_hand([14, 2, 3, 4, 5], "HSDCC")
    'straight'
    >>> poker_hand([2, 9, 9, 13, 5], "HSDCC")
    'one pair'
    """
    flush = len(set(suits)) == 1
    ordered = sorted(ranks)
    straight = ordered == list(range(ordered[0], ordered[0] + 5)) or ordered == [2, 3, 4, 5, 14]
    if straight or flush:
        return " ".join(name for name, has in [("straight", straight), ("flush", flush)] if has)
    match sorted(Counter(ranks).values(), reverse=True):
        case [4, *_]:
            return "four of a kind"
        case [3, 2]:
            return "full house"
        case [3, *_]:
            return "three of a kind"
        case [2, 2, _]:
            return "two pairs"
        case [2, *_]:
            return "one pair"
    return "high card"


def slide_tiles(row):
    """Slide a row of the game 2048 to the left and return the new row and the points.

    >>> slide_tiles([2, 0, 2, 4])
    ([4, 4, 0, 0], 4)
    >>> slide_tiles([2, 2, 2, 2])
    ([4, 4, 0, 0], 8)
    >>> slide_tiles([0, 0, 8, 0])
    ([8, 0, 0, 0], 0)
    >>> slide_tiles([])
    ([], 0)
    """
    tiles = [x for x in row if x]
    merged = []
    points = 0
    i = 0
    while i < len(tiles):
        if i + 1 < len(tiles) and tiles[i] == tiles[i + 1]:
            merged.append(2 * tiles[i])
            points += 2 * tiles[i]
            i += 2
        else:
            merged.append(tiles[i])
            i += 1
    return merged + [0] * (len(row) - len(merged)), points


def snakes_and_ladders(squares, jumps, die=6):
    """Return the fewest throws that lead from square 1 to the last square, or None.

    >>> snakes_and_ladders(20, {3: 17, 19: 2})
    2
    >>> snakes_and_ladders(13, {}, 4)
    3
    >>> snakes_and_ladders(5, {2: 1, 3: 1}, 2) is None
    True
    """
    reached = {1}
    frontier = [1]
    throws = 0
    while frontier:
        if squares in reached:
            return throws
        throws += 1
        following = []
        for square in frontier:
            for pips in range(1, die + 1):
                landing = jumps.get(square + pips, square + pips)
                if landing <= squares and landing not in reached:
                    reached.add(landing)
                    following.append(landing)
        frontier = following
    return None


@dataclass
class _PigPlayer:
    score: int = 0
    turn: list = field(default_factory=list)

    def roll(self, pips):
        if pips == 1:
            self.turn.clear()
            return False
        self.turn.append(pips)
        return True

    def hold(self):
        self.score += sum(self.turn)
        self.turn.clear()


def play_pig(rolls, players, hold_at):
    """Play the dice game pig with given rolls, holding at a turn total, and return the scores.

    >>> play_pig([6, 5, 4, 6, 1, 3, 6], 2, 15)
    [15, 0]
    >>> play_pig([5, 5, 6, 6, 1, 2], 3, 10)
    [10, 12, 0]
    >>> play_pig([], 1, 20)
    [0]
    >>> play_pig([2, 9], 2, 10)
    Traceback (most recent call last):
        ...
    ValueError: no such face: 9
    """
    table = [_PigPlayer() for _ in range(players)]
    current = 0
    for pips in rolls:
        if not 1 <= pips <= 6:
            raise ValueError(f"no such face: {pips}")
        player = table[current]
        if not player.roll(pips):
            current = (current + 1) % players
        elif sum(player.turn) >= hold_at:
            player.hold()
            current = (current + 1) % players
    return [player.score for player in table]
