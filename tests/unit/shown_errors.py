"""The error lines among what a run says on standard error."""


def error_lines(said: str) -> str:
    """The lines that are no progress, each with its end."""
    return "".join(line for line in said.splitlines(keepends=True) if line.startswith("assay: "))
