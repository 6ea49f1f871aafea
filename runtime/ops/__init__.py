"""The operations: `record` holds them, each family of ops has a module."""
