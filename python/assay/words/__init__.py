"""Everything that is printed of a code, in one table, and how values stand in it."""
