"""The tests of the specification and the studies: each in one folder or file; ``registry`` is the one list."""
