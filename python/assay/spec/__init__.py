"""The specification as data: units, steady state, editions and their data with sources.

Enters: TOML, JSON and text files of users, bounded and opened without following links. Leaves: frozen records, and
errors that name key, line and remedy. It is the lowest package: it imports
nothing of the product but errors and the native module.
"""
