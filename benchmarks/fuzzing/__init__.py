"""Parts of `benchmarks.fuzz`: mutations of inputs, target commands, and isolation in child processes."""
