"""Stored runs: verified, packed into bundles, listed in an index, read as frames, and rendered."""
