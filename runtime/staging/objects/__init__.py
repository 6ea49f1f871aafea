"""Aliases: lists, dicts and objects that a tensor chooses, and copies of such.

After ``row = grid[y]``, ``row[x] = 1`` changes ``grid``: `choice` and its kin read and
write through to the objects. Where a graph can only have a copy, `copy` watches it.
"""
