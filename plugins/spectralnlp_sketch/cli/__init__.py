"""Commands: options, and one call of the API each."""
