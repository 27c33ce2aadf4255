"""The trained parser: tokenisation conventions, grammars, pruning, components and a decoder in one object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, get_type_hints

import numpy as np

from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.inference.chains.segmentation import ChainSegmenter, tags_of_words
from spectralnlp.inference.sentences.ends import LearnedSentenceEnds
from spectralnlp.inference.trees.cells import all_cells
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.inference.trees.derivations import constituents_of
from spectralnlp.inference.trees.labels import check_labels
from spectralnlp.inference.trees.limits import nested_cells
from spectralnlp.inference.trees.parsing import ForestParser, Pruning
from spectralnlp.inference.trees.rescoring.rescorer import rescore
from spectralnlp.inference.trees.sentence import Forests, SentenceInput
from spectralnlp.inference.trees.tree_scores import tree_log_probability
from spectralnlp.linalg import one_blas_thread
from spectralnlp.models import folder_of
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
from spectralnlp.models.explanation import Explanation
from spectralnlp.models.inspection import SymbolReport, inspect_grammar
from spectralnlp.models.last_resort import last_resort
from spectralnlp.models.pieces import KnownPieces, cut, join
from spectralnlp.models.tag_evidence import SuggestedTags, TagEvidence, TagModel
from spectralnlp.models.taggers import tagger_from
from spectralnlp.models.text_parser import TextParser
from spectralnlp.parameters import (
    AnnotationScheme,
    GrammarSet,
    LatentGrammar,
    WordClusters,
    read_sets,
    store_sets,
)
from spectralnlp.runtime import deferred_interrupts, map_ordered
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, checked_value, load_model
from spectralnlp.text.constraints import Constraints
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.inputs import check_tokens
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, add_root, labels_of, strip_root
from spectralnlp.trees.parse import Alternative, BracketPosteriors, Parse

_SPARE = 2  # derivations computed per requested tree, because several may give the same tree

NO_DERIVATION = "no derivation: a flat tree"
ANY_TAG = "derived only with every tag allowed for every word"
COARSE_ONLY = "the fine grammars gave no usable score: the coarse grammar's tree"


@dataclass(frozen=True, repr=False)
class Parser(TextParser, ChangingModel):
    """A trained constituency parser.

    Attributes:
        grammar_sets: sets of grammars, each with a binarisation. If there are several sets, the decoder
            ``mbr`` averages their span posteriors; other decoders, and k-best lists, use only the first set.
        conventions: tokenisation conventions of the treebank.
        decoder, decoder_settings: name of the decoder, as ``spectralnlp plugins`` lists it; its settings.
        pruning: the settings of coarse-to-fine pruning.
        components: optional parts besides the grammars, by name: ``open_cells`` predicts which chart cells
            are parsed, ``span_scorer`` rescores the labels of spans before decoding, ``word_clusters``
            predicts tags of rare words, ``sentence_ends`` splits raw text into sentences, and ``segmenter``
            splits text without blanks into words.
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card, in Markdown.
        tagger: name of an installed tagger whose tag probabilities the parser uses if there is no
            ``tag_evidence``; None to use no installed tagger.
        tag_evidence: a tagger whose tag probabilities the parser uses; not saved with the parser.
        max_length: number of tokens above which a sentence is split, because time grows with the cube of the
            length. Such a sentence is split after punctuation, the trees of its pieces are joined under one
            ``TOP``, and ``Parse.fallback`` says so. Sentences with constraints are never split. Not saved
            with the parser.

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
    settings = ("tagger", "tag_evidence", "max_length")

    def __post_init__(self) -> None:
        check_labels(self.grammar_sets)

    @classmethod
    def join(cls, parsers: Sequence[Parser]) -> Parser:
        """Combine trained parsers into one that averages their posteriors.

        Conventions, settings and components are those of the first parser. Only decoders such as ``mbr``
        average; others use the grammars of the first parser alone.

        Args:
            parsers: one or more parsers, trained on treebanks with the same labels.

        Raises:
            ConfigError: the parsers differ in labels.
        """
        sets = tuple(each for parser in parsers for each in parser.grammar_sets)
        return replace(parsers[0], grammar_sets=sets, saved=None)

    def with_tagger(self, tagger: TagModel, *, weight: float = 1.0, fixed: bool = False) -> Parser:
        """Return a copy of this parser that uses the tag probabilities of a tagger.

        Args:
            tagger: a tagger with the tags of the parser's treebank.
            weight: exponent of the tag probabilities by which lexical scores of rare words are multiplied.
            fixed: whether trees must have the tagger's best tags for all words; ``weight`` is then not used.

        Raises:
            ConfigError: over half of the tagger's tags are unknown to the parser, or the weight is negative.
        """
        evidence = TagEvidence(tagger, weight, fixed)
        evidence.check(self.coarse)
        return replace(self, tag_evidence=evidence)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer for raw text, which also splits sentences."""
        ends, segmenter = (self.components.get(name) for name in (SENTENCE_ENDS, SEGMENTER))
        return Tokenizer(
            self.conventions,
            None if ends is None else LearnedSentenceEnds(ends, self.coarse),
            None if segmenter is None else ChainSegmenter(segmenter, tags_of_words(self.coarse)),
        )

    @property
    def coarse(self) -> LatentGrammar:
        """The coarse grammar of the first grammar set, with one state per symbol."""
        return self.grammar_sets[0].coarse

    @property
    def grammars(self) -> tuple[LatentGrammar, ...]:
        """The grammars of the first grammar set that score parse forests; see `GrammarSet`."""
        return self.grammar_sets[0].grammars

    @cached_property
    def forest_parser(self) -> ForestParser:
        """The chart parser that uses all sets of grammars."""
        return ForestParser.of(
            self.grammar_sets,
            pruning=self.pruning,
            cells=self.components.get(OPEN_CELLS),
            clusters=self.components.get(WORD_CLUSTERS) or WordClusters.none(),
            scorer=self.components.get(SPAN_SCORER),
        )

    @cached_property
    def default_evidence(self) -> TagEvidence | None:
        """Tag probabilities of the installed tagger named by `tagger`; None if it is not installed."""
        if self.tagger is None or self.tagger not in registry.models:
            return None
        evidence = TagEvidence(tagger_from(load_model(folder_of(self.tagger))))
        evidence.check(self.coarse)
        return evidence

    def _parse_stream(
        self, sentences: Iterable[Sentence | None], decoder: str | None, k: int, fixed_tags: bool = True
    ) -> Iterator[Parse | None]:
        parse = partial(self._parse_piece, decoder=self._decoder(decoder), k=k, fixed_tags=fixed_tags)
        return map_ordered(partial(self._parse_sentence, k=k, parse=KnownPieces(parse)), sentences)

    def _parse_one(self, sentence: Sentence, decoder: str | None, k: int) -> Parse:
        parse = partial(self._parse_piece, decoder=self._decoder(decoder), k=k, fixed_tags=True)
        return self._parse(sentence, k, KnownPieces(parse))

    def _parse_sentence(self, sentence: Sentence | None, k: int, parse: KnownPieces) -> Parse | None:
        return None if sentence is None else self._parse(sentence, k, parse)

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """The phrase labels, sorted."""
        return tuple(
            sorted({label for each in self.forest_parser.grammars for label in each.label_table.rows})
        )

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags, sorted."""
        symbols = zip(self.coarse.symbols, self.coarse.is_tag.tolist(), strict=True)
        return tuple(sorted({labels_of(symbol)[-1] for symbol, is_tag in symbols if is_tag}))

    def _parse(self, sentence: Sentence, k: int, parse: KnownPieces) -> Parse:
        if len(sentence.tokens) <= self.max_length or sentence.constraints:
            with deferred_interrupts:  # once per sentence, not in each of fifty kernels
                return parse.parse(sentence)
        return join(sentence, [parse.piece(each) for each in cut(sentence, self.max_length)], k)

    def _parse_piece(self, sentence: Sentence, decoder: Decoder, k: int, fixed_tags: bool) -> Parse:
        parser = self.forest_parser
        looked_up = self.look_up(sentence, fixed_tags=fixed_tags, pooled=decoder.can_pool and k == 1)
        forests = rescore(parser.infer(looked_up), parser.rescorer)
        if not forests.scored:
            tree, brackets = last_resort(parser, looked_up)
            return Parse(tree, sentence, None, brackets, NO_DERIVATION, model=self)
        tree = parser.pool.decode(decoder, forests)
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
        """Return the input of the chart parser: lexical scores, constraints and the chart cells to parse.

        Args:
            sentence: the sentence; if it has tags, no tagger is used.
            fixed_tags: whether the tree must have the sentence's tags; if false, they are evidence for the
                tags of rare words.
            pooled: True to use all sets of grammars, False to use only the first.

        Raises:
            ConstraintError: a constraint is out of range, or has a label that the model does not have.
            InputError: the sentence's annotations are of another scheme than those of the training.
        """
        constraints, tags = self.checked(sentence), sentence.tags
        evidence, weights = self.tag_evidence or self.default_evidence, None
        if tags is not None and not fixed_tags:
            evidence, tags = TagEvidence(SuggestedTags(self.tags, tags)), None
        parser, words = self.forest_parser, sentence.forms
        if tags is None and evidence is not None:
            coarse, read_as = [each.coarse for each in self.grammar_sets], parser.likely_case(words)
            tags, weights = evidence.fixed_tags(read_as), evidence.weights(coarse, read_as)
        looked_up = parser.look_up(words, tags, constraints, tag_weights=weights, pooled=pooled)
        if sentence.annotations is not None and self.annotation_scheme is not None:
            self.annotation_scheme.check(sentence.annotations)
            looked_up = replace(looked_up, annotations=sentence.annotations)
        return parser.open_cells(looked_up)

    @property
    def annotation_scheme(self) -> AnnotationScheme | None:
        """Labels and tags of the annotations that the parser was trained with; None if it ignores them."""
        scorer = self.components.get(SPAN_SCORER)
        return None if scorer is None or scorer.annotated is None else scorer.annotated.scheme

    def checked(self, sentence: Sentence) -> Constraints | None:
        """Return the constraints of a sentence after checking them; None if it has no constraints.

        Raises:
            ConstraintError: a constraint is out of range, or has an unknown label.
        """
        constraints = sentence.constraints or None
        return constraints and constraints.check(len(sentence), self.phrases, self.tags)

    def _k_best(self, forests: Forests, decoder: Decoder, k: int) -> tuple[Alternative, ...]:
        """Return up to k distinct trees of a sentence's first forest with their scores, best first."""
        number, scored = forests.first
        best: dict[Tree, float] = {}
        for gain, choice in decoder.k_best(scored, _SPARE * k):
            tree = self.forest_parser.pool.tree(number, scored, choice, forests.sentence.words)
            best.setdefault(add_root(tree), gain)
        return tuple(Alternative(tree, gain) for tree, gain in list(best.items())[:k])

    @cached_property
    def default_decoder(self) -> Decoder:
        """The decoder named by `decoder`, with the settings `decoder_settings`."""
        return make_decoder(self.decoder, self.decoder_settings)

    def _decoder(self, name: str | None) -> Decoder:
        return self.default_decoder if name is None or name == self.decoder else make_decoder(name, {})

    def posteriors_near(self, tree: Tree) -> BracketPosteriors | None:
        """Return posteriors of brackets and tags near a given tree, to suggest corrections of it.

        They are posteriors over all trees whose brackets do not cross those of the given tree. Such trees may
        have other labels and tags, fewer brackets, and further brackets within or around those of ``tree``.
        If the grammars derive no such tree, posteriors are over all trees of the words.

        Args:
            tree: a tree without traces and function tags.

        Returns:
            The posteriors; None if the grammars derive no tree of these words.

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
        looked_up = self.look_up(Sentence.from_words(words))
        parser = self.forest_parser
        forests = parser.infer(replace(looked_up, cells=nested_cells(all_cells(len(words)), spans)))
        scored = rescore(forests, parser.rescorer).scored
        return parser.pool.bracket_posteriors(scored, len(words)) if scored else None

    def log_probability(self, words: Sequence[str]) -> float:
        """Return the natural logarithm of a sentence's probability, summed over the pruned forest.

        Unknown words are replaced by their signatures. The result is -inf if the grammar cannot derive the
        sentence.

        Args:
            words: one or more tokens, as in raw text or as in the treebank.

        Raises:
            InputError: ``words`` is a single string, empty, or holds something that is not a string.
        """
        forms = self.conventions.forms(check_tokens(words, least=1))
        parser = self.forest_parser
        plain = [np.ones((len(forms), len(self.coarse.symbols)))]  # no weights from word clusters
        looked_up = parser.look_up(forms, tag_weights=plain, pooled=False)
        forests = parser.infer(parser.open_cells(looked_up))
        return -np.inf if forests.any_tag or not forests.scored else forests.log_probability

    def tree_log_probability(self, tree: Tree) -> float:
        """Return the natural log-probability of a tree under the first grammar, summed over latent states.

        Args:
            tree: a tree without traces and function tags, with or without the root ``TOP``.

        Returns:
            The log-probability; -inf if the grammar lacks a rule or a tagged word of the tree.
        """
        binary = self.grammar_sets[0].binariser.binarise(strip_root(tree))
        return tree_log_probability(binary, self.grammars[0], self.forest_parser.grammars[0].signature)

    def inspect(self, symbol: str | None = None) -> list[SymbolReport]:
        """Return the most probable words and rules of each latent state of the first grammar.

        Args:
            symbol: the symbol to report on; None for all.

        Raises:
            ConfigError: the grammar has no such symbol.
        """
        return inspect_grammar(self.grammar_sets[0], symbol)

    def explain(
        self,
        words: Sequence[str],
        bracket: Sequence[Any],
        *,
        trees: Any = None,
        limit: int = 5,
        recount: bool = False,
    ) -> Explanation:
        """Explain a bracket of a sentence by the training trees that count most for and against it.

        The influence of a training tree is the amount by which the log-odds of the bracket under the grammar
        would fall if the tree were removed, with fixed latent states of nodes and without the span scorer.
        Trees are ranked by an estimate, to first order. The influence of the first tree is exact.

        Args:
            words: one or more tokens, as for `parse_tokens`.
            bracket: (start, end, label) in tokens from 0, end exclusive; the sentence's tree may lack it.
            trees: the training trees, as a corpus or a list, for example to get the names of their files.
                None for the trees that were kept with the parser; if only counts were kept, rules are listed
                instead of trees, each with its contribution to the log-odds.
            limit: largest number of trees for, and of trees against, the bracket.
            recount: whether to compute the influence of each listed tree exactly, and not only of the first,
                by estimating the grammar again without the tree. It takes about half a second per tree.

        Raises:
            ConfigError: no training data was kept, and there is neither a span scorer with features to list
                nor a plain probabilistic grammar, as in ``pcfg``; or the parser was not trained on ``trees``;
                or ``recount`` is set, but no trees were kept or given; or no grammar's parameters are ratios
                of counts, as when all are spectral tensors.
            InputError: the bracket has no label.
            ConstraintError: the bracket is out of range, or its label is unknown.
            NoTreeError: all trees of the model have the bracket, or none has it.
        """
        from spectralnlp.models.explaining import explain  # with all that trains parsers

        return explain(self, words, bracket, trees=trees, limit=limit, recount=recount)

    @cached_property
    def explainer(self) -> Any:
        """Explainer of brackets by the training trees kept with the parser; None if none were kept."""
        from spectralnlp.models.explaining import explainer_of

        return explainer_of(self)

    @property
    def summary(self) -> str:
        """The size of the parser in a few words, for its ``repr``."""
        n_grammars = sum(len(each.grammars) for each in self.grammar_sets)
        symbols = zip(self.coarse.symbols, self.coarse.is_tag.tolist(), strict=True)
        labels = {label for symbol, is_tag in symbols if not is_tag for label in labels_of(symbol)}
        grammars = f"{n_grammars} grammar{'s' * (n_grammars != 1)}"
        return f"{grammars}, {len(labels)} labels, {len(self.tags)} tags"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the parser, by name, as the command ``info`` shows them."""
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
        """Return the JSON values and the arrays to store: settings, grammars and components.

        The names of arrays begin with the number of the grammar set, or the name of the component, and a dot.
        """
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
        """Build the parser from the JSON values, the arrays and the model card of a model folder."""
        return cls(
            grammar_sets=read_sets(metadata.parts("grammar_sets"), arrays),
            **metadata.fields(cls, "conventions", "decoder", "decoder_settings", "pruning"),
            components=read_components(metadata.part("components"), arrays),
            about=metadata.about(),
            tagger=metadata.take("tagger", str | None, None),
            card=card,
        )


def make_decoder(name: str, settings: Mapping[str, Any]) -> Decoder:
    """Make a decoder by its registered name.

    Args:
        name: name of the decoder, as ``spectralnlp plugins`` lists it.
        settings: keyword arguments of the decoder's class.

    Raises:
        RegistryError: no decoder has this name.
        ConfigError: the decoder does not have a setting, or a setting is of another type.
    """
    kind = registry.decoders.get(name)
    hints = get_type_hints(kind.__init__)
    try:
        for setting, value in settings.items():
            checked_value(hints.get(setting, Any), value)
        decoder: Decoder = kind(**settings)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"decoder {name!r}: {error}") from error
    return decoder
