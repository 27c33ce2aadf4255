"""Parts of `benchmarks.fuzz`: mutations, targets, and the isolation of cases in child processes."""
