"""Compare the estimated influence of training trees on a bracket with a recount without each tree.

A parser is trained on the WSJ sample with its moments kept. Sentences of dev, and a bracket of each that the
parser is unsure of (any bracket if there is none), are drawn at random. For each bracket the estimate of
`Parser.explain` names ten trees in favour and ten against; each of the twenty is removed and the grammar
counted again with fixed states (`Explainer.recounted`), and the rank correlation of estimate and recount is
reported. Then each of the first five trees on either side is compared with a random tree that has the same
rule: which of the two changes the recounted log-odds more?

    python -m benchmarks.explain                # lpcfg with preset=fast, about ten minutes
    python -m benchmarks.explain --estimator pcfg
"""

from __future__ import annotations

from benchmarks import peers, report  # first: it sets the number of threads  # isort: skip

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

import spectralnlp
from spectralnlp import changes, registry
from spectralnlp.errors import SpectralError
from spectralnlp.estimators.parser.influence import Influence, influence
from spectralnlp.models.explaining import Explainer, bracket_forests
from spectralnlp.models.parser import Parser
from spectralnlp.text.constraints import Bracket
from spectralnlp.text.inputs import sentence_of

SETTINGS: dict[str, dict[str, Any]] = {
    "lpcfg": {"grammars": "clusters"},
    "pcfg": {"sentence_ends": True},
}  # settings whose moments contain trees
LENGTHS = (8, 25)  # tokens
UNSURE = (0.02, 0.98)  # posteriors
NAMED, FIRST = 10, 5  # trees per side that are recounted; that are compared with a random tree


@dataclass(frozen=True)
class Case:
    """Comparison of estimated and recounted influence for the explanation of one bracket.

    Attributes:
        bracket: the bracket; ``posterior``: its posterior under the parser.
        log_odds: log-odds of the bracket under the grammar.
        rho: rank correlation over all named trees; ``in_favour`` and ``against``: over those of one side.
        error: mean difference of estimate and recount; ``size``: mean recounted influence, unsigned.
        won, met: number of comparisons in which one of the first trees changed the log-odds more than a
            random tree; number of all comparisons.
        seconds: CPU seconds of the whole explanation.
    """

    bracket: Bracket
    posterior: float
    log_odds: float
    rho: float
    in_favour: float
    against: float
    error: float
    size: float
    won: int
    met: int
    seconds: float


def explained(parser: Parser, explainer: Explainer, words: Sequence[str], seed: int) -> Case | None:
    """Compare estimated and recounted influence for a random bracket of a sentence's tree.

    Returns None if there is nothing to compare.

    Args:
        parser: the parser.
        explainer: explainer of the parser, which can recount the grammar without a tree.
        words: words of the sentence.
        seed: seed of the choice of the bracket.
    """
    rng = np.random.default_rng(seed)
    phrases = [
        each for each in parser.parse_tokens(words).constituents if 1 < each.end - each.start < len(words)
    ]
    unsure = [each for each in phrases if UNSURE[0] < each.posterior < UNSURE[1]] or phrases
    if not unsure:
        return None
    chosen = unsure[rng.integers(len(unsure))]
    bracket = Bracket(chosen.start, chosen.end, chosen.label)
    sentence = sentence_of(words, parser.tokenizer, None)
    try:
        parser.explain(words, bracket)  # once before timing, because rules are read at first use
    except SpectralError:
        return None
    started = process_time()
    parser.explain(words, bracket)
    seconds = process_time() - started
    counted, forests = explainer.counted, bracket_forests(parser, sentence, bracket)
    found = influence(counted, forests)
    order = np.argsort(-found.trees, kind="stable")
    named = np.concatenate([order[:NAMED], order[::-1][:NAMED]])
    others = {tree: _with_same_rule(explainer, found, tree, rng) for tree in _first(named)}
    recounted = explainer.recounted(forests, sentence.forms, {*named.tolist(), *others.values()} - {-1})
    exact, estimate = np.array([recounted[tree] for tree in named.tolist()]), found.trees[named]
    met = [(tree, other) for tree, other in others.items() if other >= 0]
    return Case(
        bracket=bracket,
        posterior=chosen.posterior,
        log_odds=found.log_odds,
        rho=float(spearmanr(estimate, exact)[0]),
        in_favour=float(spearmanr(estimate[:NAMED], exact[:NAMED])[0]),
        against=float(spearmanr(estimate[NAMED:], exact[NAMED:])[0]),
        error=float(np.abs(estimate - exact).mean()),
        size=float(np.abs(exact).mean()),
        won=sum(abs(recounted[tree]) > abs(recounted[other]) for tree, other in met),
        met=len(met),
        seconds=seconds,
    )


