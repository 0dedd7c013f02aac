"""The verdicts on limits as pages and JSON."""
