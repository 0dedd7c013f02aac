"""Job files of fio: the part for block devices read as a workload, and workloads written as job files."""

from assay.workloads.fio.approximation import nearest_job_text
from assay.workloads.fio.export import job_text
from assay.workloads.fio.reading import parse_jobs, read_jobs

__all__ = ["job_text", "nearest_job_text", "parse_jobs", "read_jobs"]
