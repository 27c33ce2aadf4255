"""Explain the brackets of a parser by its training trees, for `Parser.explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from spectralnlp import registry
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.counted_grammar import CountedGrammar
from spectralnlp.estimators.parser.influence import Influence, influence
from spectralnlp.estimators.parser.recount import grammar_without, log_odds
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.inference.evidence import Feature
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.rescoring.features import bracket_features
from spectralnlp.inference.trees.rule_evidence import rule_evidence
from spectralnlp.inference.trees.sentence import Forests, SentenceInput
from spectralnlp.inference.trees.sparse import SparseRules
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.linalg import one_blas_thread
from spectralnlp.models.explanation import Explanation, TreeEvidence
from spectralnlp.parameters import LatentGrammar
from spectralnlp.runtime import Corpus, Joint, accumulate
from spectralnlp.text.constraints import Bracket, Constraints, NoTreeError
from spectralnlp.text.inputs import check_number, sentence_of
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, is_intermediate, labels_of, plain_symbol, restore
from spectralnlp.trees.treelog import TreeLog, TreeTable


@dataclass(frozen=True)
class Explainer:
    """Explainer of a parser's brackets, which finds the training trees with the most influence on a bracket.

    Attributes:
        counted: grammar of the first binarisation, with the counts that each training tree contributed.
        places: int64 (n_trees, 2); index of each tree's document, and of the tree within the document.
        names: names of the documents; empty if unknown.
    """

    counted: CountedGrammar
    places: NDArray[np.int64]
    names: Sequence[str]

    @classmethod
    def of(cls, parser: Any, trees: Any = None) -> Explainer:
        """Make an explainer from the training trees of a parser.

        Args:
            parser: a parser with kept moments.
            trees: the parser's training trees, as a corpus or a list; None for the trees that were kept with
                the parser.

        Raises:
            ConfigError: no moments or no trees were kept, the parser was not trained on these trees, or its
                grammar has no counted states.
        """
        kept = parser.kept("explain")
        trainer = kept.learner
        if not isinstance(trainer, ParserTrainer):
            shown = registry.estimators.shown(kept.estimator)
            raise ConfigError(f"{shown} trains no parser that explains", hint="use lpcfg or pcfg")
        log, names = _log(kept, trainer, trees)
        with one_blas_thread():
            counted = CountedGrammar.of(trainer.grammar, log, parser.grammar_sets[0])
        return cls(counted, log.places()[:, :2], names)

    def explain(
        self, parser: Any, sentence: Sentence, bracket: Bracket, limit: int, recount: bool
    ) -> Explanation:
        """Return the trees with the most influence for and against a bracket; see `Parser.explain`."""
        forests = bracket_forests(parser, sentence, bracket)
        with one_blas_thread():
            found = influence(self.counted, forests)
            order = np.argsort(-found.trees, kind="stable").tolist()
            in_favour = [tree for tree in order[:limit] if found.trees[tree] > 0]
            against = [tree for tree in order[::-1][:limit] if found.trees[tree] < 0]
            named = [*in_favour, *against]
            exact = self.recounted(forests, sentence.forms, named if recount else named[:1])

        def evidence(trees: list[int]) -> tuple[TreeEvidence, ...]:
            if recount:
                trees = sorted(trees, key=lambda tree: -abs(exact[tree]))
            return tuple(
                self._evidence(parser, found, tree, exact.get(tree, found.trees[tree])) for tree in trees
            )

        return _explanation(
            parser,
            sentence,
            bracket,
            limit,
            log_odds=found.log_odds,
            in_favour=evidence(in_favour),
            against=evidence(against),
        )

    def recounted(
        self, forests: Sequence[tuple[Forest, Lookup]], words: Sequence[str], trees: Iterable[int]
    ) -> dict[int, float]:
        """Return the exact influence of some training trees on a bracket, by tree index.

        The influence of a tree is how much the bracket's log-odds fall if the tree is removed and the
        grammar's parameters are computed from the remaining counts.

        Args:
            forests: the two forests, with lexicon entries, that `bracket_forests` returns.
            words: words of the sentence, spelled as in the model's treebank.
            trees: indices of the trees to remove, one at a time.
        """
        both, n_trees = [forest for forest, _ in forests], self.counted.index.table.n_trees
        whole = log_odds(*self._whole, both, words)
        without = (grammar_without(self.counted, np.arange(n_trees) == tree) for tree in trees)
        return {tree: whole - log_odds(*each, both, words) for tree, each in zip(trees, without, strict=True)}

    @cached_property
    def _whole(self) -> tuple[SparseRules, LatentGrammar]:
        return grammar_without(self.counted, np.zeros(self.counted.index.table.n_trees, bool))

    def match(self, found: Influence, tree: int) -> int:
        """Return the node of a training tree that contributes most to the tree's influence.

        Args:
            found: influence of the training trees on the bracket to explain.
            tree: index of the tree.

        Returns:
            Row of the node in the table of trees.
        """
        rows = np.flatnonzero(self.counted.index.table.tree == tree)
        return int(rows[np.argmax(found.nodes[rows] * np.sign(found.trees[tree]))])

    def _evidence(self, parser: Any, found: Influence, tree: int, total: float) -> TreeEvidence:
        table = self.counted.index.table
        rows = np.flatnonzero(table.tree == tree)
        node = self.match(found, tree)
        rule, first = rule_of(table, node), table.start[rows].min()
        while is_intermediate(table.symbols[table.symbol[node]]):
            node = int(table.parent[node])
        label = labels_of(table.symbols[table.symbol[node]])[-1]
        document, row = self.places[tree].tolist()
        return TreeEvidence(
            influence=float(total),
            document=self.names[document] if self.names else f"document {document + 1}",
            sentence=row + 1,
            tree=restore(binary_tree(table, rows), parser.grammar_sets[0].chains),
            match=Bracket(int(table.start[node] - first), int(table.end[node] - first), label),
            rule=rule,
        )


def explain(
    parser: Any,
    words: Sequence[str],
    bracket: Sequence[Any],
    *,
    trees: Any = None,
    limit: int = 5,
    recount: bool = False,
) -> Explanation:
    """Explain why a parser chose a bracket, by training trees or by features; see `Parser.explain`."""
    check_number(limit, "limit", least=1)
    (wanted,) = Constraints.of(brackets=[bracket]).brackets
    if wanted.label is None:
        raise InputError(f"bracket {wanted} has no label", hint="give (start, end, label)")
    sentence = sentence_of(words, parser.tokenizer, None)
    explainer: Explainer | None = parser.explainer if trees is None else Explainer.of(parser, trees)
    if explainer is not None:
        return explainer.explain(parser, sentence, wanted, limit, recount)
    if recount:
        hint = "give those that it was learned from with `trees`"
        raise ConfigError("the model keeps no trees that could be counted again", hint=hint)
    return _without_trees(parser, sentence, wanted, limit)


def explainer_of(parser: Any) -> Explainer | None:
    """Return an explainer that uses the training trees kept with a parser; None if no trees were kept.

    Raises what `Explainer.of` raises.
    """
    kept = parser.kept_if_any()
    is_counts = kept is not None and isinstance(kept.learner, ParserTrainer) and _kept_trees(kept) is None
    return None if kept is None or is_counts else Explainer.of(parser)


def bracket_forests(parser: Any, sentence: Sentence, bracket: Bracket) -> list[tuple[Forest, Lookup]]:
    """Return two parse forests of a sentence: the trees that have a bracket, and those that do not.

    Returns:
        The forest with the bracket, then the forest without it; each is paired with the lexicon entries of
        the sentence's words in the grammar that made the forest.

    Raises:
        ConstraintError: the bracket is invalid for the sentence.
        NoTreeError: all trees of the model have the bracket, or none has it.
    """
    pairs = []
    for looked_up, forests in _with_and_without(parser, sentence, bracket):
        number, scored = forests.first
        pairs.append((scored.forest, looked_up.lookups[number]))
    return pairs


def _with_and_without(
    parser: Any, sentence: Sentence, bracket: Bracket
) -> Iterator[tuple[SentenceInput, Forests]]:
    """Parse a sentence twice, first with a bracket required, then with the bracket forbidden.

    Yields:
        For each of the two parses: the sentence with its lexicon entries, and its parse forests.

    Raises what `bracket_forests` raises.
    """
    for constraints, what in (
        (Constraints(brackets=(bracket,)), "no tree of the model has"),
        (Constraints(forbidden=(bracket,)), "all trees of the model have"),
    ):
        given = parser.look_up(replace(sentence, constraints=constraints), pooled=False)
        forests = parser.forest_parser.infer(given)
        if not forests.scored or given.constraints is None or forests.any_tag or forests.coarse_only:
            what = f"{what} bracket {bracket}: there is nothing to compare"
            raise NoTreeError(what, hint="ask about a bracket that the sentence may have or not")
        yield given, forests


def _without_trees(parser: Any, sentence: Sentence, bracket: Bracket, limit: int) -> Explanation:
    """Explain a bracket without training trees: by features of a span scorer, or by rules of a grammar.

    Args:
        parser: a parser without kept trees.
        sentence: the sentence.
        bracket: the bracket to explain.
        limit: maximum length of each list: features or rules for the bracket, features or rules against it.

    Raises:
        ConfigError: the parser has no span scorer, no rule can explain the bracket, and no moments were kept.
    """
    with_it, without = (forests for _, forests in _with_and_without(parser, sentence, bracket))
    log_odds = with_it.log_probability - without.log_probability
    rules: list[Feature] = []
    if parser.forest_parser.rescorer is None:
        grammar = with_it.first[1].grammars[0]
        rules = rule_evidence(grammar, bracket_forests(parser, sentence, bracket), sentence.forms)
        if not rules:
            parser.kept("explain")
    named = [each for each in rules[:limit] if each.weight > 0]
    named += [each for each in rules[-limit:] if each.weight < 0]
    return _explanation(parser, sentence, bracket, limit, log_odds=log_odds, rules=tuple(named))


def _explanation(parser: Any, sentence: Sentence, bracket: Bracket, limit: int, **found: Any) -> Explanation:
    """Return an explanation with the best tree without the bracket, and with features of the span scorer.

    Args:
        parser, sentence, bracket, limit: see `_without_trees`.
        found: the fields of `Explanation` that are not computed here, such as ``log_odds``.
    """
    features = _features(parser, sentence, bracket)
    forbidden = replace(sentence, constraints=Constraints(forbidden=(bracket,)))
    return Explanation(
        bracket=bracket,
        alternative=next(parser.parse_many([forbidden])).tree,
        features_in_favour=tuple(each for each in features if each.weight > 0)[:limit],
        features_against=tuple(each for each in features if each.weight < 0)[:limit],
        **found,
    )


def _features(parser: Any, sentence: Sentence, bracket: Bracket) -> list[Feature]:
    """Return the span scorer's features for a bracket; [] without a span scorer."""
    rescorer = parser.forest_parser.rescorer
    if rescorer is None:
        return []
    given = parser.look_up(sentence)
    forests = parser.forest_parser.infer(given)
    if not forests.scored:
        return []
    return bracket_features(rescorer, forests.scored, given.read_as, bracket, given.cell_marginals)


