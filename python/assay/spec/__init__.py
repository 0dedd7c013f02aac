"""The specification as data: units, steady state, editions and their data with sources."""
