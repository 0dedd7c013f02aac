"""What families of tests share: test loops, write saturation, grids of demands."""
