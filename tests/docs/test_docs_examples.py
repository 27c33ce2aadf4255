"""The examples of the README, the tutorials and the how-tos print what stands below them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("spacy")
pytest.importorskip("sklearn")
pytest.importorskip("nltk")

from benchmarks.readme import rerun, stage

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]
# Times, speeds and last digits are those of a machine.
NUMBER = re.compile(r"-?\d+(?:,\d{3})*\.\d+|\d+,\d{3}| {2,}")


def rounded(text: str) -> str:
    """The text without its decimal numbers, and columns one blank apart."""
    return re.sub(r" +", " ", NUMBER.sub(lambda found: " " if found[0].isspace() else "#", text))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_print_what_stands_below_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with stage() as folder:
        assert rounded(rerun(text, folder)) == rounded(text)


@pytest.mark.slow
def test_the_picture_of_the_home_page_is_that_of_its_example() -> None:
    import spectralnlp

    (parse,) = spectralnlp.load("en").parse("Visitors come by boat, or they walk along the shore.")
    drawn = (ROOT / "docs" / "tree.svg").read_text(encoding="utf-8")
    assert drawn.rstrip("\n") == parse.to_svg(scores=True)


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    """A block of code stands behind ``<!-- run -->``, or ``<!-- not run: REASON -->``; ``text`` is output."""
    lines = page.read_text(encoding="utf-8").splitlines()
    inside = False
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith("```"):
            inside = not inside
            if inside and line[3:] != "text":
                assert before == "<!-- run -->" or before.startswith("<!-- not run: "), f"{page.name}: {line}"
