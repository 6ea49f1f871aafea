"""Traversals, shortest paths, spanning trees and other algorithms on graphs."""

import heapq
import math
from collections import defaultdict, deque


def breadth_first_order(graph, start):
    """List the vertices reachable from the start in breadth-first order.

    >>> breadth_first_order({0: [1, 2], 1: [3], 2: [3], 3: []}, 0)
    [0, 1, 2, 3]
    >>> breadth_first_order({0: [1], 1: [0], 2: []}, 2)
    [2]
    >>> breadth_first_order({}, 5)
    Traceback (most recent call last):
        ...
    ValueError: unknown vertex: 5
    """
    if start not in graph:
        raise ValueError(f"unknown vertex: {start}")
    visited = {start}
    order = []
    queue = deque([start])
    while queue:
        vertex = queue.popleft()
        order.append(vertex)
        for neighbour in graph[vertex]:
            if neighbour not in visited:
                visited.add(neighbour)
                queue.append(neighbour)
    return order


def depth_first_order(graph, start, visited=None):
    """List the vertices reachable from the start in recursive depth-first order.

    >>> depth_first_order({0: [1, 2], 1: [3], 2: [3], 3: []}, 0)
    [0, 1, 3, 2]
    >>> depth_first_order({1: [1]}, 1)
    [1]
    >>> depth_first_order({4: []}, 4)
    [4]
    """
    if visited is None:
        visited = []
    visited.append(start)
    for neighbour in graph.get(start, []):
        if neighbour not in visited:
            depth_first_order(graph, neighbour, visited)
    return visited


def iterative_depth_first_order(matrix, start):
    """List the vertices reachable from the start in an adjacency matrix, with a stack.

    >>> iterative_depth_first_order([[0, 1, 1], [1, 0, 0], [1, 0, 0]], 0)
    [0, 1, 2]
    >>> iterative_depth_first_order([[0, 0, 1], [0, 0, 0], [0, 1, 0]], 0)
    [0, 2, 1]
    >>> iterative_depth_first_order([[0]], 0)
    [0]
    """
    order = []
    seen = [False] * len(matrix)
    stack = [start]
    while stack:
        vertex = stack.pop()
        if seen[vertex]:
            continue
        seen[vertex] = True
        order.append(vertex)
        for neighbour in reversed(range(len(matrix))):
            if matrix[vertex][neighbour] and not seen[neighbour]:
                stack.append(neighbour)
    return order


def shortest_path(graph, start, goal):
    """Return a path with the fewest edges between two vertices, or None.

    >>> shortest_path({1: [2, 3], 2: [4], 3: [5], 4: [5], 5: []}, 1, 5)
    [1, 3, 5]
    >>> shortest_path({1: [2], 2: []}, 2, 1) is None
    True
    >>> shortest_path({7: []}, 7, 7)
    [7]
    """
    parent = {start: None}
    queue = deque([start])
    while queue:
        vertex = queue.popleft()
        if vertex == goal:
            break
        for neighbour in graph[vertex]:
            if neighbour not in parent:
                parent[neighbour] = vertex
                queue.append(neighbour)
    else:
        return None
    path = []
    while vertex is not None:
        path.append(vertex)
        vertex = parent[vertex]
    return path[::-1]


def all_simple_paths(graph, start, goal):
    """List all paths between two vertices that visit no vertex twice.

    >>> all_simple_paths({0: [1, 2], 1: [2, 3], 2: [3], 3: []}, 0, 3)
    [[0, 1, 2, 3], [0, 1, 3], [0, 2, 3]]
    >>> all_simple_paths({0: [1], 1: [0], 2: []}, 0, 2)
    []
    >>> all_simple_paths({0: []}, 0, 0)
    [[0]]
    """
    paths = []

    def extend(path):
        if path[-1] == goal:
            paths.append(path[:])
            return
        for neighbour in graph[path[-1]]:
            if neighbour not in path:
                path.append(neighbour)
                extend(path)
                path.pop()

    extend([start])
    return paths


