"""Comparisons and gates as pages, tables and files."""
