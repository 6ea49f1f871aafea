"""What becomes of Python's state where a tensor decides which statements run.

`variables` stages a statement: it hands the backend the values of the state, which are
its `slots`, and `trials` run a body on the values that the backend gives. Take ``if``.
Before each branch runs, a `snapshot` takes apart all objects that the branch can
reach, each as its kind says (`kinds`), and `contents` puts the backend's values into
the lists and dicts of the state. After it, what is not as it was is put back, and
what was not part of the state becomes a slot of it: the ``if`` is staged again, until
its branches change nothing new. `aliases` freezes what the branches leave in a place
that may be an object from before. What no graph can carry is an error with a code
(`refusals`); `frames` tells which functions run. At last the backend's merged values
are written to the slots. A list that another object then stands for is `retired`, so
that nothing goes on with it.
"""
