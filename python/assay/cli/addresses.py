"""A limit of the process's addresses that is too low is named at once.

Libraries in C end the whole process where memory is refused to them: OpenBLAS exits with 1, the C library aborts
("cannot allocate memory for thread-local data"), a library that is half mapped faults. No program can catch that.
"""

from __future__ import annotations

import os
import resource

from assay.errors import SystemRefusedError
from assay.spec.units import KIB, MIB

LEAST_BYTES = 640 * MIB
"""What a run of a small simulated drive with its report takes (500,000 KiB on two processors), and a quarter more."""
_AMPLE_BYTES = 8 * 1024 * MIB
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
"""Each thread of a library takes addresses of its own, and there would be one for each processor."""
_LIGHT = {"config", "completion", "drives", "editions", "init", "key", "man", "models", "status", "tests"}
"""Commands that load none of these libraries."""


def check_addresses(command: str) -> None:
    """Raise SystemRefusedError where a command cannot work within the limit of addresses (``ulimit -v``).

    Worked: ``assay report`` within 300,000 KiB -> refused; within 655,360 KiB -> not; ``assay drives`` -> never.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= _AMPLE_BYTES:
        return
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    if limit < LEAST_BYTES and command not in _LIGHT:
        reason = f"is limited to {limit // KIB} KiB of addresses, and assay {command} needs {LEAST_BYTES // KIB}"
        raise SystemRefusedError("memory", reason, f"raise the limit: ulimit -v {LEAST_BYTES // KIB}")


def is_of_memory(error: BaseException) -> bool:
    """Whether a library could not be loaded because no memory was left for it.

    Worked: ``failed to map segment from shared object`` -> it is; ``No module named 'x'`` -> it is not.
    """
    signs = ("failed to map segment", "annot allocate memory", "cannot create", "out of memory")
    causes = [error, *_causes(error)]
    return any(isinstance(cause, ImportError) and any(sign in str(cause) for sign in signs) for cause in causes)


def _causes(error: BaseException) -> list[BaseException]:
    """What led to an error, the nearest first."""
    causes: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes
