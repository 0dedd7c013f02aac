"""What demand intensity and the composite workload share: a grid of demands, then three operating points."""
