"""The variables of branches, loops and recursive calls: flattened, joined, packed."""
