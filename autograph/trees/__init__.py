"""Trees of gast: constructors, walks, names, and the translation from and to `ast`."""
