"""Everything that is printed of a code, in one table, and how values stand in it.

Enters: codes with raw values (``coded``) from every package. Leaves: sentences (``text``), printed numbers
(``printed``, ``digits``), words for endings, exit codes and checks (``outcomes``), texts of others made safe to show
(``visible``).
"""
