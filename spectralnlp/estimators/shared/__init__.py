"""Building blocks shared by several families of estimators; none of them is public API.

- `settings`: types, ranges, help texts and defaults of hyper-parameters that several estimators have.
- `projections`: vectors of nodes from their features, by an SVD for each symbol or tag.
- `clusters`, `event_index`: states by clustering these vectors; counts of states, and their refinement by EM.
- `feature_kernels`: a kernel that numbers the features of nodes.
- `smoothing`: means of outer products, smoothed with lower-order moments.
- `lexicon`: tags and state vectors of words, smoothed for rare and unknown words.
- `treebank`, `grammars`: treebanks in tables, and base classes of estimators that learn grammars from them.
- `language`: head rules and word signatures by language.
- `ambiguous_labels`, `unary_chains`: labels used both as tag and phrase label; unary chains of labels.
- `word_counts`, `spill_segments`: counts of words, on disk if memory is limited.
"""

# Nothing here is public.
__all__: list[str] = []
