"""Parameters of the tests over a grid of demands: demand intensity and the composite workload."""

from __future__ import annotations
