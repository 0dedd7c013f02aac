"""The drives of this host: who they are, whether they may be touched, purge, cache, queue, platform.

Only this package opens device nodes, reads sysfs and runs outside commands.
"""
