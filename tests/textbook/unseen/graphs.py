"""Graphs: degree sequences, codes of trees, trails, bridges and matchings."""

import heapq
from collections import defaultdict


def is_graphical(degrees):
    """Tell by the Havel-Hakimi procedure whether some simple graph has these vertex degrees.

    >>> is_graphical([3, 3, 2, 2, 2])
    True
    >>> is_graphical([4, 1, 1])
    False
    >>> is_graphical([])
    True
    >>> is_graphical([1, 1, 1])
    False
    """
    sequence = sorted(degrees, reverse=True)
    while sequence and sequence[0] > 0:
        largest = sequence.pop(0)
        if largest > len(sequence):
            return False
        for i in range(largest):
            sequence[i] -= 1
            if sequence[i] < 0:
                return False
        sequence.sort(reverse=True)
    return all(d == 0 for d in sequence)


def prufer_code(n, tree_edges):
    """Encode a labelled tree on the vertices 0..n-1 as its Pruefer sequence.

    >>> prufer_code(6, [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5)])
    [3, 3, 3, 4]
    >>> prufer_code(4, [(0, 1), (1, 2), (2, 3)])
    [1, 2]
    >>> prufer_code(2, [(0, 1)])
    []
    >>> prufer_code(3, [(0, 1)])
    Traceback (most recent call last):
        ...
    ValueError: a tree on 3 vertices has 2 edges
    """
    if len(tree_edges) != n - 1:
        raise ValueError(f"a tree on {n} vertices has {n - 1} edges")
    neighbours = [set() for _ in range(n)]
    for u, v in tree_edges:
        neighbours[u].add(v)
        neighbours[v].add(u)
    leaves = [v for v in range(n) if len(neighbours[v]) == 1]
    heapq.heapify(leaves)
    code = []
    while len(code) < n - 2:
        leaf = heapq.heappop(leaves)
        parent = neighbours[leaf].pop()
        neighbours[parent].discard(leaf)
        code.append(parent)
        if len(neighbours[parent]) == 1:
            heapq.heappush(leaves, parent)
    return code


def find_bridges(adjacency):
    """List the edges whose removal disconnects an undirected graph, by depth-first low points.

    >>> find_bridges({0: [1, 2], 1: [0, 2], 2: [0, 1, 3], 3: [2, 4], 4: [3]})
    [(2, 3), (3, 4)]
    >>> find_bridges({1: [2, 3], 2: [1, 3], 3: [1, 2]})
    []
    >>> find_bridges({"a": ["b"], "b": ["a"], "c": []})
    [('a', 'b')]
    """
    order = {}
    low = {}
    bridges = []

    def visit(node, parent):
        order[node] = low[node] = len(order)
        for other in adjacency[node]:
            if other == parent:
                continue
            if other in order:
                low[node] = min(low[node], order[other])
            else:
                visit(other, node)
                low[node] = min(low[node], low[other])
                if low[other] > order[node]:
                    bridges.append((min(node, other), max(node, other)))

    for start in adjacency:
        if start not in order:
            visit(start, None)
    return sorted(bridges)


def eulerian_trail(arcs):
    """Find a walk that uses every directed arc exactly once (Hierholzer), or None.

    >>> eulerian_trail([(0, 1), (1, 2), (2, 0), (0, 3)])
    [0, 1, 2, 0, 3]
    >>> eulerian_trail([("MUC", "LHR"), ("JFK", "MUC"), ("LHR", "SFO")])
    ['JFK', 'MUC', 'LHR', 'SFO']
    >>> eulerian_trail([(0, 1), (2, 3)]) is None
    True
    >>> eulerian_trail([])
    []
    """
    if not arcs:
        return []
    outgoing = defaultdict(list)
    balance = defaultdict(int)
    for tail, head in sorted(arcs, reverse=True):
        outgoing[tail].append(head)
        balance[tail] += 1
        balance[head] -= 1
    starts = [v for v, b in balance.items() if b > 0]
    stack = [starts[0] if starts else arcs[0][0]]
    trail = []
    while stack:
        if outgoing[stack[-1]]:
            stack.append(outgoing[stack[-1]].pop())
        else:
            trail.append(stack.pop())
    trail.reverse()
    valid = sorted(zip(trail, trail[1:])) == sorted(map(tuple, arcs))
    return trail if valid else None


def maximum_matching(choices, places):
    """Match applicants to places by Kuhn's augmenting paths; each place gets an applicant number or -1.

    >>> maximum_matching([[0, 1], [0], [1, 2]], 3)
    [1, 0, 2]
    >>> maximum_matching([[0], [0]], 2)
    [0, -1]
    >>> maximum_matching([], 2)
    [-1, -1]
    """
    holder = [-1] * places

    def place(applicant, tried):
        for spot in choices[applicant]:
            if spot in tried:
                continue
            tried.add(spot)
            if holder[spot] == -1 or place(holder[spot], tried):
                holder[spot] = applicant
                return True
        return False

    for applicant in range(len(choices)):
        place(applicant, set())
    return holder


class _DisjointSets:
    def __init__(self, size):
        self.parent = list(range(size))
        self.size = [1] * size

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, x, y):
        x, y = self.find(x), self.find(y)
        if x == y:
            return False
        if self.size[x] < self.size[y]:
            x, y = y, x
        self.parent[y] = x
        self.size[x] += self.size[y]
        return True


def bottleneck_of_path(n, weighted_edges, source, target):
    """Return the least possible value of the heaviest edge on a route from source to target.

    >>> bottleneck_of_path(4, [(0, 1, 5), (1, 3, 9), (0, 2, 7), (2, 3, 6)], 0, 3)
    7
    >>> bottleneck_of_path(3, [(0, 1, 2)], 0, 2) is None
    True
    >>> bottleneck_of_path(2, [], 1, 1)
    0
    """
    if source == target:
        return 0
    sets = _DisjointSets(n)
    for u, v, weight in sorted(weighted_edges, key=lambda edge: edge[2]):
        if sets.union(u, v) and sets.find(source) == sets.find(target):
            return weight
    return None
