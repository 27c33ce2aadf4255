"""Forms of words and keys of features: functions of the word alone, by character and not by byte."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from spectralnlp.inference.chains.feature_kernels import FIRST, INNER
from spectralnlp.inference.chains.templates import (
    HERE,
    N_SLOTS,
    PAIRS,
    TEMPLATES,
    find_rows,
    pair_keys,
    word_keys,
)
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_forms import FORMS, form_hashes
from spectralnlp.inference.chains.word_table import BEYOND, EDGE, WordTable


def form(word: str, name: str) -> int:
    return int(form_hashes([word])[0, FORMS.index(name)])


def affixes(word: str) -> tuple[list[int], list[int]]:
    """Hashes of prefixes and suffixes, shortest first."""
    hashes = form_hashes([word])[0]
    prefixes = [int(hashes[i]) for i, name in enumerate(FORMS) if name.startswith("prefix")]
    return prefixes, [int(hashes[i]) for i, name in enumerate(FORMS) if name.startswith("suffix")]


@pytest.mark.parametrize("n", range(1, 5))
def test_affixes_are_of_characters(n: int) -> None:
    for one, other in (
        ("naïveté", "xxïveté"),
        ("Straße", "Xxraße"),
        ("сказка", "xxазка"),
        ("ab😀😃😄", "xy😀😃😄"),
    ):
        size = len(one)
        shared = size - 2
        if n <= shared:
            assert form(one, f"suffix{n}") == form(other, f"suffix{n}") != 0
        assert form(one, f"prefix{n}") != form(other, f"prefix{n}")
    # the last two bytes of é and of ĩ differ in one only: suffixes know whole characters
    assert form("é", "suffix1") != form("ĩ", "suffix1")
    assert form("xé", "suffix1") == form("yé", "suffix1")


def test_affixes_are_of_small_letters_and_no_longer_than_the_word() -> None:
    assert affixes("Cats") == affixes("cAtS")
    prefixes, suffixes = affixes("cat")
    assert [each != 0 for each in prefixes] == [True] * 3 + [False]
    assert [each != 0 for each in suffixes] == [True] * 3 + [False] * 2
    assert affixes("")[0] == [0] * 4
    assert affixes("a") == ([form("a", "word"), 0, 0, 0], [form("a", "suffix1"), 0, 0, 0, 0])


def test_words_and_shapes_tell_apart_what_they_should() -> None:
    assert form("The", "word") == form("the", "word") != form("he", "word")
    assert form("The", "cased") != form("the", "cased")
    assert form("Berlin", "shape") == form("Wuppertal", "shape") != form("USA", "shape")
    assert form("A-1", "shape") == form("BCD-234", "shape") != form("A_1", "shape")
    assert form("Élan", "shape") == form("Berlin", "shape")
    assert form("Жук", "shape") == form("Berlin", "shape")
    assert form("日本", "shape") != form("中国", "shape"), "characters beyond the table are their own class"
    assert form("walking", "shape+suffix3") == form("talking", "shape+suffix3")
    assert form("Walking", "shape+suffix3") != form("talking", "shape+suffix3")
    assert form("walked", "shape+suffix3") != form("talking", "shape+suffix3")


def test_flags() -> None:
    flags = ("digit", "hyphen", "capital", "capitals", "any")
    expected = {
        "cat": "any", "Cat": "capital any", "CAT": "capital capitals any", "U.S.": "capital capitals any",
        "e-mail": "hyphen any", "4x": "digit any", "3-D": "digit hyphen capitals any",
        "😀": "any", "": "any",
    }  # fmt: skip
    for word, names in expected.items():
        assert " ".join(flag for flag in flags if form(word, flag)) == names, word


def test_strange_words_have_forms() -> None:
    long = "ab" * 50_000
    words = ["", "a", "😀", "👩‍👩‍👧", long, long + "c", "\u0130x", "\ud800"]
    hashes = form_hashes(words)
    assert hashes.shape == (len(words), len(FORMS))
    assert len(set(hashes[:, FORMS.index("cased")].tolist())) == len(words)
    for word, row in zip(words, hashes, strict=True):
        np.testing.assert_array_equal(row, form_hashes([word])[0])
    assert form_hashes([]).shape == (0, len(FORMS))


def test_hashes_are_the_same_in_another_process() -> None:
    words = ["The", "naïve", "😀", "x-1", ""]
    imports = "from spectralnlp.inference.chains.word_forms import form_hashes"
    code = f"{imports}; print(form_hashes({words!r}).tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(form_hashes(words).tolist())


def test_a_feature_is_a_slot_and_a_form() -> None:
    words = ["The", "cat", "The"]
    keys = word_keys(form_hashes(words), np.zeros((3, 0), np.int32))
    assert len(keys) == N_SLOTS
    assert [each.shape[1] for each in keys] == [
        sum(slot == number for slot, _ in TEMPLATES) for number in range(N_SLOTS)
    ]
    for each in keys:
        np.testing.assert_array_equal(each[0], each[2])
    word = [FORMS[form] for slot, form in TEMPLATES if slot == HERE].index("word")
    assert keys[HERE][0, word] != keys[HERE][1, word]
    every = [set(each[0].tolist()) - {0} for each in keys]
    for a in range(N_SLOTS):
        for b in range(a):
            assert not every[a] & every[b], "the same form in two slots is two features"
    assert {HERE, FIRST, INNER} < set(range(N_SLOTS))


def test_missing_forms_have_no_key_and_clusters_have_one_in_each_place() -> None:
    short, plain = word_keys(form_hashes(["a"]), np.zeros((1, 0), np.int32))[HERE][0], len(TEMPLATES)
    names = [FORMS[each] for slot, each in TEMPLATES if slot == HERE]
    assert {names[i] for i in np.flatnonzero(short == 0)} == {
        "prefix2", "prefix3", "prefix4", "suffix2", "suffix3", "suffix4", "suffix5",
        "digit", "hyphen", "capital", "capitals",
    }  # fmt: skip
    clusters = np.array([[7, -1], [7, 7]], np.int32)
    keys = word_keys(form_hashes(["a", "a"]), clusters)
    assert sum(each.shape[1] for each in keys) == plain + 2 * 5
    own = [each[:, -2:] for each in keys[:5]]
    for each in own:
        assert each[0, 0] == each[1, 0]
        assert each[0, 0]
        assert each[0, 1] == 0, "no cluster, no feature"
    numbers = [int(key) for each in own for key in each[1]]
    assert len(set(numbers)) == 10, "a cluster in another place or of another clustering is another feature"


def test_pairs_are_of_neighbours_in_order() -> None:
    cat, sat, the = (int(h) for h in form_hashes(["cat", "sat", "the"])[:, 0])
    padding = [BEYOND + 1, EDGE + 1], [EDGE + 1, BEYOND + 1]
    words = np.array([*padding[0], the, cat, sat, *padding[1]], np.uint64)
    keys = pair_keys(words)
    assert keys.shape == (3, len(PAIRS))
    assert len(set(keys.ravel().tolist())) == 6
    again = pair_keys(np.array([*padding[0], cat, sat, *padding[1]], np.uint64))
    assert keys[1, 1] == again[0, 1], "cat sat"
    swapped = pair_keys(np.array([*padding[0], sat, cat, *padding[1]], np.uint64))
    assert swapped[0, 1] != again[0, 1]
    assert pair_keys(np.array([*padding[0], *padding[1]], np.uint64)).shape == (0, len(PAIRS))


def test_rows_of_keys() -> None:
    known = np.array([3, 5, 9], np.uint32)
    keys = np.array([[5, 0], [4, 9], [10, 3]], np.uint32)
    assert find_rows(keys, known).tolist() == [[1, -1], [-1, 2], [-1, 0]]
    assert find_rows(keys, known[:0]).tolist() == [[-1, -1]] * 3
    assert find_rows(keys, np.array([0, 3], np.uint32))[0, 1] == -1, "0 is no key"


def test_sentences_as_numbers() -> None:
    table = WordTable(UnlabelledFeatures())
    encoded = table.encode([["a", "b"], [], ["b"]])
    a, b = 2, 3
    assert encoded.types.tolist() == [
        BEYOND, EDGE, a, b, EDGE, BEYOND, BEYOND, EDGE, EDGE, BEYOND, BEYOND, EDGE, b, EDGE, BEYOND,
    ]  # fmt: skip
    assert encoded.starts.tolist() == [0, 2, 2, 3]
    assert encoded.types[encoded.places].tolist() == [a, b, b]
    assert table.encode([["c", "b"]]).types.tolist() == [BEYOND, EDGE, 4, b, EDGE, BEYOND], "numbers stay"
    assert len(table) == 5
    nothing = table.encode([])
    assert (nothing.types.shape, nothing.starts.tolist(), nothing.vectors.shape) == ((0,), [0], (0, 0))
