"""What an Iometer file says and one block device has no use for, a line each; nothing is left out silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.workloads.iometer.content import pattern_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.workloads.iometer.model import IcfFile, Manager, TargetSettings, Worker

_ENTRIES_MAX = 1000
_LETTERS_MAX = 500


def left_out_of(icf: IcfFile, found_on_the_way: Sequence[str]) -> tuple[str, ...]:
    """A sentence for each, with the line that it stands in; at most 1,000, the last of which counts the others."""
    result = [f"Line {note.line}: {_sentence(note.text)}" for note in icf.notes]
    result += [*_of_setup(icf), *_of_specs(icf), *_of_managers(icf), *found_on_the_way]
    result = list(dict.fromkeys(one[:_LETTERS_MAX] for one in result))
    if len(result) <= _ENTRIES_MAX:
        return tuple(result)
    count = len(result) - _ENTRIES_MAX + 1
    return (*result[: _ENTRIES_MAX - 1], f"{count:,} more such lines.")


def _sentence(text: str) -> str:
    return f"{text}."


def _of_setup(icf: IcfFile) -> Iterator[str]:
    setup = icf.setup
    if setup is not None:
        if setup.network_workers:
            line = setup.lines.get("network_workers", setup.line)
            yield f"Line {line}: network workers, of which {setup.network_workers} would be started, are left out."
        if setup.record != "ALL":
            yield (
                f"Line {setup.lines.get('record', setup.line)}: Record Results {setup.record} says which rows Iometer "
                "writes; here all results are kept."
            )
    if icf.display is not None:
        yield f"Line {icf.display.line}: the results display says what Iometer's window shows and has no effect."


def _of_specs(icf: IcfFile) -> Iterator[str]:
    for spec in icf.specs:
        for row in spec.rows:
            if row.reply_bytes:
                yield f"Line {row.line}: {spec.name}: the reply of {row.reply_bytes} bytes to each I/O is left out."
        if spec.assignment == "NET" and icf.managers is None:
            yield f"Line {spec.line}: {spec.name}: is for network workers, and left out."


def _of_managers(icf: IcfFile) -> Iterator[str]:
    managers = icf.managers or ()
    if len(managers) > 1:
        yield f"The file has {len(managers)} managers (hosts): all their disk workers run on this host."
    for manager in managers:
        for worker in manager.workers:
            yield from _of_worker(manager, worker) if worker.is_disk else _of_network_worker(worker)
    yield from _of_patterns(icf)


def _of_network_worker(worker: Worker) -> Iterator[str]:
    yield (
        f"Line {worker.line}: {worker.name}: a {worker.kind} worker is left out with its {len(worker.assigned)} access "
        f"specifications and {len(worker.targets)} targets."
    )


def _of_worker(manager: Manager, worker: Worker) -> Iterator[str]:
    del manager
    settings = worker.settings
    named = [f'"{target.name}" (line {target.line})' for target in worker.targets]
    if len(named) > 1:
        yield (
            f"Line {worker.line}: {worker.name}: its {len(named)} targets become the tested drive, with "
            f"the outstanding I/Os of a single target: {', '.join(named)}."
        )
    elif named:
        yield f"Line {worker.targets[0].line}: {worker.name}: the target {named[0]} is the drive that is tested."
    else:
        yield f"Line {worker.line}: {worker.name}: has no target, and runs on the drive that is tested."
    yield from _of_settings(worker.name, settings)


def _of_settings(name: str, settings: TargetSettings) -> Iterator[str]:
    line = settings.lines.get("outstanding", settings.line)
    if settings.test_connection_rate:
        yield (
            f"Line {line}: {name}: the test of the connection rate, which opens the target anew after every "
            f"{settings.transactions_per_connection} transactions, is left out."
        )
    if settings.fixed_seed is not None:
        yield f"Line {line}: {name}: the fixed seed {settings.fixed_seed} is left out; the run has another seed."
    for field, key in (("network_interface", "Local network interface"), ("vi_outstanding", "VI outstanding IOs")):
        if getattr(settings, field):
            yield f"Line {settings.lines.get(field, settings.line)}: {name}: '{key} is left out: it is of networks."


def _of_patterns(icf: IcfFile) -> Iterator[str]:
    """How written data differ from Iometer's."""
    workers = [worker for manager in icf.managers or () for worker in manager.workers if worker.is_disk]
    patterns = {pattern_of(icf.version, worker.settings.data_pattern) for worker in workers}
    if not workers:
        patterns = {pattern_of(icf.version, None)}
    if 0 in patterns:
        yield "Data pattern 0, a single byte repeated through each write, is written as data of which 5 % is stored."
    if None in patterns:
        yield "Releases to 2004 write uninitialized data; the plan states the data that is written."
