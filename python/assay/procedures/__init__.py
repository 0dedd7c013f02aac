"""One file per test of the specification, each with the same header."""
