"""How two outcomes of a statement become one, for backends whose values are arrays."""
