"""The estimator ``lpcfg-clusters``: one grammar of clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from typing_extensions import Doc

from spectralnlp.estimators.lpcfg.estimator import LPCFG

_FAST: Mapping[str, Any] = LPCFG.presets["fast"]


@dataclass(kw_only=True, eq=False, repr=False)
class ClusterLPCFG(LPCFG):
    """A latent-variable PCFG whose states are clusters of nodes (Narayan and Cohen 2015), counted.

    It is :class:`LPCFG` with other defaults, those of ``preset=fast``.

    Examples:
        >>> from spectralnlp import read_treebank
        >>> from spectralnlp.estimators.lpcfg import ClusterLPCFG
        >>> ClusterLPCFG(n_states=4).fit(read_treebank("corpora/treebank/train.mrg")).n_trees_
        171
    """

    presets: ClassVar = {}

    grammars: Annotated[str, Doc("Which grammars, as of ``lpcfg``.")] = _FAST["grammars"]
