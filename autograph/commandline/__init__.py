"""The command ``autograph``: its targets, its output, and its subcommands."""
