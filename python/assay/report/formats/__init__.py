"""The output formats: PDF, HTML, workbook, CSV, JSON and terminal."""
