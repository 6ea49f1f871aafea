"""Backends of ours for libraries that are not: each is imported on request."""
