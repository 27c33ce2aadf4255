"""Models trained on the small corpora of this project, and commands whose output is their golden prediction.

``{corpora}`` stands for the folder ``corpora``, ``{model}`` for the model of the case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from golden_arrays import settled

TRAIN, DEV = "{corpora}/treebank/train.mrg", "{corpora}/treebank/dev.mrg"
TEXT, TOKENS = "{corpora}/text/lighthouse.txt", "{corpora}/text/tokenized.txt"
INTENTS, MORE = "{corpora}/intents/train.tsv", "{corpora}/intents/unlabelled.txt"

PARSING = (
    f"parse -m {{model}} --tokenized --scores {TOKENS}",
    f"parse -m {{model}} {TEXT}",
    f"evaluate --format json {{model}} {DEV}",
)
TAGGING = (f"tag -m {{model}} --scores {TEXT}", f"evaluate --format json {{model}} {DEV}")
SEQUENCES = (f"evaluate --format json {{model}} {TOKENS}", f"evaluate --format json {{model}} {TEXT}")
INTENT = (f"classify -m {{model}} --top 3 {MORE}", "evaluate --format json {model} {corpora}/intents/dev.tsv")
WORDS = f"eigenwords {TEXT} --set min_count=1 --set dimensions=8 --set clusters=5"


@dataclass(frozen=True)
class GoldenCase:
    """A model and what it is asked.

    Args:
        train: arguments of ``spectralnlp train``, without the output folder.
        ask: commands whose output is compared.
    """

    train: str
    ask: Sequence[str]


# One of each task.
CASES: Mapping[str, GoldenCase] = {
    "lpcfg": GoldenCase(
        f"lpcfg {TRAIN}",
        (
            *PARSING,
            *(f"parse -m {{model}} --decoder {name} {TEXT}" for name in ("max-rule", "labelled-recall")),
        ),
    ),
    "tagger": GoldenCase(f"tagger {TRAIN}", TAGGING),
    "hmm": GoldenCase(f"hmm {TOKENS} --set n_states=4", SEQUENCES),
    "eigenwords": GoldenCase(WORDS, ("neighbours {model} the lighthouse road",)),
    "topics": GoldenCase(
        f"topics {TEXT} --set n_topics=3 --set min_documents=1 --set max_share=0.9",
        ("topics {model}", f"topics {{model}} {TEXT}", f"evaluate --format json {{model}} {TEXT}"),
    ),
    "intent": GoldenCase(f"intent {INTENTS}", INTENT),
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
        models: a folder for the model.
    """

    def filled(command: str) -> list[str]:
        return command.replace("{corpora}", str(corpora)).replace("{model}", str(models / name)).split()

    case = CASES[name]
    run(["train", *filled(case.train), "-o", str(models / name)])
    blocks = [f"$ spectralnlp {each}\n{_VARIES.sub('', run(filled(each)))}" for each in case.ask]
    return "\n".join(blocks)


def difference(found: str, golden: str) -> str:
    """Compare predictions: texts and trees exactly, numbers with room for another machine's rounding.

    Numbers may differ by two thousandths, or by one in the last digit printed; of ties, either may be found.

    Returns:
        The first lines that differ; empty if there are none.
    """
    ours, theirs = settled(found).splitlines(), settled(golden).splitlines()
    for mine, other in zip(ours, theirs, strict=False):
        if _NUMBER.sub("#", mine) != _NUMBER.sub("#", other) or not all(
            map(_close, _NUMBER.findall(mine), _NUMBER.findall(other))
        ):
            return f"found:  {mine}\ngolden: {other}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} lines were found, {len(theirs)} are golden"


def _close(left: str, right: str) -> bool:
    _, _, decimals = right.partition(".")
    last_digit = 1.01 * 10.0 ** -len(decimals) if "e" not in right else 0.0
    return abs(float(left) - float(right)) <= max(last_digit, 2e-3 * abs(float(right)))
