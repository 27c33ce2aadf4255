"""``nlp.update`` of components that keep their examples: a loop of corrections."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Example
from spectralnlp_spacy.component import KEPT_FILES

TEXTS = {
    "price": ["how much is it", "what does a ticket cost", "is the boat expensive", "the price please"],
    "times": [
        "when does it leave",
        "at what hour is the boat",
        "the next ferry please",
        "is there a late bus",
    ],
}


def textcat_pipeline(**config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_textcat", config=config)
    examples = [example(nlp, text, label) for label, texts in TEXTS.items() for text in texts]
    nlp.initialize(lambda: examples)
    return nlp


def example(nlp: Any, text: str, label: str) -> Example:
    return Example.from_dict(nlp.make_doc(text), {"cats": {label: 1.0}})


def test_a_classifier_learns_from_what_is_corrected(tmp_path: Path) -> None:
    nlp = textcat_pipeline(keep_examples=True)
    corrected = [
        example(nlp, text, "lost") for text in ("i lost my bag", "my bag is lost", "did you find a hat")
    ]
    for each in corrected:
        assert nlp.update([each]) == {"spectral_textcat": 0.0}
    assert nlp("someone lost a bag")._.intent == "lost"
    model = nlp.get_pipe("spectral_textcat").model
    nlp.update(corrected)  # they are known
    assert nlp.get_pipe("spectral_textcat").model is model
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    again.update([example(again, "where is my umbrella", "lost")])
    packed = spacy.blank("en").from_config(again.config).from_bytes(again.to_bytes())
    packed.update([example(packed, "i forgot my coat", "lost")])
    assert packed.get_pipe("spectral_textcat").model.about["training texts"] == 13


def test_examples_are_kept_only_where_that_was_asked_for(tmp_path: Path) -> None:
    nlp = textcat_pipeline()
    model = nlp.get_pipe("spectral_textcat").model
    nlp.update([example(nlp, "i lost my bag", "lost")])
    assert nlp.get_pipe("spectral_textcat").model is model
    nlp.to_disk(tmp_path / "pipeline")
    assert not any(path.name in KEPT_FILES for path in (tmp_path / "pipeline").rglob("*"))


def test_a_tagger_learns_from_what_is_corrected() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_tagger", config={"keep_examples": True, "settings": {"epochs": 4}})
    sentences = [("the cat sleeps", ["DT", "NN", "VBZ"]), ("a dog barks", ["DT", "NN", "VBZ"])] * 4

    def tagged(text: str, tags: list[str]) -> Example:
        return Example.from_dict(nlp.make_doc(text), {"tags": tags})

    nlp.initialize(lambda: [tagged(*each) for each in sentences])
    nlp.update([tagged("ouch !", ["UH", "."])])
    tagger = nlp.get_pipe("spectral_tagger").model
    assert {"UH", "."} <= set(tagger.labels)
    assert tagger.about["training sentences"] == len(sentences) + 1


def test_what_cannot_be_kept_is_refused() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_textcat", config={"keep_examples": True})
    with pytest.raises(ValueError, match="SN"):
        nlp.initialize(lambda: [example(nlp, "how much", "price")])


def test_the_loop_of_corrections_runs() -> None:
    root = Path(__file__).parents[3]
    files = [root / "corpora" / "intents" / name for name in ("train.tsv", "dev.tsv")]
    command = [sys.executable, root / "examples" / "corrections.py", *files]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    first, *asked, last = done.stdout.splitlines()
    assert len(asked) == 10
    assert first.endswith("others are right")
    assert int(last.split()[0]) == int(first.split()[0]) + 10
