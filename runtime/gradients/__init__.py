"""Gradients: what ran is gone through backwards, by public operations.

`tape` records, `backprop` goes back, `rules` know one op each, `control_flow` and
`calls` know those that have graphs in them.
"""
