"""Command of this plugin."""
