"""Score dependencies converted from trees against GUM's Universal Dependencies of the same sentences.

``gold`` converts the gold trees, with and without function tags. ``parses`` converts the trees of a grammar,
which must not have been trained on that part. ``spacy`` trains spaCy's tagger and parser on the dependencies
of the training part with its default CPU configuration, and scores its parses after each epoch. UAS and LAS
are given without punctuation, as is usual, and with it; tables by relation are without.

    python -m benchmarks.dependencies gold
    python -m benchmarks.dependencies parses spacy --short --epochs 6
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

from spectralnlp_trees import to_dependencies

from spectralnlp.trees import Tree, clean, read_trees


@dataclass(frozen=True)
class Gold:
    """Gold sentence of a CoNLL-U file, with the head and the relation of each word."""

    words: list[str]
    universal_tags: list[str]
    tags: list[str]
    heads: list[int]
    relations: list[str]


@dataclass
class Scores:
    """Counts of words, correct heads and correct labels: with punctuation, and without, also by relation.

    Attributes:
        tokens, token_heads, token_labels: counts with punctuation.
        words, heads, labelled: counts without.
    """

    tokens: int = 0
    token_heads: int = 0
    token_labels: int = 0
    words: int = 0
    heads: int = 0
    labelled: int = 0
    tags: int = 0
    gold: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(
        self, gold: Gold, heads: Sequence[int], relations: Sequence[str], tags: Sequence[str] = ()
    ) -> None:
        """Add the words of one sentence to the counts.

        Args:
            gold: the gold sentence.
            heads: predicted head of each word, an index; -1 for the root.
            relations: predicted relation of each word.
            tags: predicted tags; empty to count none.
        """
        for index, relation in enumerate(gold.relations):
            is_head, is_relation = heads[index] == gold.heads[index], relations[index] == relation
            self.tokens += 1
            self.token_heads += is_head
            self.token_labels += is_head and is_relation
            if relation == "punct" or gold.universal_tags[index] == "PUNCT":
                continue
            self.words += 1
            self.heads += is_head
            self.labelled += is_head and is_relation
            self.tags += bool(tags) and tags[index] == gold.universal_tags[index]
            self.gold[relation] += 1
            self.found[relations[index]] += 1
            self.right[relation] += is_head and is_relation

    @property
    def percentages(self) -> list[float]:
        """UAS and LAS, shares of words with the right head (and relation), without punctuation, then with."""
        without = self.heads / self.words, self.labelled / self.words
        return [
            100 * each for each in (*without, self.token_heads / self.tokens, self.token_labels / self.tokens)
        ]

    def by_relation(self) -> str:
        """Return a table of precision and recall by relation, the most frequent first."""
        rows = [
            [
                f"`{name}`",
                f"{n:,}",
                f"{100 * self.right[name] / max(1, self.found[name]):.1f}",
                f"{100 * self.right[name] / n:.1f}",
            ]
            for name, n in self.gold.most_common()
        ]
        return report.table(("relation", "gold", "precision", "recall"), rows)


def read_gold(path: Path) -> Iterator[Gold]:
    """Yield the sentences of a CoNLL-U file without multiword tokens and empty nodes."""
    for block in path.read_text("utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        columns = list(zip(*rows, strict=True))
        heads = [int(head) - 1 for head in columns[6]]
        yield Gold([*columns[1]], [*columns[3]], [*columns[4]], heads, [*columns[7]])


def sentences(corpora: Path, part: str) -> list[tuple[Tree, Gold]]:
    """Return the trees and the dependencies of the same sentences of GUM."""
    pairs: list[tuple[Tree, Gold]] = []
    for file in sorted((corpora / "treebanks" / "gum" / part).glob("*.ptb")):
        gold = read_gold(corpora / "treebanks" / "gum_dependencies" / part / f"{file.stem}.conllu")
        pairs += zip(read_trees(file), gold, strict=True)
    return pairs


def converted(trees: Iterable[Tree], gold: Iterable[Gold]) -> tuple[Scores, float]:
    """Return the scores of converted trees, and the CPU seconds of the conversion."""
    trees = list(trees)
    started = process_time()
    found = [to_dependencies(tree) for tree in trees]
    seconds = process_time() - started
    scores = Scores()
    for each, right in zip(found, gold, strict=True):
        scores.add(right, each.heads, each.relations, each.universal_tags)
    return scores, seconds


def plain(tree: Tree) -> Tree:
    """Return the tree without function tags."""
    cleaned = clean(tree)
    assert cleaned is not None
    return cleaned


def of_gold_trees(arguments: argparse.Namespace) -> None:
    """Print the scores of dependencies converted from the gold trees, with and without function tags."""
    pairs = sentences(arguments.corpora, arguments.part)
    gold = [each for _, each in pairs]
    tagged, seconds = converted((tree for tree, _ in pairs), gold)
    without, _ = converted((plain(tree) for tree, _ in pairs), gold)
    print(f"Converted in {seconds:.2f} s, {len(pairs) / seconds:,.0f} trees a second; ", end="")
    print(f"universal parts of speech {100 * tagged.tags / tagged.words:.2f} % right.\n")
    _show(arguments, pairs, [("gold trees", tagged), ("gold trees without function tags", without)])


def of_parses(arguments: argparse.Namespace) -> None:
    """Print the scores of dependencies converted from the trees that a grammar gives to the gold tokens."""
    import spectralnlp

    pairs = sentences(arguments.corpora, arguments.part)
    parser = spectralnlp.load(arguments.model)
    parses = parser.parse_many([each.words for _, each in pairs])
    scores, _ = converted((parse.tree for parse in parses), [each for _, each in pairs])
    _show(arguments, pairs, [(f"parses of `{arguments.model}`", scores)])


def of_spacy(arguments: argparse.Namespace) -> None:
    """Print the scores of spaCy's parser, trained on the dependencies of the training part."""
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.util import fix_random_seed, load_model_from_config, minibatch

    started = process_time()
    train = [gold for _, gold in sentences(arguments.corpora, "train")][: arguments.sentences]
    fix_random_seed(0)
    config = init_config(lang="en", pipeline=["tagger", "parser"], optimize="efficiency", gpu=False)
    nlp = load_model_from_config(config, auto_fill=True, validate=False)
    examples = [_example(nlp, gold) for gold in train]
    optimizer = nlp.initialize(lambda: examples)
    pairs = sentences(arguments.corpora, arguments.part)
    scores = Scores()
    for epoch in range(arguments.epochs):
        random.Random(epoch).shuffle(examples)
        for batch in minibatch(examples, 64):
            nlp.update(batch, sgd=optimizer, drop=0.1)
        scores = _of_pipeline(nlp, [gold for _, gold in pairs])
        seconds = process_time() - started
        uas, las, *_ = scores.percentages
        print(f"epoch {epoch + 1}: UAS {uas:.2f}, LAS {las:.2f}, {seconds:.0f} s", flush=True)
    _show(arguments, pairs, [(f"spaCy {spacy.__version__}, {arguments.epochs} epochs", scores)])


