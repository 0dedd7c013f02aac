"""The figure of a gate, and its output for build servers."""
