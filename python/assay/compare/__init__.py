"""Several stored runs held against each other: matching, ratios with intervals, ranks, cohorts and the gate.

It reads the numbers that tests offer (``TestRecord.measures``) and measures nothing; it prints nothing.
"""
