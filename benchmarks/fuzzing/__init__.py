"""Parts of `benchmarks.fuzz`: mutations of inputs, commands to run on them, and child processes."""
