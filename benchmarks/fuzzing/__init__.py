"""Parts of `benchmarks.fuzz`: mutations of files, targets that read them, and cases in processes of their own."""
