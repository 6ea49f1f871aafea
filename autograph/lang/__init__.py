"""Python source as trees and back: parsing, visiting, naming, printing.

gast is the tree everywhere above this package; the standard library's `ast` and astor
stay inside of it.
"""
