"""Training the model of sentence ends: logistic regression over the gaps of the treebank's own text.

The text of a document is that of its trees, with a blank between two sentences, and is tokenised as a user's
text is. Every gap with a blank is an example; what the model sees of the sentence under way begins at its
true beginning. AdaGrad with averaging goes through the text a few times. At some ends, drawn anew each time,
the text is cut: lines and paragraphs of a user's text are cut like that. A quarter of the text is held
out first, to find the threshold of fewest errors; the model that is kept has learned from all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from spectralnlp.estimators.parser.cell_kernels import Learner
from spectralnlp.estimators.parser.component import Component, Context
from spectralnlp.estimators.parser.sentence_end_kernels import GoldText, learn
from spectralnlp.inference.chains.segmentation import ChainSegmenter
from spectralnlp.inference.sentences.describe import Describer
from spectralnlp.inference.sentences.ends import find_ends
from spectralnlp.inference.sentences.features import OUTSIDE
from spectralnlp.parameters import ChainWeights, Ints, LatentGrammar, SentenceEndModel
from spectralnlp.progress import fit_pass
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.detokenizer import place_words, text_of
from spectralnlp.text.sentence_rules import rule_ends
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import labels_of
from spectralnlp.trees.treelog import TreeTable

# Documents of fewer sentences on average are no running text.
_LEAST_SENTENCES = 5

# Weights; a power of two.
_N_WEIGHTS = 2**17

_EPOCHS = 12
_CUT = 0.1  # share of the ends at which a text is cut
_FOLDS = 4  # one of them is held out
_BLOCKS = 20  # of neighbouring trees, where there are fewer documents
_THRESHOLDS = np.arange(-4, 5) / 4
_AS_GOOD = 1.06  # errors of a threshold over the fewest, up to which it is taken if it is larger

# Errors on held-out text, as a share of those of the rules, up to which what was learned takes their place:
# where sentences end in stops, as in the Wall Street Journal, it saves too few to be sure.
_WORTH = 0.75


@dataclass(kw_only=True)
class SentenceEnds(Component):
    """Learns where the sentences of raw text end."""

    name = "sentence_ends"
    least_trees = 500  # fewer teach too little; the rules decide
    learned = "beside"

    sentence_ends: Annotated[
        bool,
        Doc(
            "Learn where the sentences of raw text end, from the trees of each document in their order. Off "
            "for fewer than 500 trees, and for documents of fewer than 5 on average."
        ),
    ] = True

    @property
    def is_on(self) -> bool:
        """Whether sentence ends are learned."""
        return self.sentence_ends

    def learn(self, context: Context) -> SentenceEndModel | None:
        """Learn the model of sentence ends; not in folds, whose sentences are given."""
        if context.whole is not None:
            return None
        trees = context.trees
        with fit_pass("sentence ends"):
            return train_sentence_ends(
                trees.first,
                trees.documents,
                context.coarse[0],
                context.components.get("segmenter"),
                least_trees=self.least_trees,
                random_state=context.random_state,
            )


def train_sentence_ends(
    table: TreeTable,
    documents: Ints,
    grammar: LatentGrammar,
    segmenter: ChainWeights | None = None,
    *,
    least_trees: int = SentenceEnds.least_trees,
    random_state: int,
) -> SentenceEndModel | None:
    """Learn where sentences end; None from too few trees, and where the rules do about as well.

    Args:
        table: trees in the order of the text.
        documents: int32 (n_trees,); the document of each tree, ascending.
        grammar: of one state a symbol, for the likeliest tags of words.
        segmenter: of words that are not written apart; without one, no ends are learned for them.
        least_trees: that it takes.
        random_state: seed of the order of texts and of where they are cut.
    """
    if not (whole := table.share >= 1).all():  # of other sentences it is not known what they stand beside
        table, documents = table.select(whole), documents[whole]
    n_documents = len(np.unique(documents))
    if table.n_trees < max(least_trees, _LEAST_SENTENCES * n_documents):
        return None
    words = [table.words[word] for word in table.word[table.word >= 0].tolist()]
    conventions = Conventions.learn(words)
    if segmenter is None and not conventions.words_apart:
        return None
    segments = None if segmenter is None else ChainSegmenter(segmenter, set(words))
    tokenizer = Tokenizer(conventions, segmenter=segments)
    texts = list(gold_texts(table, _blocks(documents), grammar, tokenizer))
    held_out, taught = texts[::_FOLDS], [text for i, text in enumerate(texts) if i % _FOLDS]
    weights = _learn(taught, random_state)
    errors = [_errors(held_out, weights, threshold) for threshold in _THRESHOLDS]
    if min(errors) >= _WORTH * sum(int((text.tokens.rule != text.begins).sum()) for text in held_out):
        return None
    threshold = float(_THRESHOLDS[np.array(errors) <= _AS_GOOD * min(errors)].max())
    return SentenceEndModel(weights=_learn(texts, random_state), threshold=threshold)


def _blocks(documents: Ints) -> NDArray[np.int64]:
    """int64 (n_trees,): which text each tree belongs to, a document or a part of one."""
    n_parts = -(-_BLOCKS // max(len(np.unique(documents)), 1))
    parts = np.zeros(len(documents), np.int64)
    for document in np.unique(documents):
        trees = np.flatnonzero(documents == document)
        parts[trees] = np.arange(len(trees)) * n_parts // len(trees)
    return documents.astype(np.int64) * n_parts + parts


def gold_texts(
    table: TreeTable, blocks: NDArray[np.int64], grammar: LatentGrammar, tokenizer: Tokenizer
) -> Iterator[GoldText]:
    """Yield the text of each block of trees, tokenised as raw text is.

    Args:
        table: trees in the order of the text.
        blocks: int64 (n_trees,); which text each tree belongs to, ascending.
        grammar: as in `train_sentence_ends`; words that occur once are unknown words to it.
        tokenizer: in the conventions of the trees.
    """
    leaves = np.flatnonzero(table.word >= 0)
    words = [table.words[word] for word in table.word[leaves].tolist()]
    labels = [(labels_of(symbol) or ("",))[-1] for symbol in table.symbols]
    tags = [labels[symbol] for symbol in table.symbol[leaves].tolist()]
    first = np.searchsorted(table.tree[leaves], np.arange(table.n_trees + 1)).tolist()
    describer = Describer(grammar, {word for word, count in Counter(words).items() if count == 1})
    edges = np.flatnonzero(np.diff(blocks, prepend=-1, append=-1)).tolist()
    for begin_tree, end_tree in pairwise(edges):
        sentences: list[Sentence] = []
        for a, b in zip(first[begin_tree:end_tree], first[begin_tree + 1 : end_tree + 1], strict=True):
            offset = sentences[-1].end + 1 if sentences else 0
            sentences.append(place_words(words[a:b], tags[a:b], tokenizer.conventions, offset=offset))
        yield _gold_text(sentences, tokenizer, describer)


def _gold_text(sentences: Sequence[Sentence], tokenizer: Tokenizer, describer: Describer) -> GoldText:
    tokens = list(tokenizer.tokenize(text_of(sentences)))
    starts = [token.start for token in tokens]
    begins = np.zeros(len(tokens) + 1, np.int64)
    begins[np.searchsorted(starts, [sentence.end for sentence in sentences])] = 1
    return GoldText(describer.describe(tokens, rule_ends(tokens, english=tokenizer.english)), begins[:-1])


def _learn(texts: Sequence[GoldText], random_state: int) -> NDArray[np.float32]:
    """The weights, float32 (a power of two,)."""
    learner = Learner.blank(_N_WEIGHTS)
    rng, step = np.random.default_rng([random_state, _N_WEIGHTS]), 0
    for _ in range(_EPOCHS):
        for number in rng.permutation(len(texts)).tolist():
            ends = np.flatnonzero(texts[number].begins)
            cuts = ends[rng.random(len(ends)) < _CUT]
            edges = np.array([0, *cuts.tolist(), len(texts[number].begins)])
            step = learn(texts[number], edges, step, learner)
    return learner.mean(step)


def _errors(texts: Sequence[GoldText], weights: NDArray[np.float32], threshold: float) -> int:
    """How many ends a model misses or makes up."""
    errors = 0
    for text in texts:
        marks = np.zeros(len(text.begins), np.int64)
        marks[find_ends(text.tokens, 0, OUTSIDE, (1, len(marks)), weights, threshold)] = 1
        errors += int((marks != text.begins).sum())
    return errors
