"""The operations: `registry` holds them, each family of ops has a module."""
