"""What tests share that write samples without a gap until the drive is saturated."""
