"""A service with rights on drives: it shows them, checks plans, and starts runs, one after another.

It holds the socket with its messages, what ``agent.toml`` allows, checked plans, the queue, and the processes of runs.
Requests of the web page and of users enter, one line of JSON each. Answers leave, and runs as processes of their own,
which outlive the service.
"""
