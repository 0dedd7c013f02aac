"""Iometer: its configuration files as workloads and back, and its result files.

```
FILE.icf --read_icf--> IcfFile --to_workload--> Workload     (python/assay/spec/workload.py)
FILE.icf <-write_icf-- IcfFile <-from_workload- Workload
results.csv --read_results--> Results        figures of a run --results_csv--> text as Iometer writes it
```
"""

from __future__ import annotations

from assay.workloads.iometer.from_workload import access_spec, from_workload
from assay.workloads.iometer.model import IcfFile
from assay.workloads.iometer.read import read_icf
from assay.workloads.iometer.results import read_results
from assay.workloads.iometer.results_write import results_csv
from assay.workloads.iometer.to_workload import to_workload, without_cycling
from assay.workloads.iometer.write import write_icf

__all__ = [
    "IcfFile",
    "access_spec",
    "from_workload",
    "read_icf",
    "read_results",
    "results_csv",
    "to_workload",
    "without_cycling",
    "write_icf",
]
