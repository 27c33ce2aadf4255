"""An engine over Dask's distributed: the passes of every estimator on many machines, or on local workers."""
