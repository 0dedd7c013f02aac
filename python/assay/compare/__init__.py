"""Several stored runs held against each other: matching, ratios with intervals, ranks, cohorts and the gate.

It reads the numbers that tests offer (``TestReport.measures``) and measures nothing; it prints nothing.
"""