def dijkstra(graph, source):
    """Compute the shortest distances from the source over non-negative edge weights.

    >>> dijkstra({0: [(1, 4), (2, 1)], 1: [(3, 1)], 2: [(1, 2), (3, 5)], 3: []}, 0)
    {0: 0, 2: 1, 1: 3, 3: 4}
    >>> dijkstra({0: [], 1: [(0, 2)]}, 0)
    {0: 0}
    >>> dijkstra({0: [(1, -3)], 1: []}, 0)
    Traceback (most recent call last):
        ...
    ValueError: negative weight on edge 0 -> 1
    """
    distances = {}
    heap = [(0, source)]
    while heap:
        distance, vertex = heapq.heappop(heap)
        if vertex in distances:
            continue
        distances[vertex] = distance
        for neighbour, weight in graph[vertex]:
            if weight < 0:
                raise ValueError(f"negative weight on edge {vertex} -> {neighbour}")
            if neighbour not in distances:
                heapq.heappush(heap, (distance + weight, neighbour))
    return distances


def bellman_ford(vertex_count, edges, source):
    """Compute the shortest distances from the source, allowing negative edge weights.

    >>> bellman_ford(4, [(0, 1, 4), (0, 2, 5), (1, 3, 7), (2, 1, -3)], 0)
    [0, 2, 5, 9]
    >>> bellman_ford(2, [], 1)
    [inf, 0]
    >>> bellman_ford(2, [(0, 1, 1), (1, 0, -2)], 0)
    Traceback (most recent call last):
        ...
    ValueError: the graph has a negative cycle
    """
    distances = [math.inf] * vertex_count
    distances[source] = 0
    for _ in range(vertex_count - 1):
        for tail, head, weight in edges:
            if distances[tail] + weight < distances[head]:
                distances[head] = distances[tail] + weight
    if any(distances[u] + w < distances[v] for u, v, w in edges):
        raise ValueError("the graph has a negative cycle")
    return distances


def floyd_warshall(matrix):
    """Compute the shortest distances between all pairs from a matrix where None is no edge.

    >>> floyd_warshall([[0, 3, None], [None, 0, 2], [1, None, 0]])
    [[0, 3, 5], [3, 0, 2], [1, 4, 0]]
    >>> floyd_warshall([[0, None], [-1, 0]])
    [[0, None], [-1, 0]]
    >>> floyd_warshall([])
    []
    """
    n = len(matrix)
    distance = [row[:] for row in matrix]
    for k in range(n):
        for i in range(n):
            if distance[i][k] is None:
                continue
            for j in range(n):
                if distance[k][j] is None:
                    continue
                through = distance[i][k] + distance[k][j]
                if distance[i][j] is None or through < distance[i][j]:
                    distance[i][j] = through
    return distance


class _DisjointSets:
    def __init__(self, size):
        self.parent = list(range(size))
        self.rank = [0] * size

    def find(self, item):
        if self.parent[item] != item:
            self.parent[item] = self.find(self.parent[item])
        return self.parent[item]

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.rank[a] < self.rank[b]:
            a, b = b, a
        self.parent[b] = a
        if self.rank[a] == self.rank[b]:
            self.rank[a] += 1
        return True


def kruskal(vertex_count, edges):
    """Return the edges of a minimum spanning forest, given edges (u, v, weight).

    >>> kruskal(4, [(0, 1, 10), (0, 2, 6), (0, 3, 5), (1, 3, 15), (2, 3, 4)])
    [(2, 3, 4), (0, 3, 5), (0, 1, 10)]
    >>> kruskal(3, [(0, 1, -2)])
    [(0, 1, -2)]
    >>> kruskal(1, [])
    []
    """
    sets = _DisjointSets(vertex_count)
    forest = []
    for u, v, weight in sorted(edges, key=lambda edge: edge[2]):
        if sets.union(u, v):
            forest.append((u, v, weight))
            if len(forest) == vertex_count - 1:
                break
    return forest


