"""The keys of job files that are read, those that say nothing for a block device, and why others are refused."""

from __future__ import annotations

ALIASES = {
    "blocksize": "bs",
    "ba": "blockalign",
    "readwrite": "rw",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "io_limit": "io_size",
    "fileoffset": "offset",
}
"""Names that fio has for the same key."""

EXCLUSIVE = {"rwmixread": "rwmixwrite", "rwmixwrite": "rwmixread", "direct": "buffered", "buffered": "direct"}
"""Keys that set one value in two ways: the last one holds, wherever it stands."""

READ = frozenset((
    "blockalign", "bs", "bssplit", "buffer_compress_percentage", "buffered", "direct",
    "filename", "group_reporting", "io_size", "iodepth", "ioengine", "kb_base",
    "loops", "norandommap", "numjobs", "offset", "offset_increment", "percentage_random",
    "ramp_time", "random_distribution", "rate", "rate_iops", "rate_process", "runtime",
    "rw", "rwmixread", "rwmixwrite", "size", "startdelay", "stonewall",
    "thinktime", "thinktime_blocks", "time_based",
))  # fmt: skip
"""Keys that say something about the workload."""

_REPORTING = (
    "group_reporting", "new_group", "unified_rw_reporting", "lat_percentiles",
    "clat_percentiles", "slat_percentiles", "percentile_list", "significant_figures",
    "disable_lat", "disable_clat", "disable_slat", "disable_bw_measurement",
    "gtod_reduce", "stats", "unit_base", "bwavgtime",
    "iopsavgtime", "write_bw_log", "write_lat_log", "write_iops_log",
    "write_hist_log", "log_avg_msec", "log_hist_msec", "log_max_value",
    "log_offset", "description", "per_job_logs",
)  # fmt: skip
_NAMING = (
    "filename", "directory", "name", "allow_mounted_write",
    "allow_file_create", "fallocate", "unlink", "create_on_open",
    "overwrite", "invalidate",
)  # fmt: skip
_SUBMITTING = (
    "thread", "registerfiles", "fixedbufs", "nonvectored",
    "mem", "iomem", "iomem_align", "cpus_allowed",
    "cpus_allowed_policy", "numa_cpu_nodes", "numa_mem_policy", "nice",
    "prio", "prioclass", "clocksource", "userspace_reap",
    "ioengine", "force_async",
)  # fmt: skip
_SEEDING = (
    "randrepeat", "allrandrepeat", "randseed", "random_generator",
    "refill_buffers", "scramble_buffers",
)  # fmt: skip
IGNORED = {
    **dict.fromkeys(_REPORTING, "sets what fio reports"),
    **dict.fromkeys(_NAMING, "the drive is an argument of Assay"),
    **dict.fromkeys(_SUBMITTING, "Assay chooses how to submit I/Os"),
    **dict.fromkeys(_SEEDING, "Assay draws addresses and data from the seed of the run"),
}
"""Keys that change nothing in what a block device is asked, and why they are left out."""

REFUSED = {
    "bsrange": ("draws sizes of no stated shares", "write the sizes and their shares with bssplit"),
    "exec_prerun": ("would run a command", "remove it"),
    "exec_postrun": ("would run a command", "remove it"),
    "include": ("takes in another file", "copy its lines here"),
    "verify": ("checks data, which is another test", "remove it"),
    "zonemode": ("is for zoned drives", "remove it"),
    "fsync": ("flushes between writes, which a stream does not", "remove it"),
    "fdatasync": ("flushes between writes, which a stream does not", "remove it"),
    "end_fsync": ("flushes at the end, which a stream does not", "remove it"),
    "sync": ("makes each write durable, which a stream does not", "remove it"),
    "read_iolog": ("replays a trace", "replay it with assay run DRIVE --replay FILE"),
    "rw_sequencer": ("changes where sequential I/Os go", "remove it"),
    "zero_buffers": ("writes zeros", "remove it"),
    "steadystate": ("ends the job by what it measures", "write runtime and time_based"),
}
"""Keys with an answer of their own; every other unknown key is refused as such."""

SYNC_ENGINES = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2"})
"""Engines that keep one I/O outstanding, whatever iodepth says; psync is what fio takes unless told."""
ASYNC_ENGINES = frozenset({"io_uring", "io_uring_cmd", "libaio", "posixaio", "solarisaio", "windowsaio", "libblkio"})
"""Engines that keep iodepth I/Os outstanding."""
