"""Containers of the standard library in a graph: dict, set, deque, heapq."""
