"""Train the model of sentence ends, a logistic regression over the gaps between tokens of a text.

The text of a document is restored from its trees in the treebank, with a blank between sentences, and is
tokenised like raw text. Every gap that contains a blank is a training example: does a sentence end there? Its
features describe the sentence up to the gap, from its gold beginning on. Training by AdaGrad with averaging
takes several epochs. In each of them, texts are cut at randomly chosen sentence ends, to imitate the ends of
paragraphs.

To choose the threshold on probabilities, a first model is trained on three quarters of the texts, and tested
on the other texts: the largest threshold with nearly the fewest errors is chosen. The final model is trained
on all texts.
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
from spectralnlp.inference.chains.segmentation import ChainSegmenter, tags_of_words
from spectralnlp.inference.sentences.describe import Describer
from spectralnlp.inference.sentences.ends import find_ends
from spectralnlp.inference.sentences.features import OUTSIDE
from spectralnlp.parameters import ChainWeights, Ints, LatentGrammar, SentenceEndModel
from spectralnlp.progress import fit_pass
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.detokenizer import place_words, text_of
from spectralnlp.text.sentence_ends import rule_gaps
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import labels_of
from spectralnlp.trees.treelog import TreeTable

# Minimum mean number of sentences per document; shorter documents are not running text.
_MIN_SENTENCES = 5

# Number of weights; a power of two.
_N_WEIGHTS = 2**17

_EPOCHS = 12
_CUT = 0.1  # share of sentence ends at which a text is cut
_FOLDS = 4  # one in this many texts is held out
_BLOCKS = 20  # minimum number of texts; documents are split into blocks of trees if there are fewer
_THRESHOLDS = np.arange(-4, 5) / 4
_AS_GOOD = 1.06  # the largest threshold is chosen whose number of errors is within this factor of the fewest

# The model is kept if its number of errors on held-out text is less than this share of that of the rules. If
# sentences end in full stops, as in the Wall Street Journal, the model avoids too few errors to be sure.
_WORTH = 0.75


@dataclass(kw_only=True)
class SentenceEnds(Component):
    """Component that learns to find the ends of sentences in raw text."""

    name = "sentence_ends"
    least_trees = 500  # fewer do not suffice, and rules are used
    learned = "beside"

    sentence_ends: Annotated[
        bool,
        Doc(
            "Learn where the sentences of raw text end, from the trees of each document in their order. Off "
            "for fewer than 500 trees, or fewer than 5 trees per document on average."
        ),
    ] = True

    @property
    def is_on(self) -> bool:
        """Whether the settings request the model of sentence ends."""
        return self.sentence_ends

    def learn(self, context: Context) -> SentenceEndModel | None:
        """Train the model; return None within a jackknife, or if no useful model can be learned."""
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
    """Train the model of sentence ends.

    Args:
        table: trees in the order of the text.
        documents: int32 (n_trees,); index of each tree's document, ascending.
        grammar: grammar with one state per symbol, which gives the most probable tags of words.
        segmenter: word segmenter, required if the language has no blanks between words.
        least_trees: minimum number of trees; documents must also have at least five trees on average.
        random_state: seed of the order of texts and of their cuts.

    Returns:
        The model; None if there are too few trees, if a language without blanks has no segmenter, or if
        the model does not make clearly fewer errors than the built-in rules for sentence ends.
    """
    if not (whole := table.share >= 1).all():  # the context of partial sentences is unknown
        table, documents = table.select(whole), documents[whole]
    n_documents = len(np.unique(documents))
    if table.n_trees < max(least_trees, _MIN_SENTENCES * n_documents):
        return None
    words = [table.words[word] for word in table.word[table.word >= 0].tolist()]
    conventions = Conventions.learn(words)
    if segmenter is None and not conventions.words_apart:
        return None
    segments = None if segmenter is None else ChainSegmenter(segmenter, tags_of_words(grammar))
    tokenizer = Tokenizer(conventions, segmenter=segments)
    texts = list(gold_texts(table, _blocks(documents), grammar, tokenizer))
    held_out, training = texts[::_FOLDS], [text for i, text in enumerate(texts) if i % _FOLDS]
    weights = _learn(training, random_state)
    errors = [_errors(held_out, weights, threshold) for threshold in _THRESHOLDS]
    if min(errors) >= _WORTH * sum(int((text.tokens.rule != text.begins).sum()) for text in held_out):
        return None
    threshold = float(_THRESHOLDS[np.array(errors) <= _AS_GOOD * min(errors)].max())
    return SentenceEndModel(weights=_learn(texts, random_state), threshold=threshold)


def _blocks(documents: Ints) -> NDArray[np.int64]:
    """Group trees into texts, and return the index of each tree's text, int64 (n_trees,), ascending.

    If there are few documents, they are divided into parts of about equal size, each of which is a text.
    """
    n_parts = -(-_BLOCKS // max(len(np.unique(documents)), 1))
    parts = np.zeros(len(documents), np.int64)
    for document in np.unique(documents):
        trees = np.flatnonzero(documents == document)
        parts[trees] = np.arange(len(trees)) * n_parts // len(trees)
    return documents.astype(np.int64) * n_parts + parts


def gold_texts(
    table: TreeTable, blocks: NDArray[np.int64], grammar: LatentGrammar, tokenizer: Tokenizer
) -> Iterator[GoldText]:
    """Yield the text of each block of trees with its gold sentence ends, tokenised like raw text.

    Args:
        table: trees in the order of the text.
        blocks: int64 (n_trees,); index of each tree's text, ascending.
        grammar: see `train_sentence_ends`; words that occur once are treated as unknown words.
        tokenizer: tokeniser with the conventions of the trees.
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
    return GoldText(describer.describe(tokens, rule_gaps(tokens, english=tokenizer.english)), begins[:-1])


def _learn(texts: Sequence[GoldText], random_state: int) -> NDArray[np.float32]:
    """Train the weights of the model on texts, and return them, float32 (_N_WEIGHTS,)."""
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
    """Count the sentence ends that a model misses or predicts wrongly in texts with known sentence ends."""
    errors = 0
    for text in texts:
        marks = np.zeros(len(text.begins), np.int64)
        marks[find_ends(text.tokens, 0, OUTSIDE, (1, len(marks)), weights, threshold)] = 1
        errors += int((marks != text.begins).sum())
    return errors
