"""Operations on each element: arithmetic, functions, logic."""
