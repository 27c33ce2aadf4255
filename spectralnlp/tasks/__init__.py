"""Tasks: what ``train`` and ``evaluate`` need to know of parsing, and later of tagging and intents."""
