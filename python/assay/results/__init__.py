"""Every value that will be printed, computed from step records."""
