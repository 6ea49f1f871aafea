"""The user's lines: whose code runs, and what to quote of it in an error."""
