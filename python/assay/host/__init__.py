"""The test system: audited by ``assay check``.

Enters: what the kernel says of processors, links and limits. Leaves: findings with limits, the certificate of a host,
its calibration while quiet, and drift against its reference drive.
"""
