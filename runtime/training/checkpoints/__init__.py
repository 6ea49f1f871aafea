"""Checkpoints: the state of objects in files, and which files are the latest."""
