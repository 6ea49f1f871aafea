"""The command ``autograph``: its targets, its output, and what each subcommand does."""
