from __future__ import annotations

import numpy as np
import pytest
from rhmm_reference import enumerated, found, random_model, sequence_value, word_vectors

from spectralnlp.inference.chains.refined import tag_posteriors

SENTENCES = [[0], [3, 1], [2, 2], [0, 1, 4], [4, 3, 0, 2], [1, 4, 4, 0, 3]]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("entries", SENTENCES)
def test_posteriors_equal_the_sum_over_all_sequences_of_tags(entries: list[int], tied: bool) -> None:
    for seed in range(5):
        model = random_model(tied=tied, seed=seed)
        lookup = found(model.lexicon, entries)
        values, total = enumerated(model, lookup)
        scored = tag_posteriors(model, lookup)
        shares = np.abs(values) / np.abs(values).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(scored.posteriors, shares, atol=1e-9)
        if total > 0:
            assert scored.log_probability == pytest.approx(np.log(total) + lookup.log_weight)
        else:
            assert scored.log_probability == -np.inf


@pytest.mark.parametrize("tied", [True, False])
def test_allowed_tags_give_the_value_of_one_sequence(tied: bool) -> None:
    model = random_model(tied=tied, seed=3)
    lookup = found(model.lexicon, [0, 4, 1])
    tags = (1, 0, 2)
    vectors = [
        word_vectors(model.lexicon, e, s)
        for e, s in zip(lookup.entries.tolist(), lookup.signatures.tolist(), strict=True)
    ]
    allowed = np.eye(3, dtype=bool)[list(tags)]
    value = sequence_value(model, tags, vectors)
    assert value > 0
    assert tag_posteriors(model, lookup, allowed).log_probability == pytest.approx(
        np.log(value) + lookup.log_weight
    )
    # Word 2 with backoff 0.2 has its own tag and its signature's; word 1 has no backoff.
    forbidden = np.eye(3, dtype=bool)[[0]]
    impossible = tag_posteriors(model, found(model.lexicon, [1]), forbidden)
    assert impossible.log_probability == -np.inf
    assert not impossible.posteriors.any()


def test_long_sentences_neither_overflow_nor_underflow() -> None:
    model = random_model(tied=True)
    entries = [0, 1, 2, 3, 4] * 1000
    long = tag_posteriors(model, found(model.lexicon, entries))
    np.testing.assert_allclose(long.posteriors.sum(axis=1), 1.0)
    assert np.isfinite(long.log_probability)
    # Far from its ends a sentence forgets them: every period looks the same.
    np.testing.assert_allclose(long.posteriors[1000:1005], long.posteriors[3000:3005], atol=1e-9)
