"""Graphs on XLA through JAX: the extra ``xla``."""
