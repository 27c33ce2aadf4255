"""A parser: text conventions, transforms, grammars, pruning and a decoder, in one object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from spectralnlp import registry
from spectralnlp.inference.chains.segmentation import ChainSegmenter
from spectralnlp.inference.sentences.ends import LearnedEnds
from spectralnlp.inference.trees.cells import all_cells
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.inference.trees.derivations import constituents_of
from spectralnlp.inference.trees.labels import check_labels
from spectralnlp.inference.trees.limits import nested_cells
from spectralnlp.inference.trees.parsing import ForestParser, Forests, Pruning, SentenceInput
from spectralnlp.inference.trees.tree_scores import tree_log_probability
from spectralnlp.linalg import one_blas_thread
from spectralnlp.models.changing import ChangingModel
from spectralnlp.models.components import (
    OPEN_CELLS,
    SEGMENTER,
    SENTENCE_ENDS,
    SPAN_SCORER,
    WORD_CLUSTERS,
    read_components,
    store_components,
)
from spectralnlp.models.decoders import make_decoder
from spectralnlp.models.explanation import Explanation
from spectralnlp.models.inspection import SymbolReport, inspect_grammar
from spectralnlp.models.last_resort import last_resort
from spectralnlp.models.pieces import cut, join
from spectralnlp.models.tag_evidence import SuggestedTags, TagEvidence, TagModel
from spectralnlp.models.taggers import load_tagger
from spectralnlp.models.text_parser import TextParser
from spectralnlp.parameters import GrammarSet, LatentGrammar, WordClusters, read_sets, store_sets
from spectralnlp.runtime import held_interrupts, map_ordered
from spectralnlp.storage import Arrays, StoredArrays, StoredValues
from spectralnlp.text.constraints import Constraints
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.inputs import check_tokens
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, add_root, labels_of, strip_root
from spectralnlp.trees.parse import Alternative, BracketPosteriors, Parse

_SPARE = 2  # derivations asked for, for each tree wanted: some restore to the same tree

NO_DERIVATION = "no derivation: a flat tree"
ANY_TAG = "derived only with every tag allowed for every word"
COARSE_ONLY = "the fine grammars gave no usable score: the coarse grammar's tree"


@dataclass(frozen=True, repr=False)
class Parser(TextParser, ChangingModel):
    """A trained constituency parser.

    Attributes:
        grammar_sets: grammars by the binarisation that they share. Several make a pool: decoders that can
            pool (``mbr``) average their posteriors over spans; others, and k-best lists, take the first one's
            forest.
        conventions: how the treebank writes tokens.
        decoder, decoder_settings: its name, as ``spectralnlp plugins`` lists it, and its settings.
        pruning: what the coarse pass keeps.
        components: what stands around the grammars, by name: ``open_cells`` says which cells of the chart
            open, ``span_scorer`` weighs the labels of spans anew, between the forests and the decoder,
            ``word_clusters`` says which tags rare words lean to, ``sentence_ends`` where the sentences of raw
            text end, ``segmenter`` where its words end if they are not written apart. Each may be missing.
        about: estimator, parameters, training data and the like, for ``info`` and the model card.
        card: the model card, Markdown.
        tagger: name of an installed tagger to listen to, where there is no ``tag_evidence``; None for none.
        tag_evidence: a tagger to listen to; it is not saved with the parser.
        max_length: tokens of the longest sentence that is parsed as a whole; time grows with the cube of the
            length. A longer one is cut behind punctuation, the trees of its pieces stand under one ``TOP``,
            and ``Parse.fallback`` says so; but not one with constraints. Not saved with the parser.

    Examples:
        >>> import spectralnlp
        >>> parser = spectralnlp.load("en")
        >>> [len(parse.tree.words()) for parse in parser.parse("Gulls are noisy. It is cold.")]
        [4, 4]
        >>> parser.parse_tokens(["It", "is", "cold", "."], k=2).alternatives[0].tree.label
        'TOP'
    """

    grammar_sets: tuple[GrammarSet, ...]
    conventions: Conventions
    decoder: str = "mbr"
    decoder_settings: Mapping[str, Any] = field(default_factory=dict)
    pruning: Pruning = field(default_factory=Pruning)
    components: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = ""
    tagger: str | None = None
    tag_evidence: TagEvidence | None = None
    max_length: int = 150

    task = "parsing"
    noun = "a parser"

    def __post_init__(self) -> None:
        check_labels(self.grammar_sets)

    @classmethod
    def join(cls, parsers: Sequence[Parser]) -> Parser:
        """A pool of trained parsers, with the conventions and settings of the first.

        Args:
            parsers: one or more, of treebanks with the same labels.

        Raises:
            ConfigError: they differ in labels.
        """
        sets = tuple(each for parser in parsers for each in parser.grammar_sets)
        return replace(parsers[0], grammar_sets=sets)

    def taken_over_by(self, changed: Parser) -> Parser:
        """Return a changed parser that listens to the tagger of this one."""
        return replace(changed, tagger=self.tagger, tag_evidence=self.tag_evidence)

    def with_tagger(self, tagger: TagModel, *, weight: float = 1.0, fixed: bool = False) -> Parser:
        """Return this parser with a tagger to listen to; see `TagEvidence`.

        Raises:
            ConfigError: the tagger's tags are not the treebank's.
        """
        evidence = TagEvidence(tagger, weight, fixed)
        evidence.check(self.coarse)
        return self.as_changeable(replace(self, tag_evidence=evidence))

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Splits raw text into the treebank's tokens, and knows where sentences end."""
        ends, segmenter = (self.components.get(name) for name in (SENTENCE_ENDS, SEGMENTER))
        return Tokenizer(
            self.conventions,
            None if ends is None else LearnedEnds(ends, self.coarse),
            None if segmenter is None else ChainSegmenter(segmenter, self.coarse.lexicon.word_index),
        )

    @property
    def coarse(self) -> LatentGrammar:
        """The plain grammar of the first binarisation."""
        return self.grammar_sets[0].coarse

    @property
    def grammars(self) -> tuple[LatentGrammar, ...]:
        """The grammars of the first binarisation."""
        return self.grammar_sets[0].grammars

    @cached_property
    def forest_parser(self) -> ForestParser:
        """Inference over the grammars of each binarisation."""
        return ForestParser.of(
            self.grammar_sets,
            pruning=self.pruning,
            cells=self.components.get(OPEN_CELLS),
            clusters=self.components.get(WORD_CLUSTERS) or WordClusters.none(),
            scorer=self.components.get(SPAN_SCORER),
        )

    @cached_property
    def usual_evidence(self) -> TagEvidence | None:
        """The installed tagger that the model names, loaded with the first sentence; None if not there."""
        if self.tagger is None or self.tagger not in registry.models:
            return None
        evidence = TagEvidence(load_tagger(self.tagger))
        evidence.check(self.coarse)
        return evidence

    def _parse_stream(
        self, sentences: Iterable[Sentence | None], decoder: str | None, k: int, fixed_tags: bool = True
    ) -> Iterator[Parse | None]:
        chosen = self._decoder(decoder)
        return map_ordered(
            partial(self._parse_sentence, chosen=chosen, k=k, fixed_tags=fixed_tags), sentences
        )

    def _parse_one(self, sentence: Sentence, decoder: str | None, k: int) -> Parse:
        return self._parse(sentence, self._decoder(decoder), k)

    def _parse_sentence(
        self, sentence: Sentence | None, chosen: Decoder, k: int, fixed_tags: bool
    ) -> Parse | None:
        return None if sentence is None else self._parse(sentence, chosen, k, fixed_tags)

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """Labels of constituents, sorted."""
        return tuple(
            sorted({label for each in self.forest_parser.grammars for label in each.label_table.rows})
        )

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Names of the parts of speech, sorted."""
        symbols = zip(self.coarse.symbols, self.coarse.is_tag.tolist(), strict=True)
        return tuple(sorted({labels_of(symbol)[-1] for symbol, is_tag in symbols if is_tag}))

    def _parse(self, sentence: Sentence, decoder: Decoder, k: int, fixed_tags: bool = True) -> Parse:
        whole = len(sentence) <= self.max_length or bool(sentence.constraints)
        parses, known = [], dict[object, Parse]()
        for piece in [sentence] if whole else cut(sentence, self.max_length):
            same = tuple(piece.forms), piece.tags  # long lines often have one word or mark a thousand times
            if same not in known:
                with held_interrupts:  # once, and not at each of fifty kernels
                    known[same] = self._parse_piece(piece, decoder, k, fixed_tags)
            parses.append(known[same])
        return join(sentence, parses, k)

    def _parse_piece(self, sentence: Sentence, decoder: Decoder, k: int, fixed_tags: bool) -> Parse:
        parser = self.forest_parser
        given = self.look_up(sentence, fixed_tags=fixed_tags, pooled=decoder.can_pool and k == 1)
        forests = parser.rescore(parser.infer(given))
        if not forests.scored:
            tree, brackets = last_resort(parser, given)
            return Parse(tree, sentence, None, brackets, NO_DERIVATION, model=self)
        tree = parser.decode(forests, decoder)
        return Parse(
            add_root(tree),
            sentence,
            forests.log_probability,
            constituents_of(tree, forests.scored.values()),
            ANY_TAG if forests.any_tag else COARSE_ONLY if forests.coarse_only else None,
            () if k == 1 else self._k_best(forests, decoder, k),
            self,
        )

    def look_up(self, sentence: Sentence, *, fixed_tags: bool = True, pooled: bool = True) -> SentenceInput:
        """What a sentence brings to its parses, with the cells that open first.

        Args:
            sentence: perhaps with tags and constraints; where it has tags, no tagger is asked.
            fixed_tags: whether its tags are those of its tree, or evidence for the tags of rare words.
            pooled: whether all binarisations are to parse it, or the first alone.

        Raises:
            ConstraintError: the constraints make no sense.
        """
        constraints, tags = self.checked(sentence), sentence.tags
        evidence, weights = self.tag_evidence or self.usual_evidence, None
        if tags is not None and not fixed_tags:
            evidence, tags = TagEvidence(SuggestedTags(self.tags, tags)), None
        coarse, words = [each.coarse for each in self.grammar_sets], sentence.forms
        if tags is None and evidence is not None:
            tags, weights = evidence.given(words), evidence.weights(coarse, words)
        parser = self.forest_parser
        return parser.open_cells(parser.look_up(words, tags, constraints, tag_weights=weights, pooled=pooled))

    def checked(self, sentence: Sentence) -> Constraints | None:
        """The constraints of a sentence, if any; ConstraintError if the model has no such labels."""
        given = sentence.constraints or None
        return given and given.check(len(sentence), self.phrases, self.tags)

    def _k_best(self, forests: Forests, decoder: Decoder, k: int) -> tuple[Alternative, ...]:
        """The k best trees; derivations that restore to one tree count once."""
        number, scored = forests.first
        best: dict[Tree, float] = {}
        for gain, choice in decoder.k_best(scored, _SPARE * k):
            tree = self.forest_parser.tree(number, scored, choice, forests.sentence.words)
            best.setdefault(add_root(tree), gain)
        return tuple(Alternative(tree, gain) for tree, gain in list(best.items())[:k])

    @cached_property
    def usual_decoder(self) -> Decoder:
        """The decoder of the model."""
        return make_decoder(self.decoder, self.decoder_settings)

    def _decoder(self, name: str | None) -> Decoder:
        return self.usual_decoder if name is None or name == self.decoder else make_decoder(name, {})

    def posteriors_near(self, tree: Tree) -> BracketPosteriors | None:
        """Posteriors over the trees whose brackets cross none of a tree's: how the parser would change it.

        Labels and tags may be others in these trees, brackets may be gone, and more may be within and around
        those that are there. Where the grammars derive none of them, the trees are all that they derive.

        Args:
            tree: without traces and function tags.

        Returns:
            None if the grammars have no tree of these words.

        Examples:
            >>> import spectralnlp
            >>> from spectralnlp.trees import read_brackets
            >>> (tree,) = read_brackets(["(S (NP (NNS Gulls)) (VP (VBP are) (NP (JJ noisy))) (. .))"])
            >>> near = spectralnlp.load("en").posteriors_near(tree)
            >>> near.brackets["ADJP", 2, 3] > near.brackets["NP", 2, 3], near.tags[2]["JJ"] > 0.9
            (True, True)
        """
        words = tree.words()
        spans = np.array(sorted({span[1:] for span in tree.spans()}), np.int32).reshape(-1, 2)
        given = self.look_up(Sentence.from_words(words))
        parser = self.forest_parser
        forests = parser.infer(replace(given, cells=nested_cells(all_cells(len(words)), spans)))
        scored = parser.rescore(forests).scored
        return parser.pool.bracket_posteriors(scored, len(words)) if scored else None

    def log_probability(self, words: Sequence[str]) -> float:
        """Natural logarithm of a tokenised sentence's probability, all trees in the pruned forest summed.

        Unknown words count as their signatures. -inf when the grammar cannot derive the sentence.

        Raises:
            InputError: the words are one string, no strings, or none.
        """
        forms = self.conventions.forms(check_tokens(words, least=1))
        parser = self.forest_parser
        plain = [np.ones((len(forms), len(self.coarse.symbols)))]  # clusters weigh no tags
        given = parser.look_up(forms, tag_weights=plain, pooled=False)
        forests = parser.infer(parser.open_cells(given))
        return -np.inf if forests.any_tag or not forests.scored else forests.log_probability

    def tree_log_probability(self, tree: Tree) -> float:
        """Natural logarithm of a tree's probability under the first grammar, states summed out.

        Args:
            tree: with or without the root ``TOP``, without traces and function tags.

        Returns:
            -inf for trees with a rule that the grammar does not have.
        """
        binary = self.grammar_sets[0].binariser.binarise(strip_root(tree))
        return tree_log_probability(binary, self.grammars[0], self.forest_parser.grammars[0].signature)

    def inspect(self, symbol: str | None = None) -> list[SymbolReport]:
        """Top words and rules of each latent state of the first grammar.

        Args:
            symbol: one symbol; None for all.

        Raises:
            ConfigError: the grammar has no such symbol.
        """
        return inspect_grammar(self.grammars[0], symbol)

    def explain(
        self,
        words: Sequence[str],
        bracket: Sequence[Any],
        *,
        trees: Any = None,
        most: int = 5,
        recount: bool = False,
    ) -> Explanation:
        """Say which training trees did most for a bracket of a sentence, and which did most against it.

        What a tree did is by how much the log-odds of the bracket under the grammar would fall without it, to
        first order: states of nodes stay as the grammar gives them, and a span scorer is not asked.

        Args:
            words: tokens, one or more, as of `parse_tokens`.
            bracket: (start, end, label), tokens counted from 0, the end exclusive; one that the sentence's
                tree has, or another.
            trees: what the parser was learned from, as a corpus or a list of trees: to have names of files,
                or where only counts were kept; None for the kept moments. Where these are counts, rules are
                named in place of trees, with what each adds to the log-odds.
            most: trees in favour, and trees against, at most.
            recount: whether the grammar is counted again without each tree that is named, in place of the
                estimate; takes about half a second a tree.

        Raises:
            ConfigError: nothing was kept of what the parser was learned from, and it has neither a span
                scorer with features to name nor a grammar of probabilities alone, as ``pcfg`` has; or no
                trees were kept to recount; or it has no grammar of counted states, but tensors alone.
            ConstraintError: an InputError: the bracket is out of range, or its label is not known.
            NoTreeError: a ConstraintError: all trees of the model have the bracket, or none has.
        """
        found: Explanation = registry.changes.get("models").explain(
            self, words, bracket, trees=trees, most=most, recount=recount
        )
        return found

    @cached_property
    def explainer(self) -> Any:
        """The trees that the parser was learned from, counted at the first call; None if none were kept."""
        return registry.changes.get("models").explainer_of(self)

    @property
    def summary(self) -> str:
        """Its size in a few words."""
        n_grammars = sum(len(each.grammars) for each in self.grammar_sets)
        symbols = zip(self.coarse.symbols, self.coarse.is_tag.tolist(), strict=True)
        labels = {label for symbol, is_tag in symbols if not is_tag for label in labels_of(symbol)}
        grammars = f"{n_grammars} grammar{'s' * (n_grammars != 1)}"
        return f"{grammars}, {len(labels)} labels, {len(self.tags)} tags"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the parser, by name."""
        grammar = self.grammars[0]
        return {
            **self.about,
            "decoder": self.decoder,
            "binarisations": len(self.grammar_sets),
            "grammars": sum(len(each.grammars) for each in self.grammar_sets),
            "symbols": len(grammar.symbols),
            "tags": int(grammar.is_tag.sum()),
            "binary rules": len(grammar.binary_rules),
            "unary rules": len(grammar.unary_rules),
            "states": sum(int(g.n_states.sum()) for each in self.grammar_sets for g in each.grammars),
            "vocabulary": len(grammar.lexicon.words),
        }

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The grammars, each set's arrays after its number, and the settings."""
        with one_blas_thread():
            sets, arrays = store_sets(self.grammar_sets, compact=compact)
        components, more = store_components(self.components, compact=compact)
        metadata: dict[str, Any] = {
            "grammar_sets": sets,
            "components": components,
            "conventions": self.conventions.to_dict(),
            "decoder": self.decoder,
            "decoder_settings": dict(self.decoder_settings),
            "pruning": asdict(self.pruning),
            "about": dict(self.about),
        }
        if self.tagger is not None:
            metadata["tagger"] = self.tagger
        return metadata, arrays | more

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Parser:
        """The parser that gave these."""
        return cls(
            grammar_sets=read_sets(metadata.parts("grammar_sets"), arrays),
            **metadata.fields(cls, "conventions", "decoder", "decoder_settings", "pruning"),
            components=read_components(metadata.part("components"), arrays),
            about=metadata.about(),
            tagger=metadata.take("tagger", str | None, None),
            card=card,
        )
