"""What a run is asked for, as records: options, the choices for a drive, tests and their parts."""