def rule_of(table: TreeTable, node: int) -> str:
    """Return the rule of a node, or its tag and word, as text; ``…`` stands for a binarisation node."""

    def name(row: int) -> str:
        symbol = table.symbols[table.symbol[row]]
        return "…" if is_intermediate(symbol) else plain_symbol(symbol)

    if table.word[node] >= 0:
        return f"{name(node)} → {table.words[table.word[node]]}"
    children = [int(each[node]) for each in (table.left, table.right) if each[node] >= 0]
    return f"{name(node)} → {' '.join(name(child) for child in children)}"


def binary_tree(table: TreeTable, rows: NDArray[np.intp]) -> Tree:
    """Build a binarised tree from a table of nodes.

    Args:
        table: nodes of all trees of a treebank.
        rows: int (n,); rows of the table with the nodes of the tree, in postorder.
    """
    built: dict[int, Tree] = {}
    for node in rows.tolist():
        symbol = table.symbols[table.symbol[node]]
        if table.word[node] >= 0:
            built[node] = Tree(symbol, word=table.words[table.word[node]])
        else:
            children = [int(each[node]) for each in (table.left, table.right) if each[node] >= 0]
            built[node] = Tree(symbol, tuple(built.pop(child) for child in children))
    return built[int(rows[-1])]


