"""From Python to nodes: traced functions, sub-graphs of branches and loops."""
