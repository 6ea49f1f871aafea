"""From Python to nodes: traced functions, sub-graphs of branches and loops.

A ``while`` with ``break`` comes here in four steps: the compiler makes the ``break`` a
flag, `staging.state.loop_state` lays out the variables, `stage_while` finds the specs
of the state, and `subgraph` adds the ``While`` node.
"""
