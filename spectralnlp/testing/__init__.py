"""Checks of extensions: an estimator, moments, a reader, a decoder, a featurizer or a task of your own.

Each raises an AssertionError that says which promise is broken. They need neither pytest nor any other
package of tests, so they run anywhere; docs/extending.md has an example of each::

    from spectralnlp.testing import check_estimator

    check_estimator(MyEstimator, examples)

``ESTIMATOR_CHECKS`` and ``MOMENTS_CHECKS`` hold the single checks by name, for test suites that run them one
by one. A check that an extension fails with good reason is excused by name, with the reason.

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