def _first(named: NDArray[np.intp]) -> list[int]:
    return [*named[:FIRST].tolist(), *named[NAMED : NAMED + FIRST].tolist()]


def _with_same_rule(explainer: Explainer, found: Influence, tree: int, rng: np.random.Generator) -> int:
    """Return the index of a random tree that has the same rule as the matched node of a tree; -1 without one.

    Args:
        explainer: explainer with the training trees.
        found: influence of training trees on the bracket.
        tree: index of the tree.
        rng: random generator.
    """
    index = explainer.counted.index
    table = index.table
    node = explainer.match(found, tree)
    arity = (table.left >= 0).astype(int) + (table.right >= 0)
    same = (index.event == index.event[node]) & (arity == arity[node])
    trees = np.setdiff1d(table.tree[same], [tree])
    return int(rng.choice(trees)) if len(trees) else -1


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = report.argument_parser(__doc__.splitlines()[0])
    parser.add_argument("--estimator", choices=sorted(SETTINGS), default="lpcfg")
    parser.add_argument("--brackets", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", type=Path, help="a trained model with kept moments, to save the time")
    options = parser.parse_args()
    wsj = report.CORPORA / "treebanks" / "wsj"
    with tempfile.TemporaryDirectory() as folder:
        model = options.model
        if model is None:
            model = Path(folder) / "model"
            learner = registry.estimators.get(options.estimator)(**SETTINGS[options.estimator])
            changes.train(options.estimator, learner, peers.treebank(wsj / "train")).save(model)
        trained = spectralnlp.load(model)
        started = process_time()
        explainer = trained.explainer
        prepared = process_time() - started
        dev = [list(tree.words()) for tree in peers.treebank(wsj / "dev")]
        dev = [words for words in dev if LENGTHS[0] <= len(words) <= LENGTHS[1]]
        cases: list[Case] = []
        for number in np.random.default_rng(options.seed).permutation(len(dev)).tolist():
            case = explained(trained, explainer, dev[number], number)
            if case is not None:
                cases.append(case)
                print(case, flush=True)
            if len(cases) == options.brackets:
                break
    _report(options.estimator, cases, prepared)


def _report(estimator: str, cases: Sequence[Case], prepared: float) -> None:
    rows = [
        [
            f"{each.bracket.label} {each.bracket.start}–{each.bracket.end}",
            f"{each.posterior:.2f}",
            f"{each.log_odds:.2f}",
            f"{each.rho:.3f}",
            f"{each.in_favour:.2f}",
            f"{each.against:.2f}",
            f"{each.error:.3f}",
            f"{each.size:.3f}",
            f"{each.won}/{each.met}",
            f"{each.seconds:.2f} s",
        ]
        for each in cases
    ]
    header = [
        "bracket",
        "posterior",
        "log-odds",
        "ρ of 20",
        "in favour",
        "against",
        "error",
        "size",
        "won",
        "time",
    ]
    print(report.table(header, rows))
    rho = [each.rho for each in cases]
    print(f"{estimator}: {len(cases)} brackets; ρ mean {mean(rho):.3f}, least {min(rho):.3f}, ", end="")
    print(f"≥ 0.8 in {sum(each >= 0.8 for each in rho)}; one side: ", end="")
    sides = mean(each.in_favour for each in cases), mean(each.against for each in cases)
    print(f"{sides[0]:.3f} in favour, {sides[1]:.3f} against")
    won, met = sum(each.won for each in cases), sum(each.met for each in cases)
    print(f"named first against random with the same rule: {won} of {met} ({won / max(met, 1):.1%})")
    print(
        f"error {mean(each.error for each in cases):.4f} of {mean(each.size for each in cases):.4f}; ", end=""
    )
    print(f"counted once in {prepared:.2f} s, a bracket in {mean(each.seconds for each in cases):.2f} s")


if __name__ == "__main__":
    main()
