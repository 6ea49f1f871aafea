"""Graph → graph: `optimize` for all engines, `lowering` for those of static shapes."""
