"""Measurements of the project, each a command: ``python -m benchmarks.readability``."""
