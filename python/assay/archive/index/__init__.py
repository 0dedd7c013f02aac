"""The index of runs: what lists and searches show of run folders, kept in a database.

It is never the truth: it is made from the run folders, a folder that has changed since is read again, and a database
that is lost is made anew. SQLite by default, PostgreSQL by URL.

Writing goes through SQLAlchemy and Alembic. Reading asks the database's own driver, by statements that both databases
know: SQLAlchemy takes most of a second to load, and ``assay runs`` is to answer in less.
"""
