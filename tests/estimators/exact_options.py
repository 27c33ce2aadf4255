"""Options under which true moments give true parameters."""

from __future__ import annotations

from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import ProjectionOptions

PRIORS = ("tag_weight", "word_prior", "signature_prior", "state_prior", "signature_state_prior")
UNSMOOTHED = LexiconOptions(
    scheme="english", rare=0, keep_rare_words=True, rarest=0, frequent=0, **dict.fromkeys(PRIORS, 0.0)
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