def _kept_trees(kept: Any) -> TreeLog | None:
    """Return the training trees stored in a parser's kept moments; None if the moments hold only counts."""
    return cast(TreeLog | None, cast(Joint[Any], kept.moments).parts["estimator"].first_replay_log())


def _log(kept: Any, trainer: ParserTrainer, trees: Any) -> tuple[TreeLog, Sequence[str]]:
    """Return a parser's training trees, in the first binarisation, and the names of their documents.

    Args:
        kept: kept moments of the parser.
        trainer: estimator of the parser.
        trees: the training trees; None for the trees in ``kept``, for which no names are returned.

    Raises:
        ConfigError: ``trees`` is None, and the kept moments hold only counts.
    """
    if trees is None:
        log = _kept_trees(kept)
        if log is None:
            shown = registry.estimators.shown(kept.estimator)
            what = f"the moments of {shown} are counts, which name no tree"
            hint = "give its trees with `trees`, or train with sentence_ends=true, which keeps them"
            raise ConfigError(what, hint=hint)
        return log, ()
    corpus: Corpus[Any] = trees if isinstance(trees, Corpus) else kept.task.in_memory(trees)
    examples = kept.task.examples(trainer, corpus)
    names = {part.document_index: part.document for part in examples.partitions()}
    moments = accumulate(trainer.grammar.init_trees(examples), examples)
    return cast(TreeLog, moments.first_replay_log()), [names[each] for each in sorted(names)]
