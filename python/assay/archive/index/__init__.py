"""The index of runs: what lists and searches show of run folders, kept in a database.

It is never the truth: it is made from the run folders, a folder that has changed since is read again, and a database
that is lost is made anew. SQLite by default, PostgreSQL by URL, each by its own driver.
"""
