"""Pinned sections: parses of the models that are shipped, with posteriors, by each function that parses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from .digests import digests_of
from .items import Item, Section, command, plain, scratch, spread, trees_of

_TREEBANKS = {"en": "gum", "en-biomedical": "craft", "is": "icepahc"}
_DECODERS = ("mbr", "max-rule", "viterbi", "labelled-recall")
_RUN = 5  # number of neighbouring sentences in a text
_N_ALL, _N_SOME, _N_BEST, _N_FEW = 500, 150, 100, 50
_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}


def parses(model: str, known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for each way to parse with a model.

    Args:
        model: name of the model.
        known: pinned items by key.
    """
    import spectralnlp

    parser = spectralnlp.load(model)
    yield Item("parts", digests_of(parser))
    yield Item("info", {name: each for name, each in parser.info.items() if name != "spectralnlp"})
    found = trees_of(_TREEBANKS[model], "dev")
    trees = spread(found, _N_ALL, run=_RUN)
    texts = [raw(trees[start : start + _RUN]) for start in range(0, len(trees), _RUN)]
    for number, text in enumerate(texts):
        yield Item(f"raw/{number}", [each.to_json() for each in parser.parse(text)])
    batches = parser.parse_many(texts[:10], k=2)
    yield Item("raw, several", [[each.to_json() for each in batch] for batch in batches])
    for number, tree in enumerate(trees):
        yield _parsed(f"tokens/{number}", parser, tree.words())
    for number, tree in enumerate(trees[:: _N_ALL // _N_SOME]):
        yield _parsed(f"tags/{number}", parser, tree.words(), tree.tags())
    yield from _constrained(parser, trees[1 :: _N_ALL // _N_SOME])
    for number, tree in enumerate(trees[2 :: _N_ALL // _N_BEST]):
        yield _parsed(f"best/{number}", parser, tree.words(), k=5)
    few = trees[3 :: _N_ALL // _N_FEW]
    for decoder in _DECODERS:
        for number, tree in enumerate(few):
            yield _parsed(f"{decoder}/{number}", parser, tree.words(), decoder=decoder)
        for number, tree in enumerate(few[:5]):
            yield _parsed(f"{decoder}, best/{number}", parser, tree.words(), decoder=decoder, k=3)
    yield from _suggested(parser, few)
    for number, tree in enumerate(few):
        guess = parser.parse_tokens(tree.words()).tree
        numbers = [parser.tree_log_probability(tree), parser.tree_log_probability(guess)]
        yield Item(f"log-probability/{number}", [parser.log_probability(tree.words()), *numbers])
    yield from _long(parser, found)
    yield from _commands(model, trees)


def raw(trees: list[Any]) -> str:
    """Return the words of trees as raw text, without most blanks around punctuation."""
    words = [_WRITTEN.get(word, word) for tree in trees for word in tree.words()]
    text = re.sub(r" ([.,;:?!%)\]’]|n['’]t\b|['’](s|re|ve|d|ll|m)\b)", r"\1", " ".join(words))
    return re.sub(r"([(\[$“‘]) ", r"\1", text)


def _tried(parse: Callable[[], Any]) -> Any:
    """Return a parse as JSON values, or the error message if parsing fails."""
    import spectralnlp

    try:
        return parse().to_json()
    except spectralnlp.SpectralError as error:
        return f"{type(error).__name__}: {error}"


def _parsed(key: str, parser: Any, *given: Any, **options: Any) -> Item:
    return Item(key, _tried(lambda: parser.parse_tokens(*given, **options)))


def _constrained(parser: Any, trees: list[Any]) -> Iterator[Item]:
    """Yield parses under many kinds of constraints, or errors for those that cannot be met."""
    for number, tree in enumerate(trees):
        kind, options = _constraints(number, tree)
        yield _parsed(f"constraints, {kind}/{number}", parser, tree.words(), **options)


def _constraints(number: int, tree: Any) -> tuple[str, dict[str, Any]]:
    """Return the kind and the values of constraints for a sentence; kinds alternate by its number."""
    n = len(tree.words())
    spans = [(start, end, label) for label, start, end in tree.spans() if label not in ("TOP", "")]
    nps = [span for span in spans if span[2].startswith("NP")]
    tags = dict(enumerate(tree.tags()))
    third = n // 3
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("noun phrases", {"brackets": nps}),
        ("bare brackets", {"brackets": [span[:2] for span in spans if span[1] - span[0] > 1]}),
        ("forbidden", {"forbidden": [span[:2] for span in spans if 1 < span[1] - span[0] < n]}),
        ("no noun phrases there", {"forbidden": nps}),
        ("some tags", {"tags": {token: tag for token, tag in tags.items() if token % 3 == 0}}),
        ("all", {"brackets": spans, "tags": tags}),
        ("anywhere", {"brackets": [(third, min(third + 3, n), "NP")]}),
        ("anywhere, bare", {"brackets": [(third, min(third + 4, n))], "forbidden": [(0, third or 1)]}),
        ("crossing", {"brackets": [(0, max(n - 1, 1)), (min(1, n - 1), n)]}),
        ("contradictory", {"brackets": nps, "forbidden": nps}),
        ("no root", {"forbidden": [(0, n)]}),
        ("unlikely tags", {"tags": {0: tags[n - 1], n - 1: tags[0]}}),
        ("unlikely label", {"brackets": [(0, 1, "PP"), (max(n - 2, 0), n, "ADVP")]}),
        ("unknown label", {"brackets": [(0, n, "NPX")]}),
        ("beyond", {"brackets": [(0, n + 1, "NP")]}),
    ]
    return kinds[number % len(kinds)]


def _suggested(parser: Any, trees: list[Any]) -> Iterator[Item]:
    """Yield parses with suggested tags, which the parser may overrule."""
    from spectralnlp.text.tokens import Sentence

    sentences = [Sentence.from_words(tree.words(), tree.tags()) for tree in trees]
    for number, parse in enumerate(parser.parse_many(sentences, fixed_tags=False)):
        yield Item(f"suggested tags/{number}", parse.to_json())


def _long(parser: Any, trees: tuple[Any, ...]) -> Iterator[Item]:
    """Yield parses of long lines, of over 200 and over 400 words, some under constraints."""
    for number, (start, least) in enumerate(((0, 201), (200, 400), (400, 401), (600, 450))):
        words: list[str] = []
        for tree in trees[start:]:
            if len(words) >= least:
                break
            words += tree.words()
        yield _parsed(f"long/{number}", parser, words)
        for decoder in ("viterbi", "max-rule") if number == 1 else ():
            yield _parsed(f"long, {decoder}/{number}", parser, words, decoder=decoder)
        if number < 2:
            brackets = [(3, 9, "NP"), (20, 40)]
            yield _parsed(f"long, constraints/{number}", parser, words, brackets=brackets)
        if number == 0:  # longer lines take a minute
            impossible = {"forbidden": [(0, len(words))], "brackets": [(20, 40)]}
            yield _parsed(f"long, impossible/{number}", parser, words, **impossible)


def _commands(model: str, trees: list[Any]) -> Iterator[Item]:
    """Yield parses by the command line: without a tagger, with tags, constraints or several workers."""
    some = trees[:: _N_ALL // _N_SOME]
    with scratch() as folder:
        text, tagged, tokens, few = (folder / name for name in ("raw", "tagged", "tokens", "few"))
        known = folder / "known"
        tokens.write_text("".join(f"{' '.join(tree.words())}\n" for tree in some), encoding="utf-8")
        few.write_text("".join(f"{' '.join(tree.words())}\n" for tree in some[:40]), encoding="utf-8")
        text.write_text(raw(trees[100:160]) + "\n", encoding="utf-8")
        pairs = [zip(tree.words(), tree.tags(), strict=True) for tree in some[:40]]
        lines = [" ".join(f"{word}_{tag}" for word, tag in pair) for pair in pairs]
        tagged.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with known.open("w", encoding="utf-8") as file:
            for number, tree in enumerate(some[:40]):
                chosen = _constraints(number % 5, tree)[1]
                print(json.dumps(chosen) if number % 7 else "", file=file)
        base = ("parse", "-m", model, "--format", "json")
        for options in (
            ("--tokenized", tokens, "--tagger", "none"),
            (text, "--tagger", "none"),
            (text,),
            ("--tagged", tagged),
            ("--tokenized", few, "--constraints", known),
            ("--tokenized", few, "--jobs", 2),
            ("--tokenized", few, "--tagger", "is-tagger" if model == "is" else "en-tagger", "--fixed-tags"),
            ("--tokenized", few, "--tagger", "en-upos"),
        ):
            yield from _output(plain(" ".join(map(str, options)), folder), base, options, folder)


def _output(name: str, base: tuple[Any, ...], options: tuple[Any, ...], folder: Any) -> Iterator[Item]:
    """Run ``parse``, and yield a result to pin for each line of output, and one for status and errors.

    Args:
        name: name of the results.
        base: arguments of the command that are always the same.
        options: further arguments.
        folder: folder whose path is replaced in the output.
    """
    found = command(*base, *options, scratch=folder)
    lines = found.pop("stdout").splitlines()
    for number, line in enumerate(lines):
        yield Item(f"parse {name}/{number}", json.loads(line))
    yield Item(f"parse {name}", {**found, "lines": len(lines)})


SECTIONS: dict[str, Section] = {f"parses-{model}": partial(parses, model) for model in _TREEBANKS}
