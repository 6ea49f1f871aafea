"""The user's lines: finds the user's running code, and quotes it in errors."""
