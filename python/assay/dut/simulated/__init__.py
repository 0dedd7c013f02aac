"""Simulated drives: drive models, their TOML files, and faults that are injected on purpose."""
