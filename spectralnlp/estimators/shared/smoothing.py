"""Estimate second- and third-order moments of rules, smoothed with lower-order moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.estimators.shared.settings import Options
from spectralnlp.parameters import Floats

_CHUNK = 4096  # number of nodes whose outer products are in memory at a time


@dataclass(frozen=True, kw_only=True)
class SmoothingOptions(Options):
    """Settings for smoothing the moments of rules with lower-order moments.

    The moment of a rule that occurs n times has the weight λ = √n / (C + √n).

    Args:
        smoothing: whether to smooth; if not, λ = 1.
        smoothing_strength: the constant C.
    """

    smoothing: bool
    smoothing_strength: float = 20.0

    def trust(self, count: float) -> float:
        """Return the weight λ of the moment of a rule that occurs ``count`` times."""
        if not self.smoothing:
            return 1.0
        return float(np.sqrt(count) / (self.smoothing_strength + np.sqrt(count)))


NO_SMOOTHING = SmoothingOptions(smoothing=False, smoothing_strength=0.0)


def smoothed_third_moment(
    z: Floats, left: Floats, right: Floats, weight: Floats, options: SmoothingOptions
) -> Floats:
    """Return the smoothed third moment of a binary rule, float64 (m_a, m_b, m_c).

    The moment is λ E[Z⊗Y⊗Y] + (1 − λ)(λ K + (1 − λ) H). K is the average of the three products of a pairwise
    moment and the mean of the third vector; H is the product of the three means (Cohen et al. 2013,
    section 3.4).

    Args:
        z: (n, m_a); outside vectors Z of the rule's nodes.
        left, right: (n, m_b) and (n, m_c); inside vectors Y of their children.
        weight: float64 (n,); weight of each node.
        options: settings that determine the weight λ.
    """
    total = weight.sum()
    moment = np.zeros((z.shape[1], left.shape[1] * right.shape[1]))
    for start in range(0, len(z), _CHUNK):
        part = slice(start, start + _CHUNK)
        outer = left[part, :, None] * right[part, None, :]
        weighted = z[part] * weight[part, None].astype(z.dtype)
        moment += weighted.T @ outer.reshape(len(outer), -1)
    moment = (moment / total).reshape(z.shape[1], left.shape[1], right.shape[1])
    trust = options.trust(total)
    if trust == 1.0:
        return moment
    share = (weight / total)[:, None].astype(z.dtype)
    mean_z, mean_l, mean_r = ((share * x).sum(0) for x in (z, left, right))
    pair_zl, pair_zr, pair_lr = (share * z).T @ left, (share * z).T @ right, (share * left).T @ right
    pairs = (
        pair_zl[:, :, None] * mean_r
        + pair_zr[:, None, :] * mean_l[None, :, None]
        + mean_z[:, None, None] * pair_lr[None]
    ) / 3
    means = mean_z[:, None, None] * mean_l[None, :, None] * mean_r
    return trust * moment + (1 - trust) * (trust * pairs + (1 - trust) * means)


def smoothed_second_moment(z: Floats, y: Floats, weight: Floats, options: SmoothingOptions) -> Floats:
    """Return the smoothed second moment of a unary rule, λ E[Z⊗Y] + (1 − λ) E[Z]⊗E[Y], (m_a, m_b).

    Args:
        z: (n, m_a); outside vectors Z of the rule's nodes.
        y: (n, m_b); inside vectors Y of their children.
        weight: float64 (n,); weight of each node.
        options: settings that determine the weight λ.
    """
    share = (weight / weight.sum())[:, None].astype(z.dtype)
    trust = options.trust(weight.sum())
    means = np.outer((share * z).sum(0), (share * y).sum(0))
    return trust * ((share * z).T @ y) + (1 - trust) * means
