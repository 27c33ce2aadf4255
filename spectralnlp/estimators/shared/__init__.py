"""Building blocks that several families of estimators share.

- `settings`: types, ranges, help and usual defaults of hyper-parameters that several estimators have.
- `projections`: from features of nodes to vectors, by an SVD for each symbol or tag.
- `clusters`, `event_index`: clusters of these vectors as states; counting states, and EM that refines them.
- `smoothing`: means of outer products, smoothed toward moments of lower order.
- `lexicon`: tags and state vectors of words, smoothed for rare and unknown ones.
- `grammars`, `language`, `unary_chains`: estimators of grammars, head rules and signatures, unary chains.
- `word_counts`, `spill_segments`: counts of words, on disk where memory is limited.

Families import the modules; nothing here is public API.
"""

# Nothing here is public.
__all__: list[str] = []
