"""The ways of converted code into a program: calls, imports, the cache, files."""
