"""Compile the kernels of the last parsing stages (scoring, rescoring, decoding) with a dummy forest.

The first parse on a machine compiles each kernel when it is first called. To save time, a second process
compiles the last stages while the first compiles the earlier ones. The second process lacks the results of
earlier stages, so this module makes results that have the right types but no meaning.
"""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.cells import Cells
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.inference.trees.forest import LEXICAL, NO_NODE, TOP, WORD, Forest
from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.latent import ForestPosteriors
from spectralnlp.inference.trees.open_cells import CellMarginals
from spectralnlp.inference.trees.parsing import ForestParser
from spectralnlp.inference.trees.rescoring.rescorer import rescore
from spectralnlp.inference.trees.scored_forest import ScoredForest, score
from spectralnlp.inference.trees.sentence import Forests, SentenceInput


def run_last_stages(parser: ForestParser, decoder: Decoder, word: str) -> None:
    """Call the kernels that score, rescore and decode forests on a dummy forest, so that they are compiled.

    Args:
        parser: the parser whose kernels to compile.
        decoder: the decoder whose kernels to compile.
        word: any word, the only one of the dummy sentence.
    """
    forests = {number: _forest(each) for number, each in enumerate(parser.grammars)}
    sentence = _sentence(word, len(forests))
    scored = {number: _scored(each, parser.grammars[number]) for number, each in forests.items() if each}
    if scored:
        parser.pool.decode(decoder, rescore(Forests(sentence, scored), parser.rescorer))
    lookups = parser.look_up([word]).lookups
    for number, each in forests.items():
        if each:
            grammars, lookup = parser.grammars[number], lookups[number]
            score(each, grammars, lookup, pruner_threshold=1e-4, grammar_threshold=1e-4)


def _forest(grammars: ForestGrammars) -> Forest | None:
    """Return a dummy forest that consists of one unary rule over a tag; None if there is no such rule."""
    rules = grammars.coarse.unary_rules
    over_tags = np.flatnonzero(grammars.coarse.is_tag[rules[:, 1]])
    if not len(over_tags):
        return None
    rule = int(over_tags[0])
    return Forest(
        n_roots=1,
        kind=np.array([TOP, LEXICAL], np.int32),
        symbol=rules[rule].astype(np.int32),
        start=np.zeros(2, np.int32),
        end=np.ones(2, np.int32),
        edges=np.arange(3),
        rule=np.array([rule, WORD], np.int32),
        left=np.array([1, NO_NODE], np.int32),
        right=np.full(2, NO_NODE, np.int32),
        factor=np.ones(2),
        log_scale=0.0,
    )


def _scored(forest: Forest, grammars: ForestGrammars) -> ScoredForest:
    """Return a dummy forest in which every node and hyperedge has the posterior 1 under each grammar."""
    certain = ForestPosteriors(0.0, np.ones(2), np.ones(2), usable=True)
    scores = [(grammar, np.ones(1), certain) for grammar in grammars.grammars]
    return ScoredForest.of(forest, scores, grammars.n_brackets)


def _sentence(word: str, n_binarisations: int) -> SentenceInput:
    first, last = np.zeros(1, np.int32), np.ones(1, np.int32)
    offsets = np.arange(2), np.array([0, 0, 1])
    cells = Cells(first, last, offsets[0], first, last, offsets[1], first, first)
    return SentenceInput(
        [word],
        [word],
        None,
        None,
        (),
        (),
        (),
        (None,) * n_binarisations,
        cells,
        CellMarginals(cells, np.ones(1), 0.0),
    )
