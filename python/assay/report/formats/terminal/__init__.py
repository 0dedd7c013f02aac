"""A run on the terminal: first lines, overview, lists."""
