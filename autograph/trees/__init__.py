"""Python as trees of gast: constructors, walks, names, and the way to `ast`."""
