"""The variables of branches and loops: taken apart, joined, packed again."""
