"""A service with rights on drives: it shows them, checks plans, and starts runs, one after another."""
