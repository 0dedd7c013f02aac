"""What a run is asked for, as records: options, the choices for a drive, tests and their parts.

Enters: the tables of a plan file. Leaves: options of tests, what a procedure is, and the phases with bounds of time and
writes that forecasts add up. It knows no test.
"""
