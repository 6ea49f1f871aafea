"""How converted code gets into a program: by a call, an import, a cache, a file."""
