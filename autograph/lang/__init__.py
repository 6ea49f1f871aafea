"""Python source as trees and back: parsing, visiting, naming, printing.

gast is the tree everywhere above this package; only `parse` meets the standard
library's `ast`, and only `unparse` meets astor.
"""
