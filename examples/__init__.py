"""Small whole programs: ``python -m examples.collatz``. README.md lists them."""
