"""The version, in one place: package metadata, command line and cache files use it."""

__version__ = "0.2.0"
