"""Assay tests solid-state drives the way the SNIA Solid State Storage Performance Test Specification says."""
