"""Running graphs: the interpreter is the definition, NumPy source is what runs."""
