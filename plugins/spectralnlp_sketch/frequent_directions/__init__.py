"""Frequent directions (Liberty 2013): a small B with BᵀB close to XᵀX of a stream, deterministically."""
