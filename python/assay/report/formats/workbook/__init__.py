"""The workbook: sheets, cells and charts."""
