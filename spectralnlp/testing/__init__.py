"""Checks for extensions: your own estimators, moments, readers, decoders, featurizers or tasks.

Each check raises an AssertionError that says which requirement is violated. Checks need neither pytest nor
any other test package, so that they run anywhere; docs/extending.md has an example of each::

    from spectralnlp.testing import check_estimator

    check_estimator(MyEstimator, examples)

``ESTIMATOR_CHECKS`` and ``MOMENTS_CHECKS`` have the single checks by name, for test suites that run them
separately. A check that an extension fails for a good reason can be excused by name, with the reason.

>>> from spectralnlp.testing import ESTIMATOR_CHECKS, MOMENTS_CHECKS
>>> "pickles" in ESTIMATOR_CHECKS, "subtracting_undoes_merging_or_is_refused" in MOMENTS_CHECKS
(True, True)
"""

from spectralnlp.testing.decoders import check_decoder
from spectralnlp.testing.estimators import ESTIMATOR_CHECKS, check_estimator, fitted_leaves
from spectralnlp.testing.featurizers import check_featurizer
from spectralnlp.testing.moments import (
    MOMENTS_CHECKS,
    MomentsCase,
    check_moments,
    check_partition,
    moments_state,
)
from spectralnlp.testing.readers import check_reader
from spectralnlp.testing.tasks import check_task

__all__ = [
    "ESTIMATOR_CHECKS",
    "MOMENTS_CHECKS",
    "MomentsCase",
    "check_decoder",
    "check_estimator",
    "check_featurizer",
    "check_moments",
    "check_partition",
    "check_reader",
    "check_task",
    "fitted_leaves",
    "moments_state",
]
