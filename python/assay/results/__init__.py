"""Every value that will be printed, computed from step records.

Enters: a stored run. Leaves: numbers of steps, verdict windows, response times, the host's part, and findings of checks
and audits; why a test is withheld is decided in ``outcome``. Nothing here knows a test or an output.
"""
