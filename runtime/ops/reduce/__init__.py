"""Sums and other reductions, along axes and over segments."""
