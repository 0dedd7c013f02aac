"""Tools beside the tests: fio in turn with our engine, I/O stack traces, fitting of drive models."""
