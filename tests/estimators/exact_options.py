"""Options under which true moments give true parameters."""

from __future__ import annotations

from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import ProjectionOptions

UNSMOOTHED = LexiconOptions(
    scheme="english",
    rare=0,
    keep_rare_words=True,
    tag_weight=0.0,
    rarest=0,
    frequent=0,
    word_prior=0.0,
    signature_prior=0.0,
    state_prior=0.0,
    signature_state_prior=0.0,
)
EXACT = ProjectionOptions(
    n_states=2,
    nodes_per_state=0,
    min_nodes=0,
    min_feature_count=0,
    scaling=settings.SCALING,
    kappa=settings.KAPPA,
    shrinkage=0,
    min_singular_value=1e-7,
    min_rank=0,
    random_state=0,
)
