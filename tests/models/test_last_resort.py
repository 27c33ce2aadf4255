"""Which constraints are to blame where no tree meets all: few of them, and found by few questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

import spectralnlp
from spectralnlp.inference.trees.parsing import Derivable, ForestParser
from spectralnlp.models.last_resort import Part, _to_blame
from spectralnlp.text.constraints import Constraints, NoTreeError

NOTHING = Constraints()
WORDS = ["The", "old", "keeper", "of", "the", "lighthouse", "saw", "many", "gulls", "over", "the", "sea", "."]


@pytest.mark.parametrize("seed", range(40))
def test_none_of_those_to_blame_can_be_left_out(seed: int) -> None:
    random = Random(seed)
    n = random.randint(1, 9)
    parts: list[Part] = [(str(number), NOTHING) for number in range(n)]
    conflicts = [set(random.sample(parts, random.randint(1, min(n, 4)))) for _ in range(random.randint(1, 3))]

    def derives(chosen: Sequence[Part]) -> bool:
        return not any(conflict <= set(chosen) for conflict in conflicts)

    blamed = _to_blame(parts, derives, [1000])
    assert set(blamed) in conflicts
    assert all(derives(some) for some in combinations(blamed, len(blamed) - 1))


def test_one_of_ten_thousand_is_found_by_few_questions() -> None:
    parts: list[Part] = [(str(number), NOTHING) for number in range(10_000)]
    left = [40]
    assert _to_blame(parts, lambda chosen: parts[7777] not in chosen, left) == [parts[7777]]
    assert left[0] > 10


def test_where_there_were_enough_questions_all_that_remain_are_to_blame() -> None:
    parts: list[Part] = [(str(number), NOTHING) for number in range(1000)]
    asked = list[int]()

    def derives(chosen: Sequence[Part]) -> bool:
        asked.append(len(chosen))
        return len(chosen) < len(parts)

    assert len(_to_blame(parts, derives, [40])) > 900
    assert len(asked) <= 40


def test_thousands_of_constraints_are_refused_in_one_short_line(monkeypatch: pytest.MonkeyPatch) -> None:
    parser, asked, derives = spectralnlp.load("en"), list[int](), ForestParser.derives

    def counted(self: ForestParser, *arguments: object) -> Derivable:
        asked.append(1)
        return derives(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ForestParser, "derives", counted)
    n = len(WORDS)
    spans = [(start, end) for start in range(n) for end in range(start + 1, n + 1)]
    with pytest.raises(NoTreeError, match=rf"forbidden bracket \(0, {n}\); leave it out"):
        parser.parse_tokens(WORDS, forbidden=spans)
    every_label = [(*span, label) for span in spans for label in parser.phrases]
    with pytest.raises(NoTreeError, match="together") as refusal:
        parser.parse_tokens(WORDS, forbidden=every_label)
    assert len(str(refusal.value)) < 1000
    assert sum(asked) < 300
