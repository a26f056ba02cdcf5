"""The learned operator T, its solutions u, and their files."""