def prim_weight(graph, start):
    """Return the weight of a minimum spanning tree of a connected graph, grown from a vertex.

    >>> prim_weight({0: {1: 2, 2: 3}, 1: {0: 2, 2: 1}, 2: {0: 3, 1: 1}}, 0)
    3
    >>> prim_weight({5: {}}, 5)
    0
    >>> prim_weight({0: {}, 1: {}}, 0)
    Traceback (most recent call last):
        ...
    ValueError: the graph is not connected
    """
    in_tree = set()
    total = 0
    heap = [(0, start)]
    while heap and len(in_tree) < len(graph):
        weight, vertex = heapq.heappop(heap)
        if vertex in in_tree:
            continue
        in_tree.add(vertex)
        total += weight
        for neighbour, cost in graph[vertex].items():
            if neighbour not in in_tree:
                heapq.heappush(heap, (cost, neighbour))
    if len(in_tree) < len(graph):
        raise ValueError("the graph is not connected")
    return total


def kahn_topological_sort(vertex_count, edges):
    """Order the vertices of a directed acyclic graph by removing sources one by one.

    >>> kahn_topological_sort(6, [(5, 2), (5, 0), (4, 0), (4, 1), (2, 3), (3, 1)])
    [4, 5, 2, 0, 3, 1]
    >>> kahn_topological_sort(2, [])
    [0, 1]
    >>> kahn_topological_sort(2, [(0, 1), (1, 0)])
    Traceback (most recent call last):
        ...
    ValueError: the graph has a cycle
    """
    successors = defaultdict(list)
    indegree = [0] * vertex_count
    for tail, head in edges:
        successors[tail].append(head)
        indegree[head] += 1
    queue = deque(v for v in range(vertex_count) if indegree[v] == 0)
    order = []
    while queue:
        vertex = queue.popleft()
        order.append(vertex)
        for head in successors[vertex]:
            indegree[head] -= 1
            if not indegree[head]:
                queue.append(head)
    if len(order) < vertex_count:
        raise ValueError("the graph has a cycle")
    return order


def depth_first_topological_sort(dependencies):
    """Order tasks so that each comes after its dependencies, or return None for a cycle.

    >>> depth_first_topological_sort({"shoes": ["socks"], "socks": [], "shirt": []})
    ['socks', 'shoes', 'shirt']
    >>> depth_first_topological_sort({"a": ["b"], "b": ["a"]}) is None
    True
    >>> depth_first_topological_sort({})
    []
    """
    order = []
    state = {}

    def visit(task):
        if state.get(task) == "done":
            return True
        if state.get(task) == "active":
            return False
        state[task] = "active"
        if not all(visit(other) for other in dependencies.get(task, [])):
            return False
        state[task] = "done"
        order.append(task)
        return True

    return order if all(visit(task) for task in dependencies) else None


def has_undirected_cycle(vertex_count, edges):
    """Decide whether an undirected graph contains a cycle.

    >>> has_undirected_cycle(4, [(0, 1), (1, 2), (2, 3), (3, 1)])
    True
    >>> has_undirected_cycle(4, [(0, 1), (2, 3)])
    False
    >>> has_undirected_cycle(0, [])
    False
    """
    leader = list(range(vertex_count))
    for u, v in edges:
        while leader[u] != u:
            u = leader[u]
        while leader[v] != v:
            v = leader[v]
        if u == v:
            return True
        leader[u] = v
    return False


def connected_components(vertex_count, edges):
    """Split the vertices of an undirected graph into sorted connected components.

    >>> connected_components(5, [(0, 1), (1, 2), (3, 4)])
    [[0, 1, 2], [3, 4]]
    >>> connected_components(2, [])
    [[0], [1]]
    >>> connected_components(0, [])
    []
    """
    neighbours = [set() for _ in range(vertex_count)]
    for u, v in edges:
        neighbours[u].add(v)
        neighbours[v].add(u)
    unseen = set(range(vertex_count))
    components = []
    for start in range(vertex_count):
        if start not in unseen:
            continue
        component, frontier = set(), {start}
        while frontier:
            component |= frontier
            frontier = set().union(*(neighbours[v] for v in frontier)) - component
        unseen -= component
        components.append(sorted(component))
    return components


