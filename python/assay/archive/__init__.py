"""Stored runs: run folders enter; reports, levels, bundles, rows of an index and frames leave. Nothing is measured.

``rendering`` writes reports, ``verify`` checks a run by every rule, ``checks`` keeps which runs passed, ``levels`` says
how far to trust a run, ``kept`` keeps summaries of finished runs, ``bundle`` packs runs into files, ``index`` lists
them in a database, and ``frames`` is ``assay.load``.
"""
