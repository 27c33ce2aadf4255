"""Models trained on the small corpora of this project, and commands whose output is their golden prediction.

``{corpora}`` stands for the folder ``corpora``, ``{models}`` for a folder of models, ``{model}`` for the
model of the case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TRAIN, DEV = "{corpora}/treebank/train.mrg", "{corpora}/treebank/dev.mrg"
TEXT, TOKENS = "{corpora}/text/lighthouse.txt", "{corpora}/text/tokenized.txt"
INTENTS, MORE = "{corpora}/intents/train.tsv", "{corpora}/intents/unlabelled.txt"

PARSING = (
    f"parse -m {{model}} --tokenized --scores {TOKENS}",
    f"parse -m {{model}} {TEXT}",
    f"evaluate --json {{model}} {DEV}",
)
TAGGING = (f"tag -m {{model}} --scores {TEXT}", f"evaluate --json {{model}} {DEV}")
SEQUENCES = (f"evaluate --json {{model}} {TOKENS}", f"evaluate --json {{model}} {TEXT}")
INTENT = (f"classify -m {{model}} --top 3 {MORE}", "evaluate --json {model} {corpora}/intents/dev.tsv")
WORDS = f"eigenwords {TEXT} --set min_count=1 --set dimensions=8 --set clusters=5"


@dataclass(frozen=True)
class GoldenCase:
    """A model and what it is asked.

    Args:
        train: arguments of ``spectralnlp train``, without the output folder.
        ask: commands whose output is compared.
        needs: other cases that are trained before.
        slow: whether this takes more than a second or so.
    """

    train: str
    ask: Sequence[str]
    needs: Sequence[str] = ()
    slow: bool = False


CASES: Mapping[str, GoldenCase] = {
    "pcfg": GoldenCase(f"pcfg {TRAIN}", (*PARSING, f"parse -m {{model}} --k 3 {TOKENS}")),
    "pcfg-plain": GoldenCase(f"pcfg {TRAIN} --set preset=plain", PARSING),
    "lpcfg": GoldenCase(
        f"lpcfg {TRAIN}",
        (
            *PARSING,
            *(f"parse -m {{model}} --decoder {name} {TEXT}" for name in ("max-rule", "labelled-recall")),
        ),
    ),
    "lpcfg-fast": GoldenCase(
        f"lpcfg {TRAIN} --set preset=fast", (*PARSING, f"parse -m {{model}} --decoder viterbi {TEXT}")
    ),
    "lpcfg-best": GoldenCase(f"lpcfg {TRAIN} --set preset=best", PARSING, slow=True),
    "lpcfg-tutorial": GoldenCase(f"lpcfg {TRAIN} --set preset=tutorial", PARSING),
    "lpcfg-spanish": GoldenCase(
        "lpcfg {corpora}/treebank/spanish.mrg", ("evaluate --json {model} {corpora}/treebank/spanish.mrg",)
    ),
    "lpcfg-em": GoldenCase(f"lpcfg-em {TRAIN} --set iterations=5", PARSING),
    "hmm": GoldenCase(f"hmm {TOKENS} --set n_states=4", SEQUENCES),
    "hmm-tutorial": GoldenCase(f"hmm {TOKENS} --set preset=tutorial --set n_states=3", SEQUENCES),
    "hmm-em": GoldenCase(f"hmm-em {TOKENS} --set n_states=3", SEQUENCES),
    "hmm-pool": GoldenCase(f"hmm-pool {TOKENS}", SEQUENCES),
    "eigenwords": GoldenCase(WORDS, ("neighbours {model} the lighthouse road",)),
    "tagger": GoldenCase(f"tagger {TRAIN}", TAGGING),
    "tagger-vectors": GoldenCase(
        f"tagger {TRAIN} --set eigenwords={{models}}/eigenwords --set clusters={{models}}/eigenwords",
        TAGGING,
        needs=("eigenwords",),
    ),
    "rhmm": GoldenCase(f"rhmm {TRAIN}", TAGGING, slow=True),
    "rhmm-tutorial": GoldenCase(f"rhmm {TRAIN} --set preset=tutorial", TAGGING),
    "topics": GoldenCase(
        f"topics {TEXT} --set n_topics=3 --set min_documents=1 --set max_share=0.9",
        ("topics {model}", f"topics {{model}} {TEXT}", f"evaluate --json {{model}} {TEXT}"),
    ),
    "intent": GoldenCase(f"intent {INTENTS}", INTENT),
    "intent-unlabelled": GoldenCase(f"intent {INTENTS} --unlabelled {MORE}", INTENT),
}

# Takes the arguments of ``spectralnlp`` and returns what it prints to standard output.
Run = Callable[[Sequence[str]], str]
_VARIES = re.compile(r'"[a-z_]*second[a-z_]*": [^,}]*(, )?|\|v:[^"|]*')
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def predictions(name: str, run: Run, corpora: Path, models: Path) -> str:
    """Train the model of a case, ask it, and return questions and answers as text.

    Args:
        name: of the case.
        run: runs a command.
        corpora: the folder of the small corpora.
        models: a folder for models; those that are there already are taken.
    """

    def filled(command: str) -> list[str]:
        places = {"{corpora}": str(corpora), "{models}": str(models), "{model}": str(models / name)}
        for key, place in places.items():
            command = command.replace(key, place)
        return command.split()

    case = CASES[name]
    for other in case.needs:
        if not (models / other).exists():
            predictions(other, run, corpora, models)
    run(["train", *filled(case.train), "-o", str(models / name)])
    blocks = [f"$ spectralnlp {each}\n{_VARIES.sub('', run(filled(each)))}" for each in case.ask]
    return "\n".join(blocks)


# Parts of two trees that a model finds equally good, so that the processor's rounding decides.
TIES = (("(ADVP (RB never)) (VP (VBD asked)", "(VP (ADVP (RB never)) (VBD asked)"),)


def difference(found: str, golden: str) -> str:
    """Compare predictions: texts and trees exactly, numbers with room for another machine's rounding.

    Numbers may differ by a thousandth, or by one in the last digit printed; of `TIES`, either may be found.

    Returns:
        The first lines that differ; empty if there are none.
    """
    for one, other in TIES:
        found, golden = found.replace(other, one), golden.replace(other, one)
    ours, theirs = found.splitlines(), golden.splitlines()
    for mine, other in zip(ours, theirs, strict=False):
        if _NUMBER.sub("#", mine) != _NUMBER.sub("#", other) or not all(
            map(_close, _NUMBER.findall(mine), _NUMBER.findall(other))
        ):
            return f"found:  {mine}\ngolden: {other}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} lines were found, {len(theirs)} are golden"


def _close(left: str, right: str) -> bool:
    _, _, decimals = right.partition(".")
    last_digit = 1.01 * 10.0 ** -len(decimals) if "e" not in right else 0.0
    return abs(float(left) - float(right)) <= max(last_digit, 1e-3 * abs(float(right)))