def two_colouring(graph):
    """Colour a graph with 0 and 1 so that neighbours differ, or return None.

    >>> two_colouring([[1, 3], [0, 2], [1, 3], [0, 2]])
    [0, 1, 0, 1]
    >>> two_colouring([[1, 2], [0, 2], [0, 1]]) is None
    True
    >>> two_colouring([])
    []
    """
    colours = [None] * len(graph)
    for root in range(len(graph)):
        if colours[root] is not None:
            continue
        colours[root] = 0
        stack = [root]
        while stack:
            vertex = stack.pop()
            for neighbour in graph[vertex]:
                if colours[neighbour] is None:
                    colours[neighbour] = 1 - colours[vertex]
                    stack.append(neighbour)
                elif colours[neighbour] == colours[vertex]:
                    return None
    return colours


def strongly_connected_components(graph):
    """Return the strongly connected components found by Tarjan's algorithm.

    >>> strongly_connected_components([[1], [2], [0, 3], [4], []])
    [[4], [3], [0, 1, 2]]
    >>> strongly_connected_components([[], [0]])
    [[0], [1]]
    >>> strongly_connected_components([])
    []
    """
    index, low, stack, components = {}, {}, [], []

    def connect(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                connect(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            position = stack.index(v)
            components.append(sorted(stack[position:]))
            del stack[position:]

    for v in range(len(graph)):
        if v not in index:
            connect(v)
    return components


def find_bridges(graph):
    """List the edges of an undirected graph whose removal disconnects a component.

    >>> find_bridges({0: [1, 2], 1: [0, 2], 2: [0, 1, 3], 3: [2]})
    [(2, 3)]
    >>> find_bridges({0: [1], 1: [0, 2], 2: [1]})
    [(0, 1), (1, 2)]
    >>> find_bridges({})
    []
    """
    entered, lowest, bridges = {}, {}, []

    def explore(vertex, parent):
        entered[vertex] = lowest[vertex] = len(entered)
        for neighbour in graph[vertex]:
            if neighbour == parent:
                continue
            if neighbour in entered:
                lowest[vertex] = min(lowest[vertex], entered[neighbour])
                continue
            explore(neighbour, vertex)
            lowest[vertex] = min(lowest[vertex], lowest[neighbour])
            if lowest[neighbour] > entered[vertex]:
                bridges.append((min(vertex, neighbour), max(vertex, neighbour)))

    for vertex in graph:
        if vertex not in entered:
            explore(vertex, None)
    return sorted(bridges)


def euler_path(edges, start):
    """Return a path from the start using every undirected edge once (Hierholzer), or None.

    >>> euler_path([(0, 1), (1, 2), (2, 0)], 0)
    [0, 2, 1, 0]
    >>> euler_path([(0, 1), (0, 2), (0, 3)], 0) is None
    True
    >>> euler_path([], 4)
    [4]
    """
    neighbours = defaultdict(list)
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    stack, path = [start], []
    while stack:
        vertex = stack[-1]
        if neighbours[vertex]:
            following = neighbours[vertex].pop()
            neighbours[following].remove(vertex)
            stack.append(following)
        else:
            path.append(stack.pop())
    path.reverse()
    used = sorted(sorted(pair) for pair in zip(path, path[1:]))
    return path if used == sorted(map(sorted, edges)) else None


def hamiltonian_cycle(matrix):
    """Return a cycle from vertex 0 visiting every vertex once, by backtracking, or None.

    >>> hamiltonian_cycle([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    [0, 1, 2, 3, 0]
    >>> hamiltonian_cycle([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) is None
    True
    >>> hamiltonian_cycle([]) is None
    True
    """
    n = len(matrix)

    def complete(path):
        last = path[-1]
        if len(path) == n:
            return path + [0] if matrix[last][0] else None
        for vertex in range(1, n):
            if matrix[last][vertex] and vertex not in path:
                if (cycle := complete(path + [vertex])) is not None:
                    return cycle
        return None

    return complete([0]) if n else None


def colour_graph(graph, colour_count):
    """Colour the vertices 0, 1, ... with few colours by backtracking, or return None.

    >>> colour_graph([[1, 2], [0, 2], [0, 1]], 3)
    [0, 1, 2]
    >>> colour_graph([[1, 2], [0, 2], [0, 1]], 2) is None
    True
    >>> colour_graph([], 1)
    []
    """
    colours = [-1] * len(graph)

    def assign(vertex):
        if vertex == len(graph):
            return True
        for colour in range(colour_count):
            if any(colours[neighbour] == colour for neighbour in graph[vertex]):
                continue
            colours[vertex] = colour
            if assign(vertex + 1):
                return True
            colours[vertex] = -1
        return False

    return colours if assign(0) else None


def maximum_flow(capacity, source, sink):
    """Compute the maximum flow through a capacity matrix by Edmonds and Karp's method.

    >>> maximum_flow([[0, 3, 2, 0], [0, 0, 1, 2], [0, 0, 0, 4], [0, 0, 0, 0]], 0, 3)
    5
    >>> maximum_flow([[0, 0], [0, 0]], 0, 1)
    0
    >>> maximum_flow([[0]], 0, 0)
    Traceback (most recent call last):
        ...
    ValueError: source and sink must differ
    """
    if source == sink:
        raise ValueError("source and sink must differ")
    residual, flow = [list(row) for row in capacity], 0
    while True:
        parent = {source: source}
        queue = deque([source])
        while queue and sink not in parent:
            u = queue.popleft()
            for v, rest in enumerate(residual[u]):
                if rest > 0 and v not in parent:
                    parent[v] = u
                    queue.append(v)
        if sink not in parent:
            return flow
        path = [sink]
        while path[-1] != source:
            path.append(parent[path[-1]])
        edges = list(zip(path[1:], path))
        pushed = min(residual[u][v] for u, v in edges)
        for u, v in edges:
            residual[u][v] -= pushed
            residual[v][u] += pushed
        flow += pushed


def maximum_bipartite_matching(choices, right_count):
    """Match each left vertex to one of its choices so that most are matched.

    >>> maximum_bipartite_matching([[0, 1], [0], [1, 2]], 3)
    [1, 0, 2]
    >>> maximum_bipartite_matching([[0], [0]], 1)
    [0, None]
    >>> maximum_bipartite_matching([], 2)
    []
    """
    owner = [None] * right_count

    def augment(left, tried):
        for right in choices[left]:
            if right in tried:
                continue
            tried.add(right)
            if owner[right] is None or augment(owner[right], tried):
                owner[right] = left
                return True
        return False

    for left in range(len(choices)):
        augment(left, set())
    return [owner.index(left) if left in owner else None for left in range(len(choices))]


def count_islands(grid):
    """Count the groups of horizontally or vertically connected ones in a grid.

    >>> count_islands([[1, 1, 0], [0, 0, 0], [0, 1, 1]])
    2
    >>> count_islands([[1, 0], [0, 1]])
    2
    >>> count_islands([])
    0
    """
    land = {(r, c) for r, row in enumerate(grid) for c, cell in enumerate(row) if cell == 1}
    islands = 0
    while land:
        islands += 1
        stack = [land.pop()]
        while stack:
            r, c = stack.pop()
            for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if cell in land:
                    land.remove(cell)
                    stack.append(cell)
    return islands


def flood_fill(image, row, column, colour):
    """Recolour in place the region of equal cells around a given cell.

    >>> flood_fill([[1, 1, 1], [1, 1, 0], [1, 0, 1]], 1, 1, 2)
    [[2, 2, 2], [2, 2, 0], [2, 0, 1]]
    >>> flood_fill([[0, 0]], 0, 1, 0)
    [[0, 0]]
    >>> flood_fill([[3]], 2, 0, 1)
    Traceback (most recent call last):
        ...
    ValueError: cell (2, 0) lies outside the image
    """
    if not (0 <= row < len(image) and 0 <= column < len(image[0])):
        raise ValueError(f"cell ({row}, {column}) lies outside the image")
    old = image[row][column]

    def fill(r, c):
        if r < 0 or r == len(image) or c < 0 or c == len(image[r]):
            return
        if image[r][c] != old:
            return
        image[r][c] = colour
        fill(r + 1, c)
        fill(r - 1, c)
        fill(r, c + 1)
        fill(r, c - 1)

    if old != colour:
        fill(row, column)
    return image
