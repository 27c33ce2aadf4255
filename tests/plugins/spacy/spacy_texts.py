"""Sentences that the small parser can do."""

from __future__ import annotations

TEXT = "The keeper climbs the stairs every evening. Did the train leave the station? Mrs. Okafor closed it."
SENTENCES = tuple(
    line.split()
    for line in (
        "The keeper climbs the stairs every evening .",
        "Did the train leave the station ?",
        "The lamp is ready .",
    )
)
BRACKETED, LOOP = (
    line.split()
    for line in (
        'The soup ( an old recipe ) needs " salt " .',
        "the keeper climbs the stairs , and the lamp is ready ;",
    )
)
