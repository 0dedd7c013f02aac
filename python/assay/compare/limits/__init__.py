"""Limits that a stored run is held against: of a plan, of a file, and what the data sheet claims."""
