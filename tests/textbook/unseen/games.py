"""Games: scoring, moves and winning positions."""


def bowling_score(rolls):
    """Score a complete game of ten-pin bowling.

    >>> bowling_score([10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10])
    300
    >>> bowling_score([9, 0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0])
    90
    >>> bowling_score([5, 5, 3, 0, 10, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    38
    >>> bowling_score([10, 3])
    Traceback (most recent call last):
        ...
    ValueError: the game is not finished
    """
    total = 0
    at = 0
    try:
        for _ in range(10):
            if rolls[at] == 10:
                total += 10 + rolls[at + 1] + rolls[at + 2]
                at += 1
            elif rolls[at] + rolls[at + 1] == 10:
                total += 10 + rolls[at + 2]
                at += 2
            else:
                total += rolls[at] + rolls[at + 1]
                at += 2
    except IndexError:
        raise ValueError("the game is not finished") from None
    return total


def slide_tiles(row):
    """Slide the tiles of one row to the left as in 2048; return the new row and the points.

    >>> slide_tiles([2, 2, 4, 0])
    ([4, 4, 0, 0], 4)
    >>> slide_tiles([4, 4, 4, 4])
    ([8, 8, 0, 0], 16)
    >>> slide_tiles([0, 2, 0, 2, 2])
    ([4, 2, 0, 0, 0], 4)
    >>> slide_tiles([])
    ([], 0)
    """
    tiles = list(filter(None, row))
    moved = []
    points = 0
    i = 0
    while i < len(tiles):
        if i + 1 < len(tiles) and tiles[i] == tiles[i + 1]:
            moved.append(2 * tiles[i])
            points += moved[-1]
            i += 2
        else:
            moved.append(tiles[i])
            i += 1
    moved += [0] * (len(row) - len(moved))
    return moved, points


def winning_take(piles, allowed):
    """Find a winning move (pile, amount) when a move takes an allowed amount from one pile.

    >>> winning_take([3, 4, 5], [1, 2, 3, 4, 5])
    (0, 2)
    >>> winning_take([7, 2], [1, 3, 4]) is None
    True
    >>> winning_take([5, 9], [1, 2])
    (0, 2)
    >>> winning_take([0], [1]) is None
    True
    """
    grundy = []
    for size in range(max(piles, default=0) + 1):
        reachable = {grundy[size - take] for take in allowed if take <= size}
        value = 0
        while value in reachable:
            value += 1
        grundy.append(value)
    nim_sum = 0
    for pile in piles:
        nim_sum ^= grundy[pile]
    if nim_sum == 0:
        return None
    for index, pile in enumerate(piles):
        for take in sorted(allowed):
            if take <= pile and nim_sum ^ grundy[pile] ^ grundy[pile - take] == 0:
                return index, take


def mastermind_pegs(secret, guess):
    """Count the black pegs (right colour, right place) and white pegs (right colour only).

    >>> mastermind_pegs([1, 2, 3, 4], [1, 3, 5, 4])
    (2, 1)
    >>> mastermind_pegs([1, 1, 2, 2], [2, 2, 1, 1])
    (0, 4)
    >>> mastermind_pegs("RGBY", "RRRR")
    (1, 0)
    >>> mastermind_pegs([1, 2], [1])
    Traceback (most recent call last):
        ...
    ValueError: code and guess differ in length
    """
    if len(secret) != len(guess):
        raise ValueError("code and guess differ in length")
    black = sum(s == g for s, g in zip(secret, guess))
    common = sum(min(list(secret).count(c), list(guess).count(c)) for c in set(guess))
    return black, common - black


def tennis_call(server, receiver):
    """Say the umpire's call for the points that both players have won in a game.

    >>> tennis_call(2, 1)
    '30-15'
    >>> tennis_call(3, 3), tennis_call(1, 1), tennis_call(0, 0)
    ('deuce', '15-all', 'love-all')
    >>> tennis_call(5, 4), tennis_call(0, 4)
    ('advantage server', 'game receiver')
    >>> tennis_call(-1, 2)
    Traceback (most recent call last):
        ...
    ValueError: points cannot be negative
    """
    names = ("love", "15", "30", "40")
    match server, receiver:
        case (s, r) if s < 0 or r < 0:
            raise ValueError("points cannot be negative")
        case (s, r) if s == r:
            return "deuce" if s >= 3 else f"{names[s]}-all"
        case (s, r) if max(s, r) <= 3:
            return f"{names[s]}-{names[r]}"
        case (s, r):
            leader = "server" if s > r else "receiver"
            return f"{'game' if abs(s - r) >= 2 else 'advantage'} {leader}"


def fifteen_puzzle_solvable(board):
    """Decide from the parity of inversions whether a sliding puzzle (0 is the gap) can be solved.

    >>> fifteen_puzzle_solvable([[1, 2, 3], [4, 5, 6], [7, 8, 0]])
    True
    >>> fifteen_puzzle_solvable([[1, 2, 3], [4, 5, 6], [8, 7, 0]])
    False
    >>> fifteen_puzzle_solvable([[0, 1], [3, 2]])
    True
    >>> fifteen_puzzle_solvable([[0]])
    True
    """
    width = len(board)
    tiles = [tile for row in board for tile in row]
    gap_row = tiles.index(0) // width
    tiles.remove(0)
    inversions = 0
    for i in range(len(tiles)):
        for j in range(i):
            inversions += tiles[j] > tiles[i]
    if width % 2 == 1:
        return inversions % 2 == 0
    return (inversions + width - 1 - gap_row) % 2 == 0
