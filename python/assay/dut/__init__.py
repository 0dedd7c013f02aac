"""The device under test, real or simulated: a drive made ready for a run."""
