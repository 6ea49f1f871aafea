"""Assertions, and the search for numbers that are not finite."""
