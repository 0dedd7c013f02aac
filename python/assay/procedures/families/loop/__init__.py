"""What IOPS, throughput and latency share: rounds of cells until steady."""