def _of_pipeline(nlp: Any, gold: Sequence[Gold]) -> Scores:
    from spacy.tokens import Doc

    scores = Scores()
    starts = ([True] + [False] * (len(each.words) - 1) for each in gold)
    docs = [Doc(nlp.vocab, words=each.words, sent_starts=s) for each, s in zip(gold, starts, strict=True)]
    for doc, right in zip(nlp.pipe(docs), gold, strict=True):
        heads = [-1 if token.head.i == token.i else token.head.i for token in doc]
        scores.add(right, heads, [token.dep_.lower() for token in doc])
    return scores


def _example(nlp: Any, gold: Gold) -> Any:
    from spacy.tokens import Doc
    from spacy.training import Example

    heads = [index if head < 0 else head for index, head in enumerate(gold.heads)]
    relations = ["ROOT" if each == "root" else each for each in gold.relations]
    right = Doc(nlp.vocab, words=gold.words, tags=gold.tags, heads=heads, deps=relations)
    return Example(Doc(nlp.vocab, words=gold.words), right)


def _show(
    arguments: argparse.Namespace, pairs: Sequence[tuple[Tree, Gold]], rows: Sequence[tuple[str, Scores]]
) -> None:
    first = rows[0][1]
    print(f"{len(pairs):,} sentences, {first.words:,} words without punctuation, {first.tokens:,} with it.\n")
    header = ("", "UAS", "LAS", "UAS with punctuation", "LAS with punctuation")
    print(
        report.table(header, [[name, *(f"{x:.2f}" for x in each.percentages)] for name, each in rows]), "\n"
    )
    for name, each in rows[: not arguments.short]:
        print(f"{name}, by relation:\n\n{each.by_relation()}\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add arguments for the treebank, its part, the grammar and the epochs of spaCy."""
    parser.add_argument("--short", action="store_true", help="no tables by relation")
    parser.add_argument("--part", default="dev", help="of GUM")
    parser.add_argument("--model", default="en", metavar="NAME", help="grammar of the parses")
    parser.add_argument("--epochs", type=int, default=10, metavar="N", help="of spaCy's training")
    parser.add_argument("--sentences", type=int, default=None, metavar="N", help="of spaCy's training")


if __name__ == "__main__":
    report.run_parts(
        __doc__, {"gold": of_gold_trees, "parses": of_parses, "spacy": of_spacy}, add_arguments, corpora=True
    )
