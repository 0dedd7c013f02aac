"""The stimulus engine: what is asked of a drive and what it answered; the only caller of the native ``run``.

Enters: steps with accesses, ranges and demands. Leaves: one record per step and sequence, and their JSON (``codec``).
"""
