"""Matrices: products, decompositions, diagonals."""
