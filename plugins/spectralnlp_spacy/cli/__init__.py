"""Commands of this plugin; each imports what it needs when it runs."""
