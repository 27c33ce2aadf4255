"""Parts of `benchmarks.fuzz`: mutations, targets, and cases in processes of their own."""
