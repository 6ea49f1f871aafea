"""Lists, dicts and objects that a tensor chooses: frozen values.

A graph chooses values, not objects: `choice` makes a copy of one of several, and `copy`
watches it, which must not be changed, nor be read once the objects have changed.
"""
