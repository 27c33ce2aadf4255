"""A parser: text conventions, transforms, grammars, pruning and a decoder, in one object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp import registry
from spectralnlp.engine import ThreadsEngine
from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.inference.decoders import Decoder
from spectralnlp.inference.pipeline import Inference, Pipeline, Pruning
from spectralnlp.inference.treescore import tree_log_probability
from spectralnlp.linalg import one_blas_thread
from spectralnlp.model.grammar_storage import pack_grammars, unpack_grammars
from spectralnlp.model.inspection import SymbolReport, inspect_grammar
from spectralnlp.model.parse import Parse, bracket_posteriors, constituents_of, derivation_tree
from spectralnlp.parameters import Ints, LatentGrammar
from spectralnlp.storage import StoredModel, save_model
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Binariser, Tree, add_root, is_intermediate, labels_of, restore, strip_root

NO_DERIVATION = "no derivation: a flat tree"
ANY_TAG = "derived only with every tag allowed for every word"
COARSE_ONLY = "the fine grammars gave no usable score: the coarse grammar's tree"


@dataclass(frozen=True)
class Parser:
    """A trained constituency parser.

    Attributes:
        coarse: the grammar of one state a symbol that prunes.
        grammars: the grammars that score what is left.
        binariser: how the training trees were made binary.
        chains: the full unary chain to write for (top, bottom), where it has a middle.
        conventions: how the treebank writes tokens.
        decoder: name of the decoder, as ``spectralnlp plugins`` lists it.
        decoder_settings: its settings.
        pruning: what the coarse pass keeps.
        pruner: a grammar of a few states that thins forests, or None.
        about: estimator, parameters, training data and the like, for ``info`` and the model card.
        card: the model card, Markdown.
    """

    coarse: LatentGrammar
    grammars: tuple[LatentGrammar, ...]
    binariser: Binariser
    chains: Mapping[tuple[str, str], Sequence[str]]
    conventions: Conventions
    decoder: str = "mbr"
    decoder_settings: Mapping[str, Any] = field(default_factory=dict)
    pruning: Pruning = field(default_factory=Pruning)
    pruner: LatentGrammar | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = ""

    task = "parsing"

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Splits raw text into the treebank's tokens."""
        return Tokenizer(self.conventions)

    @cached_property
    def pipeline(self) -> Pipeline:
        """Inference over the parser's grammars."""
        return Pipeline(
            self.coarse,
            self.grammars,
            signature_by_name(self.coarse.lexicon.scheme),
            bracket_counts(self.coarse),
            self.pruning,
            self.pruner,
        )

    def sentences(self, lines: Iterable[str]) -> Iterator[Sentence]:
        """Split a stream of raw text into tokenised sentences."""
        return split_sentences(lines, self.tokenizer)

    def parse(self, text: str, *, decoder: str | None = None) -> list[Parse]:
        """Parse every sentence of a text.

        Args:
            text: raw text.
            decoder: name of a decoder, in place of the parser's own.
        """
        return [p for p in self.parse_many(self.sentences([text]), decoder=decoder) if p is not None]

    def parse_tokens(
        self, words: Sequence[str], tags: Sequence[str] | None = None, *, decoder: str | None = None
    ) -> Parse:
        """Parse one tokenised sentence.

        Args:
            words: tokens, one or more, as the text has them or as the treebank writes them.
            tags: for each token, the part of speech that it must have.
            decoder: name of a decoder, in place of the parser's own.
        """
        sentence = Sentence.from_words(words, tags)
        forms = self.conventions.forms(list(words))
        return self._parse(sentence, forms, self._decoder(decoder))

    def parse_many(
        self, sentences: Iterable[Sentence | None], *, decoder: str | None = None, jobs: int = 1
    ) -> Iterator[Parse | None]:
        """Parse a stream of sentences, lazily and in order; None stays None.

        Args:
            sentences: tokenised sentences.
            decoder: name of a decoder, in place of the parser's own.
            jobs: threads; the kernels release the GIL.
        """
        step = partial(self._parse_sentence, chosen=self._decoder(decoder))
        if jobs == 1:
            return map(step, sentences)
        return ThreadsEngine(jobs).map(step, sentences)

    def _parse_sentence(self, sentence: Sentence | None, chosen: Decoder) -> Parse | None:
        return None if sentence is None else self._parse(sentence, sentence.forms, chosen)

    def _parse(self, sentence: Sentence, forms: Sequence[str], decoder: Decoder) -> Parse:
        inference = self.pipeline.infer(forms, self._allowed(sentence.tags))
        if inference is None:
            return self._flat(sentence, forms)
        evidence = inference.evidence
        binary = derivation_tree(evidence, decoder.decode(evidence), self.coarse.symbols, forms)
        tree = restore(binary, self.chains)
        constituents = constituents_of(tree, bracket_posteriors(evidence, self.coarse.symbols))
        return Parse(add_root(tree), sentence, inference.log_probability, constituents, _fallback(inference))

    def _flat(self, sentence: Sentence, forms: Sequence[str]) -> Parse:
        tags = sentence.tags or [self._commonest_tag] * len(forms)
        words = [Tree(tag, word=form) for tag, form in zip(tags, forms, strict=True)]
        return Parse(add_root(Tree("TOP", words)), sentence, None, (), NO_DERIVATION)

    @cached_property
    def _commonest_tag(self) -> str:
        lexicon = self.coarse.lexicon
        last = lexicon.tags[lexicon.starts[-2] : lexicon.starts[-1]]
        values = lexicon.values[lexicon.offsets[lexicon.starts[-2]] :]
        return labels_of(self.coarse.symbols[last[int(values.argmax())]])[-1]

    def _allowed(self, tags: Sequence[str] | None) -> NDArray[np.bool_] | None:
        """Bool (n_tokens, n_symbols): the symbols that the given tags stand for; tags unknown to the
        grammar allow all.
        """
        return None if tags is None else np.array([self._symbols_of_tag(tag) for tag in tags])

    @lru_cache(maxsize=1024)  # noqa: B019 - a parser lives as long as its program
    def _symbols_of_tag(self, tag: str) -> NDArray[np.bool_]:
        is_it = [
            bool(known) and labels_of(symbol)[-1] == tag
            for symbol, known in zip(self.coarse.symbols, self.coarse.is_tag, strict=True)
        ]
        return np.array(is_it) if any(is_it) else self.coarse.is_tag

    def __hash__(self) -> int:
        return id(self)

    def _decoder(self, name: str | None) -> Decoder:
        if name is None or name == self.decoder:
            return make_decoder(self.decoder, self.decoder_settings)
        return make_decoder(name, {})

    def log_probability(self, words: Sequence[str]) -> float:
        """Natural logarithm of a tokenised sentence's probability, all trees in the pruned forest summed.

        Unknown words count as their signatures. -inf when the grammar cannot derive the sentence.
        """
        inference = self.pipeline.infer(self.conventions.forms(list(words)))
        return -np.inf if inference is None or inference.any_tag else inference.log_probability

    def tree_log_probability(self, tree: Tree) -> float:
        """Natural logarithm of a tree's probability under the first grammar, states summed out.

        Args:
            tree: with or without the root ``TOP``, without traces and function tags.

        Returns:
            -inf for trees with a rule that the grammar does not have.
        """
        binary = self.binariser.binarise(strip_root(tree))
        return tree_log_probability(binary, self.grammars[0], self.pipeline.signature)

    def inspect(self, symbol: str | None = None) -> list[SymbolReport]:
        """Top words and rules of each latent state of the first grammar.

        Args:
            symbol: one symbol; None for all.

        Raises:
            ConfigError: the grammar has no such symbol.
        """
        return inspect_grammar(self.grammars[0], symbol)

    @property
    def info(self) -> dict[str, Any]:
        """What the parser is, by name."""
        grammar = self.grammars[0]
        return {
            **self.about,
            "decoder": self.decoder,
            "grammars": len(self.grammars),
            "symbols": len(grammar.symbols),
            "tags": int(grammar.is_tag.sum()),
            "binary rules": len(grammar.binary_rules),
            "unary rules": len(grammar.unary_rules),
            "states": sum(int(g.n_states.sum()) for g in self.grammars),
            "vocabulary": len(grammar.lexicon.words),
        }

    def save(self, path: str | Path) -> None:
        """Write a model folder; see :func:`spectralnlp.storage.save_model`."""
        pruner = () if self.pruner is None else (self.pruner,)
        with one_blas_thread():
            shared, arrays = pack_grammars((self.coarse, *pruner, *self.grammars))
        metadata = {
            "grammars": shared,
            "binariser": self.binariser.to_dict(),
            "chains": [[*ends, list(chain)] for ends, chain in sorted(self.chains.items())],
            "conventions": self.conventions.to_dict(),
            "decoder": self.decoder,
            "decoder_settings": dict(self.decoder_settings),
            "pruning": asdict(self.pruning),
            "has_pruner": self.pruner is not None,
            "about": dict(self.about),
        }
        save_model(path, kind=self.task, metadata=metadata, arrays=arrays, card=self.card)

    @classmethod
    def from_stored(cls, stored: StoredModel) -> Parser:
        """The parser in a model folder.

        Raises:
            ModelError: the folder does not hold what a parser needs.
        """
        metadata = stored.metadata
        try:
            coarse, *grammars = unpack_grammars(metadata["grammars"], stored.arrays)
            pruner = grammars.pop(0) if metadata["has_pruner"] else None
            return cls(
                coarse, tuple(grammars), Binariser.from_dict(metadata["binariser"]),
                {(top, bottom): tuple(chain) for top, bottom, chain in metadata["chains"]},
                Conventions.from_dict(metadata["conventions"]), metadata["decoder"],
                metadata["decoder_settings"], Pruning(**metadata["pruning"]), pruner, metadata["about"],
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, IndexError, ConfigError) as error:
            raise ModelError(f"not a parser: {error!r}", path=stored.path, hint="train it again") from error


def _fallback(inference: Inference) -> str | None:
    if inference.any_tag:
        return ANY_TAG
    return COARSE_ONLY if inference.coarse_only else None


def bracket_counts(grammar: LatentGrammar) -> Ints:
    """int32 (n_symbols,): how many constituents each symbol stands for."""
    counts = [
        0 if is_intermediate(symbol) else len(labels_of(symbol)) - int(is_tag)
        for symbol, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
    ]
    return np.array(counts, np.int32)


def make_decoder(name: str, settings: Mapping[str, Any]) -> Decoder:
    """A decoder by its registered name.

    Raises:
        RegistryError: there is none of that name.
        ConfigError: a setting that it does not have.
    """
    kind = registry.decoders.get(name)
    try:
        decoder: Decoder = kind(**settings)
    except TypeError as error:
        raise ConfigError(f"decoder {name!r}: {error}") from error
    return decoder
