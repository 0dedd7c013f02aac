"""``assay serve``: run folders, the index and the agent of this host enter; pages, an API and metrics leave.

``serving`` starts the server, ``connections`` and ``guard`` stand in front of ``app``, the table of addresses. Pages
share a ``site``. ``pages`` answer browsers, ``api`` and ``metrics`` programs. Slow work goes through ``jobs`` to the
child process ``worker``. The server has no rights on drives: plans go to the agent (``host_agent``).
"""
