"""Sum the scores of tags for each token, from scores that were computed once per word and position."""

from __future__ import annotations

from typing import Any

from spectralnlp.jit import fast_kernel


@fast_kernel
def sum_rows(rows: Any, features: Any, scores: Any) -> None:
    """Add the weights of each word's features to its scores of tags.

    Args:
        rows: int32 (n_words, n); indices of each word's features, -1 for none.
        features: `FeatureRows`; the weights of each feature.
        scores: float32 (n_words, n_tags); scores of tags, updated in place.
    """
    first, tags, weights = features.first, features.tags, features.weights
    for w in range(len(rows)):
        for i in range(rows.shape[1]):
            if rows[w, i] >= 0:
                for k in range(first[rows[w, i]], first[rows[w, i] + 1]):
                    scores[w, tags[k]] += weights[k]


@fast_kernel
def add_words(types: Any, starts: Any, tables: Any, joint: Any, features: Any, emissions: Any) -> None:
    """Add the scores of single words and of multi-word features to each token's tag scores (emissions).

    Args:
        types: int32 (n_tokens + 4 · n_sentences,); word ids, with two padding ids on each side of a sentence.
        starts: int64 (n_sentences + 1,); first token of each sentence.
        tables: float32 (7, n_types, n_tags); scores for words at offsets -2 to 2, for sentence-initial
            words, and for other words.
        joint: int32 (n_tokens, n_joint); indices of multi-word features, -1 for none.
        features: `FeatureRows`; the weights of each feature.
        emissions: float32 (n_tokens, n_tags); updated in place.
    """
    first, tags, weights = features.first, features.tags, features.weights
    n_tags = emissions.shape[1]
    for s in range(len(starts) - 1):
        base = starts[s] + 4 * s + 2
        for t in range(starts[s + 1] - starts[s]):
            scores = emissions[starts[s] + t]
            for o in range(5):
                row = tables[o, types[base + t + o - 2]]
                for y in range(n_tags):
                    scores[y] += row[y]
            own = tables[5 if t == 0 else 6, types[base + t]]
            for y in range(n_tags):
                scores[y] += own[y]
            for p in range(joint.shape[1]):
                number = joint[starts[s] + t, p]
                if number >= 0:
                    for k in range(first[number], first[number + 1]):
                        scores[tags[k]] += weights[k]
