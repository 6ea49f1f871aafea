"""Tests of the programs are in `test_notebooks`: none is imported for doctests."""

collect_ignore_glob = ["*.py"]
