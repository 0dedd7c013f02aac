"""Exit codes in words, as lists show how a run ended."""

from __future__ import annotations

_WORDS = {
    0: "complete",
    1: "refused by the system",
    2: "wrong option, plan or target",
    3: "refused by the gate",
    4: "the drive failed or changed",
    5: "results withheld",
    6: "the run folder failed",
    7: "not steady",
    8: "limits not met",
    70: "defect of the program",
    130: "stopped",
}


def exit_words(code: int | None) -> str:
    """How a run ended. code : of its process, None where none is known.

    Worked: 7 -> ``not steady``; 99 -> ``exit code 99``; -9 -> ``ended by signal 9``; None -> ``exit code unknown``.
    """
    if code is None:
        return "exit code unknown"
    return f"ended by signal {-code}" if code < 0 else _WORDS.get(code, f"exit code {code}")
