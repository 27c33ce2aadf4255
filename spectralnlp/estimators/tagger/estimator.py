"""The estimator: number words and features, learn weights, keep what is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray
from typing_extensions import Doc

from spectralnlp.errors import InputError
from spectralnlp.estimator import IterativeEstimator
from spectralnlp.estimators.tagger.held_out import choose_bias, fit_temperature, lower_outside
from spectralnlp.estimators.tagger.kernels import ChainScores, Examples, ScoreWeights
from spectralnlp.estimators.tagger.random_field import RandomField
from spectralnlp.estimators.tagger.rows import in_one_word, naming_first
from spectralnlp.estimators.tagger.self_tagging import tag_classes
from spectralnlp.inference.chains.joint_features import N_PAIRS, joint_keys
from spectralnlp.inference.chains.templates import find_rows, word_keys
from spectralnlp.inference.chains.unlabelled import load_features
from spectralnlp.inference.chains.word_table import WordTable
from spectralnlp.parameters import ChainWeights, WordClasses
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, expand_inputs
from spectralnlp.text.blocks import TextFiles
from spectralnlp.text.conll import TaggedSentence
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.spans import count_invalid, scheme_of, spans_of, valid_transitions, write_spans
from spectralnlp.text.tokenizer import Tokenizer

# Features of classes of words that are seen less often are left out.
_FEWEST_SEEN = 2
# Sentences that are enough to see how words are written.
_CONVENTION_SENTENCES = 5000
# Each sentence of so many is held out until the last epoch, to see how sure scores are.
_HELD_OUT = 50
# Fewer than these are not held out, nor more than those.
_FEWEST_HELD_OUT, _MOST_HELD_OUT = 10, 200
# Members where spans are rare: there they differ most.
_MEMBERS = 3
# For the bias of spans, every fifth block of so many sentences is held out: neighbours share their names.
_BLOCK, _BLOCKS = 50, 5


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronTagger(IterativeEstimator[TaggedSentence]):
    """A tagger of words in sentences: parts of speech, chunks, entities.

    A conditional random field over the forms of a word and its neighbours, and over vectors that were learned
    from unlabelled text: eigenwords, eigentokens (Dhillon, Foster and Ungar 2015), clusters. Tags that write
    spans (BIO, BIOES) follow one another only where that is valid.

    Attributes:
        weights_: :class:`~spectralnlp.parameters.ChainWeights`.
        features_: vectors and clusters of unlabelled text.
        scheme_: ``tags``, ``bio`` or ``bioes``, of the tags that were given.
        words_: the words that were seen.
        n_sentences_, n_tokens_: how many there were.
        n_invalid_: tags that could not follow the one before.

    Examples:
        >>> from spectralnlp import PerceptronTagger
        >>> import spectralnlp
        >>> tags = ["DT", "NN", "VBZ"]
        >>> examples = [(["a", "dog", "barks"], tags), (["the", "cat", "sleeps"], tags)]
        >>> tagger = spectralnlp.train(PerceptronTagger(epochs=3), examples * 5)
        >>> tagger.tag_tokens(["the", "dog", "sleeps"]).tags
        ('DT', 'NN', 'VBZ')
    """

    task = "tagging"
    tagger = "chain"

    eigenwords: Annotated[
        str | list[str] | None,
        Doc("Folders of eigenwords; the vectors of a word and of two to each side are features."),
    ] = None
    eigentokens: Annotated[
        str | list[str] | None,
        Doc(
            "Folders of eigenwords or of hidden Markov models, whose vector of a token in its context "
            "is a feature; by default those of ``eigenwords`` that have contexts, but none where most "
            "words are outside spans: they tell syntax, and take names for what stands in like "
            "places."
        ),
    ] = None
    clusters: Annotated[
        str | list[str] | None, Doc("Folders of eigenwords whose clusters of words are features.")
    ] = None
    text: Annotated[
        str | list[str] | None,
        Doc(
            "Files or folders of unlabelled text. A first tagger tags it; the two tags that a word mostly "
            "has there are its class, and n-grams of classes are features. It is cut into words as those "
            "of the training data are, if they do not stand apart already; no sentence goes on in the "
            "next line."
        ),
    ] = None
    vector_scale: Annotated[float, Gt(0), Doc("What vectors are multiplied with; features are 0 or 1.")] = 1.0
    epochs: Annotated[int, Ge(1), Doc("Passes over the sentences.")] = 6
    learning_rate: Annotated[float, Gt(0), Doc("Length of the first steps.")] = 0.1
    word_dropout: Annotated[
        float,
        Ge(0),
        Lt(1),
        Doc(
            "Share of words that training must do without the name of, so that spelling, vectors and "
            "neighbours learn to be enough for unknown words."
        ),
    ] = 0.2
    spans: Annotated[
        Literal["bio", "bioes", "given"],
        Doc("How spans are written while learning: ``bio``, ``bioes``, or ``given`` as they are."),
    ] = "bioes"
    span_bias: Annotated[
        Annotated[float, Ge(0)] | None,
        Doc(
            "What the tag O scores less, so that more spans are found; by default what suits a fifth of the "
            "sentences, learned without, where most words are outside spans, and else 0."
        ),
    ] = None
    members: Annotated[
        Annotated[int, Ge(1)] | None,
        Doc(
            "How many taggers are learned, each in an order of its own, and averaged to one; by default 3 "
            "where most words are outside spans, and else 1."
        ),
    ] = None
    column: Annotated[
        str | int | None,
        Doc(
            "The tags to learn, of CoNLL-U ``upos`` or ``xpos``, of columns their number from 1; by "
            "default upos and the last."
        ),
    ] = None
    random_state: Annotated[int, Ge(0), Doc("Seed of the order of sentences.")] = 0

    def learn(self, corpus: Corpus[TaggedSentence]) -> None:
        """Learn from tagged sentences.

        Args:
            corpus: words and tags; sentences without words are passed over.

        Raises:
            InputError: there are no sentences, or a sentence has more words than tags.
            ConfigError: an impossible setting, or a folder without the vectors it should have.
            ModelError: a folder holds no model.
        """
        with fit_pass("reading"):
            eigentokens = None if self.eigentokens is None else _listed(self.eigentokens)
            vectors = load_features(_listed(self.eigenwords), eigentokens, _listed(self.clusters))
            sentences = _checked(corpus)
        tags = Counter(tag for _, tags in sentences for tag in tags)
        self.scheme_ = scheme_of(tags)
        self.n_sentences_, self.n_tokens_ = len(sentences), tags.total()
        self.n_invalid_ = sum(count_invalid(tags, self.scheme_) for _, tags in sentences)
        self.words_ = frozenset(word for words, _ in sentences for word in words)
        names_only = self.scheme_ != "tags" and 2 * tags["O"] > tags.total()
        if self.eigentokens is None and names_only:
            vectors = replace(vectors, eigentokens=())
        self.features_ = vectors
        names = sorted(tags)
        if self.scheme_ != "tags":  # conlleval's reading of what is invalid, in the scheme to learn
            scheme = self.scheme_ if self.spans == "given" else self.spans
            sentences = [
                (words, tuple(write_spans(spans_of(tags), len(tags), scheme))) for words, tags in sentences
            ]
            names = sorted({"O"} | {tag for _, tags in sentences for tag in tags})  # O may always stand
        if self.text is not None:
            self.features_ = replace(vectors, classes=self._classes(sentences, names))
        with fit_pass("features"):
            examples, keys = self._number(sentences, names)
        with fit_pass("weights"):
            self.weights_ = self._learn(examples, keys, names, names_only)

    def _classes(self, sentences: Sequence[TaggedSentence], names: Sequence[str]) -> WordClasses:
        """Return classes of words by the tags that a first tagger gives them in the text."""
        assert self.text is not None
        text = TextFiles(expand_inputs(self.text), reader="tokens")
        some = sentences[:_CONVENTION_SENTENCES]
        tokenizer = Tokenizer(Conventions.learn(word for words, _ in some for word in words))
        with fit_pass("first features"):
            examples, keys = self._number(sentences, names)
        with fit_pass("first weights"):
            weights = self._learn(examples, keys, names, are_rare=False)
        with fit_pass("text"):
            learned = {tuple(words) for words, _ in sentences}
            return tag_classes(weights, self.features_, text, tokenizer, learned)

    def remarks(self) -> list[str]:
        """Return a line where tags were invalid."""
        if not self.n_invalid_:
            return []
        return [f"{self.n_invalid_} tags cannot follow the one before: read as spans that begin there"]

    def _number(
        self, sentences: Sequence[TaggedSentence], names: Sequence[str]
    ) -> tuple[Examples, NDArray[np.uint32]]:
        """Return sentences as numbers, and uint32 (n_features,), the hashes of the features seen."""
        table = WordTable(self.features_)
        encoded = table.encode([words for words, _ in sentences])
        number = {name: i for i, name in enumerate(names)}
        tags = np.array([number[tag] for _, tags in sentences for tag in tags], np.int32)
        by_slot = word_keys(table.hashes, table.clusters)
        joint = joint_keys(table, encoded)
        seen, n_seen = np.unique(joint[:, N_PAIRS:], return_counts=True)
        used = [np.unique(each) for each in (*by_slot, joint[:, :N_PAIRS])]
        keys = np.unique(np.concatenate([*used, seen[n_seen >= _FEWEST_SEEN]]))
        keys = keys[keys != 0]
        rows_by_slot = [find_rows(each, keys) for each in by_slot]
        row_starts, rows, named = naming_first(rows_by_slot, in_one_word(rows_by_slot, len(keys)))
        scale = np.float32(self.vector_scale)
        examples = Examples(
            types=encoded.types,
            starts=encoded.starts,
            tags=tags,
            row_starts=row_starts,
            rows=rows,
            named=named,
            joint=find_rows(joint, keys),
            words=table.vectors * scale,
            tokens=encoded.vectors * scale,
        )
        return examples, keys

    def _learn(
        self,
        examples: Examples,
        keys: NDArray[np.uint32],
        names: Sequence[str],
        are_rare: bool,
    ) -> ChainWeights:
        """Return the mean of the members' weights.

        Args:
            examples, keys, names: of `_number`.
            are_rare: whether spans are.
        """
        forbidden = _forbidden(names)
        bias = self.span_bias
        if bias is None:
            bias = self._find_bias(examples, len(keys), names) if are_rare else 0.0
        held_out = _held_out(len(examples.starts) - 1)
        n_members = self.members or (_MEMBERS if are_rare else 1)
        learned, temperature = self._train(examples, len(keys), forbidden, held_out)
        for member in range(1, n_members):
            other, its_temperature = self._train(examples, len(keys), forbidden, held_out, member=member)
            temperature += its_temperature
            for total, each in zip(learned, other, strict=True):
                total += each
        learned = ScoreWeights(*(total / np.float32(n_members) for total in learned))
        temperature /= n_members
        chain = ChainScores(learned.transitions, learned.start, learned.end)
        chain = ChainScores(*(each + no for each, no in zip(chain, forbidden, strict=True)))
        transitions, start, end = lower_outside(chain, names, bias)
        scale = np.float32(self.vector_scale)
        used = learned.features.any(axis=1)
        return ChainWeights(
            tags=tuple(names),
            keys=keys[used],
            features=learned.features[used],
            words=learned.words * scale,
            tokens=learned.tokens * scale,
            transitions=transitions,
            start=start,
            end=end,
            temperature=temperature,
        )

    def _train(
        self,
        examples: Examples,
        n_features: int,
        forbidden: ChainScores,
        held_out: NDArray[np.int64],
        *,
        member: int = 0,
        to_the_end: bool = True,
    ) -> tuple[ScoreWeights, float]:
        """Return weights and a temperature; of sentences held out is learned in the last epoch, if at all."""
        widths = (examples.words.shape[1], examples.tokens.shape[1])
        seed = (self.random_state, member) if member else self.random_state
        rng = np.random.default_rng(seed)
        model = RandomField(
            n_features,
            len(forbidden.start),
            *widths,
            epochs=self.epochs,
            rate=self.learning_rate,
            dropout=self.word_dropout,
            rng=rng,
        )
        temperature = 1.0
        for epoch in range(self.epochs):
            order = rng.permutation(len(examples.starts) - 1)
            last = epoch == self.epochs - 1
            if last and to_the_end and epoch > 0 and len(held_out):
                temperature = fit_temperature(examples, held_out, model.weights, forbidden)
            if not (last and to_the_end):
                order = order[~np.isin(order, held_out)]
            model.epoch(examples, order, forbidden)
        return model.weights, temperature

    def _find_bias(self, examples: Examples, n_features: int, names: Sequence[str]) -> float:
        """Return the bias that suits blocks of sentences which a trial does not learn from."""
        every = np.arange(len(examples.starts) - 1)
        held_out = every[every // _BLOCK % _BLOCKS == _BLOCKS - 1]
        if len(held_out) < _BLOCK:
            return 0.0
        forbidden = _forbidden(names)
        learned, _ = self._train(examples, n_features, forbidden, held_out, to_the_end=False)
        return choose_bias(examples, held_out, learned, forbidden, names)


def _checked(corpus: Corpus[TaggedSentence]) -> list[TaggedSentence]:
    """Return the sentences that have words.

    Raises:
        InputError: there are none, or one has more words than tags.
    """
    sentences = [(tuple(words), tuple(tags)) for words, tags in corpus if len(words)]
    for words, tags in sentences:
        if len(words) != len(tags):
            raise InputError(f"{len(tags)} tags for {len(words)} words: {' '.join(words[:8])} …")
    if not sentences:
        raise InputError("no tagged sentences to learn from")
    return list(sentences)


def _held_out(n_sentences: int) -> NDArray[np.int64]:
    """Return the sentences that are not learned from until the last epoch, to see how sure scores are."""
    held_out = np.arange(_HELD_OUT - 1, n_sentences, _HELD_OUT)[:_MOST_HELD_OUT]
    return held_out if len(held_out) >= _FEWEST_HELD_OUT else held_out[:0]


def _listed(folders: str | Sequence[str] | None) -> list[str]:
    if folders is None:
        return []
    return [folders] if isinstance(folders, str) else list(folders)


def _forbidden(names: Sequence[str]) -> ChainScores:
    """Return -inf for tags that must not follow one another, or stand first or last."""
    allowed = valid_transitions(names, scheme_of(names))
    return ChainScores(*(np.where(each, 0.0, -np.inf).astype(np.float32) for each in allowed))
