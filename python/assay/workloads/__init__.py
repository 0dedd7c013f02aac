"""Workloads of other tools: files of Iometer and fio, and traces."""
